"""Objects that cannot be simulated are refused in one sentence that names the object, and the scene does not change."""

import bmesh
import bpy
import pytest


@pytest.fixture()
def refused(tmp_path):
    """Gather an object that must be refused, and return the sentence. The scene and the folder do not change."""
    from conjac.conjac_addon import gather
    from conjac.solver.errors import ConJacError

    def gather_it(obj, kind=ConJacError, scene=None):
        scene = scene or bpy.context.scene
        before = scene.frame_current, [(m.name, m.show_viewport) for m in obj.modifiers]
        with pytest.raises(kind) as caught:
            gather.write_job(obj, scene, tmp_path / "job")
        assert (scene.frame_current, [(m.name, m.show_viewport) for m in obj.modifiers]) == before
        assert not (tmp_path / "job" / "scene.json").exists()
        assert not (tmp_path / "job" / "arrays.new").exists()
        text = str(caught.value)
        assert text.endswith(".") and "\n" not in text
        return text
    return gather_it


def new_object(name, vertices, edges=(), faces=()):
    mesh = bpy.data.meshes.new(name)
    mesh.from_pydata(vertices, edges, faces)
    obj = bpy.data.objects.new(name, mesh)
    bpy.context.scene.collection.objects.link(obj)
    obj.conjac.enabled = True
    return obj


def test_meshes_without_a_volume(addon, refused):
    square = [(0, 0, 0), (1, 0, 0), (1, 1, 0), (0, 1, 0)]
    assert "no vertices" in refused(new_object("Empty Mesh", []))
    assert "no faces" in refused(new_object("Wire", square, edges=[(0, 1), (1, 2)]))
    text = refused(new_object("Sheet", square, faces=[(0, 1, 2, 3)]))
    assert text.startswith('"Sheet": the mesh is flat')


def test_modifiers_that_leave_no_mesh_are_refused_by_name(soft_cube, refused):
    soft_cube.vertex_groups.new(name="Nothing")
    soft_cube.modifiers.new("Bend", "SIMPLE_DEFORM")
    soft_cube.modifiers.new("Hidden", "MASK").vertex_group = "Nothing"
    soft_cube.modifiers.new("Twist", "SIMPLE_DEFORM")
    assert refused(soft_cube) == (
        '"Cube", frame 1: its modifier "Hidden" leaves no vertices. Let it make a mesh (instances have none: add '
        "Realize Instances), or choose one before it under Simulate After.")


def test_coordinates_that_are_not_numbers(soft_cube, refused):
    soft_cube.data.vertices[3].co.y = float("nan")
    assert "the first is vertex 3" in refused(soft_cube)


@pytest.mark.parametrize("size", [1.0e-6, 1.0e3])
def test_tiny_and_huge_are_not_refused(soft_cube, tmp_path, size):
    from conjac.conjac_addon import gather

    soft_cube.scale = (size / 2,) * 3
    gather.write_job(soft_cube, bpy.context.scene, tmp_path)
    assert (tmp_path / "scene.json").exists()


def test_zero_scale_at_a_frame(soft_cube, refused):
    soft_cube.keyframe_insert("scale", frame=1)
    soft_cube.scale.y = 0.0
    soft_cube.keyframe_insert("scale", frame=3)
    text = refused(soft_cube)
    assert text.startswith('"Cube", frame 3:') and "scale" in text


def test_pins_painted_on_nothing(soft_cube, refused):
    soft_cube.vertex_groups.new(name="Pin").add([0, 1], 0.4, "REPLACE")
    assert 'its group "Pin"' in refused(soft_cube)


def test_a_group_that_does_not_exist(soft_cube, refused):
    from conjac.solver.errors import NoSuchThing

    soft_cube.conjac.dynamic_group = "Ears"
    assert 'no vertex group "Ears"' in refused(soft_cube, NoSuchThing)


