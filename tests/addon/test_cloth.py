"""Cloth in real Blender is made, pinned, baked and played back."""

import json

import numpy as np
import pytest
from jelly import assert_plays, rest_of, scene, seen_at  # noqa: F401

bpy = pytest.importorskip("bpy")

from conjac.conjac_addon import compat, members  # noqa: E402
from conjac.conjac_addon.bake import place  # noqa: E402
from conjac.conjac_addon.gather import changed_settings, write_job  # noqa: E402
from conjac.conjac_addon.gather.job import scene_settings  # noqa: E402


def add_curtain(cells=12, size=1.0):
    """Add a square that leans and hangs from its upper corners and the middle of its upper edge."""
    bpy.ops.mesh.primitive_grid_add(x_subdivisions=cells, y_subdivisions=cells, size=size,
                                    rotation=(0.8, 0.0, 0.0), location=(0.0, 0.0, 2.0))
    obj = bpy.context.object
    bpy.ops.object.transform_apply(location=False)
    obj.name = "Curtain"
    co = rest_of(obj)
    top = np.flatnonzero(co[:, 2] > co[:, 2].max() - 1e-5)
    pinned = top[np.argsort(co[top, 0])][[0, len(top) // 2, -1]]
    obj.vertex_groups.new(name="Pin").add(pinned.tolist(), 1.0, "REPLACE")
    return obj, pinned


def edges_of(obj):
    ends = np.empty(2 * len(obj.data.edges), np.int32)
    obj.data.edges.foreach_get("vertices", ends)
    return ends.reshape(-1, 2)


def test_a_pinned_curtain_bakes_and_plays(scene):  # noqa: F811
    obj, pinned = add_curtain()
    assert bpy.ops.conjac.add_cloth() == {"FINISHED"}
    assert obj.conjac.kind == "cloth" and members.is_cloth(obj) and members.is_soft_body(obj)
    obj.location.z = 1.5
    assert bpy.ops.conjac.bake() == {"FINISHED"}
    assert_plays(obj, (1, 6, 12))
    rest, last = rest_of(obj), seen_at(obj, 12)
    assert np.abs(last[pinned] - rest[pinned]).max() <= 1e-5
    # it swings down below its pins, and no edge is stretched by more than a little
    assert last[:, 2].min() < rest[:, 2].min() - 0.05
    edges = edges_of(obj)
    before, after = (np.linalg.norm(x[edges[:, 0]] - x[edges[:, 1]], axis=1) for x in (rest, last))
    assert (after / before).max() < 1.25


def add_box(size=0.5):
    bpy.ops.mesh.primitive_cube_add(size=size, location=(0.0, 0.0, -0.5 * size))
    box = bpy.context.object
    box.name = "Box"
    assert bpy.ops.conjac.add_collider() == {"FINISHED"}
    return box


def test_a_tablecloth_falls_onto_a_box_and_hangs_over_it(scene):  # noqa: F811
    add_box()
    bpy.ops.mesh.primitive_grid_add(x_subdivisions=10, y_subdivisions=10, size=0.9, location=(0.02, 0.01, 0.03))
    obj = bpy.context.object
    bpy.ops.conjac.add_cloth()
    scene.frame_end = 10
    assert bpy.ops.conjac.bake() == {"FINISHED"}
    last = seen_at(obj, 10) + np.array(obj.location, np.float32)
    inside = (np.abs(last[:, :2]) < 0.249).all(axis=1) & (last[:, 2] < -1e-4)
    assert not inside.any()
    above = (np.abs(last[:, :2]) < 0.22).all(axis=1)
    assert above.sum() > 20 and last[above, 2].max() < 0.02
    assert last[:, 2].min() < -0.1


@pytest.mark.parametrize("cells,scale_length,bending", [(20, 1.0, 2.5e-4), (20, 0.1, 2.0e-5), (200, 1.0, 2.0e-5),
                                                        (1, 1.0, 0.2 * 9.81 * (2.0 ** 0.5 / 20.0) ** 3)])
def test_new_cloth_bends_over_an_edge_by_its_weight_and_is_cotton_where_that_is_limper(scene, cells,  # noqa: F811
                                                                                       scale_length, bending):
    scene.unit_settings.scale_length = scale_length
    add_curtain(cells)
    bpy.ops.conjac.add_cloth()
    assert bpy.context.object.conjac.bending_stiffness == pytest.approx(bending, rel=0.03)


def test_new_cloth_that_is_turned_bends_as_much(scene):  # noqa: F811
    obj, _ = add_curtain(1)
    obj.rotation_euler = (0.4, 0.5, 0.6)
    bpy.context.view_layer.update()
    bpy.ops.conjac.add_cloth()
    assert obj.conjac.bending_stiffness == pytest.approx(0.2 * 9.81 * (2.0 ** 0.5 / 20.0) ** 3, rel=0.03)


def test_the_bending_stiffness_that_was_set_stays(scene):  # noqa: F811
    obj, _ = add_curtain(4)
    obj.conjac.bending_stiffness = 1.0e-6
    bpy.ops.conjac.add_cloth()
    assert obj.conjac.bending_stiffness == pytest.approx(1.0e-6)


def doubled(obj, frame):
    """Return the fraction of edges within cloth at which its faces turn by more than 90 degrees."""
    bpy.context.scene.frame_set(frame)
    mesh = obj.evaluated_get(bpy.context.evaluated_depsgraph_get()).to_mesh()
    mesh.calc_loop_triangles()
    triangles, normals = (np.array([list(getattr(triangle, name)) for triangle in mesh.loop_triangles])
                          for name in ("vertices", "normal"))
    ends = np.sort(triangles[:, [[0, 1], [1, 2], [2, 0]]].reshape(-1, 2), axis=1)
    _, name, count = np.unique(ends, axis=0, return_inverse=True, return_counts=True)
    order = np.argsort(name.ravel(), kind="stable")
    order = order[count[name.ravel()[order]] == 2].reshape(-1, 2) // 3
    turn = np.einsum("ki,ki->k", normals[order[:, 0]], normals[order[:, 1]])
    return (turn < 0.0).mean()


def test_coarse_cloth_that_is_hit_does_not_fold_from_face_to_face(scene):  # noqa: F811
    bpy.ops.mesh.primitive_uv_sphere_add(radius=0.5, location=(0.0, 0.0, -0.6))
    ball = bpy.context.object
    bpy.ops.conjac.add_collider()
    for frame, height in ((1, -0.6), (8, 0.2)):
        ball.location.z = height
        ball.keyframe_insert("location", frame=frame)
    bpy.ops.mesh.primitive_grid_add(x_subdivisions=14, y_subdivisions=14, size=1.2)
    obj = bpy.context.object
    bpy.ops.conjac.add_cloth()
    obj.conjac.wobble_half_life = 0.0  # which calms the folds, too
    scene.frame_end = 14
    seen = []
    for bending in (obj.conjac.bending_stiffness, 2.0e-6):
        obj.conjac.bending_stiffness = bending
        assert bpy.ops.conjac.bake() == {"FINISHED"}
        seen.append(np.mean([doubled(obj, frame) for frame in (12, 13, 14)]))
        bpy.ops.conjac.free_bake()
    assert seen[0] < 0.02 and seen[0] < 0.75 * seen[1], "of all edges, a fiftieth at most"


def test_what_the_job_says_of_cloth(scene, tmp_path):  # noqa: F811
    obj, _ = add_curtain(4)
    bpy.ops.conjac.add_cloth()
    settings = obj.conjac
    assert settings.stretch_limit == pytest.approx(0.1)  # of new cloth: what is heavy does not pull it out for metres
    settings.area_density, settings.thickness, settings.bending = 0.4, 0.004, "hinge_bending"
    settings.stretch_warp, settings.cloth_shape = 500.0, "uv"
    folder = tmp_path / "job"
    write_job(obj, scene, folder)
    [body] = json.loads((folder / "scene.json").read_text())["bodies"]
    cloth = body["cloth"]
    assert cloth["area_density"] == 0.4 and cloth["thickness"] == 0.004
    assert cloth["bending"]["kind"] == "hinge_bending" and cloth["membrane"]["params"]["stretch_warp"] == 500.0
    uv, corners = np.load(folder / cloth["uv"]), np.load(folder / body["surface"]["triangles"])
    assert uv.shape == (len(corners), 3, 2) and "material" not in body and "mesher" not in body
    # the map of a grid is the grid: lengths in it are those of the mesh, but for one scale
    positions = np.load(folder / body["surface"]["vertices"])[corners]
    ratio = (np.linalg.norm(positions[:, 1] - positions[:, 0], axis=1) / np.linalg.norm(uv[:, 1] - uv[:, 0], axis=1))
    assert np.ptp(ratio) <= 1e-4 * ratio.mean()
    assert changed_settings(obj, scene, folder) == []
    settings.area_density, settings.shear = 0.5, 100.0
    assert changed_settings(obj, scene, folder) == ["Area Density", "Shear Stiffness"]


def test_what_the_job_says_of_cloth_that_slides_over_sharp_edges(scene, tmp_path):  # noqa: F811
    box = add_box()
    box.data.edges[3].use_edge_sharp = True
    obj, _ = add_curtain(4)
    bpy.ops.conjac.add_cloth()
    write_job(obj, scene, tmp_path / "before")
    document = json.loads((tmp_path / "before" / "scene.json").read_text())
    assert "eulerian" not in document["bodies"][0]["cloth"] and "sharp_edges" not in document["obstacles"][0]
    settings = obj.conjac
    settings.sharp_edges, settings.sharp_finest, settings.sharp_coarsest = True, 0.01, 0.08
    assert changed_settings(obj, scene, tmp_path / "before") == ["Pin Stiffness", "Sharp Edges",
                                                                              "Wobble Half-Life"]
    folder = tmp_path / "job"
    write_job(obj, scene, folder)
    document = json.loads((folder / "scene.json").read_text())
    # the catalogue's 30 degrees to the last digit, and not the nearest float32
    assert document["bodies"][0]["cloth"]["eulerian"] == {"angle": np.radians(30.0), "finest": 0.01, "coarsest": 0.08}
    marked = np.load(folder / document["obstacles"][0]["sharp_edges"])
    assert marked.tolist() == [list(box.data.edges[3].vertices)]
    assert changed_settings(obj, scene, folder) == []
    settings.sharp_angle = 0.7
    assert changed_settings(obj, scene, folder) == ["Feature Angle"]
    scene.unit_settings.scale_length = 0.1
    write_job(obj, scene, tmp_path / "small")
    small = json.loads((tmp_path / "small" / "scene.json").read_text())["bodies"][0]["cloth"]["eulerian"]
    assert small == pytest.approx({"angle": 0.7, "finest": 0.001, "coarsest": 0.008})


def test_a_mirrored_object_has_its_uv_map_the_right_way_round(scene, tmp_path):  # noqa: F811
    obj, _ = add_curtain(4)
    bpy.ops.conjac.add_cloth()
    obj.conjac.cloth_shape = "uv"
    obj.scale.x = -1.0
    folder = tmp_path / "job"
    write_job(obj, scene, folder)
    [body] = json.loads((folder / "scene.json").read_text())["bodies"]
    uv, corners = np.load(folder / body["cloth"]["uv"]), np.load(folder / body["surface"]["triangles"])
    positions = np.load(folder / body["surface"]["vertices"])[corners]
    for a, b in ((0, 1), (1, 2), (2, 0)):
        ratio = (np.linalg.norm(positions[:, a] - positions[:, b], axis=1)
                 / np.linalg.norm(uv[:, a] - uv[:, b], axis=1))
        assert np.ptp(ratio) <= 1e-4 * ratio.mean()


def test_cloth_without_a_uv_map_says_so(scene, tmp_path):  # noqa: F811
    obj, _ = add_curtain(2)
    bpy.ops.conjac.add_cloth()
    obj.conjac.cloth_shape = "uv"
    obj.data.uv_layers.remove(obj.data.uv_layers[0])
    with pytest.raises(Exception, match="Unwrap it, or set Rest Shape to Mesh"):
        write_job(obj, scene, tmp_path / "job")


def test_what_needs_an_inside_is_grey_on_cloth(scene):  # noqa: F811
    add_curtain(2)
    bpy.ops.conjac.add_cloth()
    for name in ("add_cut", "add_handle", "preview_tets", "suggest_handles", "set_wobble"):
        assert not getattr(bpy.ops.conjac, name).poll(), name
    assert bpy.ops.conjac.add_pull.poll() and bpy.ops.conjac.add_nail.poll()


def test_a_soft_body_is_not_made_cloth_by_a_slip(scene):  # noqa: F811
    obj, _ = add_curtain(2)
    bpy.ops.conjac.add_soft_body()
    assert not bpy.ops.conjac.add_cloth.poll()
    bpy.ops.conjac.remove()
    assert bpy.ops.conjac.add_cloth() == {"FINISHED"}
    assert not place.job_folder(obj).exists()
    bpy.ops.conjac.remove()
    assert obj.conjac.kind == "none"


def test_wind_force_fields_blow_at_cloth_and_at_nothing_else(scene, tmp_path):  # noqa: F811
    obj, _ = add_curtain(cells=4)
    assert bpy.ops.conjac.add_cloth() == {"FINISHED"}

    def written():
        write_job(obj, scene, tmp_path / "job")
        return json.loads((tmp_path / "job" / "scene.json").read_text())

    assert "wind" not in written()
    bpy.ops.object.effector_add(type="WIND", rotation=(0.0, np.pi / 2, 0.0))
    fan = bpy.context.object
    fan.field.strength, fan.scale = 3.0, (2.0, 2.0, 2.0)
    bpy.context.view_layer.update()
    assert changed_settings(obj, scene, tmp_path / "job") == ["Wind"]
    np.testing.assert_allclose(written()["wind"]["velocity"], [3.0, 0.0, 0.0], atol=1e-5)
    assert changed_settings(obj, scene, tmp_path / "job") == []
    fan.field.strength = 2.0
    assert changed_settings(obj, scene, tmp_path / "job") == ["Wind"]
    fan.hide_set(True)
    assert "wind" not in written()
    fan.hide_set(False)
    # gusts: a speed at each sample
    for frame, strength in ((1, 0.0), (12, 5.5)):
        fan.field.strength = strength
        fan.field.keyframe_insert("strength", frame=frame)
    for curve in compat.fcurves(fan):
        for point in curve.keyframe_points:
            point.interpolation = "LINEAR"
    motion = np.load(tmp_path / "job" / written()["wind"]["motion"])
    np.testing.assert_allclose(motion, np.linspace(0.0, 5.5, 23)[:, None] * [1.0, 0.0, 0.0], atol=1e-5)
    assert changed_settings(obj, scene, tmp_path / "job") == []
    assert obj.conjac.bake() == 0
    blown = seen_at(obj, 12)[:, 0].mean()
    fan.animation_data_clear()
    fan.field.strength = 0.0
    assert obj.conjac.bake() == 0
    assert blown > seen_at(obj, 12)[:, 0].mean() + 0.003
    # a volume knows no air
    obj.conjac.kind = "soft_body"
    assert "wind" not in scene_settings(obj, scene)


def test_loose_edges_between_faces_are_seams_of_new_cloth(addon):
    mesh = bpy.data.meshes.new("Panels")
    square = [(0, 0, 0), (1, 0, 0), (1, 1, 0), (0, 1, 0)]
    mesh.from_pydata([*square, *((x + 2, y, z) for x, y, z in square), (5, 5, 5)], [(1, 4), (2, 7), (2, 8)],
                     [(0, 1, 2, 3), (4, 5, 6, 7)])
    panels = bpy.data.objects.new("Panels", mesh)
    bpy.context.scene.collection.objects.link(panels)
    bpy.context.view_layer.objects.active = panels
    panels.select_set(True)
    bpy.ops.conjac.add_cloth()
    assert panels.conjac.use_sewing
    from conjac.conjac_addon.gather.cloth import seams

    assert sorted(map(sorted, seams(mesh).tolist())) == [[1, 4], [2, 7]], "the one to a loose vertex is none"
    bpy.ops.mesh.primitive_grid_add()
    bpy.ops.conjac.add_cloth()
    assert not bpy.context.object.conjac.use_sewing


def test_quads_of_cloth_are_known_as_quads(addon, tmp_path):
    """Contact needs both diagonals of a quad: Blender draws a folded one along the other."""
    from conjac.conjac_addon.gather.cloth import quads

    mesh = bpy.data.meshes.new("Mixed")
    mesh.from_pydata([(0, 0, 0), (1, 0, 0), (1, 1, 0), (0, 1, 0), (2, 0, 0), (2, 1, 0)], [],
                     [(0, 1, 2, 3), (1, 4, 2), (4, 5, 2)])
    assert quads(mesh).tolist() == [[0, 1, 2, 3]]
