"""A bake that is refused or fails shows one sentence with the remedy, and its panel stays usable."""

import numpy as np
import pytest

bpy = pytest.importorskip("bpy")

from drawn_panels import drawn  # noqa: E402
from jelly import LAST, add_jelly, assert_plays, frames_of, rest_of, run_until, scene  # noqa: E402, F401

from conjac.conjac_addon import bake as addon_bake  # noqa: E402
from conjac.conjac_addon.bake import place, session  # noqa: E402


def test_a_refused_mesh_is_one_sentence_and_leaves_a_usable_panel(scene):  # noqa: F811
    obj = add_jelly()
    good = obj.data
    obj.data = bpy.data.meshes.new("Nothing")
    with pytest.raises(RuntimeError, match='^Error: "Jelly"'):
        bpy.ops.conjac.bake()
    assert session.running == {} and bpy.ops.conjac.bake.poll()
    obj.data = good
    obj.conjac.mesher = "grid"
    good.vertices[0].co.x += 0.05  # no box any more: the solver refuses it
    with pytest.raises(RuntimeError, match='"Jelly".*box'):
        bpy.ops.conjac.bake()
    good.vertices[0].co.x -= 0.05
    assert bpy.ops.conjac.bake() == {"FINISHED"}


def test_a_body_that_is_pinned_all_over_is_refused_by_name(scene):  # noqa: F811
    obj = add_jelly()
    obj.vertex_groups["Pin"].add(range(len(obj.data.vertices)), 1.0, "REPLACE")
    obj.vertex_groups["Dynamic"].remove(range(len(obj.data.vertices)))
    with pytest.raises(RuntimeError, match='"Jelly": every node is pinned') as caught:
        bpy.ops.conjac.bake()
    assert "bodies[0]" not in str(caught.value)  # a place in a file that an artist never sees
    assert session.running == {} and bpy.ops.conjac.bake.poll()
    obj.vertex_groups["Pin"].remove(np.flatnonzero(rest_of(obj)[:, 2] < 0.09).tolist())
    assert bpy.ops.conjac.bake() == {"FINISHED"}


def test_a_diverging_bake_keeps_its_frames_and_says_what_to_change(scene):  # noqa: F811
    obj = add_jelly(step=1 / 24)
    obj.conjac.method, obj.conjac.beta, obj.conjac.youngs_modulus = "vanilla", 0.0, 1.0e7
    with pytest.raises(RuntimeError, match='"Jelly", frame .*Damping'):
        bpy.ops.conjac.bake()
    status = addon_bake.status(obj)
    assert status.state == "partial" and 1 <= status.done < LAST
    assert_plays(obj, range(1, status.done + 1))
    assert session.running == {} and bpy.ops.conjac.bake.poll()
    assert obj.conjac.bake() == 3


def test_shape_keys_survive_undo_redo_and_a_bake_that_is_refused(scene):  # noqa: F811
    def jelly():
        return bpy.data.objects["Jelly"]  # undo moves it in memory

    add_jelly()
    assert jelly().conjac.bake() == 0
    bpy.ops.ed.undo_push(message="PC2 plays")
    assert bpy.ops.conjac.export(format="shapekeys") == {"FINISHED"}
    bpy.ops.ed.undo_push(message="shape keys play")
    bpy.ops.ed.undo()
    assert jelly().data.shape_keys is None and jelly().modifiers["ConJac"].type == "MESH_CACHE"
    assert_plays(jelly(), (1, 7, LAST))
    bpy.ops.ed.redo()
    assert jelly().data.shape_keys is not None and not jelly().modifiers
    assert_plays(jelly(), (1, 7, LAST))

    # refused while it reads: what plays goes on playing
    jelly().conjac.pin_group = "Missing"
    with pytest.raises(RuntimeError, match="no vertex group"):
        bpy.ops.conjac.bake()
    assert_plays(jelly(), (1, 7, LAST))
    jelly().conjac.pin_group = "Pin"

    # undone in the middle of the next bake: its end is as it would have been
    jelly().conjac.export, jelly().conjac.step, jelly().conjac.youngs_modulus = "shapekeys", 1 / 480, 6.0e3
    before = frames_of(jelly())
    bpy.ops.ed.undo_push(message="before the bake")
    jelly().location.x = 1.0
    bpy.ops.ed.undo_push(message="moved")
    bake = session.Bake(jelly(), bpy.context.scene)
    run_until(bake, lambda: (bake.progress.frame or 0) >= 4 and "ConJac" in jelly().modifiers)
    bpy.ops.ed.undo()
    assert jelly().location.x == 0.0 and "ConJac" not in jelly().modifiers
    assert bake.wait() == 0, bake.progress.error
    assert len(jelly().data.shape_keys.key_blocks) == LAST + 1 and not jelly().modifiers
    assert_plays(jelly(), (1, 7, LAST))
    assert frames_of(jelly())["000012"] != before["000012"]


def test_every_operator_that_fails_leaves_a_usable_panel(scene):  # noqa: F811
    obj = add_jelly()
    scene.frame_end = 3
    assert obj.conjac.bake() == 0
    first = place.job_folder(obj) / "cache" / "frames" / "000001.npy"
    whole = first.read_bytes()

    def operators():
        # an error has a button that opens the manual at its code
        return {name for kind, name in drawn(obj) if kind == "operator"} - {"wm.url_open"}

    buttons = operators()

    def refused(operator, why, **words):
        with pytest.raises(RuntimeError, match=why):
            operator(**words)
        assert session.running == {} and operators() == buttons
        assert bpy.context.active_object == obj and obj.mode == "OBJECT" and len(bpy.data.scenes) == 1
        for name in ("bake", "preview_tets", "export", "free_bake", "remove", "add_group", "add_handle"):
            assert getattr(bpy.ops.conjac, name).poll(), name

    refused(bpy.ops.conjac.remove_handle, "only 0 handles", index=2)
    obj.conjac.pin_group = "Missing"
    refused(bpy.ops.conjac.bake, '"Jelly": there is no vertex group "Missing"')
    refused(bpy.ops.conjac.preview_tets, '"Jelly": there is no vertex group "Missing"')
    obj.conjac.pin_group = "Pin"
    mesh, obj.data = obj.data, bpy.data.meshes.new("Nothing")
    for key in ("pc2", "abc", "shapekeys"):
        refused(bpy.ops.conjac.export, '"Jelly": it(s mesh)? has 0 vertices', format=key)
    obj.data = mesh
    first.unlink()
    refused(bpy.ops.conjac.export, '"Jelly": nothing is baked yet', format="abc")
    first.mkdir()  # a file that cannot be deleted
    refused(bpy.ops.conjac.free_bake, '"Jelly": .*000001.npy')
    first.rmdir()
    first.write_bytes(whole)
    assert bpy.ops.conjac.bake() == {"FINISHED"}
    assert_plays(obj, (1, 3))


def test_a_script_that_bakes_what_is_no_body_is_refused(scene):  # noqa: F811
    obj = add_jelly()
    obj.conjac.kind = "collider"
    assert obj.conjac.bake() == 2 and addon_bake.status(obj).state == "none" and session.running == {}
