"""Contacts of the present frame: positions and forces of a bake, as the overlay draws them; with ConJac too."""

import numpy as np
import pytest

bpy = pytest.importorskip("bpy")

from falling_boxes import add_ball, balls, crosses, world_at  # noqa: E402, F401
from jelly import scene  # noqa: E402, F401
from matrix import some  # noqa: E402

from conjac.conjac_addon import bake  # noqa: E402
from conjac.conjac_addon.bake import place  # noqa: E402
from conjac.conjac_addon.ui import contact_marks  # noqa: E402
from conjac.solver.errors import NoSuchThing  # noqa: E402


@pytest.mark.parametrize("method, last", some([("vanilla", 10), ("conjac", 5)], ("vanilla", 10)))
def test_contacts_of_a_bake_are_recorded_and_drawn(balls, scene, method, last):  # noqa: F811
    low, high = balls
    scene.frame_end = last
    for soft_body in balls:
        soft_body.conjac.method = method
        group = soft_body.vertex_groups.new(name="Dynamic")
        group.add([0, 7], 1.0, "REPLACE")
        soft_body.conjac.dynamic_group = "Dynamic"
    assert contact_marks.marks(low, scene) is None
    assert bake.bake_object(low) == 0
    assert not any(crosses(balls, frame) for frame in range(1, last + 1))
    cache = place.cache_of(place.job_folder(low))
    contacts = {frame: cache.diagnostics.contacts(frame) for frame in range(1, last + 1)}
    touch = [frame for frame, rows in contacts.items() if len(rows)]
    assert touch and not len(contacts[1])
    assert all((rows[:, 6] > 0.0).all() for rows in contacts.values())
    # where they meet first, one above the other: between the two boxes, and upright
    rows = contacts[touch[0]]
    seen = world_at(low, touch[0])[:, 2].max(), world_at(high, touch[0])[:, 2].min()
    assert min(seen) - 0.02 < rows[:, 2].min() and rows[:, 2].max() < max(seen) + 0.02
    assert np.abs(rows[:, 5]).sum() > 3 * np.abs(rows[:, 3:5].sum(axis=0)).max()
    rows = contacts[touch[-1]]
    for obj in balls:
        scene.frame_set(touch[-1])
        points, ends = contact_marks.marks(obj, scene)
        np.testing.assert_allclose(points, rows[:, :3], atol=1e-6)
        arrows = ends.reshape(-1, 2, 2, 3)
        np.testing.assert_allclose(arrows[:, :, 0], np.repeat(points[:, None], 2, axis=1), atol=1e-6)
        lengths = np.linalg.norm(arrows[:, 0, 1] - arrows[:, 0, 0], axis=1)
        largest = contact_marks.LARGEST * max(max(ball.dimensions) for ball in balls)
        assert lengths.max() == pytest.approx(largest, rel=1e-3)
        np.testing.assert_allclose(arrows[:, 0, 1] + arrows[:, 1, 1], 2 * points, atol=1e-6)
    # the same in the mesh, where it is pushed and nowhere else
    for obj, side in ((low, 1), (high, -1)):
        bpy.context.view_layer.objects.active = obj
        assert bpy.ops.conjac.contact_attributes() == {"FINISHED"}
        force, pressure = ([element.value for element in obj.data.attributes[name].data]
                           for name in ("contact_force", "contact_pressure"))
        assert sum(force) == pytest.approx(np.linalg.norm(rows[:, 3:6], axis=1).sum(), rel=1e-4)
        away = [value for value, vertex in zip(force, obj.data.vertices) if side * vertex.co.z < -0.05]
        assert max(away) == 0.0 < max(pressure)
    # at other frames they stay as they are, or follow where that is asked
    high.conjac.contact.attributes_follow = True
    scene.frame_set(1)
    whole = [sum(element.value for element in obj.data.attributes["contact_force"].data) for obj in balls]
    assert whole[0] == pytest.approx(np.linalg.norm(rows[:, 3:6], axis=1).sum(), rel=1e-4) and whole[1] == 0.0
    scene.frame_set(touch[-1])
    shown = high.evaluated_get(bpy.context.evaluated_depsgraph_get()).data.attributes["contact_force"].data
    assert sum(element.value for element in shown) == pytest.approx(whole[0], rel=1e-4)
    # also below modifiers that make more vertices, which get what lies between
    before = np.array([element.value for element in high.data.attributes["contact_pressure"].data])
    high.modifiers.new("Smoother", "SUBSURF").levels = 1
    scene.frame_set(1)
    assert max(element.value for element in high.data.attributes["contact_pressure"].data) == 0.0
    scene.frame_set(touch[-1])
    after = np.array([element.value for element in high.data.attributes["contact_pressure"].data])
    np.testing.assert_allclose(after, before, rtol=1e-3, atol=1e-3 * before.max())
    finer = high.evaluated_get(bpy.context.evaluated_depsgraph_get()).data.attributes["contact_pressure"].data
    assert len(finer) > len(before) and max(element.value for element in finer) > 0.0
    bpy.context.view_layer.objects.active = low
    folder = cache.folder
    assert bpy.ops.conjac.free_bake(together=True) == {"FINISHED"}
    assert contact_marks.marks(low, scene) is None
    assert folder.parent == place.job_folder(low)


def test_what_touches_nothing_has_none(balls, scene):  # noqa: F811
    low, _ = balls
    scene.frame_end = 2
    for ball in balls:
        ball.conjac.contact.collides_with = "none"
    assert bake.bake_object(low) == 0
    cache = place.cache_of(place.job_folder(low))
    assert not (cache.folder / "contacts").exists() and contact_marks.marks(low, scene) is None
    with pytest.raises(NoSuchThing):
        cache.diagnostics.contacts(1)
