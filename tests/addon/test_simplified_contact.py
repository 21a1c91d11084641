"""A body that touches by fewer faces around its mesh: stopped bakes and all exports play the frames of one bake."""

import numpy as np
import pytest

bpy = pytest.importorskip("bpy")

from falling_boxes import world_at  # noqa: E402
from jelly import frames_of, scene  # noqa: E402, F401

from conjac.conjac_addon.bake import foreground  # noqa: E402

LAST = 10
RADIUS = 0.1


def landing():
    """A ball of a fine mesh that is on the edge of a box at the fourth frame."""
    bpy.ops.mesh.primitive_cube_add(size=0.3, location=(0, 0, 0.15), rotation=(0, np.pi / 4, 0))
    bpy.ops.conjac.add_collider()
    top = 0.15 + 0.15 * 2**0.5
    bpy.ops.mesh.primitive_ico_sphere_add(subdivisions=5, radius=RADIUS, location=(0.003, 0, top + RADIUS + 0.04))
    body = bpy.context.object
    bpy.ops.conjac.add_soft_body()
    assert body.conjac.contact.by_mesh and body.conjac.contact.simplify > 0.0
    return body


@pytest.mark.long
def test_stopped_bakes_and_exports_have_the_frames_of_one_bake(scene):  # noqa: F811
    scene.frame_end = LAST
    ball = landing()
    assert ball.conjac.bake(wait=True) == 0
    unbroken, shown = frames_of(ball), [world_at(ball, frame) for frame in range(1, LAST + 1)]
    assert shown[-1][:, 2].min() < shown[0][:, 2].min() - 0.04, "it has landed"
    shape = [np.linalg.norm(stood - stood.mean(axis=0), axis=1) for stood in (shown[0], shown[-1])]
    assert np.abs(shape[1] - shape[0]).max() > 0.01 * RADIUS, "and is pressed"
    for kind in ("abc", "pc2", "shapekeys"):
        assert bpy.ops.conjac.export(format=kind) == {"FINISHED"}
        for frame, stood in enumerate(shown, 1):
            np.testing.assert_allclose(world_at(ball, frame), stood, atol=2e-6, err_msg=f"{kind}, frame {frame}")
    assert bpy.ops.conjac.free_bake() == {"FINISHED"} and not frames_of(ball)
    assert foreground.bake(ball, scene, frames=(1, 5)) == 0  # in mid landing
    assert len(frames_of(ball)) == 5
    assert ball.conjac.bake(wait=True) == 0
    assert frames_of(ball) == unbroken
