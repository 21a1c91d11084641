"""A new soft body starts with settings that fit its size, and a first bake that lands and continues to move."""

import bmesh
import bpy
import numpy as np
import pytest
from drawn_panels import drawn
from mathutils import Matrix


def add(size, scale_length=1.0):
    bpy.context.scene.unit_settings.scale_length = scale_length
    bpy.ops.mesh.primitive_cube_add(size=size, location=(0, 0, size))
    bpy.ops.conjac.add_soft_body()
    return bpy.context.object


def test_stiffness_and_ground_fit_the_size(addon):
    small, large = add(0.2).conjac, add(2.0).conjac
    for settings in (small, large):
        assert (settings.solver.method, settings.solver.integrator, settings.solver.stage_solver) == (
            "vanilla", "sdirk2", "quick")
        # once the method is ConJac the step does not change how fast what is left over settles: γ = 1/3 at 1/48 s
        assert 1.0 - 2.0 ** (-1 / 48 / settings.solver.settle_time) == pytest.approx(1 / 3, abs=0.01)
        assert settings.use_ground and settings.friction == "coulomb"
        assert settings.ground_height == 0.0
    # they would sag by their weight if they wobbled as slowly as larger ones, such as one of four metres
    assert small.youngs_modulus == pytest.approx(1000 * 9.81 * 0.2 / 0.06, rel=5e-3)
    assert large.youngs_modulus == pytest.approx(1000 * 9.81 * 2.0 / 0.06, rel=5e-3)
    assert add(4.0).conjac.youngs_modulus == pytest.approx(1000 * (2.5 * 4.0 / 0.3) ** 2, rel=5e-3)
    assert large.ground_stiffness_per_area == small.ground_stiffness_per_area == pytest.approx(1000 * 9.81 / 0.0003)
    assert large.wobble_half_life == small.wobble_half_life == 0.75


def test_a_stiffness_has_few_digits_and_ten_times_of_it_where_it_is_painted(addon):
    settings = add(0.37).conjac
    assert settings.youngs_modulus == float(f"{settings.youngs_modulus:.3g}")
    assert settings.youngs_modulus_high == pytest.approx(10.0 * settings.youngs_modulus)


def test_units_count(addon):
    metres, centimetres = add(0.2).conjac, add(20.0, 0.01).conjac
    assert centimetres.youngs_modulus == pytest.approx(metres.youngs_modulus, rel=1e-3)
    assert centimetres.ground_stiffness_per_area == metres.ground_stiffness_per_area > 0.0


def test_what_was_set_stays(addon):
    bpy.ops.mesh.primitive_cube_add(size=1.0, location=(0, 0, -3.0))
    settings = bpy.context.object.conjac
    settings.youngs_modulus, settings.solver.method, settings.use_ground = 123.0, "conjac", False
    bpy.ops.conjac.add_soft_body()
    assert settings.youngs_modulus == 123.0 and settings.solver.method == "conjac" and not settings.use_ground
    settings.kind = "none"
    settings.property_unset("use_ground")
    bpy.ops.conjac.add_soft_body()
    assert settings.use_ground and settings.ground_height == pytest.approx(-3.5)


def test_who_may_fall_off_a_table_lands_on_a_ground(addon):
    bpy.ops.mesh.primitive_cube_add(size=1.0, location=(0, 0, 0.75), scale=(1.4, 0.9, 0.06))
    bpy.ops.conjac.add_collider()
    settings = add(0.4).conjac
    assert settings.use_ground and settings.ground_height == 0.0


def test_new_cloth_lands_where_no_collider_is_as_a_soft_body_does(addon):
    bpy.ops.mesh.primitive_grid_add(size=1.0, location=(0, 0, 1))
    bpy.ops.conjac.add_cloth()
    cloth, soft = bpy.context.object.conjac, add(0.4).conjac
    assert cloth.use_ground and cloth.friction == "coulomb" and cloth.ground_height == 0.0
    assert cloth.ground_stiffness_per_area == soft.ground_stiffness_per_area > 0.0
    bpy.ops.mesh.primitive_plane_add(size=9.0)
    bpy.ops.conjac.add_collider()
    bpy.ops.mesh.primitive_grid_add(size=1.0, location=(0, 0, 1))
    bpy.ops.conjac.add_cloth()
    assert not bpy.context.object.conjac.use_ground