def test_not_in_the_scene_or_not_shown(soft_cube, refused):
    other = bpy.data.scenes.new("Other")
    assert 'not in the scene "Other"' in refused(soft_cube, scene=other)
    soft_cube.hide_viewport = True
    assert "Show it in the viewport" in refused(soft_cube)
    soft_cube.hide_viewport = False
    props = bpy.data.collections.new("Props")
    bpy.context.scene.collection.children.link(props)
    props.objects.link(soft_cube)
    bpy.context.scene.collection.objects.unlink(soft_cube)
    bpy.context.view_layer.layer_collection.children["Props"].exclude = True
    bpy.context.view_layer.update()
    assert 'its collection "Props" is excluded from the view layer. Tick the collection in the Outliner.' in refused(
        soft_cube)


def test_not_a_mesh_and_not_in_edit_mode(soft_cube, refused):
    bpy.ops.object.mode_set(mode="EDIT")
    assert "Edit Mode" in refused(soft_cube)
    bpy.ops.object.mode_set(mode="OBJECT")
    bpy.ops.curve.primitive_bezier_curve_add()
    assert "not a mesh" in refused(bpy.context.object)


def test_a_frame_range_that_runs_backwards(soft_cube, refused):
    soft_cube.conjac.use_scene_range = False
    soft_cube.conjac.frame_start, soft_cube.conjac.frame_end = 9, 5
    assert "last frame 5" in refused(soft_cube)


def test_a_vertex_count_that_changes_is_refused_by_the_modifiers_name(soft_cube, refused):
    soft_cube.modifiers.new("First", "CAST")
    array = soft_cube.modifiers.new("Growing Array", "ARRAY")
    array.keyframe_insert("count", frame=1)
    array.count = 5
    array.keyframe_insert("count", frame=4)
    soft_cube.modifiers.new("Bend", "SIMPLE_DEFORM")
    text = refused(soft_cube)
    assert '"Growing Array"' in text and "from 16 to" in text and '"Cube", frame' in text


def test_render_levels_that_differ_are_refused_by_the_modifiers_name(soft_cube, refused):
    subdivision = soft_cube.modifiers.new("Subdivision", "SUBSURF")
    subdivision.levels, subdivision.render_levels = 1, 3
    soft_cube.modifiers.new("Bend", "SIMPLE_DEFORM")
    assert '"Subdivision"' in refused(soft_cube)


def test_shape_keys_need_the_meshs_own_vertices(soft_cube, refused, tmp_path):
    from conjac.conjac_addon import gather

    soft_cube.modifiers.new("Mirror It", "MIRROR")
    soft_cube.modifiers.new("Bend", "SIMPLE_DEFORM")
    soft_cube.conjac.export = "shapekeys"
    assert "“Mirror It”" in refused(soft_cube)
    soft_cube.conjac.export = "pc2"
    gather.write_job(soft_cube, bpy.context.scene, tmp_path / "job")


def test_a_ground_that_turns_or_is_the_body(soft_cube, refused):
    soft_cube.conjac.use_ground, soft_cube.conjac.ground_object = True, soft_cube
    assert "its own ground" in refused(soft_cube)
    bpy.ops.object.empty_add(location=(0, 0, -3))
    ground = bpy.context.object
    soft_cube.conjac.ground_object = ground
    ground.keyframe_insert("rotation_euler", frame=1)
    ground.rotation_euler.x = 1.0
    ground.keyframe_insert("rotation_euler", frame=4)
    assert "ground turns" in refused(soft_cube)


def test_a_folder_that_cannot_be_written(soft_cube, tmp_path):
    from conjac.conjac_addon import gather
    from conjac.solver.errors import CacheUnwritable

    (tmp_path / "file").write_text("in the way")
    with pytest.raises(CacheUnwritable) as caught:
        gather.write_job(soft_cube, bpy.context.scene, tmp_path / "file" / "job")
    assert "cannot be written" in str(caught.value) and caught.value.exit_code == 4


