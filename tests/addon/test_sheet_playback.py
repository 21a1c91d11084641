"""Cloth whose frames have faces of their own, shown by real Blender: Alembic with the artist's data at every frame, and
the artist's own vertices in the other formats."""

import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from jelly import scene, seen_at  # noqa: F401

bpy = pytest.importorskip("bpy")

sys.path[:0] = [str(Path(__file__).parents[1] / name) for name in ("cloth", "embedding")]
from ragged_sheets import ragged  # noqa: E402

from conjac.conjac_addon import playback  # noqa: E402
from conjac.conjac_addon.bake import place  # noqa: E402
from conjac.conjac_addon.gather import write_job  # noqa: E402
from conjac.conjac_addon.playback import carry  # noqa: E402
from conjac.solver.embedding.sheets import ShownSheet  # noqa: E402
from conjac.solver.errors import BadMesh  # noqa: E402
from conjac.solver.frames.write import FrameStore  # noqa: E402
from conjac.solver.job import hashes  # noqa: E402
from conjac.solver.job.load import load  # noqa: E402
from conjac.solver.sheet.sheet_mesh import SheetMesh  # noqa: E402

FRAMES = (1, 2, 3, 4)


def surface_at(frame, X):
    """Return the positions of material points of the cloth at a frame, at which it tips up, (…, 3)."""
    return np.stack([X[..., 0], X[..., 1], 0.05 * frame * X[..., 0]], axis=-1)


def add_sheet():
    """Add a square of 1 m with a seam in its UV map, materials by column, a group and a color that grow along X."""
    bpy.ops.mesh.primitive_grid_add(x_subdivisions=8, y_subdivisions=8, size=1.0, location=(0.5, 0.5, 0.0))
    obj = bpy.context.object
    bpy.ops.object.transform_apply()
    obj.name = "Sheet"
    mesh = obj.data
    co, corners = coordinates(mesh), corners_of(mesh)
    uv = co[corners][:, :2].copy()
    middle = np.array([polygon.center[0] for polygon in mesh.polygons])
    uv[np.repeat(middle > 0.5, 4)] += [2.0, 0.0]  # another island
    mesh.uv_layers[0].uv.foreach_set("vector", uv.astype(np.float32).ravel())
    second = (3.0 * co[corners][:, :2]).astype(np.float32)
    mesh.uv_layers.new(name="Second.one two").uv.foreach_set("vector", second.ravel())
    for name in ("Red", "Green", "Blue"):
        mesh.materials.append(bpy.data.materials.new(name))
    mesh.polygons.foreach_set("material_index", np.minimum(middle * 3, 2).astype(np.int32))
    mesh.polygons.foreach_set("use_smooth", np.ones(len(mesh.polygons), bool))
    group = obj.vertex_groups.new(name="Weight")
    for k, x in enumerate(co[:, 0]):
        group.add([k], float(x), "REPLACE")
    colour = mesh.color_attributes.new("Tint", "FLOAT_COLOR", "POINT")
    colour.data.foreach_set("color", np.c_[co[:, :2], co[:, :2]].astype(np.float32).ravel())
    mesh.update()
    assert bpy.ops.conjac.add_cloth() == {"FINISHED"}
    obj.conjac.sharp_edges = True
    return obj


def coordinates(mesh):
    co = np.empty(3 * len(mesh.vertices), np.float32)
    mesh.vertices.foreach_get("co", co)
    return co.reshape(-1, 3)


def corners_of(mesh):
    corners = np.empty(len(mesh.loops), np.int32)
    mesh.loops.foreach_get("vertex_index", corners)
    return corners


def maps_of(mesh):
    maps = {}
    for layer in mesh.uv_layers:
        values = np.empty(2 * len(mesh.loops), np.float32)
        layer.uv.foreach_get("vector", values)
        maps[layer.name] = values.reshape(-1, 2)
    return maps


