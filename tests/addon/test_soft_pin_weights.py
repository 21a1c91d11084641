"""Soft pins from the buttons on: weights of Pin that are strengths, their keyframes, and files of older versions."""

import bpy
import numpy as np
import pytest
from drawn_panels import FakeLayout
from gathered_jobs import gathered, paint
from jelly import LAST, add_jelly, rest_of, scene, seen_at  # noqa: F401

from solver.job.load import load

G = 9.81


def add_flag(weight=0.5, group="Pin"):
    """Add level cloth of half a metre in the air, painted all over."""
    bpy.ops.mesh.primitive_grid_add(x_subdivisions=4, y_subdivisions=4, size=0.5, location=(0.0, 0.0, 2.0))
    flag = bpy.context.object
    assert bpy.ops.conjac.add_cloth() == {"FINISHED"}
    paint(flag, group, range(len(flag.data.vertices)), weight)
    return flag


def hung(obj, frame=LAST):
    return float(np.mean(rest_of(obj)[:, 2] - seen_at(obj, frame)[:, 2]))


def test_what_is_painted_half_hangs_a_little_lower(scene):  # noqa: F811
    """At rest it has sunk by g over the stiffness; a weight of 2/3 is twice as stiff."""
    scene.frame_end = 30
    flag = add_flag()
    flag.conjac.pin_stiffness, flag.conjac.wobble_half_life = 500.0, 0.05
    assert flag.conjac.bake(wait=True) == 0
    assert hung(flag, 30) == pytest.approx(G / 500.0, rel=0.02)
    paint(flag, "Pin", range(25), 2.0 / 3.0)
    assert flag.conjac.bake(wait=True) == 0
    assert hung(flag, 30) == pytest.approx(G / 1000.0, rel=0.02)


def test_a_body_is_hard_where_it_is_painted_1_and_follows_its_animation_softly(scene):  # noqa: F811
    obj = add_jelly()
    obj.conjac.soft_pins, obj.conjac.method = True, "vanilla"
    rest = rest_of(obj)
    paint(obj, "Pin", np.flatnonzero(np.abs(rest[:, 2]) < 0.09).tolist(), 0.5)
    for frame, x in ((1, 0.0), (6, 0.2)):
        obj.location.x = x
        obj.keyframe_insert("location", frame=frame)
    out = {}
    for stiffness in (1.0, 3.0e4):
        obj.conjac.pin_stiffness = stiffness
        assert obj.conjac.bake(wait=True) == 0
        # seen in its own space, which moves with it
        out[stiffness] = seen_at(obj, 5) - rest
    hard, below = rest[:, 2] > 0.09, np.abs(rest[:, 2]) < 0.09
    assert all(np.abs(array[hard]).max() < 1e-5 for array in out.values())
    lag = {k: np.abs(positions[below, 0]).max() for k, positions in out.items()}
    assert lag[3.0e4] < 0.2 * lag[1.0] and lag[1.0] > 0.01


def test_keyframes_of_the_stiffness_are_read_at_every_sample(soft_cube, tmp_path):
    soft_cube.conjac.soft_pins = True
    paint(soft_cube, "Pin", range(4), 0.5)
    for frame, value in ((1, 100.0), (4, 1000.0)):
        soft_cube.conjac.pin_stiffness = value
        soft_cube.keyframe_insert("conjac.pin_stiffness", frame=frame)
    read, array = gathered(soft_cube, tmp_path)
    np.testing.assert_allclose(array(read.bodies[0].pin.stiffness)[[0, 3, 6]], [100.0, 550.0, 1000.0], rtol=1e-6)
    load(tmp_path)
    from conjac.conjac_addon.gather import changed_settings

    assert changed_settings(soft_cube, bpy.context.scene, tmp_path) == []


