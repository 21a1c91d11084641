"""Fibers as lines and maps as colors of the solver's volume, drawn over the body."""

import bpy
import numpy as np
import pytest
from gathered_jobs import paint
from mathutils import Vector
from test_setup_operators import reason


@pytest.fixture()
def bar(soft_cube, tmp_path):
    """Return a bar of 1 × 1 × 2 m, turned by a quarter about x and moved; its upper half (object z > 0) painted
    "Bone"."""
    soft_cube.conjac.cache_folder = str(tmp_path)
    soft_cube.conjac.mesher, soft_cube.conjac.edge_length = "grid", 0.5
    bpy.context.scene.unit_settings.scale_length = 0.5
    soft_cube.scale, soft_cube.rotation_euler.x, soft_cube.location = (1, 1, 2), np.pi / 2, (5, 0, 0)
    bpy.context.view_layer.update()
    paint(soft_cube, "Bone", [v.index for v in soft_cube.data.vertices if v.co.z > 0])
    return soft_cube


def shown(obj, kind):
    from conjac.conjac_addon.operators import previews

    return previews.shown.get(obj.session_uid, {}).get(f"conjac_{kind}")


def test_stiffness_is_dark_where_soft_and_bright_where_painted(bar):
    bar.conjac.stiffness_group = "Bone"
    bar.conjac.youngs_modulus, bar.conjac.youngs_modulus_high = 1e4, 1e6
    for _ in range(2):  # the second takes the first one's place
        assert bpy.ops.conjac.preview_field(field="youngs_modulus") == {"FINISHED"}
    faces = shown(bar, "field")
    assert (faces.title, faces.low, faces.high) == ("Young's Modulus (kPa)", "11.55", "866")
    np.testing.assert_allclose([faces.corners.min(axis=(0, 1)), faces.corners.max(axis=(0, 1))],
                               [[-1, -1, -1], [1, 1, 1]], atol=1e-6)
    heights, fractions = faces.corners[:, :, 2].mean(axis=1), faces.shares
    assert len(fractions) == 2 * 2 * (4 * 4 + 2 * 4 * 8)
    assert fractions[heights < -0.9].max() <= 0.1 and fractions[heights > 0.9].min() >= 0.9
    assert np.corrcoef(heights, fractions)[0, 1] > 0.95
    sides = faces.corners[:, 1:] - faces.corners[:, :1]
    outward = np.einsum("bi,bi->b", np.cross(sides[:, 0], sides[:, 1]), faces.corners.mean(axis=1))
    assert (outward > 0).all()
    assert [scene_object.name for scene_object in bpy.data.objects] == ["Cube"] and not bpy.data.materials


def test_one_value_everywhere_is_one_color(bar):
    assert bpy.ops.conjac.preview_field(field="density") == {"FINISHED"}
    assert set(shown(bar, "field").shares) == {0.0}


def test_fibers_are_lines_along_their_direction_in_each_tetrahedron(bar):
    assert "it has no fibers" in reason(lambda: bpy.ops.conjac.preview_field(field="fibers"))
    settings = bar.conjac
    settings.fiber_material, settings.fiber_field = "astvk", "straight"
    settings.fiber_x, settings.fiber_y, settings.fiber_z = 1.0, 0.0, 1.0  # in the object's own space
    assert bpy.ops.conjac.preview_field(field="fibers") == {"FINISHED"}
    ends = shown(bar, "fibers").ends.reshape(-1, 2, 3)
    assert len(ends) == 6 * 4 * 4 * 8
    along = ends[:, 1] - ends[:, 0]
    assert np.abs(along[:, 1]).max() < 1e-6 and (np.abs(ends) <= 1 + 1e-6).all()
    assert np.allclose(along[:, 0], along[:, 2], rtol=1e-3) and (along[:, 0] > 0.05).all()


def test_a_map_that_the_material_does_not_have_is_refused(bar):
    assert "its material has no Mooney Share" in reason(lambda: bpy.ops.conjac.preview_field(field="mooney_share"))


