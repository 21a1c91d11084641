"""Play Live in real Blender: a body moves on its own object, and nothing of that is stored."""

import importlib.util
import os
import signal
import time
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

bpy = pytest.importorskip("bpy")

from drawn_panels import drawn  # noqa: E402
from jelly import frames_of, rest_of, scene  # noqa: E402, F401
from played import fill, jelly, kept_tets, play, play_until, seen, unfilled  # noqa: E402, F401

from conjac.conjac_addon import live  # noqa: E402
from conjac.conjac_addon.live import session, shape  # noqa: E402
from conjac.solver.errors import BadInput  # noqa: E402


def labels(obj):
    """Return all labels in an object's panels."""
    return " ".join(str(text) for kind, text in drawn(obj) if kind == "label")


def test_it_moves_on_the_object_and_leaves_nothing(unfilled):  # noqa: F811
    jelly = unfilled  # noqa: F811
    rest, modifiers = rest_of(jelly), [modifier.name for modifier in jelly.modifiers]
    blocks = {name: len(getattr(bpy.data, name)) for name in ("objects", "meshes", "node_groups", "cache_files")}
    played = play(jelly)
    assert live.is_played(jelly) and live.played(jelly) is played
    assert "A bake is exact" in labels(jelly)
    moved = seen(jelly)
    assert moved[:, 2].min() < rest[:, 2].min() - 0.001  # it sags
    pinned = rest[:, 2] > 0.09
    np.testing.assert_allclose(moved[pinned], rest[pinned], atol=1e-5)
    np.testing.assert_array_equal(rest_of(jelly), rest)  # the mesh itself is as it was
    folder = played._folder
    played.stop()
    assert played.ended == "" and not live.is_played(jelly)
    assert "A bake is exact" not in labels(jelly)
    np.testing.assert_array_equal(seen(jelly), rest)
    assert [modifier.name for modifier in jelly.modifiers] == modifiers and jelly.data.shape_keys is None
    assert blocks == {name: len(getattr(bpy.data, name)) for name in blocks}
    assert not folder.exists() and played._worker.exit_code is not None


def test_modifiers_below_are_applied_to_what_moves(jelly):  # noqa: F811
    jelly.modifiers.new("Smooth", "SUBSURF").levels = 1
    whole = len(seen(jelly))
    play(jelly)
    moved = seen(jelly)
    assert len(moved) == whole > len(jelly.data.vertices)
    assert [modifier.name for modifier in jelly.modifiers] == ["ConJac Live", "Smooth"]


def test_it_is_shown_over_a_bake_which_plays_on_afterwards(jelly):  # noqa: F811
    bpy.context.scene.frame_end = 3
    assert jelly.conjac.bake() == 0
    bpy.context.scene.frame_set(3)
    baked = seen(jelly)
    played = play(jelly, 0.5)
    assert [modifier.name for modifier in jelly.modifiers] == ["ConJac", "ConJac Live"]
    assert np.abs(seen(jelly) - baked).max() > 1e-4
    played.stop()
    np.testing.assert_array_equal(seen(jelly), baked)


def test_a_file_that_is_saved_meanwhile_has_nothing_of_it(jelly, tmp_path):  # noqa: F811
    played = play(jelly)
    path = tmp_path / "saved.blend"
    bpy.ops.wm.save_as_mainfile(filepath=str(path), copy=True)
    assert shape.find(jelly) is not None  # and it plays on
    before = played.frame["time"]
    play_until(played, lambda: played.frame["time"] > before)
    assert b"ConJac Live" not in path.read_bytes()
    bpy.ops.wm.open_mainfile(filepath=str(path))
    assert played.ended is not None and played._worker.exit_code is not None
    assert [modifier.name for modifier in bpy.data.objects["Jelly"].modifiers] == []


def test_what_blender_saved_by_itself_is_mended_when_it_is_loaded(jelly, tmp_path):  # noqa: F811
    played = play(jelly)
    handlers = list(bpy.app.handlers.save_pre)
    bpy.app.handlers.save_pre.clear()  # as where Blender saves every few minutes
    try:
        path = tmp_path / "auto.blend"
        bpy.ops.wm.save_as_mainfile(filepath=str(path), copy=True, compress=False)
    finally:
        bpy.app.handlers.save_pre.extend(handlers)
    assert b"ConJac Live" in path.read_bytes()
    played.stop()
    bpy.ops.wm.open_mainfile(filepath=str(path))
    assert [modifier.name for modifier in bpy.data.objects["Jelly"].modifiers] == []


def test_undo_while_it_plays_and_after_it_has_ended(jelly):  # noqa: F811
    bpy.ops.ed.undo_push(message="before")
    played = play(jelly)
    jelly.location.x = 1.0
    bpy.ops.ed.undo_push(message="moved")
    bpy.ops.ed.undo()
    back = bpy.data.objects["Jelly"]
    assert back.location.x == 0.0 and shape.find(back) is not None
    before = played.frame["time"]
    play_until(played, lambda: played.frame["time"] > before)
    played.stop()
    bpy.ops.ed.redo()
    assert shape.find(bpy.data.objects["Jelly"]) is None  # that step was made while it played


