"""Colliders of soft bodies in a job, still, moving and deforming, and their effect on a bake."""

import json

import numpy as np
import pytest

bpy = pytest.importorskip("bpy")

from falling_boxes import LAST, add_ball, add_collider, balls, crosses, world_at  # noqa: E402, F401
from jelly import scene  # noqa: E402, F401
from rig import add_chain, job_of  # noqa: E402
from test_attach import add_flesh  # noqa: E402
from worlds import nodes_of  # noqa: E402

from conjac.conjac_addon import bake, gather, members  # noqa: E402
from conjac.conjac_addon.bake import place  # noqa: E402
from conjac.solver.errors import BadInput  # noqa: E402
from conjac.solver.job.load import load  # noqa: E402
from solver.job.load import load as load_plainly  # noqa: E402


def test_friction_is_painted_on_colliders_too(balls, scene, tmp_path):  # noqa: F811
    low, _ = balls
    bpy.ops.mesh.primitive_grid_add(x_subdivisions=4, y_subdivisions=4, size=2.0, location=(0.0, 0.0, -1.0))
    floor = bpy.context.object
    bpy.ops.conjac.add_collider()
    left = [vertex.index for vertex in floor.data.vertices if vertex.co.x < 0.0]
    floor.vertex_groups.new(name="Friction").add(left, 0.5, "REPLACE")
    gather.write_job(low, scene, tmp_path)
    part = nodes_of(load_plainly(tmp_path))
    friction, x = part.contacts[0]._friction, part.rest
    of_floor = np.arange(len(x) - len(floor.data.vertices), len(x))
    assert np.unique(friction[of_floor][x[of_floor, 0] < -0.01]) == pytest.approx([0.25])
    assert not friction[of_floor][x[of_floor, 0] > 0.01].any()
    assert gather.changed_settings(low, scene, tmp_path) == []


def test_colliders_are_gathered_still_moving_and_deforming(balls, scene, tmp_path):  # noqa: F811
    low, high = balls
    still = add_collider("Still", 0.1, (1, 0, 0))
    lift = add_collider("Lift", 0.1, (2, 0, 0), scale=(-1, 1, 1))
    lift.keyframe_insert("location", frame=1)
    lift.location.z = 0.5
    lift.keyframe_insert("location", frame=LAST)
    soft = add_collider("Soft", 0.1, (3, 0, 0))
    soft.shape_key_add(name="Basis")
    soft.shape_key_add(name="Tall").data[0].co.z -= 0.2
    soft.data.shape_keys.key_blocks["Tall"].value = 0.0  # a new one is on at once in Blender 5.2
    soft.data.shape_keys.key_blocks["Tall"].keyframe_insert("value", frame=1)
    soft.data.shape_keys.key_blocks["Tall"].value = 1.0
    soft.data.shape_keys.key_blocks["Tall"].keyframe_insert("value", frame=LAST)
    still.conjac.contact.thickness, still.conjac.contact.friction = 0.02, 0.0
    gather.write_job(low, scene, tmp_path)
    document, job = json.loads((tmp_path / "scene.json").read_text()), load(tmp_path)
    assert [(obstacle["name"], obstacle["friction"], "motion" in obstacle) for obstacle in document["obstacles"]] == [
        ("Still", 0.0, False), ("Lift", 0.5, True), ("Soft", 0.5, True)]
    assert [body["touches"] for body in document["bodies"]] == [
        ["High", "Still", "Lift", "Soft"], ["Low", "Still", "Lift", "Soft"]]
    positions = [job.array(obstacle["vertices"]) for obstacle in document["obstacles"]]
    np.testing.assert_allclose(np.abs(positions[0] - [1, 0, 0]), 0.07, atol=1e-6)  # each face 2 cm out
    motion = job.array(document["obstacles"][1]["motion"])
    assert motion.shape == (2 * LAST - 1, 8, 3)
    np.testing.assert_allclose(motion[-1] - motion[0], np.broadcast_to([0, 0, 0.5], (8, 3)), atol=1e-6)
    deformed = job.array(document["obstacles"][2]["motion"])
    assert np.abs(deformed[-1] - deformed[0]).max() == pytest.approx(0.2, abs=1e-5)
    for k in (0, 1, 2):  # outwards, also of the mirrored one
        faces = job.array(document["obstacles"][k]["triangles"])
        corners = positions[k][faces] - positions[k].mean(axis=0)
        assert np.linalg.det(corners).sum() > 0.0
    assert gather.changed_settings(low, scene, tmp_path) == [] and gather.moved(low, scene, tmp_path) == []
    still.name = "Table"
    assert gather.changed_settings(low, scene, tmp_path) == []
    still.location.x += 0.5
    bpy.context.view_layer.update()
    assert gather.moved(low, scene, tmp_path) == ["Table moved"]
    lift.conjac.kind = "none"
    assert "Colliders" in gather.changed_settings(low, scene, tmp_path)


