"""Ropes in real Blender are made of chains of edges and of curves, baked, played back, and tied."""

import bpy
import numpy as np
import pytest
from drawn_panels import FakeLayout
from gathered_jobs import gathered, paint
from jelly import assert_plays, rest_of, scene, seen_at  # noqa: F401

from conjac.conjac_addon import members
from conjac.conjac_addon.gather.job import scene_settings
from solver.job.load import load


def add_chain(links=12, length=1.0, faces=(), name="Rope"):
    """Add a level chain of edges, a metre above the ground."""
    positions = np.stack([np.linspace(0.0, length, links + 1), np.zeros(links + 1), np.full(links + 1, 2.0)], 1)
    mesh = bpy.data.meshes.new(name)
    mesh.from_pydata(positions.tolist(), [(k, k + 1) for k in range(links)], faces)
    obj = bpy.data.objects.new(name, mesh)
    bpy.context.collection.objects.link(obj)
    bpy.context.view_layer.objects.active = obj
    obj.select_set(True)
    return obj


def lengths(obj, at):
    ends = np.empty(2 * len(obj.data.edges), np.int32)
    obj.data.edges.foreach_get("vertices", ends)
    return np.linalg.norm(np.diff(at[ends.reshape(-1, 2)], axis=1)[:, 0], axis=1)


def without_look(obj):
    """Return the baked points, without the modifier that makes the rope round."""
    obj.modifiers["Rope Thickness"].show_viewport = False
    return obj


def test_a_chain_of_edges_bakes_and_plays(scene):  # noqa: F811
    obj = add_chain()
    assert bpy.ops.conjac.add_rope() == {"FINISHED"} and obj.conjac.kind == "rope"
    assert obj.conjac.solver.method == "vanilla" and obj.conjac.solver.stage_solver == "newton_d"
    paint(obj, "Pin", [0])
    assert obj.conjac.bake(wait=True) == 0
    shown = obj.evaluated_get(bpy.context.evaluated_depsgraph_get()).data
    assert len(shown.polygons) > 100, "it is round"
    without_look(obj)
    assert_plays(obj, (1, 6, 12))
    rest, last = rest_of(obj), seen_at(obj, 12)
    assert np.abs(last[0] - rest[0]).max() < 1e-6 and last[-1, 2] < rest[-1, 2] - 0.3
    assert np.abs(lengths(obj, last) / lengths(obj, rest) - 1.0).max() < 1e-5


def test_a_curve_becomes_a_rope_as_thick_as_its_bevel(scene):  # noqa: F811
    bpy.ops.curve.primitive_bezier_curve_add(location=(0.0, 0.0, 2.0))
    curve = bpy.context.object
    curve.data.bevel_depth = 0.02
    assert bpy.ops.conjac.add_rope() == {"FINISHED"}
    rope = bpy.context.object
    assert rope != curve and rope.type == "MESH" and rope.conjac.kind == "rope" and not len(rope.data.polygons)
    assert rope.conjac.rope_thickness == pytest.approx(0.04) and curve.data.bevel_depth == pytest.approx(0.02)
    assert curve.hide_get() and curve.hide_render
    assert rope.conjac.bake(wait=True) == 0
    without_look(rope)
    rest, last = rest_of(rope), seen_at(rope, 12)
    assert np.abs(lengths(rope, last) / lengths(rope, rest) - 1.0).max() < 1e-4
    fixed = np.abs(last - rest).max(axis=1) < 1e-6
    assert fixed.sum() == 1 and np.abs(last - rest).max() > 0.2


def test_each_spline_of_a_curve_is_a_strand(scene, tmp_path):  # noqa: F811
    data = bpy.data.curves.new("Fringe", "CURVE")
    data.dimensions = "3D"
    for y in (0.0, 0.1, 0.2):
        spline = data.splines.new("POLY")
        spline.points.add(3)
        for k, point in enumerate(spline.points):
            point.co = (0.0, y, 2.0 - 0.1 * k, 1.0)
    fringe = bpy.data.objects.new("Fringe", data)
    scene.collection.objects.link(fringe)
    bpy.context.view_layer.objects.active = fringe
    assert bpy.ops.conjac.add_rope() == {"FINISHED"}
    read, array = gathered(bpy.context.object, tmp_path)
    [body] = read.bodies
    x, edges = array(body.surface.vertices), array(body.rope.edges)
    assert len(x) == 12 and len(edges) == 9 and np.allclose(x[edges[:, 0], 1], x[edges[:, 1], 1])
    assert np.allclose(x[array(body.pin.weights) > 0.5], [[0.0, y, 2.0] for y in (0.0, 0.1, 0.2)])