def colours(mesh, name):
    attribute = mesh.attributes[name]
    values = np.empty(4 * len(attribute.data), np.float32)
    attribute.data.foreach_get("color", values)
    return values.reshape(-1, 4)


def bake_by_hand(obj, flat=True, fold=0.0):
    """Write a cache like the solver's, of a cloth that is remeshed at every frame. flat: whether the cloth at rest is
    the unit square of the world, else that of the object. fold: slope of its raised half."""
    present = bpy.context.scene
    present.frame_start, present.frame_end = FRAMES[0], FRAMES[-1]
    folder = place.job_folder(obj)
    write_job(obj, present, folder)
    job = load(folder)
    body = job.scene.bodies[0]
    rest, triangles = (np.asarray(job.array(path)) for path in (body.surface.vertices, body.surface.triangles))
    to_object = None if body.surface.to_object is None else np.asarray(job.array(body.surface.to_object))
    own = rest if flat else coordinates(obj.data).astype(float)
    shown = ShownSheet(rest, np.ascontiguousarray(own[:, :2]), triangles, to_object)
    store = FrameStore(job.cache)
    store.begin(job, hashes.settings(job), [(body.name, 0, len(rest))], backend="by hand", first=1, sheets=[body.name])
    made = []
    for frame in FRAMES:
        material, faces = ragged(40 * frame, frame)
        x = surface_at(frame, material)
        x[:, 2] += fold * np.maximum(material[:, 0] - 0.5, 0.0)
        mesh = SheetMesh.at_rest(x, material, faces)
        on, slide = mesh.on.copy(), mesh.slide.copy()
        on[35], slide[35] = 0, [0.3, 0.0]
        mesh = replace(mesh, on=on, slide=slide)
        store.write_sheets(frame, {0: shown.record(mesh, frame - 1)})
        store.write(frame, shown.vertices(mesh, frame - 1))
        made.append(mesh)
    return made


def evaluated(obj, frame):
    bpy.context.scene.frame_set(frame)
    return obj.evaluated_get(bpy.context.evaluated_depsgraph_get()).data


def judge(obj, meshes):
    """Check the artist's data on the mesh of every frame."""
    for frame, made in zip(FRAMES, meshes):
        mesh = evaluated(obj, frame)
        assert (len(mesh.vertices), len(mesh.polygons)) == (len(made.x), len(made.faces))
        co, corners, maps = coordinates(mesh), corners_of(mesh), maps_of(mesh)
        X = np.asarray(obj.matrix_world)[:3, :3] @ co.T
        X = (X.T + np.array(obj.matrix_world)[:3, 3])[:, :2]
        assert np.abs(maps["Second.one two"] - 3.0 * X[corners]).max() < 1e-5
        middle = X[corners].reshape(-1, 3, 2).mean(axis=1)
        of_faces = X[corners].reshape(-1, 3, 2)
        island = maps["UVMap"].reshape(-1, 3, 2) - of_faces
        left, right = (of_faces[:, :, 0] < 0.5 + 1e-6).all(axis=1), (of_faces[:, :, 0] > 0.5 - 1e-6).all(axis=1)
        for sure, moved in ((left, 0.0), (right, 2.0)):
            assert np.abs(island[sure] - [moved, 0.0]).max() < 1e-5
        # a face over the seam is on one of the islands with all of its corners
        assert frame > 1 or (~left & ~right).sum() > 3
        assert np.abs(island - island[:, :1]).max() < 1e-5
        index = np.empty(len(mesh.polygons), np.int32)
        mesh.polygons.foreach_get("material_index", index)
        # each face has the material of the column of rest faces that contains its middle
        column = np.floor(middle[:, 0] * 8).clip(0, 7)
        assert (index == np.minimum((column + 0.5) / 8 * 3, 2).astype(int)).all() and set(index) == {0, 1, 2}
        weight = np.array([sum(membership.weight for membership in vertex.groups) for vertex in mesh.vertices])
        assert np.abs(weight - X[:, 0]).max() < 1e-4
        tint = colours(mesh, "Tint")
        assert np.abs(tint[:, :2] - X[corners]).max() < 1e-4


