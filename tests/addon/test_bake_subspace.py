"""Method Subspace by the panel's menu: a draft of layers of stiff and soft, as HETERO is, baked by the add-on."""

import numpy as np
import pytest

bpy = pytest.importorskip("bpy")

from jelly import LAST, add_jelly, assert_plays, frames_of, scene, seen_at  # noqa: E402, F401
from test_bake_mixed_fem import layers  # noqa: E402
from test_blender_cli import run  # noqa: E402, F401


def test_a_draft_of_layers_swings_as_the_whole_bake_does(scene, run):  # noqa: F811
    body, ends = layers(), []
    for method in ("vanilla", "subspace"):
        body.conjac.solver.method = method
        assert run(["bake", "--replace"]) == 0
        assert len(frames_of(body)) == LAST
        assert_plays(body, (1, LAST // 2, LAST))
        ends.append(np.stack([seen_at(body, frame) for frame in range(1, LAST + 1)]))
    moved = np.abs(ends[0] - ends[0][0]).max()
    assert moved > 0.02  # in the cube's own space
    assert np.abs(ends[1] - ends[0]).max() < 0.2 * moved


def test_its_number_and_its_settings_stay_in_saved_files(scene, tmp_path):  # noqa: F811
    body = layers()
    body.conjac.solver.method = "subspace"
    menu = body.conjac.solver.bl_rna.properties["method"].enum_items
    assert menu["subspace"].name == "Subspace" and menu["subspace"].value == 2
    body.conjac.solver.subspace_weights = 9
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "draft.blend"))
    bpy.ops.wm.open_mainfile(filepath=str(tmp_path / "draft.blend"))
    solver = bpy.data.objects["Layers"].conjac.solver
    assert (solver.method, solver.subspace_weights, solver.subspace_points) == ("subspace", 9, 0)


def test_a_draft_falls_on_a_collider_and_stays_on_it(scene, run):  # noqa: F811
    """The collider is a plane without a volume, and all settings of Collisions have their defaults."""
    body = add_jelly()
    body.vertex_groups.remove(body.vertex_groups["Pin"])
    body.location.z = 0.13
    settings = body.conjac
    settings.youngs_modulus, settings.use_ground = 3.0e4, False
    settings.solver.method, settings.solver.integrator = "subspace", "sdirk2"
    settings.contact.collides_with = "all"
    bpy.ops.mesh.primitive_plane_add(size=2.0)
    bpy.context.object.conjac.kind = "collider"
    bpy.context.view_layer.objects.active = body
    assert run(["bake", "--replace"]) == 0
    lowest = [0.13 + float(seen_at(body, frame)[:, 2].min()) for frame in range(1, LAST + 1)]
    assert min(lowest) > -0.005 and max(lowest[4:]) < 0.03, lowest
