"""Place of the simulation in the stack: chosen before the first bake, and found again whatever happens to it."""

import numpy as np
import pytest
from matrix import some

bpy = pytest.importorskip("bpy")

from drawn_panels import drawn  # noqa: E402
from jelly import LAST, add_jelly, assert_plays, scene, seen_at  # noqa: E402, F401

from conjac.conjac_addon import bake as addon_bake  # noqa: E402
from conjac.conjac_addon.bake import place  # noqa: E402
from conjac.conjac_addon.playback import modifier, simulate_after  # noqa: E402


def names(obj):
    return [modifier.name for modifier in obj.modifiers]


def add_half(name="Half"):
    """The half of a box with X >= 0, open where it meets its image, pinned at its top."""
    obj = add_jelly(name)
    bpy.ops.object.mode_set(mode="EDIT")
    bpy.ops.mesh.select_all(action="SELECT")
    bpy.ops.mesh.bisect(plane_co=(0, 0, 0), plane_no=(1, 0, 0), clear_inner=True)
    bpy.ops.object.mode_set(mode="OBJECT")
    return obj


def add_sheet():
    """A grid of 20 cm in a plane, one edge of it pinned."""
    bpy.ops.mesh.primitive_grid_add(size=0.2, x_subdivisions=4, y_subdivisions=4)
    obj = bpy.context.object
    co = np.array([vertex.co[:] for vertex in obj.data.vertices])
    for group, chosen in (("Pin", co[:, 0] < -0.09), ("Dynamic", co[:, 0] > 0.09)):
        obj.vertex_groups.new(name=group).add(np.flatnonzero(chosen).tolist(), 1.0, "REPLACE")
    settings = obj.conjac
    settings.enabled, settings.mesher, settings.edge_length, settings.step = True, "grid", 0.05, 1 / 48
    return obj


def test_modifiers_that_change_a_map_are_read(scene):  # noqa: F811
    """Weights that nothing reads are no reason to simulate later."""
    obj = add_jelly()
    obj.conjac.frame_end, obj.conjac.use_scene_range = 2, False
    for name, kind, field, group in (("Near", "VERTEX_WEIGHT_PROXIMITY", "vertex_group", "Pin"),
                                     ("Mix", "VERTEX_WEIGHT_MIX", "vertex_group_a", "Dynamic"),
                                     ("Other", "VERTEX_WEIGHT_EDIT", "vertex_group", "Hair")):
        setattr(obj.modifiers.new(name, kind), field, group)
    obj.modifiers.new("Smooth", "SUBSURF")
    assert modifier.place(obj) == simulate_after.index(obj) == 2
    assert obj.conjac.bake() == 0
    assert names(obj) == ["Near", "Mix", "ConJac", "Other", "Smooth"]


def test_below_a_pinned_modifier_there_is_no_end_of_the_stack(scene):  # noqa: F811
    obj = add_jelly()
    obj.modifiers.new("Smooth", "SUBSURF").levels = 1
    pinned = obj.modifiers.new("Smooth by Angle", "NODES")  # as Shade Auto Smooth adds it
    pinned.use_pin_to_last = True
    assert obj.conjac.bake() == 0
    assert names(obj) == ["ConJac", "Smooth", "Smooth by Angle"]
    cache = place.cache_of(place.job_folder(obj))
    assert len(cache.frame(LAST)["Jelly"]) == len(obj.data.vertices)
    assert np.abs(seen_at(obj, LAST) - seen_at(obj, 1)).max() > 1e-3  # it plays
    # what stands below is drawn on the bake alone, what stands above it went in
    assert bpy.ops.conjac.export(format="abc") == {"FINISHED"}
    assert names(obj) == ["ConJac", "Smooth", "Smooth by Angle"]
    assert bpy.ops.conjac.simulate_after(after="Smooth by Angle") == {"FINISHED"}
    assert names(obj) == ["Smooth", "Smooth by Angle", "ConJac"]
    assert bpy.ops.conjac.simulate_after(after="AUTOMATIC") == {"FINISHED"}
    assert names(obj) == ["ConJac", "Smooth", "Smooth by Angle"]
    assert not modifier.find(obj).use_pin_to_last