def creases(mesh):
    """Return edges whose faces turn by more than 40 degrees, as pairs of vertices."""
    normals, sharp = {}, set()
    for polygon in mesh.polygons:
        for pair in polygon.edge_keys:
            normals.setdefault(tuple(sorted(pair)), []).append(polygon.normal)
    for pair, (normal, *others) in normals.items():
        if others and normal.angle(others[0]) > np.deg2rad(40.0):
            sharp.add(pair)
    return sharp


def test_alembic_has_the_faces_of_each_frame_with_all_that_the_artist_painted(scene):  # noqa: F811
    obj = add_sheet()
    assert obj.conjac.export == "abc"
    meshes = bake_by_hand(obj)
    assert bpy.ops.conjac.export(format="abc") == {"FINISHED"}
    assert [modifier.type for modifier in obj.modifiers] == ["MESH_SEQUENCE_CACHE", "NODES"]
    judge(obj, meshes)
    mesh = evaluated(obj, 3)
    assert [material.name for material in mesh.materials] == ["Red", "Green", "Blue"]
    assert all(polygon.use_smooth for polygon in mesh.polygons)
    # between two frames with other faces nothing is blended
    scene.frame_set(2, subframe=0.5)
    assert len(obj.evaluated_get(bpy.context.evaluated_depsgraph_get()).data.vertices) == len(meshes[1].x)
    # the artist's mesh is untouched, and nothing is left behind
    assert len(obj.data.vertices) == 81 and [layer.name for layer in obj.data.uv_layers] == ["UVMap", "Second.one two"]
    assert len(bpy.data.scenes) == 1 and [shown.name for shown in bpy.data.objects] == ["Sheet", "Sheet Rest"]


def test_cloth_that_is_shaded_smooth_has_creases_where_it_folds(scene):  # noqa: F811
    obj = add_sheet()
    bake_by_hand(obj, fold=4.0)
    assert bpy.ops.conjac.export(format="abc") == {"FINISHED"}
    mesh = evaluated(obj, 2)
    assert 0 < len(creases(mesh)) < 0.5 * len(mesh.edges)
    assert creases(mesh) == {tuple(sorted(edge.vertices)) for edge in mesh.edges if edge.use_edge_sharp}


def test_it_plays_from_the_saved_file_without_the_extension(scene, tmp_path):  # noqa: F811
    obj = add_sheet()
    meshes = bake_by_hand(obj)
    bpy.ops.conjac.export(format="abc")
    bpy.ops.wm.save_mainfile()
    import conjac

    conjac.unregister()
    try:
        bpy.ops.wm.open_mainfile(filepath=bpy.data.filepath)
        judge(bpy.data.objects["Sheet"], meshes)
    finally:
        conjac.register()


def test_a_mirrored_and_moved_object_too(scene):  # noqa: F811
    obj = add_sheet()
    obj.scale.x, obj.location = -1.0, (1.0, 0.0, 0.0)
    # in the world it is the same square, seen from the other side
    meshes = bake_by_hand(obj)
    bpy.ops.conjac.export(format="abc")
    mesh = evaluated(obj, 2)
    assert len(mesh.polygons) == len(meshes[1].faces)
    world = coordinates(mesh) * [-1.0, 1.0, 1.0] + [1.0, 0.0, 0.0]
    assert np.abs(world - surface_at(2, world[:, :2])).max() < 1e-5
    assert np.abs(maps_of(mesh)["Second.one two"][:, 0] - 3.0 * (1.0 - world[corners_of(mesh)][:, 0])).max() < 1e-5
    normals = np.array([polygon.normal for polygon in mesh.polygons])
    assert (normals[:, 2] > 0.5).all()  # as the artist's