@pytest.mark.parametrize("others,apart", [
    ([], False),                       # one cube
    ([(1.5, 0, 0)], True),             # two letters of a word
    ([(0.9, 0, 0)], False),            # they cross, so one is filled
    ([(0.9, 0, 0), (1.8, 0, 0)], False),  # the middle one joins the others
    ([(0, 0, 0, 0.2)], False)])        # an eye inside a head
def test_pieces_of_one_mesh_touch_each_other(addon, others, apart):
    bpy.ops.mesh.primitive_cube_add(size=1.0, location=(0, 0, 1))
    word = bpy.context.object
    mesh = bmesh.new()
    mesh.from_mesh(word.data)
    for x, y, z, *size in others:
        bmesh.ops.create_cube(mesh, size=size[0] if size else 1.0, matrix=Matrix.Translation((x, y, z)))
    mesh.to_mesh(word.data)
    mesh.free()
    bpy.ops.conjac.add_soft_body()
    assert word.conjac.contact.itself == apart


def test_a_piece_in_a_hole_or_in_a_hollow_is_separate(addon):
    """A ball in a ring and a pip in a hollow shell are within another's bounding box, and yet outside of its solid."""
    bpy.ops.mesh.primitive_torus_add(location=(0, 0, 2))
    ring = bpy.context.object
    mesh = bmesh.new()
    mesh.from_mesh(ring.data)
    bmesh.ops.create_icosphere(mesh, subdivisions=2, radius=0.2)
    mesh.to_mesh(ring.data)
    bpy.ops.conjac.add_soft_body()
    assert ring.conjac.contact.itself

    for pip in (False, True):
        bpy.ops.mesh.primitive_ico_sphere_add(location=(0, 0, 2))
        shell = bpy.context.object
        mesh.clear()
        mesh.from_mesh(shell.data)
        hollow = bmesh.ops.create_icosphere(mesh, subdivisions=2, radius=0.8)["verts"]
        bmesh.ops.reverse_faces(mesh, faces=list({face for vert in hollow for face in vert.link_faces}))
        if pip:
            bmesh.ops.create_icosphere(mesh, subdivisions=1, radius=0.2)
        mesh.to_mesh(shell.data)
        bpy.ops.conjac.add_soft_body()
        assert shell.conjac.contact.itself == pip
    mesh.free()


@pytest.mark.parametrize("at,turned,ground", [
    ((0, 0, -2), 0.4, False), ((0, 0, 0), 0.0, False), ((9, 0, -2), 0.0, True)])
def test_what_falls_on_a_collider_gets_no_ground_above_it(addon, at, turned, ground):
    bpy.ops.mesh.primitive_plane_add(size=6.0, location=at, rotation=(0.0, turned, 0.0))
    floor = bpy.context.object
    bpy.ops.conjac.add_collider()
    body = add(1.0)
    assert body.conjac.use_ground == ground and body.conjac.contact.collides_with == "all"
    labels = [text for kind, text in drawn(body) if kind == "label"]
    assert ("The Ground holds it too: it does not reach colliders" in " ".join(labels)) == ground
    bpy.data.objects.remove(floor)
    assert "The Ground holds" not in " ".join(text for kind, text in drawn(body) if kind == "label")


def test_what_may_roll_off_a_collider_gets_a_ground_below_it(addon):
    """A body that falls on a bar that turns, or on a table, lands on the ground afterwards."""
    bpy.ops.mesh.primitive_cube_add(size=1.0, location=(0, 0, -0.5))
    bar = bpy.context.object
    bar.scale = (3.0, 0.2, 0.2)
    bpy.ops.conjac.add_collider()
    body = add(1.0)
    assert body.conjac.use_ground and body.conjac.ground_height == pytest.approx(-0.6)


def test_dynamic_nodes_that_do_not_count_are_reported(addon):
    from drawn_panels import drawn

    def labels():
        return " ".join(text for kind, text in drawn(cube) if kind == "label")

    cube = add(1.0)
    assert "dynamic nodes are for the method ConJac" not in labels()
    bpy.ops.conjac.add_handle()
    bpy.context.view_layer.update()
    assert "dynamic nodes are for the method ConJac" in labels()
    cube.conjac.solver.method = "conjac"
    assert "dynamic nodes are for the method ConJac" not in labels()