@pytest.mark.parametrize("key", some(["pc2", "abc"], "pc2"))
def test_a_renamed_mark_is_the_mark(scene, key):  # noqa: F811
    obj = add_jelly()
    obj.conjac.export = key
    assert obj.conjac.bake() == 0
    obj.modifiers["ConJac"].name = "My Wobble"
    obj.modifiers.new("Later", "SUBSURF").levels = 1
    before = place.cache_of(place.job_folder(obj)).frame(1)["Jelly"]
    scene.frame_set(LAST)
    obj.conjac.youngs_modulus = 6.0e3
    assert obj.conjac.bake() == 0
    assert names(obj) == ["My Wobble", "Later"]
    # what it plays did not go in as the shape
    np.testing.assert_array_equal(place.cache_of(place.job_folder(obj)).frame(1)["Jelly"], before)
    bpy.ops.wm.save_mainfile()
    bpy.ops.wm.open_mainfile(filepath=bpy.data.filepath)
    obj = bpy.data.objects["Jelly"]
    assert modifier.find(obj) == obj.modifiers["My Wobble"]
    twin = obj.copy()
    assert modifier.find(twin) == twin.modifiers["My Wobble"]
    assert bpy.ops.conjac.free_bake() == {"FINISHED"}
    assert names(obj) == ["Later"]


def test_the_mark_of_an_override_is_found_after_loading(scene, tmp_path):  # noqa: F811
    obj = add_jelly()
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "library.blend"))
    bpy.ops.wm.read_factory_settings(use_empty=True)
    with bpy.data.libraries.load(str(tmp_path / "library.blend"), link=True) as (_, wanted):
        wanted.objects = ["Jelly"]
    bpy.context.scene.collection.objects.link(wanted.objects[0])  # from 5.3 on only what a scene uses is overridden
    obj = wanted.objects[0].override_create(remap_local_usages=True)
    bpy.context.scene.frame_end = 3
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "shot.blend"))
    assert obj.conjac.bake() == 0
    obj.modifiers["ConJac"].name = "My Wobble"
    bpy.ops.wm.save_mainfile()
    bpy.ops.wm.open_mainfile(filepath=bpy.data.filepath)
    obj = next(scene_object for scene_object in bpy.data.objects if scene_object.library is None)
    assert modifier.find(obj) is not None and modifier.find(obj) == obj.modifiers["My Wobble"]


def test_a_cache_of_the_artists_own_under_our_name_is_not_the_mark(scene):  # noqa: F811
    obj = add_jelly()
    obj.modifiers.new("ConJac", "MESH_CACHE")
    assert modifier.find(obj) is None and modifier.place(obj) == 1  # it deforms what is simulated


def test_the_mark_of_an_older_file_is_known_once_it_is_loaded(scene):  # noqa: F811
    obj = add_jelly()
    assert obj.conjac.bake() == 0
    obj.modifiers["ConJac"].eval_time = 0.0  # as it was written before there were signs
    assert modifier.find(obj) is None
    bpy.ops.wm.save_mainfile()
    bpy.ops.wm.open_mainfile(filepath=bpy.data.filepath)
    obj = bpy.data.objects["Jelly"]
    assert modifier.find(obj) == obj.modifiers["ConJac"]
    assert_plays(obj, (1, LAST))


def test_a_sheet_with_solidify_bakes_at_once(scene):  # noqa: F811
    obj = add_sheet()
    obj.modifiers.new("Shell", "SOLIDIFY").thickness = 0.05
    obj.modifiers.new("Fine", "SUBSURF").levels = 1
    assert modifier.place(obj) == 1
    assert obj.conjac.bake() == 0
    assert names(obj) == ["Shell", "ConJac", "Fine"]
    cache = place.cache_of(place.job_folder(obj))
    assert len(cache.frame(1)["Grid"]) == 2 * len(obj.data.vertices)


