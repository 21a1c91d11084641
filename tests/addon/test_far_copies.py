"""A scene is simulated as it is at the origin where it is copied 100 m away, and where a body falls 50 m beside it."""

import numpy as np
import pytest

bpy = pytest.importorskip("bpy")

from simulated_scenes import gathered, simulated  # noqa: E402

FRAMES, CELLS = 24, 20
AWAY = (100.0, -50.0, 30.0)  #: [m]


def cloth_on_a_ball(at):
    bpy.ops.mesh.primitive_ico_sphere_add(subdivisions=3, radius=0.2, location=at)
    bpy.ops.conjac.add_collider()
    along = np.linspace(-0.35, 0.35, CELLS + 1)
    corner = np.arange(CELLS * (CELLS + 1)).reshape(CELLS, -1)[:, :-1].ravel()
    mesh = bpy.data.meshes.new("Cloth")
    mesh.from_pydata([(x, y, 0.0) for y in along for x in along], [],
                     np.stack([corner, corner + 1, corner + CELLS + 2, corner + CELLS + 1], axis=1).tolist())
    cloth = bpy.data.objects.new("Cloth", mesh)
    cloth.location = np.add(at, (0.03, 0.02, 0.24))
    bpy.context.scene.collection.objects.link(cloth)
    for scene_object in bpy.context.view_layer.objects:
        scene_object.select_set(scene_object == cloth)
    bpy.context.view_layer.objects.active = cloth
    bpy.ops.conjac.add_cloth()
    cloth.conjac.use_ground, cloth.conjac.bending_stiffness = False, 1e-3
    return cloth


@pytest.mark.long
def test_cloth_on_a_ball_falls_as_well_100_m_away(addon, tmp_path):
    """Copies agree to rounding until the cloth folds, which amplifies any difference, and within a fold afterwards."""
    last = []
    for name, at in (("here", (0.0, 0.0, 0.0)), ("away", AWAY)):
        bpy.ops.wm.read_homefile(use_empty=True, use_factory_startup=True)
        job = gathered(cloth_on_a_ball(at), tmp_path / name, FRAMES)
        last.append([frame.vertices["Cloth"] for frame in simulated(job)])
    here, away = map(np.array, last)
    off = np.abs(here - away).max(axis=(1, 2))
    assert np.ptp(here[-1][:, 2]) > 0.2  # it hangs over the ball
    assert 0.0 < off[:8].max() <= 1e-5
    assert off.max() <= 1.6e-3


@pytest.mark.long
@pytest.mark.parametrize("beside", ["soft", "rigid"])
def test_cloth_on_a_ball_falls_as_well_beside_a_body_50_m_off(addon, tmp_path, beside):
    """One that touches nothing moved it by some hundredths of its size."""
    from benchmarks import far_bodies

    last = []
    for other in (None, beside):
        bpy.ops.wm.read_homefile(use_empty=True, use_factory_startup=True)
        cloth = far_bodies.near(bpy, "cloth")
        if other:
            far_bodies.far(bpy, other)
        job = gathered(cloth, tmp_path / str(other), 13)
        assert len(job.scene.bodies) + len(job.scene.mechanisms) == (2 if other else 1)
        last.append(np.array([frame.vertices[cloth.name] for frame in simulated(job)]))
    alone, together = last
    assert np.ptp(alone[-1][:, 2]) > 0.1
    assert np.array_equal(alone, together)