def test_colliders_that_cannot_be_touched_are_refused_by_name(balls, scene, tmp_path):  # noqa: F811
    low, _ = balls
    box = add_collider("Box", 0.1, (1, 0, 0))
    box.hide_viewport = True
    with pytest.raises(BadInput, match='"Box": it is a collider of "Low", but it is disabled in viewports'):
        gather.write_job(low, scene, tmp_path)
    box.hide_viewport = False
    # Blender leaves what is in such a collection where it was, and what is in another one too goes on moving
    collection = bpy.data.collections.new("Set")
    scene.collection.children.link(collection)
    collection.objects.link(box)
    shown = bpy.context.view_layer.layer_collection.children["Set"]
    for switch, why in (("exclude", "excluded from the view layer, so it does not move. Tick the collection in the "
                         "Outliner, or remove ConJac from it"), ("hide_viewport", "disabled in viewports")):
        setattr(shown if switch == "exclude" else collection, switch, True)
        gather.write_job(low, scene, tmp_path)
        scene.collection.objects.unlink(box)
        with pytest.raises(BadInput, match=f'"Box": it is a collider of "Low", but its collection "Set" is {why}'):
            gather.write_job(low, scene, tmp_path)
        scene.collection.objects.link(box)
        setattr(shown if switch == "exclude" else collection, switch, False)
    box.data.clear_geometry()
    with pytest.raises(BadInput, match='"Box": the mesh has no vertices'):
        gather.write_job(low, scene, tmp_path)
    bpy.data.objects.remove(box)
    sheet = add_collider("Sheet", 0.1, (1, 0, 0))
    array = sheet.modifiers.new("Array", "ARRAY")
    for frame, count in ((1, 1), (LAST, 3)):
        array.count = count
        sheet.keyframe_insert('modifiers["Array"].count', frame=frame)
    with pytest.raises(BadInput, match='"Sheet", frame 3: it is a collider, and has .* vertices where it had'):
        gather.write_job(low, scene, tmp_path)
    assert not (tmp_path / "arrays.new").exists()


def test_a_lift_carries_what_collides_and_nothing_else(scene):  # noqa: F811
    """A plate rises under two boxes: it carries one and passes through the other; a copy of the carried box is
    carried, too."""
    scene.frame_end = 6
    carried, ghost = add_ball("Rides", 0.16), add_ball("Ghost", 0.16, along=1.0)
    lift = add_collider("Lift", 0.1, (0.5, 0, 0), scale=(20, 10, 1))
    for frame, height in ((1, 0.0), (6, 0.2)):
        lift.location.z = height
        lift.keyframe_insert("location", frame=frame)
    carried.conjac.use_ground = ghost.conjac.use_ground = False
    ghost.conjac.contact.collides_with = "none"
    for obj in (carried, ghost):
        assert members.owner(obj) == obj
        assert bake.bake_object(obj) == 0
    assert not crosses([carried, lift], 6)
    assert world_at(carried, 6)[:, 2].min() > 0.2
    assert world_at(ghost, 6)[:, 2].min() < 0.06  # it has fallen for 5 frames, 0.21 m
    assert bake.status(carried).state == bake.status(ghost).state == "complete"

    # what is baked may be what another one bumps into, as it plays
    carried.conjac.contact.collides_with, carried.conjac.contact.is_collider = "none", True
    ghost.conjac.contact.collides_with = "all"
    assert members.colliders(ghost, scene) == [carried, lift] and members.owner(ghost) == ghost
    folder = place.job_folder(ghost)
    gather.write_job(ghost, scene, folder)
    document, job = json.loads((folder / "scene.json").read_text()), load(folder)
    motion = job.array(document["obstacles"][0]["motion"])
    np.testing.assert_allclose(motion[-1], world_at(carried, 6), atol=1e-5)


def test_what_hangs_on_bones_touches_colliders(scene, tmp_path):  # noqa: F811
    """Flesh on a chain falls on a plate in the bake of the chain; another body has a bake of its own."""
    rig = add_chain(2)
    flesh, also, free = add_flesh(rig), add_flesh(rig, "Also"), add_ball("Free", 3.0)
    flesh.conjac.contact.collides_with = "all"
    rig.conjac.method = "vanilla"
    plate = add_collider("Plate", 1.0, (0, 0, -0.75))
    document, job = job_of(rig, tmp_path / "job")
    assert members.colliders(rig, scene) == [plate] and members.soft_bodies(free, scene) == [free]
    assert [body["touches"] for body in document["bodies"]] == [["Plate"], []]
    assert [obstacle["name"] for obstacle in document["obstacles"]] == ["Plate"]
    assert job.array(document["obstacles"][0]["vertices"]).shape == (8, 3)
    assert gather.changed_settings(rig, scene, tmp_path / "job") == []
    also.conjac.contact.collides_with = "all"
    assert gather.changed_settings(rig, scene, tmp_path / "job") == ["Collides With"]
    plate.conjac.kind = "none"
    flesh.conjac.contact.collides_with = also.conjac.contact.collides_with = "none"
    document, _ = job_of(rig, tmp_path / "alone")
    assert {"contact", "obstacles"}.isdisjoint(document)
