"""Pin weights animated by modifiers: pins that fade out are released, and pins that appear later are reported."""

import json

import numpy as np
import pytest

bpy = pytest.importorskip("bpy")

from jelly import add_jelly, rest_of, scene, seen_at  # noqa: E402, F401

from conjac.conjac_addon import gather  # noqa: E402

FADES = 5  #: first frame without any weight


def fade(obj, low=0.0, frame=FADES):
    """Change all weights of Pin to `low` at a frame, by a Vertex Weight Mix with keyframes."""
    mix = obj.modifiers.new("Release", "VERTEX_WEIGHT_MIX")
    mix.vertex_group_a, mix.mix_mode, mix.mix_set, mix.default_weight_b = "Pin", "SET", "A", low
    for when, weight in ((frame - 1, 0.0), (frame, 1.0)):
        mix.mask_constant = weight
        mix.keyframe_insert("mask_constant", frame=when)
    bpy.context.scene.frame_set(1)


def add_flag():
    bpy.ops.mesh.primitive_grid_add(x_subdivisions=6, y_subdivisions=4, size=1.0, location=(0.0, 0.0, 2.0),
                                    rotation=(np.pi / 2, 0.0, 0.0))
    flag = bpy.context.object
    bpy.ops.conjac.add_cloth()
    pinned = rest_of(flag)[:, 0] < -0.49
    flag.vertex_groups.new(name="Pin").add(np.flatnonzero(pinned).tolist(), 1.0, "REPLACE")
    return flag, pinned


def job_of(obj, folder):
    notes = []
    gather.write_job(obj, bpy.context.scene, folder, notes.append)
    return json.loads((folder / "scene.json").read_text())["bodies"][0], notes


def test_a_flag_is_let_go_where_its_weights_fade(scene):  # noqa: F811
    flag, pinned = add_flag()
    fade(flag)
    assert flag.conjac.bake(wait=True) == 0
    first, then, after = (seen_at(flag, frame)[pinned] for frame in (1, FADES, FADES + 4))
    assert np.abs(then - first).max() < 1e-6 and (after[:, 1] < first[:, 1] - 0.01).all()  # its y is up in the world


def test_a_jelly_is_let_go_too(scene):  # noqa: F811
    obj = add_jelly()
    fade(obj)
    assert obj.conjac.bake(wait=True) == 0
    pinned = rest_of(obj)[:, 2] > 0.09
    first, then, after = (seen_at(obj, frame)[pinned] for frame in (1, FADES, FADES + 4))
    assert np.abs(then - first).max() < 1e-6 and (after[:, 2] < first[:, 2] - 0.05).all()


def test_weights_that_stay_say_nothing(scene, tmp_path):  # noqa: F811
    flag, _ = add_flag()
    flag.conjac.soft_pins = False
    fade(flag, low=0.6)
    assert "until" not in job_of(flag, tmp_path / "stays")[0]["pin"]


def test_what_pins_cannot_do_is_reported(scene, tmp_path):  # noqa: F811
    """Pins do not appear later, and cloth with Sharp Edges is not released."""
    flag, pinned = add_flag()
    flag.conjac.soft_pins = False
    flag.vertex_groups.new(name="All").add(range(len(pinned)), 1.0, "REPLACE")
    mix = flag.modifiers.new("Grip", "VERTEX_WEIGHT_MIX")
    mix.vertex_group_a, mix.vertex_group_b, mix.mix_mode, mix.mix_set = "Pin", "All", "SET", "B"
    for when, weight in ((6, 0.0), (7, 1.0)):
        mix.mask_constant = weight
        mix.keyframe_insert("mask_constant", frame=when)
    body, notes = job_of(flag, tmp_path / "grips")
    assert "until" not in body["pin"]
    later = np.count_nonzero(~pinned)
    assert any(f"{later} vertices are painted with Pin only at later frames" in text for text in notes)
    flag.modifiers.clear()
    fade(flag)
    flag.conjac.sharp_edges = True
    body, notes = job_of(flag, tmp_path / "sharp")
    assert "until" not in body["pin"]
    assert any(f"its Pin fades at frame {FADES}, but cloth with Sharp Edges is held to the" in text for text in notes)