@pytest.mark.parametrize("key", ["pc2", "shapekeys"])
def test_other_formats_keep_the_artists_vertices(scene, key):  # noqa: F811
    obj = add_sheet()
    rest = coordinates(obj.data).copy()
    bake_by_hand(obj)
    bpy.ops.conjac.export(format="abc")
    assert bpy.ops.conjac.export(format=key) == {"FINISHED"}
    assert carry.find(obj) is None and "Sheet Rest" not in bpy.data.objects and not bpy.data.node_groups
    for frame in FRAMES:
        seen = seen_at(obj, frame)
        assert seen.shape == rest.shape and np.abs(seen - surface_at(frame, rest[:, :2])).max() < 1e-6
    bpy.ops.conjac.export(format="abc")
    assert len(evaluated(obj, 2).vertices) != len(rest) and obj.data.shape_keys is None
    playback.hide(obj)
    assert not obj.modifiers and [shown.name for shown in bpy.data.objects] == ["Sheet"] and not bpy.data.node_groups
    assert np.array_equal(seen_at(obj, 3), rest)


def test_modifiers_below_stay_below(scene):  # noqa: F811
    obj = add_sheet()
    obj.modifiers.new("Thick", "SOLIDIFY").thickness = 0.01
    obj.conjac.simulate_after = "MESH"
    meshes = bake_by_hand(obj)
    bpy.ops.conjac.export(format="abc")
    assert [modifier.type for modifier in obj.modifiers] == ["MESH_SEQUENCE_CACHE", "NODES", "SOLIDIFY"]
    assert len(evaluated(obj, 3).vertices) == 2 * len(meshes[2].x)


def test_another_mesh_than_the_baked_one_is_reported(scene):  # noqa: F811
    obj = add_sheet()
    bake_by_hand(obj)
    obj.data.vertices.add(1)
    obj.data.update()
    before = len(bpy.data.meshes)
    with pytest.raises(RuntimeError, match="not the one that was baked"):
        bpy.ops.conjac.export(format="abc")
    assert len(bpy.data.meshes) == before and not obj.modifiers
    assert BadMesh.code == "bad_mesh"


def test_more_maps_than_blender_has_room_for_are_reported(scene, capfd):  # noqa: F811
    obj = add_sheet()
    for k in range(6):
        obj.data.uv_layers.new(name=f"More {k}")
    meshes = bake_by_hand(obj)
    bpy.ops.conjac.export(format="abc")
    mesh = evaluated(obj, 2)
    maps = maps_of(mesh)
    assert np.abs(maps["More 4"] - maps["UVMap"]).max() < 1e-6 and not maps["More 5"].any()
    assert "room for 8 UV maps, so frames leave out More 5" in capfd.readouterr().out
    assert len(mesh.vertices) == len(meshes[1].x)


def test_the_overlay_knows_what_slides_and_how_fast_at_the_present_frame(scene):  # noqa: F811
    from conjac.conjac_addon.ui import sliding_marks

    obj = add_sheet()
    obj.location, obj.rotation_euler = (0.3, -0.2, 1.0), (0.0, 0.0, 0.7)
    assert sliding_marks.marks(obj, scene) is None  # nothing is baked
    meshes = bake_by_hand(obj, flat=False)
    for frame in (2, 4):
        scene.frame_set(frame)
        points, arrows = sliding_marks.marks(obj, scene)
        made = meshes[frame - 1]
        assert np.abs(points - made.x[[35]]).max() < 1e-5
        # through the vertex the cloth moves against Ẋ
        end = made.x[35] - 0.1 * made.polar_gradients[35] @ [0.3, 0.0]
        assert np.abs(arrows - np.stack([made.x[35], end])).max() < 1e-5
    scene.frame_set(77)
    assert sliding_marks.marks(obj, scene) is None