def test_a_bevel_by_another_curve_stays(scene):  # noqa: F811
    """A square of 6 cm is extruded along the rope, where a round bevel would have as many sides as its resolution."""
    shapes = {}
    for name, resolution in (("square", None), ("round", 2)):
        bpy.ops.curve.primitive_bezier_curve_add(location=(0.0, 0.0, 2.0))
        curve = bpy.context.object
        if resolution is None:
            data = bpy.data.curves.new("Square", "CURVE")
            data.splines.new("POLY").points.add(3)
            for point, (x, y) in zip(data.splines[0].points, ((-1, -1), (1, -1), (1, 1), (-1, 1))):
                point.co = (0.03 * x, 0.03 * y, 0.0, 1.0)
            data.splines[0].use_cyclic_u = True
            curve.data.bevel_mode, curve.data.bevel_object = "OBJECT", bpy.data.objects.new("Square", data)
            scene.collection.objects.link(curve.data.bevel_object)
            bpy.context.view_layer.update()
        else:
            curve.data.bevel_depth, curve.data.bevel_resolution = 0.02, resolution
        assert bpy.ops.conjac.add_rope() == {"FINISHED"}
        rope = bpy.context.object
        shown = rope.evaluated_get(bpy.context.evaluated_depsgraph_get()).data
        shapes[name] = rope.conjac.rope_thickness, len(shown.vertices) / len(rope.data.vertices)
    assert shapes["square"] == pytest.approx((0.06, 4)) and shapes["round"] == pytest.approx((0.04, 8))


def test_its_numbers_and_pins_stand_in_the_job(scene, tmp_path):  # noqa: F811
    obj = add_chain(4)
    bpy.ops.conjac.add_rope()
    obj.conjac.rope, obj.conjac.axial_stiffness = "springy", 250.0
    obj.conjac.linear_density, obj.conjac.rope_bending_stiffness, obj.conjac.rope_thickness = 0.3, 0.02, 0.03
    obj.conjac.wobble_half_life, obj.conjac.rope_keeps_shape, obj.conjac.most_stretch = 0.5, True, 0.25
    paint(obj, "Pin", [0], 1.0)
    paint(obj, "Pin", [4], 0.5)
    read, array = gathered(obj, tmp_path)
    [body] = read.bodies
    assert body.rope.length.kind == "springy" and body.rope.length.params == {
        "axial_stiffness": 250.0, "most_stretch": 0.25}
    assert body.wobble_half_life == 0.5 and body.rope.keeps_shape
    assert (body.rope.linear_density, body.rope.bending_stiffness, body.rope.thickness) == pytest.approx(
        (0.3, 0.02, 0.03))
    assert array(body.rope.edges).tolist() == [[0, 1], [1, 2], [2, 3], [3, 4]]
    assert body.pin.stiffness == 1000.0 and array(body.pin.weights)[[0, 4]] == pytest.approx([1.0, 0.5])
    load(tmp_path)
    from conjac.conjac_addon.gather import changed_settings

    assert changed_settings(obj, scene, tmp_path) == []
    obj.conjac.linear_density = 0.4
    assert changed_settings(obj, scene, tmp_path) == ["Density per Meter"]
    obj.conjac.linear_density, obj.conjac.rope = 0.3, "inextensible"
    assert "Length" in changed_settings(obj, scene, tmp_path)


def test_its_twist_and_its_half_life_may_have_keyframes(scene, tmp_path):  # noqa: F811
    obj = add_chain(4)
    bpy.ops.conjac.add_rope()
    paint(obj, "Pin", [0, 4])
    for frame, turn, seconds in ((1, 0.0, 1.0), (12, 6.0, 0.5)):
        obj.conjac.rope_twist, obj.conjac.wobble_half_life = turn, seconds
        obj.keyframe_insert("conjac.rope_twist", frame=frame)
        obj.keyframe_insert("conjac.wobble_half_life", frame=frame)
    scene.frame_set(1)
    read, array = gathered(obj, tmp_path)
    [body] = read.bodies
    turns, halves = array(body.rope.twist), array(body.wobble_half_life)
    assert turns[0] == 0.0 and turns[-1] == pytest.approx(6.0) and (np.diff(turns) >= 0.0).all()
    assert halves[0] == 1.0 and halves[-1] == pytest.approx(0.5) and len(turns) == len(halves) == load(tmp_path).samples
    from conjac.conjac_addon.gather import changed_settings

    assert changed_settings(obj, scene, tmp_path) == []


