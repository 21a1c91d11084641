"""Fibers as lines and maps as colours: objects below the body that show what the solver carried into its volume."""

import bpy
import numpy as np
import pytest
from gathered_jobs import paint
from test_setup_operators import reason


@pytest.fixture()
def bar(soft_cube, tmp_path):
    """A bar of 1 × 1 × 2 m, turned by a quarter about x and moved; its upper half (object z > 0) painted "Bone"."""
    soft_cube.conjac.cache_folder = str(tmp_path)
    soft_cube.conjac.mesher, soft_cube.conjac.edge_length = "grid", 0.5
    bpy.context.scene.unit_settings.scale_length = 0.5
    soft_cube.scale, soft_cube.rotation_euler.x, soft_cube.location = (1, 1, 2), np.pi / 2, (5, 0, 0)
    bpy.context.view_layer.update()
    paint(soft_cube, "Bone", [v.index for v in soft_cube.data.vertices if v.co.z > 0])
    return soft_cube


def shown(kind):
    child, = (o for o in bpy.data.objects if kind in o)
    return child


def coordinates(obj):
    return np.array([v.co for v in obj.data.vertices])


def test_stiffness_is_dark_where_soft_and_bright_where_painted(bar):
    bar.conjac.stiffness_group = "Bone"
    bar.conjac.youngs_modulus, bar.conjac.youngs_modulus_high = 1e4, 1e6
    for _ in range(2):  # the second takes the first one's place
        assert bpy.ops.conjac.preview_field(field="youngs_modulus") == {"FINISHED"}
    child = shown("conjac_field")
    assert child.parent == bar and child.hide_render and child.hide_select
    assert child["conjac_field"] == "Young's Modulus"
    co = coordinates(child)
    np.testing.assert_allclose([co.min(axis=0), co.max(axis=0)], [[-1, -1, -1], [1, 1, 1]], atol=1e-6)
    heights = np.array([p.center.z for p in child.data.polygons])
    bands = np.array([p.material_index for p in child.data.polygons])
    assert len(bands) == 2 * 2 * (4 * 4 + 2 * 4 * 8)
    assert bands[heights < -0.9].max() <= 1 and bands[heights > 0.9].min() >= 14
    assert np.corrcoef(heights, bands)[0, 1] > 0.95
    outward = np.array([p.normal @ p.center for p in child.data.polygons])
    assert (outward > 0).all()
    colors = [tuple(m.diffuse_color[:3]) for m in child.data.materials]
    assert sum(colors[0]) < sum(colors[7]) < sum(colors[15]) and len(bpy.data.materials) == 16


def test_one_value_everywhere_is_one_color(bar):
    assert bpy.ops.conjac.preview_field(field="density") == {"FINISHED"}
    assert {p.material_index for p in shown("conjac_field").data.polygons} == {0}


def test_fibers_are_lines_along_their_direction_in_each_tetrahedron(bar):
    assert "it has no fibers" in reason(lambda: bpy.ops.conjac.preview_field(field="fibers"))
    settings = bar.conjac
    settings.fiber_material, settings.fiber_field = "astvk", "straight"
    settings.fiber_x, settings.fiber_y, settings.fiber_z = 1.0, 0.0, 1.0  # in the object's own space
    assert bpy.ops.conjac.preview_field(field="fibers") == {"FINISHED"}
    lines = shown("conjac_fibers")
    assert lines["conjac_fibers"] == len(lines.data.edges) == 6 * 4 * 4 * 8 and lines.parent == bar
    ends = coordinates(lines)[np.array([e.vertices[:] for e in lines.data.edges])]
    along = ends[:, 1] - ends[:, 0]
    assert np.abs(along[:, 1]).max() < 1e-6 and (np.abs(ends) <= 1 + 1e-6).all()
    assert np.allclose(along[:, 0], along[:, 2], rtol=1e-3) and (along[:, 0] > 0.05).all()


def test_a_map_that_the_material_does_not_have_is_refused(bar):
    assert "its material has no Mooney Share" in reason(lambda: bpy.ops.conjac.preview_field(field="mooney_share"))


def test_previews_stand_beside_each_other_and_go_together(bar, tmp_path):
    bar.conjac.fiber_material, bar.conjac.fiber_field = "astvk", "straight"
    bpy.ops.conjac.preview_tets()
    bpy.ops.conjac.preview_field(field="fibers")
    bpy.ops.conjac.preview_field(field="density")
    assert {kind for o in bar.children for kind in o.keys()} == {"conjac_tets", "conjac_fibers", "conjac_field"}
    assert len(list(tmp_path.rglob("*_tets_*.npz"))) == 1 and not list(tmp_path.rglob("*_fields_*.npz"))
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "scene.blend"))
    bpy.ops.wm.open_mainfile(filepath=str(tmp_path / "scene.blend"))
    cube = bpy.data.objects["Cube"]
    bpy.ops.conjac.preview_field(field="density")  # after loading, in place of the saved one
    assert len(cube.children) == 3
    bpy.ops.ed.undo_push(message="before")
    assert bpy.ops.conjac.remove_previews() == {"FINISHED"}
    assert [o.name for o in bpy.data.objects] == ["Cube"]
    assert len(bpy.data.meshes) == 1 and len(bpy.data.materials) == 0
    bpy.ops.ed.undo_push(message="after")
    bpy.ops.ed.undo()
    assert len(bpy.data.objects["Cube"].children) == 3 and len(bpy.data.materials) == 16


def test_tetrahedra_that_are_there_are_not_made_again(bar, monkeypatch):
    from conjac.conjac_addon.operators import still

    bpy.ops.conjac.preview_tets()
    said = []

    class Watched(still.Worker):
        def messages(self, wait=0.0):
            found = super().messages(wait)
            said.extend(found)
            return found

    monkeypatch.setattr(still, "Worker", Watched)
    bpy.ops.conjac.preview_field(field="density")
    assert {message.get("stage") for message in said} == {None, "fields"}


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
    assert not [one for one in bpy.data.objects if "conjac_field" in one]


def test_parts_that_are_one_in_the_tetrahedra_are_marked_before_a_bake(bar, monkeypatch):
    """The solver names them (tests/world/test_fused.py); here a line of a hair's length, in the world."""
    from conjac.conjac_addon.operators import still

    run = still.run
    across = [[[2.5, 0.0, 0.0], [2.5, 0.0, 1e-4]]]

    def fused(*arguments):
        made = yield from run(*arguments)
        assert made["fused"] == []
        return made | {"fused": across}

    monkeypatch.setattr(still, "run", fused)
    assert bpy.ops.conjac.preview_tets() == {"FINISHED"}
    line = shown("conjac_fused")
    assert line.parent == bar and line.hide_render and line.hide_select and line.show_in_front
    bpy.context.view_layer.update()
    ends = np.array([line.matrix_world @ v.co for v in line.data.vertices])
    # metres of the solver are two Blender units here
    assert np.allclose(ends.mean(axis=0), [5.0, 0.0, 1e-4], atol=1e-5)
    assert np.abs(ends[1] - ends[0])[2] > 0.05 and np.allclose((ends[1] - ends[0])[:2], 0.0, atol=1e-6)
    across.clear()
    bpy.ops.conjac.preview_tets()
    assert not [o for o in bpy.data.objects if "conjac_fused" in o], "gone where they are apart now"
