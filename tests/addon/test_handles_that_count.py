"""A handle that was deleted or is hidden picks no dynamic node, and a message reports it."""

import numpy as np
import pytest

bpy = pytest.importorskip("bpy")

from conjac.conjac_addon import gather  # noqa: E402


@pytest.fixture()
def two_handles(soft_cube):
    """Return a cube with a handle at its right and one at its left."""
    soft_cube.conjac.mesher = "grid"
    empties = []
    for x in (1.0, -1.0):
        bpy.ops.object.empty_add(location=(x, 0, 0))
        soft_cube.conjac.handles.add().object = bpy.context.object
        empties.append(bpy.context.object)
    bpy.context.view_layer.update()
    return soft_cube, empties


def gathered(obj, folder):
    """Return the positions of its dynamic nodes in the job, and the reports."""
    messages = []
    gather.write_job(obj, bpy.context.scene, folder, messages.append)
    file = folder / "arrays" / "handles.npy"
    return np.load(file).tolist() if file.exists() else [], messages


def delete(empty):
    with bpy.context.temp_override(selected_objects=[empty], active_object=empty):
        bpy.ops.object.delete()


def unlink(empty):
    bpy.context.scene.collection.objects.unlink(empty)


def press_h(empty):
    empty.hide_set(True)


def disable(empty):
    empty.hide_viewport = True


def hide_collection(empty):
    hidden = bpy.data.collections.new("Hidden")
    bpy.context.scene.collection.children.link(hidden)
    hidden.objects.link(empty)
    bpy.context.scene.collection.objects.unlink(empty)
    bpy.context.view_layer.layer_collection.children["Hidden"].hide_viewport = True


@pytest.mark.parametrize("take_away", [delete, unlink, press_h, disable, hide_collection])
def test_a_handle_that_is_deleted_or_hidden_does_not_count(two_handles, tmp_path, take_away):
    cube, (right, left) = two_handles
    positions, messages = gathered(cube, tmp_path / "both")
    assert positions == [[1, 0, 0], [-1, 0, 0]] and not messages
    name = right.name
    take_away(right)
    positions, messages = gathered(cube, tmp_path / "one")
    assert positions == [[-1, 0, 0]]
    if take_away is not delete:  # which takes it from the list, too
        assert f'"Cube": its handle "{name}" picks no dynamic node: hidden or deleted' in messages


def test_with_no_handle_left_it_is_quasistatic(two_handles, tmp_path):
    from conjac.conjac_addon.ui import advice

    cube, empties = two_handles
    assert advice.has_dynamic_node(cube)
    for empty in empties:
        empty.hide_set(True)
    assert not advice.has_dynamic_node(cube)
    positions, messages = gathered(cube, tmp_path)
    assert positions == []  # what follows from that a bake says, see test_bake_session
    assert any("and 1 more picks" in text for text in messages)