def test_solidify_on_a_sheet_can_be_left_below_and_then_the_remedy_can_be_done(scene):  # noqa: F811
    obj = add_sheet()
    obj.modifiers.new("Shell", "SOLIDIFY").thickness = 0.05
    assert bpy.ops.conjac.simulate_after(after="MESH") == {"FINISHED"}
    with pytest.raises(RuntimeError, match='"Grid": the mesh is flat.*Solidify.*Simulate After'):
        bpy.ops.conjac.bake()
    assert bpy.ops.conjac.simulate_after(after="Shell") == {"FINISHED"}
    assert bpy.ops.conjac.bake() == {"FINISHED"}


def test_a_half_with_mirror_has_no_open_seam(scene):  # noqa: F811
    obj = add_half()
    mirror = obj.modifiers.new("Other Half", "MIRROR")
    mirror.use_clip = True
    count = sum(abs(vertex.co.x) < 1e-6 for vertex in obj.data.vertices)
    assert count and obj.conjac.bake() == 0
    assert names(obj) == ["Other Half", "ConJac"]
    assert len(seen_at(obj, LAST)) == 2 * len(obj.data.vertices) - count  # the seam is merged, so it cannot open
    assert np.abs(seen_at(obj, LAST) - seen_at(obj, 1)).max() > 1e-3
    # a whole body that is mirrored is simulated once
    whole = add_jelly("Whole")
    whole.modifiers.new("Twin", "MIRROR")
    assert modifier.place(whole) == 0


def test_what_makes_geometry_stands_below_by_default(scene):  # noqa: F811
    obj = add_jelly()
    for kind in ("SUBSURF", "BEVEL", "SOLIDIFY", "MIRROR", "ARRAY", "REMESH"):
        obj.modifiers.new(kind, kind)
    assert modifier.place(obj) == 0
    obj.modifiers.new("Rig", "LATTICE")
    assert modifier.place(obj) == 7
    # chosen before any bake, by a modifier whatever it is called then
    assert bpy.ops.conjac.simulate_after(after="BEVEL") == {"FINISHED"}
    assert modifier.place(obj) == 2
    obj.modifiers["BEVEL"].name = "Edges"
    obj.modifiers["SUBSURF"].name = "BEVEL"
    obj.modifiers.move(0, 4)
    assert modifier.place(obj) == 1
    bpy.ops.wm.save_mainfile()
    bpy.ops.wm.open_mainfile(filepath=bpy.data.filepath)
    obj = bpy.data.objects["Jelly"]
    assert modifier.place(obj) == 1
    obj.modifiers.remove(obj.modifiers["Edges"])  # what was chosen has gone
    assert modifier.place(obj) == simulate_after.automatic(obj, list(obj.modifiers))


def geometry_nodes(name, makes):
    """Return a node group whose output is the result of makes(nodes, links, input mesh socket)."""
    group = bpy.data.node_groups.new(name, "GeometryNodeTree")
    for way in ("INPUT", "OUTPUT"):
        group.interface.new_socket("Geometry", in_out=way, socket_type="NodeSocketGeometry")
    group.interface.new_socket("Size", in_out="INPUT", socket_type="NodeSocketFloat")
    into, out = group.nodes.new("NodeGroupInput"), group.nodes.new("NodeGroupOutput")
    made = makes(group.nodes, group.links, into)
    if made is not None:
        group.links.new(made, out.inputs[0])
    return group


def a_cube(nodes, links, into):
    cube = nodes.new("GeometryNodeMeshCube")
    links.new(into.outputs["Size"], cube.inputs["Size"])
    move = nodes.new("GeometryNodeTransform")
    links.new(cube.outputs["Mesh"], move.inputs["Geometry"])
    return move.outputs[0]


