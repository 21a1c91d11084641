"""Mixed stage solver by the panel's menu: a bar of stiff and soft layers, as HETERO is, baked by the add-on."""

import numpy as np
import pytest

bpy = pytest.importorskip("bpy")

from jelly import LAST, add_jelly, assert_plays, frames_of, rest_of, scene, seen_at  # noqa: E402, F401
from test_blender_cli import run  # noqa: E402, F401


def layers():
    """Return a cube that hangs from its top, which is jerked, with a layer of 1e8 Pa below its middle, 1e4 Pa else."""
    body = add_jelly("Layers", 1 / 48)
    for frame, x in ((1, 0.0), (5, 0.15), (9, 0.0)):
        body.location.x = x
        body.keyframe_insert("location", frame=frame)
    settings = body.conjac
    settings.youngs_modulus, settings.youngs_modulus_high, settings.carry = 1.0e4, 1.0e8, "straight"
    settings.solver.method, settings.solver.integrator = "vanilla", "sdirk2"
    stiff = (rest_of(body)[:, 2] < -0.02) & (rest_of(body)[:, 2] > -0.05)
    body.vertex_groups.new(name="Stiffness").add(np.flatnonzero(stiff).tolist(), 1.0, "REPLACE")
    return body


def test_layers_bake_by_two_iterations_a_stage_as_by_newtons_method(scene, run):  # noqa: F811
    body, ends = layers(), []
    for kind in ("newton_d", "mixed"):
        body.conjac.solver.stage_solver = kind
        assert run(["bake", "--replace"]) == 0
        assert len(frames_of(body)) == LAST
        assert_plays(body, (1, LAST // 2, LAST))
        ends.append(np.stack([seen_at(body, frame) for frame in range(1, LAST + 1)]))
    moved = np.abs(ends[0] - ends[0][0]).max()
    assert moved > 0.02  # in the cube's own space
    assert np.abs(ends[1] - ends[0]).max() < 0.03 * moved


def test_its_number_stays_in_saved_files(scene, tmp_path):  # noqa: F811
    body = layers()
    body.conjac.solver.stage_solver = "mixed"
    menu = body.conjac.solver.bl_rna.properties["stage_solver"].enum_items
    assert menu["mixed"].name == "Mixed" and menu["mixed"].value == 9
    body.conjac.solver.mixed_iterations = 3
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "mixed.blend"))
    bpy.ops.wm.open_mainfile(filepath=str(tmp_path / "mixed.blend"))
    solver = bpy.data.objects["Layers"].conjac.solver
    assert (solver.stage_solver, solver.mixed_iterations) == ("mixed", 3)
