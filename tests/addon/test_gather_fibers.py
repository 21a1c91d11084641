"""The artist's direction, combing and keyframes of fibers in the job."""

import bpy
import numpy as np
import pytest
from gathered_jobs import gathered, paint

import conjac
from solver.job.load import load


@pytest.fixture()
def muscle(soft_cube):
    """Return a cube with muscle fibers along its own x, turned by a quarter about z."""
    soft_cube.conjac.fiber_material, soft_cube.conjac.fiber_field = "afung", "straight"
    soft_cube.rotation_euler.z = np.pi / 2
    bpy.context.view_layer.update()
    return soft_cube


def test_without_fibers_the_scene_does_not_know_of_any(soft_cube, tmp_path):
    body = gathered(soft_cube, tmp_path)[0].bodies[0]
    assert body.fiber_material is None and body.fiber_activation is None
    assert "fiber" not in (tmp_path / "scene.json").read_text()


def test_choices_and_numbers_arrive(muscle, tmp_path):
    settings = muscle.conjac
    settings.fiber_modulus, settings.activation, settings.fiber_field = 2.0e5, 0.4, "helix"
    settings.fiber_x, settings.fiber_z, settings.fiber_angle = 1.0, 0.0, 0.5
    paint(muscle, "Fibers", [0, 1], 0.7)
    body = gathered(muscle, tmp_path)[0].bodies[0]
    assert body.fiber_material.kind == "afung"
    assert body.fiber_material.params == {"fiber_modulus": 2.0e5, "fiber_stiffening": 5.0, "activation": 0.4}
    assert body.fiber_field.params == {"fiber_x": 1.0, "fiber_y": 0.0, "fiber_z": 0.0, "fiber_angle": 0.5}
    assert body.fibers and body.fiber_activation is None
    load(tmp_path)  # and the solver takes it


def test_keyframes_of_activation_are_read_at_every_sample(muscle, tmp_path):
    muscle.conjac.samples_per_frame = 2
    for frame, value in ((1, 0.0), (4, 0.6)):
        muscle.conjac.activation = value
        muscle.keyframe_insert("conjac.activation", frame=frame)
    scene, array = gathered(muscle, tmp_path)
    assert "activation" not in scene.bodies[0].fiber_material.params
    samples = array(scene.bodies[0].fiber_activation)
    assert len(samples) == 7 and (np.diff(samples) > 0.01).all()
    np.testing.assert_allclose(samples[[0, 3, 6]], [0.0, 0.3, 0.6], atol=1e-6)
    load(tmp_path)
    muscle.conjac.fiber_material = "astvk"  # which cannot be activated
    assert gathered(muscle, tmp_path)[0].bodies[0].fiber_activation is None


def test_a_changed_fiber_makes_the_bake_stale_and_keyframes_do_not(muscle, tmp_path):
    from conjac.conjac_addon.gather import changed_settings

    gathered(muscle, tmp_path)
    scene = bpy.context.scene
    assert changed_settings(muscle, scene, tmp_path) == []
    muscle.conjac.fiber_modulus *= 2
    assert changed_settings(muscle, scene, tmp_path) == ["Fiber Modulus"]
    muscle.keyframe_insert("conjac.activation", frame=1)
    gathered(muscle, tmp_path)
    muscle.conjac.activation = 0.9  # where the artist's cursor stands
    assert changed_settings(muscle, scene, tmp_path) == []


def test_the_attribute_is_turned_into_world_space(muscle, tmp_path):
    muscle.conjac.fiber_field = "attribute"
    with pytest.raises(conjac.solver.errors.BadInput, match='no vector attribute "conjac_fiber"'):
        gathered(muscle, tmp_path)
    attribute = muscle.data.attributes.new("conjac_fiber", "FLOAT_VECTOR", "POINT")
    attribute.data.foreach_set("vector", np.tile([2.0, 0.0, 1.0], 8))
    scene, array = gathered(muscle, tmp_path)
    np.testing.assert_allclose(array(scene.bodies[0].fiber_vectors), np.tile([0.0, 2.0, 1.0], (8, 1)), atol=1e-6)
    load(tmp_path)


def combed(kind):
    """Return an object two units up with two curves: of three points along x, and of two along y."""
    curves = [[(0, 0, 0), (1, 0, 0), (2, 0, 0)], [(0, 0, 0), (0, 3, 0)]]
    if kind == "hair":
        data = bpy.data.hair_curves.new("Hair")
        data.add_curves([3, 2])
        data.points.foreach_set("position", np.array(sum(curves, []), np.float32).ravel())
    else:
        data = bpy.data.curves.new("Curve", "CURVE")
        data.dimensions = "3D"
        for points in curves:
            spline = data.splines.new("POLY")
            spline.points.add(len(points) - 1)
            for point, position in zip(spline.points, points):
                point.co = (*position, 1.0)
    obj = bpy.data.objects.new("Comb", data)
    obj.location.z = 2.0
    bpy.context.scene.collection.objects.link(obj)
    return obj


@pytest.mark.parametrize("kind", ["hair", "curve"])
def test_combed_curves_become_positions_and_tangents(muscle, tmp_path, kind):
    bpy.context.scene.unit_settings.scale_length = 0.1
    muscle.conjac.fiber_field = "combed"
    with pytest.raises(conjac.solver.errors.BadInput, match="no curves"):
        gathered(muscle, tmp_path)
    muscle.conjac.fiber_curves_object = combed(kind)
    bpy.context.view_layer.update()
    scene, array = gathered(muscle, tmp_path)
    pieces = array(scene.bodies[0].fiber_curves)
    expected = [[[0.05, 0, 0.2], [0.1, 0, 0]], [[0.15, 0, 0.2], [0.1, 0, 0]], [[0, 0.15, 0.2], [0, 0.3, 0]]]
    np.testing.assert_allclose(pieces[np.lexsort(pieces[:, 0].T)], np.array(expected), atol=1e-7)
    load(tmp_path)


def test_an_object_without_a_curve_is_refused(muscle, tmp_path):
    muscle.conjac.fiber_field = "combed"
    muscle.conjac.fiber_curves_object = bpy.data.objects.new("Empty Comb", bpy.data.curves.new("Curve", "CURVE"))
    bpy.context.scene.collection.objects.link(muscle.conjac.fiber_curves_object)
    with pytest.raises(conjac.solver.errors.BadInput, match="no curve of two points"):
        gathered(muscle, tmp_path)