def the_mesh_beside_a_cube(nodes, links, into):
    joined = nodes.new("GeometryNodeJoinGeometry")
    links.new(a_cube(nodes, links, into), joined.inputs[0])
    links.new(into.outputs["Geometry"], joined.inputs[0])
    return joined.outputs[0]


def a_simulation(nodes, links, into):
    """Its zone is no link from its beginning to its end."""
    first, last = nodes.new("GeometryNodeSimulationInput"), nodes.new("GeometryNodeSimulationOutput")
    first.pair_with_output(last)
    links.new(into.outputs["Geometry"], first.inputs["Geometry"])
    return last.outputs["Geometry"]


@pytest.mark.parametrize("makes, own", ((a_cube, True), (the_mesh_beside_a_cube, False), (a_simulation, False),
                                        (lambda *_: None, False)))
def test_nodes_that_make_a_mesh_of_their_own_are_what_is_simulated(scene, makes, own):  # noqa: F811
    obj = add_jelly()
    nodes = obj.modifiers.new("Maker", "NODES")
    assert modifier.place(obj) == 0  # it has no nodes yet
    nodes.node_group = geometry_nodes("Maker", makes)
    obj.modifiers.new("Smooth", "SUBSURF")
    assert modifier.place(obj) == (1 if own else 0)
    nodes.show_viewport = False
    assert modifier.place(obj) == 0


def test_what_nodes_make_of_nothing_falls(scene):  # noqa: F811
    mesh = bpy.data.meshes.new("Nothing")
    mesh.from_pydata([(0, 0, 0)], [], [])
    obj = bpy.data.objects.new("Made", mesh)
    scene.collection.objects.link(obj)
    bpy.context.view_layer.objects.active = obj
    obj.select_set(True)
    group = geometry_nodes("Maker", a_cube)
    group.interface.items_tree["Size"].default_value = 0.2  # the modifier begins with it
    obj.modifiers.new("Maker", "NODES").node_group = group
    obj.location.z = 1.0
    bpy.context.view_layer.update()
    assert bpy.ops.conjac.add_soft_body() == {"FINISHED"}
    obj.conjac.mesher, obj.conjac.edge_length = "grid", 0.1
    assert obj.conjac.bake() == 0
    assert len(seen_at(obj, 1)) == 8
    assert (seen_at(obj, LAST) - seen_at(obj, 1))[:, 2].max() < -0.4


def test_a_mark_that_was_dragged_stands_there_again_after_free_and_with_shape_keys(scene):  # noqa: F811
    obj = add_jelly()
    scene.frame_end = 3
    obj.modifiers.new("Bend", "LATTICE")
    assert obj.conjac.bake() == 0
    assert names(obj) == ["Bend", "ConJac"]
    obj.modifiers.move(1, 0)
    assert obj.conjac.bake() == 0
    assert bpy.ops.conjac.export(format="shapekeys") == {"FINISHED"}
    assert modifier.place(obj) == 0 and obj.modifiers["Bend"].show_viewport
    assert bpy.ops.conjac.free_bake() == {"FINISHED"}
    assert obj.conjac.bake() == 0
    assert names(obj) == ["ConJac", "Bend"]


def test_the_panel_says_what_is_simulated_and_offers_the_choice(scene):  # noqa: F811
    obj = add_jelly()
    assert ("operator", "conjac.simulate_after") not in drawn(obj)  # there is nothing to choose
    obj.modifiers.new("Fine", "SUBSURF")
    assert ("operator", "conjac.simulate_after") in drawn(obj)


def test_frames_that_nothing_plays_are_not_called_complete(scene):  # noqa: F811
    obj = add_jelly()
    assert obj.conjac.bake() == 0
    assert addon_bake.status(obj).state == "complete"
    obj.modifiers.clear()
    status = addon_bake.status(obj)
    assert status.state == "stale" and "nothing plays them" in status.text
    assert obj.conjac.bake() == 0
    assert addon_bake.status(obj).state == "complete"