def test_a_first_bake_lands_bounces_and_goes_on_moving(addon, tmp_path):
    cube = add(1.0)
    scene = bpy.context.scene
    scene.frame_start, scene.frame_end, scene.render.fps = 1, 40, 24
    cube.conjac.cache_folder, cube.conjac.edge_length = str(tmp_path), 0.34
    bpy.ops.conjac.subdivide(cuts=2)
    assert bpy.ops.conjac.bake() == {"FINISHED"}
    heights, middles = [], []
    for frame in range(1, 41):
        scene.frame_set(frame)
        mesh = cube.evaluated_get(bpy.context.evaluated_depsgraph_get()).to_mesh()
        z = np.array([(cube.matrix_world @ vertex.co).z for vertex in mesh.vertices])
        heights.append(float(np.ptp(z)))
        middles.append(float(z.mean()))
    low = int(np.argmin(middles[:24]))
    assert min(middles) > 0.15 and min(heights) > 0.5  # not flat, and not through the ground
    assert max(middles[low:]) > middles[low] + 0.15  # it comes up again
    assert np.ptp(heights[32:]) > 0.02  # and wobbles a second after it landed


def test_bodies_that_begin_together_share_a_budget_of_nodes(addon):
    """Many bodies each get longer edges than a single one, and the panel shows the number of nodes."""
    assert add(2.0).conjac.edge_length == pytest.approx(0.27)
    labels = [text for kind, text in drawn(bpy.context.object) if kind == "label"]
    assert any("A box of its size has about 1,000 nodes" in " ".join(labels[k : k + 4]) for k in range(len(labels)))
    bpy.context.object.conjac.property_unset("edge_length")
    labels = [text for kind, text in drawn(bpy.context.object) if kind == "label"]
    assert any("0 is 0.17 m here. A box of its size has about" in " ".join(labels[k : k + 4])
               for k in range(len(labels)))
    for k in range(10):
        bpy.ops.mesh.primitive_cube_add(size=2.0, location=(4 * k, 9, 2))
        bpy.context.object.name = f"Many {k}"
    for k in range(10):
        bpy.data.objects[f"Many {k}"].select_set(True)
    bpy.ops.conjac.add_soft_body()
    edges = {bpy.data.objects[f"Many {k}"].conjac.edge_length for k in range(10)}
    assert len(edges) == 1 and 0.31 < edges.pop() < 0.35


@pytest.mark.parametrize("scale", [(1.0, 1.0, 1.0), (0.5, 0.5, 0.5)])
def test_a_compact_body_has_edges_by_its_thickness_and_others_what_0_picks(addon, scale):
    """A torus and Suzanne are thick somewhere: they have the edges of an Edge Length of 0."""
    bpy.context.scene.unit_settings.scale_length = 1.0
    for make, edge in ((lambda: bpy.ops.mesh.primitive_cube_add(size=1.0, scale=scale), 0.133),
                       (lambda: bpy.ops.mesh.primitive_ico_sphere_add(subdivisions=4, radius=0.5, scale=scale), 0.133),
                       (lambda: bpy.ops.mesh.primitive_monkey_add(size=scale[0]), 0.0),
                       (lambda: bpy.ops.mesh.primitive_torus_add(major_segments=24), 0.0)):
        make()
        bpy.ops.conjac.add_soft_body()
        settings = bpy.context.object.conjac
        assert settings.edge_length == pytest.approx(edge * scale[0], rel=0.05)
        assert settings.is_property_set("edge_length") == bool(edge)


def thin_bar(sizes, turn):
    """Add a box as a new body and return it."""
    bpy.ops.mesh.primitive_cube_add(size=1.0, scale=sizes, location=(5.0, 1.0, 2.0), rotation=(0.0, turn, 0.0))
    bpy.ops.object.transform_apply(location=False, rotation=True, scale=True)
    bpy.ops.conjac.add_soft_body()
    return bpy.context.object


THIN = [((1.0, 1.0, 0.08), 0.0), ((1.0, 0.5, 0.06), 0.7), ((0.1, 0.1, 1.0), 0.4)]


