"""Cuts in real Blender are gathered with the cutter at its frame, baked, and played on an object of their own."""

import json

import numpy as np
import pytest

bpy = pytest.importorskip("bpy")

from jelly import add_jelly, rest_of, scene, seen_at  # noqa: E402, F401
from matrix import some  # noqa: E402

from conjac.conjac_addon import bake as addon_bake  # noqa: E402
from conjac.conjac_addon import compat, gather, playback  # noqa: E402
from conjac.conjac_addon.bake import place  # noqa: E402
from conjac.conjac_addon.playback import cut_object  # noqa: E402
from conjac.solver.errors import BadInput  # noqa: E402

CUT = 4


def add_empty(obj, frame=CUT, at=(0.0, 0.0, 0.013), name="Knife"):
    empty = bpy.data.objects.new(name, None)
    bpy.context.scene.collection.objects.link(empty)
    empty.location = at
    cut = obj.conjac.cuts.add()
    cut.frame, cut.object = frame, empty
    return empty


def job_of(obj, folder):
    gather.write_job(obj, bpy.context.scene, folder)
    return json.loads((folder / "scene.json").read_text())["bodies"][0]


def triangles_of(mesh):
    """Return corners and polygon of each triangle."""
    mesh.calc_loop_triangles()
    both = [(triangle.vertices[:], triangle.polygon_index) for triangle in mesh.loop_triangles]
    return np.array([three for three, _ in both]), np.array([polygon for _, polygon in both])


def volume(x, triangles):
    a, b, c = x[triangles].transpose(1, 0, 2).astype(float)
    return float(np.einsum("ij,ij->", np.cross(a, b), c)) / 6


def test_the_plane_of_an_empty_and_the_faces_of_a_mesh_at_their_frames(scene, tmp_path):  # noqa: F811
    obj = add_jelly()
    scene.unit_settings.scale_length = 0.1
    empty = add_empty(obj, 5)
    empty.rotation_euler, empty.scale = (0.0, 0.5, 0.0), (2.0, 1.0, 3.0)
    for frame, z in ((1, 0.0), (9, 0.08)):  # at frame 5 half of the way
        empty.location.z = z
        empty.keyframe_insert("location", frame=frame)
    empty.hide_set(True)
    bpy.ops.mesh.primitive_grid_add(x_subdivisions=2, y_subdivisions=1, size=1.0, location=(0, 0, 0.05))
    sheet = bpy.context.object
    sheet.modifiers.new("More", "SUBSURF").levels = 1
    cut = obj.conjac.cuts.add()
    cut.frame, cut.object = 3, sheet
    body = job_of(obj, tmp_path / "job")
    plane, mesh = body["cuts"]
    assert plane["frame"] == 5 and plane["kind"] == "plane"
    assert plane["point"] == pytest.approx([0.0, 0.0, 0.1 * 0.04], abs=1e-7)
    assert plane["normal"] == pytest.approx([np.sin(0.5), 0.0, np.cos(0.5)], abs=1e-6)
    assert mesh["frame"] == 3 and mesh["kind"] == "sheet"
    vertices, triangles = (np.load(tmp_path / "job" / mesh[name]) for name in ("vertices", "triangles"))
    assert len(triangles) == 16 and vertices[:, 2] == pytest.approx(np.full(len(vertices), 0.005))
    assert np.abs(vertices[:, :2]).max() < 0.05 + 1e-6

    gather.write_job(obj, scene, tmp_path / "job")
    assert gather.changed_settings(obj, scene, tmp_path / "job") == []
    obj.conjac.cuts[1].frame = 4
    assert gather.changed_settings(obj, scene, tmp_path / "job") == ["Frame"]
    obj.conjac.cuts.clear()
    assert gather.changed_settings(obj, scene, tmp_path / "job") != []