def test_a_worker_that_is_killed_ends_it_with_a_sentence(jelly):  # noqa: F811
    rest = rest_of(jelly)
    played = play(jelly)
    os.kill(played._worker.pid, signal.SIGKILL)
    until = time.monotonic() + 20.0
    while played.tick() and time.monotonic() < until:
        time.sleep(0.01)
    assert played.failed and "ended unexpectedly" in played.ended and "Jelly" in played.ended
    np.testing.assert_array_equal(seen(jelly), rest)


def test_a_mesh_that_changes_ends_it_with_a_sentence(jelly):  # noqa: F811
    played = play(jelly)
    jelly.data.vertices.add(1)
    assert not played.tick()
    assert played.ended == '"Jelly": its mesh has changed. Press Play Live again.'
    assert shape.find(jelly) is None


def test_a_render_beside_it_is_not_disturbed(jelly, monkeypatch):  # noqa: F811
    """Rendering is simulated here; test_window_live.py has a real one behind a window."""
    played = play(jelly)
    writes, shown = [], seen(jelly)
    monkeypatch.setattr(session, "is_rendering", lambda: True)
    monkeypatch.setattr(played._board, "write_control", lambda *words: writes.append(words))
    jelly.location.x = 0.5
    for _ in range(20):
        assert played.tick()
        time.sleep(0.01)
    np.testing.assert_array_equal(seen(jelly), shown)
    assert not writes and not shape.find(jelly).show_render  # a render shows the object as it is, or its bake
    monkeypatch.undo()
    before = played.frame["time"]
    play_until(played, lambda: played.frame["time"] > before)


def test_keyframes_lead_it_while_the_timeline_plays(jelly):  # noqa: F811
    scene = bpy.context.scene  # noqa: F811
    for frame, x in ((1, 0.0), (12, 0.3)):
        jelly.location.x = x
        jelly.keyframe_insert("location", index=0, frame=frame)
    scene.frame_set(1)
    rest, pinned = rest_of(jelly), rest_of(jelly)[:, 2] > 0.09
    played = play(jelly)
    for frame in range(1, 13):
        scene.frame_set(frame)
        before = played.frame["time"]
        play_until(played, lambda before=before: played.frame["time"] > before + 1 / 24)
    assert jelly.location.x == pytest.approx(0.3)
    swung = seen(jelly)
    np.testing.assert_allclose(swung[pinned], rest[pinned], atol=1e-3)
    assert np.linalg.norm(swung - rest, axis=1).max() > 0.005  # what hangs lags behind


def test_edit_mode_ends_it_with_a_sentence(jelly):  # noqa: F811
    played = play(jelly)
    bpy.ops.object.mode_set(mode="EDIT")
    assert not played.tick() and "it is in Edit Mode" in played.ended
    bpy.ops.object.mode_set(mode="OBJECT")
    assert [modifier.name for modifier in jelly.modifiers] == []


def test_an_object_that_is_deleted_ends_it_with_a_sentence(jelly):  # noqa: F811
    played = play(jelly)
    bpy.data.objects.remove(jelly)
    assert not played.tick() and "was deleted" in played.ended
    assert played._worker.exit_code is not None


def test_a_hand_pulls_it(jelly):  # noqa: F811
    played = play(jelly)
    low = seen(jelly)
    corner = int(np.argmin(low.sum(axis=1)))
    position = np.array(jelly.matrix_world) @ [*low[corner], 1.0]
    grab = played.take(position[:3])
    played.pull(grab, position[:3] + [-0.1, 0.0, 0.0], harder=4.0)
    before = played.frame["time"]
    play_until(played, lambda: played.frame["time"] > before + 0.5)
    assert seen(jelly)[corner, 0] < low[corner, 0] - 0.03
    played.let_go(grab)
    assert played.grabs == {}


def test_the_wheel_makes_a_hand_stronger_and_weaker(jelly):  # noqa: F811
    from conjac.conjac_addon.live.hand import HARDER, Hand

    played = play(jelly, 0.05)
    hand = Hand(played)
    assert not hand.handle(None, SimpleNamespace(type="WHEELUPMOUSE"))  # it is Blender's own while nothing is grabbed
    hand._grab = played.take(np.zeros(3))
    for event, strength in (("WHEELUPMOUSE", HARDER), ("WHEELUPMOUSE", HARDER**2), ("WHEELDOWNMOUSE", HARDER)):
        assert hand.handle(None, SimpleNamespace(type=event))
        assert played.grabs[hand._grab]["strength"][0] == pytest.approx(strength)
    hand.let_go()
    assert played.grabs == {}