def test_a_disk_that_fills_up_keeps_the_old_job(soft_cube, tmp_path):
    resource = pytest.importorskip("resource")
    import signal

    from conjac.conjac_addon import gather
    from conjac.solver.errors import CacheUnwritable

    # enough motion that the stream alone is larger than the limit
    bm = bmesh.new()
    bmesh.ops.create_icosphere(bm, subdivisions=4, radius=1.0)
    bm.to_mesh(soft_cube.data)
    bm.free()
    count = len(soft_cube.data.vertices)
    soft_cube.vertex_groups.new(name="Pin").add(list(range(count)), 1.0, "REPLACE")
    gather.write_job(soft_cube, bpy.context.scene, tmp_path)
    before = {path: path.read_bytes() for path in tmp_path.rglob("*.*")}
    soft_cube.keyframe_insert("location", frame=1)
    soft_cube.location.x = 1.0
    soft_cube.keyframe_insert("location", frame=4)

    old = resource.getrlimit(resource.RLIMIT_FSIZE)
    handler = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    try:
        resource.setrlimit(resource.RLIMIT_FSIZE, (4 * count * 24, old[1]))
        with pytest.raises(CacheUnwritable):
            gather.write_job(soft_cube, bpy.context.scene, tmp_path)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, old)
        signal.signal(signal.SIGXFSZ, handler)
    assert {path: path.read_bytes() for path in tmp_path.rglob("*.*")} == before
    assert bpy.context.scene.frame_current == 1


def linked(name, data):
    obj = bpy.data.objects.new(name, data)
    bpy.context.scene.collection.objects.link(obj)
    return obj


def wire(name):
    """Return a mesh of one edge, which combed fibers follow."""
    mesh = bpy.data.meshes.new(name)
    mesh.from_pydata([(0, 0, 0), (1, 0, 0)], [(0, 1)], [])
    return linked(name, mesh)


def combed_by(body, comb):
    body.conjac.fiber_material, body.conjac.fiber_field = "afung", "combed"
    body.conjac.fiber_curves_object = comb


def test_fibers_of_curves_that_stand_still_unseen(soft_cube, refused):
    comb = wire("Comb")
    combed_by(soft_cube, comb)
    comb.hide_viewport = True
    comb.location.x = 5.0  # which Blender does not look at while it is disabled
    assert refused(soft_cube).startswith('"Comb": it gives the fibers of "Cube" their direction, but it is disabled')
    comb.hide_viewport = False
    bpy.context.scene.collection.objects.unlink(comb)
    assert "not in the scene" in refused(soft_cube)


def test_objects_of_the_wrong_type_that_only_a_script_can_choose(soft_cube, refused):
    camera = linked("Camera", bpy.data.cameras.new("Camera"))
    combed_by(soft_cube, camera)
    assert refused(soft_cube) == ('"Camera": it gives the fibers of "Cube" their direction and is a Camera without '
                                  "curves. Choose hair, a curve, or a mesh of edges.")
    soft_cube.conjac.fiber_material = "none"
    soft_cube.conjac.nails.add().object = camera
    assert refused(soft_cube) == ('"Camera": it is a nail of "Cube" and a Camera. Choose an Empty, or remove the nail.')
    soft_cube.conjac.nails.clear()
    cut = soft_cube.conjac.cuts.add()
    cut.frame, cut.object = 2, camera
    assert refused(soft_cube) == ('"Camera": it cuts "Cube" and is a Camera. Choose an Empty or a mesh, or remove the '
                                  "cut.")
    from conjac.conjac_addon import bake

    assert bake.status(soft_cube).state == "none"  # the panel that asks at every redraw does not stumble


def test_a_ground_that_is_disabled_and_would_stay_where_it_was(soft_cube, refused):
    ground = linked("Floor", None)
    soft_cube.conjac.use_ground, soft_cube.conjac.ground_object = True, ground
    ground.hide_viewport = True
    assert '"Floor": it is the ground of "Cube", but it is disabled in viewports' in refused(soft_cube)
