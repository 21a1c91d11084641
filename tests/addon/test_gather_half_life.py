"""Wobble Half-Life and the ground's stiffness per area in the add-on's settings and in the solver's job."""

import bpy
import numpy as np
from gathered_jobs import gathered

from solver.job.load import load


def changed(obj, folder):
    from conjac.conjac_addon.gather import changed_settings

    return changed_settings(obj, bpy.context.scene, folder)


def test_a_number_arrives_and_makes_the_bake_stale(soft_cube, tmp_path):
    assert gathered(soft_cube, tmp_path)[0].bodies[0].wobble_half_life == 0.0
    assert "wobble_half_life" not in (tmp_path / "scene.json").read_text()
    soft_cube.conjac.wobble_half_life = 0.4
    assert changed(soft_cube, tmp_path) == ["Wobble Half-Life"]
    assert gathered(soft_cube, tmp_path)[0].bodies[0].wobble_half_life == 0.4
    assert changed(soft_cube, tmp_path) == []


def test_keyframes_are_read_at_every_sample(soft_cube, tmp_path):
    settings = soft_cube.conjac
    settings.samples_per_frame = 2
    for frame, value in ((1, 0.0), (4, 0.6)):
        settings.wobble_half_life = value
        soft_cube.keyframe_insert("conjac.wobble_half_life", frame=frame)
    scene, array = gathered(soft_cube, tmp_path)
    samples = array(scene.bodies[0].wobble_half_life)
    np.testing.assert_allclose(samples[[0, 3, 6]], [0.0, 0.3, 0.6], atol=1e-6)
    load(tmp_path)
    assert changed(soft_cube, tmp_path) == []


def test_the_ground_is_stiff_by_area_where_that_is_set(soft_cube, tmp_path):
    settings = soft_cube.conjac
    settings.use_ground = True
    assert gathered(soft_cube, tmp_path)[0].ground.stiffness_per_area is None
    settings.ground_stiffness_per_area = 2.0e6
    assert changed(soft_cube, tmp_path) == ["Stiffness per Area"]
    assert gathered(soft_cube, tmp_path)[0].ground.stiffness_per_area == 2.0e6