def test_a_cut_between_frames_is_gathered_where_its_cutter_is_then(scene, tmp_path):  # noqa: F811
    """Samples after the cut are at whole frames."""
    obj = add_jelly()
    empty = add_empty(obj, 5)
    for frame, z in ((1, 0.0), (9, 0.08)):
        empty.location.z = z
        empty.keyframe_insert("location", frame=frame)
        for curve in compat.fcurves(empty):
            for point in curve.keyframe_points:
                point.interpolation = "LINEAR"
    other = obj.conjac.cuts.add()
    other.frame, other.object = 5, empty
    obj.conjac.cuts[0].subframe = 0.3
    between, whole = job_of(obj, tmp_path / "job")["cuts"]
    assert between["subframe"] == 0.3 and "subframe" not in whole and between["frame"] == whole["frame"] == 5
    assert between["point"][2] == pytest.approx(0.043, abs=1e-7) and whole["point"][2] == pytest.approx(0.04, abs=1e-7)
    assert gather.changed_settings(obj, scene, tmp_path / "job") == []
    obj.conjac.cuts[1].subframe = 0.5
    assert gather.changed_settings(obj, scene, tmp_path / "job") == ["Subframe"]


def test_a_cut_is_added_where_the_timeline_stands(scene):  # noqa: F811
    obj = add_jelly()
    scene.frame_set(3, subframe=0.25)
    bpy.ops.conjac.add_cut()
    scene.show_subframe = True  # which puts the timeline back to a whole frame
    scene.frame_set(3, subframe=0.25)
    bpy.ops.conjac.add_cut()
    bpy.ops.conjac.add_nail()
    times = [(cut.frame, cut.subframe) for cut in (*obj.conjac.cuts, *obj.conjac.nails)]
    assert times == [(3, 0.0), (3, 0.25), (3, 0.25)]


def test_pieces_of_what_collides_collide(scene, tmp_path):  # noqa: F811
    obj = add_jelly()
    add_empty(obj)
    assert "touches" not in job_of(obj, tmp_path / "alone")
    bpy.ops.mesh.primitive_plane_add(size=1.0, location=(0, 0, -1.0))
    bpy.ops.conjac.add_collider()
    obj.conjac.contact.collides_with = "all"
    assert job_of(obj, tmp_path / "job")["touches"] == ["Plane", obj.name]
    obj.conjac.cuts.clear()
    assert job_of(obj, tmp_path / "job")["touches"] == ["Plane"]


@pytest.mark.parametrize("spoil,message", [
    (lambda obj, empty: setattr(obj.conjac.cuts[0], "object", None), "its cut at frame 4 has no cutting object"),
    (lambda obj, empty: setattr(obj.conjac.cuts[0], "frame", 12), "its cut at frame 12 would never be seen: it is "
     "baked from frame 1 to 12. Cut from frame 1 to 11"),
    (lambda obj, empty: setattr(obj.conjac.cuts[0], "frame", 0), "its cut at frame 0 would never be seen"),
    (lambda obj, empty: setattr(obj.conjac.cuts[0], "object", obj), "it cuts itself"),
    (lambda obj, empty: setattr(empty, "scale", (1, 0, 1)), "its scale is zero on an axis"),
    (lambda obj, empty: setattr(empty, "hide_viewport", True), "but it is disabled in viewports"),
    (lambda obj, empty: bpy.context.scene.collection.objects.unlink(empty), 'but it is not in the scene "Scene"'),
])
def test_a_cutter_that_cannot_cut_is_refused(scene, tmp_path, spoil, message):  # noqa: F811
    obj = add_jelly()
    spoil(obj, add_empty(obj))
    with pytest.raises(BadInput) as caught:
        job_of(obj, tmp_path / "job")
    assert message in str(caught.value)
    assert not (tmp_path / "job/scene.json").exists()


def test_a_mesh_without_faces_is_refused(scene, tmp_path):  # noqa: F811
    obj = add_jelly()
    wire = bpy.data.objects.new("Wire", bpy.data.meshes.new("Wire"))
    scene.collection.objects.link(wire)
    cut = obj.conjac.cuts.add()
    cut.frame, cut.object = 2, wire
    with pytest.raises(BadInput, match='"Wire": it cuts "Jelly" and has no faces'):
        job_of(obj, tmp_path / "job")