def test_weights_that_fade_give_way_by_and_by(scene):  # noqa: F811
    """A Vertex Weight Mix takes pins from hard to none in eight frames, soft in between."""
    scene.frame_end = 24
    flag = add_flag(1.0)
    flag.conjac.pin_stiffness, flag.conjac.drag, flag.conjac.air_friction = 3000.0, 0.0, 0.0
    flag.conjac.wobble_half_life = 0.0
    mix = flag.modifiers.new("Release", "VERTEX_WEIGHT_MIX")
    mix.vertex_group_a, mix.mix_mode, mix.mix_set, mix.default_weight_b = "Pin", "SET", "A", 0.0
    for when, weight in ((4, 0.0), (12, 1.0)):
        mix.mask_constant = weight
        mix.keyframe_insert("mask_constant", frame=when)
    scene.frame_set(1)
    assert flag.conjac.bake(wait=True) == 0
    assert abs(hung(flag, 4)) < 1e-6
    assert 1e-4 < hung(flag, 9) < 0.01
    at = [hung(flag, frame) for frame in (18, 21, 24)]
    assert at[2] - 2 * at[1] + at[0] == pytest.approx(G * (3 / 24) ** 2, rel=1e-3), "it falls freely"


def test_a_number_makes_the_bake_stale(scene):  # noqa: F811
    from conjac.conjac_addon import bake

    flag = add_flag()
    assert flag.conjac.bake(wait=True) == 0
    assert bake.status(flag).state == "complete"
    flag.conjac.pin_stiffness = 50.0
    assert "Pin Stiffness" in bake.status(flag).text
    flag.conjac.pin_stiffness = 1000.0
    assert bake.status(flag).state == "complete"
    flag.conjac.soft_pins = False
    assert bake.status(flag).state == "stale"


def test_an_older_file_pins_hard_above_a_half_and_reports_it(soft_cube, tmp_path):
    """Settings of such files, and of scripts that set the kind themselves, have no soft pins."""
    assert not soft_cube.conjac.soft_pins
    paint(soft_cube, "Pin", (0, 1, 2), 0.3)
    paint(soft_cube, "Pin", (4, 5), 0.7)
    notes = []
    read, _ = gathered(soft_cube, tmp_path, notes=notes)
    assert read.bodies[0].pin.stiffness is None
    [message] = [note for note in notes if "between 0 and 1" in note]
    assert '"Cube": 5 vertices have weights of Pin' in message and "above 0.5 they hold hard" in message
    soft_cube.conjac.soft_pins = True
    notes = []
    read, array = gathered(soft_cube, tmp_path, notes=notes)
    assert read.bodies[0].pin.stiffness == 1000.0 and not any("between 0 and 1" in note for note in notes)
    assert sorted(array(read.bodies[0].pin.weights)[[0, 4, 7]]) == pytest.approx([0.0, 0.3, 0.7])


def test_new_bodies_have_soft_pins_and_what_was_set_stays(addon):
    for operator in (bpy.ops.conjac.add_soft_body, bpy.ops.conjac.add_cloth):
        bpy.ops.mesh.primitive_cube_add()
        assert operator() == {"FINISHED"} and bpy.context.object.conjac.soft_pins
    bpy.ops.mesh.primitive_cube_add()
    bpy.context.object.conjac.soft_pins = False
    assert bpy.ops.conjac.add_cloth() == {"FINISHED"} and not bpy.context.object.conjac.soft_pins


def test_sharp_edges_keep_hard_pins(addon, tmp_path):
    flag = add_flag(0.7)
    bpy.context.scene.frame_end = 2
    flag.conjac.sharp_edges = True
    notes = []
    read, _ = gathered(flag, tmp_path, notes=notes)
    assert read.bodies[0].pin.stiffness is None and any("Sharp Edges do not support Soft "
                                                        "Pins" in note for note in notes)


def test_nothing_painted_is_refused(soft_cube, tmp_path):
    from conjac.solver.errors import BadInput

    soft_cube.conjac.soft_pins = True
    paint(soft_cube, "Pin", range(8), 0.0)
    with pytest.raises(BadInput, match="painted above 0, so nothing is pinned"):
        gathered(soft_cube, tmp_path)


def test_the_panels_show_them_once_pin_is_painted(addon):
    from conjac.conjac_addon.ui.holding import draw

    for operator in (bpy.ops.conjac.add_soft_body, bpy.ops.conjac.add_cloth):
        bpy.ops.mesh.primitive_cube_add()
        operator()
        obj, log = bpy.context.object, []
        draw(FakeLayout(log), bpy.context)
        assert ("prop", "soft_pins") not in log
        paint(obj, "Pin", range(4))
        draw(FakeLayout(log), bpy.context)
        assert ("prop", "soft_pins") in log and ("prop", "pin_stiffness") in log
        obj.conjac.soft_pins, log[:] = False, []
        draw(FakeLayout(log), bpy.context)
        assert ("prop", "pin_stiffness") not in log