def test_previews_stand_beside_each_other_and_go_together(bar, tmp_path):
    """Previews add nothing to the file."""
    from conjac.conjac_addon.operators import previews

    bar.conjac.fiber_material, bar.conjac.fiber_field = "astvk", "straight"
    bpy.ops.conjac.preview_tets()
    bpy.ops.conjac.preview_field(field="fibers")
    bpy.ops.conjac.preview_field(field="density")
    assert previews.shown[bar.session_uid].keys() == {"conjac_tets", "conjac_fibers", "conjac_field"}
    assert len(list(tmp_path.rglob("*_tets_*.npz"))) == 1 and not list(tmp_path.rglob("*_fields_*.npz"))
    assert [o.name for o in bpy.data.objects] == ["Cube"] and len(bpy.data.meshes) == 1
    assert bpy.ops.conjac.remove_previews() == {"FINISHED"}
    assert not previews.is_shown(bar) and not bpy.ops.conjac.remove_previews.poll()
    bpy.ops.conjac.preview_tets()
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "scene.blend"))
    bpy.ops.wm.open_mainfile(filepath=str(tmp_path / "scene.blend"))
    cube = bpy.data.objects["Cube"]
    assert not previews.is_shown(cube)
    bpy.ops.conjac.preview_tets()
    assert list(previews.shown) == [cube.session_uid]  # what the other file showed is dropped


def test_objects_that_earlier_versions_showed_them_by_go_too(bar):
    wire = bpy.data.objects.new("Cube Tets", bpy.data.meshes.new("Cube Tets"))
    wire["conjac_tets"], wire.parent = 96, bar
    bpy.context.collection.objects.link(wire)
    assert bpy.ops.conjac.remove_previews() == {"FINISHED"}
    assert [o.name for o in bpy.data.objects] == ["Cube"] and len(bpy.data.meshes) == 1


def test_the_nearest_faces_are_drawn_last_whichever_way_the_view_looks():
    from conjac.conjac_addon.ui.preview_marks import far_to_near

    corners = np.zeros((3, 3, 3), np.float32) + np.array([0.0, 2.0, 1.0], np.float32)[:, None, None]
    view = np.eye(4, dtype=np.float32)  # from above
    assert far_to_near(corners, view).tolist() == [0, 2, 1]
    view[2, 2] = -1.0
    assert far_to_near(corners, view).tolist() == [1, 2, 0]


def test_tetrahedra_that_are_there_are_not_made_again(bar, monkeypatch):
    from conjac.conjac_addon.operators import still

    bpy.ops.conjac.preview_tets()
    messages = []

    class Watched(still.Worker):
        def messages(self, wait=0.0):
            received = super().messages(wait)
            messages.extend(received)
            return received

    monkeypatch.setattr(still, "Worker", Watched)
    bpy.ops.conjac.preview_field(field="density")
    assert {message.get("stage") for message in messages} == {None, "fields"}


def test_what_is_shown_is_taken_away_by_a_button_beside_the_one_that_showed_it(bar):
    from drawn_panels import drawn

    bar.conjac.stiffness_group = "Bone"
    bar.conjac.fiber_material = bar.conjac.bl_rna.properties["fiber_material"].enum_items.keys()[1]
    buttons = [name for kind, name in drawn(bar) if kind == "operator"]
    shows = [k for k, name in enumerate(buttons) if name == "conjac.preview_field"]
    assert len(shows) >= 2 and all(buttons[k + 1] == "conjac.remove_previews" for k in shows)
    bar.conjac.fiber_material = "none"
    assert not bpy.ops.conjac.remove_previews.poll()  # it is always there, grey, so that nothing moves
    bpy.ops.conjac.preview_field(field="youngs_modulus")
    assert bpy.ops.conjac.remove_previews() == {"FINISHED"}
    assert shown(bar, "field") is None


def test_parts_that_are_one_in_the_tetrahedra_are_marked_before_a_bake(bar, monkeypatch):
    """The solver names them (tests/world/test_fused.py); this test draws a line of a hair's length, in the world."""
    from conjac.conjac_addon.operators import still

    run = still.run
    across = [[[2.5, 0.0, 0.0], [2.5, 0.0, 1e-4]]]

    def fused(*arguments):
        made = yield from run(*arguments)
        assert made["fused"] == []
        return made | {"fused": across}

    monkeypatch.setattr(still, "run", fused)
    assert bpy.ops.conjac.preview_tets() == {"FINISHED"}
    line = shown(bar, "fused")
    assert line.in_front
    ends = np.array([bar.matrix_world @ Vector(end) for end in line.ends])
    # metres of the solver are two Blender units here
    assert np.allclose(ends.mean(axis=0), [5.0, 0.0, 1e-4], atol=1e-5)
    assert np.abs(ends[1] - ends[0])[2] > 0.05 and np.allclose((ends[1] - ends[0])[:2], 0.0, atol=1e-6)
    across.clear()
    bpy.ops.conjac.preview_tets()
    assert shown(bar, "fused") is None, "gone where they are apart now"