def test_cuts_are_added_across_the_longest_side_and_removed(scene):  # noqa: F811
    obj = add_jelly()
    obj.scale, obj.location, obj.rotation_euler = (1.0, 3.0, 1.0), (1.0, 2.0, 3.0), (0.3, 0.2, 0.7)
    scene.frame_set(7)
    bpy.context.view_layer.objects.active = obj
    assert bpy.ops.conjac.add_cut() == {"FINISHED"}
    [cut] = obj.conjac.cuts
    bpy.context.view_layer.update()
    assert cut.frame == 7 and cut.object.matrix_world.translation == obj.matrix_world.translation
    along = obj.matrix_world.to_3x3().normalized().col[1]
    assert abs(cut.object.matrix_world.to_3x3().col[2].normalized().dot(along)) == pytest.approx(1.0, abs=1e-5)
    with pytest.raises(RuntimeError, match="only 1 cuts"):
        bpy.ops.conjac.remove_cut(index=1)
    assert bpy.ops.conjac.remove_cut(index=0) == {"FINISHED"} and not obj.conjac.cuts


@pytest.fixture()
def cut_jelly(scene):  # noqa: F811
    obj = add_jelly()
    obj.data.materials.append(bpy.data.materials.new("Skin"))
    obj.location = (0.4, 0.1, 0.2)
    for polygon in obj.data.polygons:
        polygon.use_smooth = True
    uv = obj.data.uv_layers.new(name="Flat")
    co = rest_of(obj)
    for loop in obj.data.loops:
        uv.data[loop.index].uv = co[loop.vertex_index, [0, 2]] + 1.0
    bpy.context.view_layer.update()
    add_empty(obj, at=(0.4, 0.1, 0.213))
    return obj


@pytest.mark.parametrize("key", some(list(playback.formats()), "pc2", "abc"))
def test_what_is_cut_plays_on_an_object_of_its_own(scene, cut_jelly, key):  # noqa: F811
    obj, inside = cut_jelly, bpy.data.materials.new("Flesh")
    obj.modifiers.new("Smooth", "SMOOTH").iterations = 0
    obj.conjac.inside_material, obj.conjac.export = inside, key
    before, rest = len(obj.data.vertices), rest_of(obj)
    messages = []
    assert addon_bake.bake_object(obj, report=messages.append) == 0
    assert any("cut at frame 4, into 2 pieces" in text for text in messages)

    shown = playback.find_cut(obj)
    assert shown.name == "Jelly Cut" and not shown.conjac.enabled and [m.name for m in shown.modifiers][-1] == "Smooth"
    assert (obj.display_type, obj.hide_render) == ("BOUNDS", True)
    assert (shown.display_type, shown.hide_render) == ("TEXTURED", False)
    assert np.array_equal(rest_of(obj), rest) and len(obj.data.vertices) == before
    assert [m.name for m in shown.data.materials] == ["Skin", "Flesh"]

    cache = place.cache_of(place.job_folder(obj))
    for frame in (1, CUT, CUT + 1, 12):
        np.testing.assert_allclose(seen_at(shown, frame), cache.read_all_vertices(frame)["Jelly"], atol=1e-6)
        np.testing.assert_allclose(seen_at(obj, frame), cache.read_all_vertices(frame)["Jelly"][:before], atol=1e-6)

    # one closed piece before the cut, two after it, the lower one falling
    triangles, polygon = triangles_of(shown.data)
    assert volume(seen_at(shown, 1), triangles) == pytest.approx(0.008, rel=1e-4)
    material = np.array([p.material_index for p in shown.data.polygons])[polygon]
    cuts = cache.cuts["Jelly"][0]
    assert (cuts.source < 0).sum() == (material == 1).sum() > 20
    final = seen_at(shown, 12)
    low = rest[:, 2] < 0.013
    gap = 0.5 * (final[:before][low][:, 2].max() + final[:before][~low][:, 2].min())
    below = final[triangles][..., 2] < gap
    assert (below == below[:, :1]).all()  # nothing spans it
    below = below[:, 0]
    assert (material[below] == 1).sum() == (material[~below] == 1).sum()
    pieces = [volume(seen_at(shown, CUT + 1), triangles[piece]) for piece in (below, ~below)]
    assert min(pieces) > 0.002 and sum(pieces) == pytest.approx(volume(seen_at(shown, CUT), triangles), rel=0.02)

    # what the artist has on the mesh goes on over the seam
    smooth = np.array([p.use_smooth for p in shown.data.polygons])[polygon]
    assert smooth[material == 0].all() and not smooth[material == 1].any()
    groups = {group.name: group.index for group in shown.vertex_groups}
    assert "Pin" in groups