def test_it_hangs_on_what_moves_its_pins(scene):  # noqa: F811
    """A hook to an Empty above ConJac moves its end."""
    obj = add_chain(8)
    bpy.ops.conjac.add_rope()
    paint(obj, "Pin", [0])
    empty = bpy.data.objects.new("Hand", None)
    bpy.context.collection.objects.link(empty)
    empty.location = (0.0, 0.0, 2.0)
    bpy.context.view_layer.update()
    hook = obj.modifiers.new("Hook", "HOOK")
    hook.object, hook.vertex_group = empty, "Pin"
    hook.matrix_inverse = empty.matrix_world.inverted()
    obj.modifiers.move(obj.modifiers.find("Hook"), 0)  # Blender 5.3 puts new ones before what makes geometry
    for frame, x in ((1, 0.0), (12, 0.5)):
        empty.location.x = x
        empty.keyframe_insert("location", frame=frame)
    scene.frame_set(1)
    assert obj.conjac.bake(wait=True) == 0
    without_look(obj)
    hook.show_viewport = False
    assert seen_at(obj, 12)[0, 0] == pytest.approx(0.5, abs=1e-4)


def test_it_is_welded_to_a_soft_body_and_carries_it(scene):  # noqa: F811
    bpy.ops.mesh.primitive_cube_add(size=0.2, location=(1.0, 0.0, 1.89))
    cube = bpy.context.object
    bpy.ops.conjac.add_soft_body()
    cube.conjac.mesher, cube.conjac.edge_length = "grid", 0.1
    cube.select_set(False)
    rope = add_chain(8)
    bpy.ops.conjac.add_rope()
    # by which both move where they touch
    assert scene_settings(members.owner(rope), scene)["stage_solver"]["kind"] != "quick"
    rope.conjac.rope_thickness = 0.005
    paint(rope, "Pin", [0])
    cube.select_set(True)
    bpy.context.view_layer.objects.active = rope
    assert bpy.ops.conjac.add_weld() == {"FINISHED"}
    for scene_object in (rope, cube):
        scene_object.conjac.use_ground = False
    assert cube.conjac.bake(wait=True) == 0
    without_look(rope)
    rest, last = rest_of(rope), seen_at(rope, 12)
    assert np.abs(lengths(rope, last) / lengths(rope, rest) - 1.0).max() < 1e-4
    block = seen_at(cube, 12) + np.array([1.0, 0.0, 1.89])
    assert np.linalg.norm(block - last[-1], axis=1).min() < 0.2, "it hangs on the rope"
    assert block[:, 2].mean() > 0.9, "and does not fall past its end"


def test_what_is_no_rope_is_refused_in_a_sentence(scene, tmp_path):  # noqa: F811
    from conjac.solver.errors import BadMesh

    obj = add_chain(3)
    bpy.ops.conjac.add_rope()
    obj.data.clear_geometry()
    obj.data.from_pydata([(0, 0, 0), (1, 0, 0)], [], [])
    with pytest.raises(BadMesh, match="has no edge, so it has no length"):
        gathered(obj, tmp_path)
    obj.data.clear_geometry()
    obj.data.from_pydata([(0, 0, 0), (1, 0, 0), (0, 1, 0)], [], [(0, 1, 2)])
    with pytest.raises(BadMesh, match="the mesh has faces"):
        gathered(obj, tmp_path)
    bpy.ops.mesh.primitive_cube_add()
    assert not bpy.ops.conjac.add_rope.poll()
    data = bpy.data.curves.new("Point", "CURVE")
    data.splines.new("POLY")
    point = bpy.data.objects.new("Point", data)
    bpy.context.collection.objects.link(point)
    bpy.context.view_layer.objects.active = point
    for selected_object in bpy.context.selected_objects:
        selected_object.select_set(False)
    with pytest.raises(RuntimeError, match="has no length"):
        bpy.ops.conjac.add_rope()


def test_its_panel_shows_its_numbers_and_no_cloths(scene):  # noqa: F811
    from conjac.conjac_addon.ui import panels, ropes

    obj = add_chain(3)
    bpy.ops.conjac.add_rope()
    log = []
    ropes.draw(FakeLayout(log), bpy.context)
    shown = {name for kind, name in log if kind == "prop"}
    assert {"rope", "linear_density", "rope_bending_stiffness", "rope_thickness"} <= shown
    assert panels._kinds(obj) == {panels.ROPE}
    assert bpy.ops.conjac.remove() == {"FINISHED"} and obj.conjac.kind == "none"
