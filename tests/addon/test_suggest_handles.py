"""Suggested dynamic nodes become Empties that the artist can drag, and undo."""

import bpy
import numpy as np
import pytest
from gathered_jobs import paint
from test_setup_operators import reason


@pytest.fixture()
def bar(soft_cube, tmp_path):
    """Return a bar four times as long as wide along its own z, pinned at its lower end; at frame 4 its object has
    moved."""
    bpy.context.scene.unit_settings.scale_length = 0.1
    soft_cube.conjac.cache_folder = str(tmp_path)
    soft_cube.conjac.mesher, soft_cube.conjac.edge_length = "grid", 0.5
    soft_cube.scale = (1, 1, 4)
    soft_cube.rotation_euler.x = np.pi / 2
    for frame, x in ((1, 0.0), (4, 9.0)):
        soft_cube.location.x = x
        soft_cube.keyframe_insert("location", frame=frame)
    paint(soft_cube, "Pin", [v.index for v in soft_cube.data.vertices if v.co.z < 0])
    bpy.context.scene.frame_set(4)
    return soft_cube


def handle_positions(bar, frame=1):
    """Return the positions of all handles in the object's own space."""
    bpy.context.scene.frame_set(frame)
    inverse = bar.matrix_world.inverted()
    return np.array([inverse @ handle.object.matrix_world.translation for handle in bar.conjac.handles])


def test_one_handle_stands_near_the_free_end_and_goes_with_the_body(bar):
    assert bpy.ops.conjac.suggest_handles(count=1) == {"FINISHED"}
    for frame in (1, 4):
        (x, y, z), = handle_positions(bar, frame)
        assert 0.4 < z < 1.0 and abs(x) < 0.6 and abs(y) < 0.6
    empty = bar.conjac.handles[0].object
    assert empty.type == "EMPTY" and empty.parent == bar and not empty.hide_select


def test_more_are_added_beside_those_there_are(bar):
    bpy.ops.conjac.suggest_handles(count=2)
    first = [handle.object for handle in bar.conjac.handles]
    bpy.ops.conjac.suggest_handles(count=1)
    assert [handle.object for handle in bar.conjac.handles][:2] == first and len(bar.conjac.handles) == 3
    along = handle_positions(bar)
    away = np.linalg.norm((along[:, None] - along[None]) * (1, 1, 4), axis=-1)[~np.eye(3, dtype=bool)]
    assert away.min() > 0.9


def test_a_dragged_handle_is_what_the_bake_reads(bar, tmp_path):
    from gathered_jobs import gathered

    bpy.ops.conjac.suggest_handles(count=1)
    bar.conjac.handles[0].object.location.z -= 1.0
    bpy.context.scene.frame_set(1)
    world = bar.conjac.handles[0].object.matrix_world.translation
    scene, array = gathered(bar, tmp_path / "job")
    np.testing.assert_allclose(array(scene.bodies[0].dynamic.points), [0.1 * np.array(world)], atol=1e-7)


def test_it_can_be_undone(bar):
    bpy.ops.ed.undo_push(message="before")
    bpy.ops.conjac.suggest_handles(count=2)
    bpy.ops.ed.undo_push(message="after")
    bpy.ops.ed.undo()
    assert len(bpy.data.objects["Cube"].conjac.handles) == 0 and len(bpy.data.objects) == 1


@pytest.mark.long
def test_more_than_fit_is_refused_in_one_sentence(bar):
    text = reason(lambda: bpy.ops.conjac.suggest_handles(count=500))
    assert '"Cube": it has room for' in text and "not for 500. Ask for fewer" in text
    assert len(bar.conjac.handles) == 0