def test_a_collider_with_keyframes_pushes_it(jelly):  # noqa: F811
    scene = bpy.context.scene  # noqa: F811
    bpy.ops.mesh.primitive_cube_add(size=0.2, location=(-0.35, 0.0, -0.05))
    pusher = bpy.context.object
    bpy.ops.conjac.add_collider()
    for frame, x in ((1, -0.35), (13, -0.1)):
        pusher.location.x = x
        pusher.keyframe_insert("location", index=0, frame=frame)
    scene.frame_set(1)
    jelly.conjac.contact.collides_with = "all"
    bpy.context.view_layer.objects.active = jelly
    bpy.context.view_layer.update()
    played = play(jelly, 0.1)
    low = rest_of(jelly)[:, 2] < -0.05
    assert seen(jelly)[low, 0].min() < -0.08
    for frame in range(2, 14):
        scene.frame_set(frame)
        before = played.frame["time"]
        play_until(played, lambda before=before: played.frame["time"] > before + 1 / 24)
    assert seen(jelly)[low, 0].min() > -0.03  # the pusher's face is at 0


def test_what_is_pinned_follows_the_object_that_is_moved(jelly):  # noqa: F811
    played = play(jelly)
    rest = rest_of(jelly)
    pinned = rest[:, 2] > 0.09
    jelly.location = (0.3, 0.0, 0.0)
    bpy.context.view_layer.update()
    before = played.frame["time"]
    play_until(played, lambda: played.frame["time"] > before + 0.3)
    np.testing.assert_allclose(seen(jelly)[pinned], rest[pinned], atol=1e-4)


def test_a_collider_that_is_moved_pushes_it(jelly):  # noqa: F811
    jelly.vertex_groups.remove(jelly.vertex_groups["Pin"])
    jelly.location.z = 0.5
    bpy.ops.mesh.primitive_cube_add(size=1.0, location=(0.0, 0.0, -0.5))
    floor = bpy.context.object
    bpy.ops.conjac.add_collider()
    jelly.conjac.contact.collides_with = "all"
    fill(jelly)
    played = play(jelly, 1.5)
    lowest = (seen(jelly)[:, 2] + jelly.location.z).min()
    assert -0.03 < lowest < 0.03, lowest
    for k in range(30):
        floor.location.z = -0.5 + 0.2 * (k + 1) / 30
        bpy.context.view_layer.update()
        before = played.frame["time"]
        play_until(played, lambda before=before: played.frame["time"] > before + 0.02)
    before = played.frame["time"]
    play_until(played, lambda: played.frame["time"] > before + 0.3)
    assert (seen(jelly)[:, 2] + jelly.location.z).min() > 0.15


def test_a_scaled_scene_and_a_turned_object_look_the_same(jelly):  # noqa: F811
    bpy.context.scene.unit_settings.scale_length = 0.5
    jelly.scale, jelly.rotation_euler = (2.0, 2.0, 2.0), (0.0, 0.0, 1.0)
    fill(jelly)
    rest = rest_of(jelly)
    play(jelly, 0.1)
    moved, pinned = seen(jelly), rest[:, 2] > 0.09
    np.testing.assert_allclose(moved[pinned], rest[pinned], atol=1e-4)
    assert 0.0005 < rest[:, 2].min() - moved[:, 2].min() < 0.1


def test_what_is_nothing_of_conjac_is_refused(jelly):  # noqa: F811
    jelly.conjac.enabled = False
    with pytest.raises(BadInput, match="neither a ConJac body nor a mechanism"):
        session.Played(jelly, bpy.context.scene)
    assert session.playing == {}


def test_a_bake_ends_it_and_is_the_same_as_without(jelly):  # noqa: F811
    bpy.context.scene.frame_end = 2
    played = play(jelly)
    assert jelly.conjac.bake() == 0 and played.ended == ""
    assert [modifier.name for modifier in jelly.modifiers] == ["ConJac"]
    baked = frames_of(jelly)
    bpy.ops.conjac.free_bake()
    assert jelly.conjac.bake() == 0 and frames_of(jelly) == baked


def test_switching_the_extension_off_ends_it(jelly):  # noqa: F811
    import conjac

    played = play(jelly)
    conjac.unregister()
    assert played.ended == "" and [modifier.name for modifier in jelly.modifiers] == []
    conjac.register()


def test_the_key_is_free_in_blenders_own_keymap(jelly):  # noqa: F811
    folder = Path(bpy.utils.system_resource("SCRIPTS"), "presets", "keyconfig", "keymap_data")
    spec = importlib.util.spec_from_file_location("keymaps", folder / "blender_default.py")
    made = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(made)
    maps = {name: items["items"] for name, _, items in made.generate_keymaps(made.Params())}
    taken = [(name, item[0]) for name, items in maps.items() for item in items if item[1] == live.KEY]
    assert taken and not {name for name, _ in taken} & {"3D View", "Object Mode", "Weight Paint", "Pose", "Screen",
                                                        "Window", "Frames", "User Interface"}, taken
    own = bpy.context.window_manager.keyconfigs.addon
    assert [item.idname for item in own.keymaps["3D View"].keymap_items] == [live.OPERATOR]