def test_uvs_and_weights_go_on_over_the_seam(scene, cut_jelly):  # noqa: F811
    obj = cut_jelly
    ramp = obj.vertex_groups.new(name="Ramp")
    rest = rest_of(obj)
    for index, z in enumerate(rest[:, 2]):
        ramp.add([index], float(5.0 * (z + 0.1)), "REPLACE")
    assert addon_bake.bake_object(obj, report=lambda text: None) == 0
    mesh = playback.find_cut(obj).data
    co, flat = rest_of(playback.find_cut(obj)), mesh.uv_layers["Flat"].data
    seam = set()
    for polygon in mesh.polygons:
        if polygon.material_index:
            continue
        for at, vertex in zip(polygon.loop_indices, polygon.vertices):
            assert flat[at].uv[:] == pytest.approx(co[vertex, [0, 2]] + 1.0, abs=1e-5)
            seam |= {vertex} if vertex >= len(rest) else set()
    assert len(seam) > 20
    index = playback.find_cut(obj).vertex_groups["Ramp"].index
    for vertex in seam:
        [weight] = [g.weight for g in mesh.vertices[vertex].groups if g.group == index]
        assert weight == pytest.approx(5.0 * (co[vertex, 2] + 0.1), abs=1e-4)


def test_freeing_and_baking_again(scene, cut_jelly):  # noqa: F811
    obj = cut_jelly
    assert addon_bake.bake_object(obj, report=lambda text: None) == 0
    shown = playback.find_cut(obj)
    shown.data.materials[-1] = bpy.data.materials.new("Chosen")
    shown.modifiers.new("Bevel", "BEVEL")
    meshes = len(bpy.data.meshes)
    obj.conjac.youngs_modulus = 8.0e3
    assert addon_bake.bake_object(obj, report=lambda text: None) == 0
    assert playback.find_cut(obj) == shown and len(bpy.data.meshes) == meshes
    assert shown.data.materials[-1].name == "Chosen" and shown.modifiers[-1].name == "Bevel"

    bpy.context.view_layer.objects.active = obj
    assert bpy.ops.conjac.free_bake() == {"FINISHED"}
    assert playback.find_cut(obj) is None and "Jelly Cut" not in bpy.data.objects
    assert (obj.display_type, obj.hide_render) == ("TEXTURED", False) and cut_object.WAS_SHOWN not in obj
    left = [path.name for path in place.job_folder(obj).rglob("*") if path.suffix in (".pc2", ".abc", ".npz")]
    assert not [name for name in left if "stages" not in name and name.endswith(("pc2", "abc"))]

    # without its cut it plays on the artist's own object again
    assert addon_bake.bake_object(obj, report=lambda text: None) == 0
    obj.conjac.cuts.clear()
    assert addon_bake.bake_object(obj, report=lambda text: None) == 0
    assert playback.find_cut(obj) is None and (obj.display_type, obj.hide_render) == ("TEXTURED", False)
    cache = place.cache_of(place.job_folder(obj))
    np.testing.assert_allclose(seen_at(obj, 12), cache.frame(12)["Jelly"], atol=1e-6)


def test_a_mirrored_object_keeps_its_outside(scene, cut_jelly):  # noqa: F811
    obj = cut_jelly
    obj.scale.x = -1.0
    bpy.context.view_layer.update()
    assert addon_bake.bake_object(obj, report=lambda text: None) == 0
    shown = playback.find_cut(obj)
    triangles, _ = triangles_of(shown.data)
    for frame in (1, CUT + 1):
        assert volume(seen_at(shown, frame), triangles) == pytest.approx(0.008, rel=0.05)


def test_the_panel_shows_cuts(soft_cube):
    from drawn_panels import drawn

    assert ("operator", "conjac.add_cut") in drawn(soft_cube)
    soft_cube.conjac.cuts.add()
    log = drawn(soft_cube)
    assert ("prop", "inside_material") in log and ("operator", "conjac.remove_cut") in log
