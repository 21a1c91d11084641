"""Bones are posed during Play Live: pinned vertices follow, and the rest swings after them."""

import numpy as np
import pytest

bpy = pytest.importorskip("bpy")

from jelly import rest_of, scene  # noqa: E402, F401
from played import jelly, kept_tets, play, play_until, seen, unfilled  # noqa: E402, F401
from rig import add_armature  # noqa: E402


@pytest.fixture()
def posed(jelly):  # noqa: F811
    """Return the jelly, whose top hangs on one bone of an armature, and that armature."""
    rig = add_armature([("Hand", (0.0, 0.0, 0.1), (0.0, 0.0, 0.3), None, False)])
    rig.conjac.enabled = False
    group = jelly.vertex_groups.new(name="Hand")
    group.add(list(range(len(jelly.data.vertices))), 1.0, "REPLACE")
    modifier = jelly.modifiers.new("Armature", "ARMATURE")
    modifier.object = rig
    bpy.context.view_layer.objects.active = jelly
    bpy.context.view_layer.update()
    return jelly, rig


@pytest.mark.parametrize("together", [False, True])
def test_what_is_pinned_follows_a_bone_that_is_posed(posed, together):
    obj, rig = posed
    if together:  # by the bake's own solver, with a cloth beside it
        bpy.ops.mesh.primitive_grid_add(size=0.2, x_subdivisions=4, y_subdivisions=4, location=(0.0, 0.0, -0.5))
        bpy.ops.conjac.add_cloth()
        bpy.context.object.conjac.use_ground = False
        bpy.context.view_layer.objects.active = obj
    top = rest_of(obj)[:, 2] > 0.09
    played = play(obj, 0.2)
    before = seen(obj)
    np.testing.assert_allclose(before[top], rest_of(obj)[top], atol=2e-3)
    rig.pose.bones["Hand"].location = (0.1, 0.0, 0.0)
    bpy.context.view_layer.update()
    until = played.frame["time"] + 0.5
    play_until(played, lambda: played.frame["time"] > until)
    moved = seen(obj)
    np.testing.assert_allclose(moved[top] - before[top], np.tile([0.1, 0.0, 0.0], (top.sum(), 1)), atol=3e-3)
    assert np.linalg.norm(moved[~top] - before[~top], axis=1).min() > 0.005
    played.stop()
    np.testing.assert_allclose(seen(obj), rest_of(obj) + [0.1, 0.0, 0.0], atol=1e-5)  # as Blender has it, none of ours
    assert [modifier.name for modifier in obj.modifiers] == ["Armature"] and obj.modifiers[0].show_viewport


def test_a_pose_that_stays_is_not_read_again(posed, monkeypatch):
    from conjac.conjac_addon.live import led

    read, evaluated = [], led._evaluated
    monkeypatch.setattr(led, "_evaluated", lambda *words: read.append(1) or evaluated(*words))
    played = play(posed[0], 0.2)
    assert len(read) == 1
    played.stop()


def test_bones_that_conjac_moves_itself_lead_nothing(posed):
    from conjac.conjac_addon.live.led import armatures

    obj, rig = posed
    assert armatures(obj) == [rig]
    rig.conjac.enabled = True
    assert armatures(obj) == []