@pytest.mark.parametrize("sizes,turn", THIN)
def test_a_body_that_is_thin_everywhere_has_shorter_edges_than_its_box_gives(addon, sizes, turn):
    from conjac.conjac_addon.operators import fineness

    obj = thin_bar(sizes, turn)
    assert 0.0 < obj.conjac.edge_length < 0.7 * fineness.edges(obj)[1]


def test_a_hand_has_edges_as_long_whatever_the_gap_between_its_fingers(addon):
    """Its bounding box grows with the gaps, so a hand whose fingers were far apart had edges a seventh shorter than
    others, and twice their nodes; one whose fingers were 2 mm apart bent by a seventh more."""
    from benchmarks import apart
    from conjac.conjac_addon.operators import fineness

    wide, *close = (fineness.edges(apart.hand(gap)[0]) for gap in apart.GAPS)
    assert wide[0] < 0.8 * wide[1]
    assert all(0.9 * wide[0] < enough <= wide[0] for enough, _ in close)


@pytest.mark.long
@pytest.mark.parametrize("sizes,turn", THIN)
def test_a_body_that_is_thin_everywhere_has_about_two_thousand_nodes(addon, sizes, turn):
    from conjac.conjac_addon.operators import fineness
    from solver.meshing.tetrahedralize import tetrahedralize

    obj = thin_bar(sizes, turn)
    at = np.array([vertex.co for vertex in obj.data.vertices])
    obj.data.calc_loop_triangles()
    faces = np.array([triangle.vertices for triangle in obj.data.loop_triangles], dtype=np.int32)
    nodes = len(tetrahedralize(at, faces, "tetwild", {"edge_length": obj.conjac.edge_length}, name="it").nodes)
    assert 0.7 * fineness.THIN_NODES < nodes < 1.3 * fineness.THIN_NODES


def test_thin_bodies_that_begin_together_share_the_budget_too(addon):
    def made(count):
        for k in range(count):
            bpy.ops.mesh.primitive_cube_add(size=1.0, scale=(1.0, 1.0, 0.05), location=(2 * k, count, 2))
            bpy.context.object.name = f"Plate {count} {k}"
        for k in range(count):
            bpy.data.objects[f"Plate {count} {k}"].select_set(True)
        bpy.ops.conjac.add_soft_body()
        return [bpy.data.objects[f"Plate {count} {k}"].conjac.edge_length for k in range(count)]

    alone, three, twelve = made(1), made(3), made(12)
    assert three == 3 * alone and len({*twelve}) == 1
    assert twelve[0] == pytest.approx(4.0 ** (1.0 / 3.0) * alone[0], rel=0.06)  # two digits


@pytest.mark.parametrize("make,diameter", [
    (lambda: bpy.ops.mesh.primitive_cube_add(size=1.0, scale=(2.0, 1.0, 0.1)), 0.1),
    (lambda: bpy.ops.mesh.primitive_torus_add(major_segments=64, minor_segments=32), 0.5),
    (lambda: bpy.ops.mesh.primitive_uv_sphere_add(segments=48, ring_count=24, radius=0.7), 1.4)])
def test_the_widest_ball_inside_a_surface_is_found(addon, make, diameter):
    """Its faces are oriented outwards or inwards."""
    from conjac.conjac_addon.operators import fineness

    make()
    mesh = bpy.context.object.data
    bpy.context.view_layer.update()
    mesh.calc_loop_triangles()
    scale = np.array(bpy.context.object.scale)
    at = scale * np.array([vertex.co for vertex in mesh.vertices], dtype=float)
    faces = np.array([triangle.vertices for triangle in mesh.loop_triangles], dtype=np.int32)
    for corners in (faces, faces[:, ::-1]):
        assert fineness.widest(at, np.ascontiguousarray(corners)) == pytest.approx(diameter, rel=0.05)


def test_an_edge_length_that_was_set_stays(addon):
    bpy.ops.mesh.primitive_cube_add(size=1.0)
    bpy.context.object.conjac.edge_length = 0.04
    bpy.ops.conjac.add_soft_body()
    assert bpy.context.object.conjac.edge_length == pytest.approx(0.04)
