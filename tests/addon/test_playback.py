"""Baked frames shown by real Blender: every format reproduces them, at and between frames, and can be removed."""

from itertools import chain, pairwise
from pathlib import Path

import numpy as np
import pytest

bpy = pytest.importorskip("bpy")

from conjac.conjac_addon import playback  # noqa: E402
from conjac.conjac_addon.playback import modifier, pc2, shape_keys  # noqa: E402
from conjac.solver.errors import BadMesh, CacheUnwritable  # noqa: E402

FIRST, LAST = 10, 15


@pytest.fixture(autouse=True)
def empty_file():
    bpy.ops.wm.read_homefile(use_empty=True, use_factory_startup=True)


def make_object(name="Jelly"):
    bpy.ops.mesh.primitive_monkey_add(size=0.3)
    obj = bpy.context.object
    obj.name = name
    obj.location, obj.rotation_euler, obj.scale = (1, 2, 3), (0.3, 0.2, 0.1), (1, 2, 0.5)
    return obj


def positions(mesh):
    co = np.empty(3 * len(mesh.vertices), np.float32)
    mesh.vertices.foreach_get("co", co)
    return co.reshape(-1, 3)


def evaluated(obj, frame, subframe=0.0):
    bpy.context.scene.frame_set(frame, subframe=subframe)
    return positions(obj.evaluated_get(bpy.context.evaluated_depsgraph_get()).data).copy()


def make_frames(obj, first=FIRST, last=LAST, vertices=None):
    """Return frames that differ at every vertex."""
    rest = positions(obj.data).copy() if vertices is None else np.zeros((vertices, 3), np.float32)
    rng = np.random.default_rng(0)
    data = [(rest + rng.normal(0, 0.2, rest.shape)).astype(np.float32) for _ in range(first, last + 1)]
    return playback.Frames(first, last, lambda frame: data[frame - first])


@pytest.fixture(params=list(playback.formats()))
def key(request):
    return request.param


def test_each_format_shows_frame_k_at_frame_k_and_a_blend_between(key, tmp_path):
    obj = make_object()
    frames = make_frames(obj)
    playback.show(obj, bpy.context.scene, frames, tmp_path / "jelly", key)
    for frame in (12, FIRST, LAST, 11):
        np.testing.assert_allclose(evaluated(obj, frame), frames.read(frame), atol=1e-6)
    half = frames.read(12) + 0.25 * (frames.read(13) - frames.read(12))
    np.testing.assert_allclose(evaluated(obj, 12, 0.25), half, atol=1e-5)
    np.testing.assert_allclose(evaluated(obj, FIRST - 4), frames.read(FIRST), atol=1e-6)
    np.testing.assert_allclose(evaluated(obj, LAST + 4), frames.read(LAST), atol=1e-6)


def test_each_format_can_be_changed_for_each_other_one(tmp_path):
    obj = make_object()
    rest = positions(obj.data).copy()
    frames = make_frames(obj)
    keys = list(playback.formats())
    # each after each other one and after itself, once: a de Bruijn sequence
    after_each = [key for i, first in enumerate(keys)
                  for key in (first, *chain(*((first, later) for later in keys[i + 1:])))]
    assert len({*pairwise([*after_each, keys[0]])}) == len(after_each) == len(keys) ** 2
    for key in (*after_each, keys[0]):
        playback.show(obj, bpy.context.scene, frames, tmp_path / "jelly", key)
        np.testing.assert_allclose(evaluated(obj, 13), frames.read(13), atol=1e-6)
        assert len(obj.modifiers) == (0 if key == "shapekeys" else 1)
        assert (obj.data.shape_keys is not None) == (key == "shapekeys")
    playback.hide(obj)
    np.testing.assert_array_equal(evaluated(obj, 13), rest)
    assert not obj.modifiers and obj.data.shape_keys is None
    assert not bpy.data.cache_files and not bpy.data.actions and len(bpy.data.scenes) == 1


def test_blend_paths_list_the_files_a_render_node_needs(tmp_path):
    obj = make_object("Ду ша/../x")
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "a file.blend"))
    (tmp_path / "sub").mkdir()
    for key in ("pc2", "abc"):
        file = playback.show(obj, bpy.context.scene, make_frames(obj), tmp_path / "sub" / "jelly.001", key)
        assert file.name == f"jelly.001.{key}"
        stored = obj.modifiers["ConJac"].filepath if key == "pc2" else obj.modifiers["ConJac"].cache_file.filepath
        assert stored == f"//sub/jelly.001.{key}"
        assert str(file) in bpy.utils.blend_paths(absolute=True)


def test_the_saved_file_plays_without_the_extension(key, tmp_path):
    obj = make_object()
    frames = make_frames(obj)
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "a.blend"))
    playback.show(obj, bpy.context.scene, frames, tmp_path / "jelly", key)
    bpy.ops.wm.save_mainfile()
    bpy.ops.wm.open_mainfile(filepath=str(tmp_path / "a.blend"))
    obj = bpy.data.objects["Jelly"]
    np.testing.assert_allclose(evaluated(obj, 14), frames.read(14), atol=1e-6)


def add_rig(obj):
    """Add a Lattice that moves the object, a Simple Deform, then Subdivision and Solidify."""
    cage = bpy.data.objects.new("Cage", bpy.data.lattices.new("Cage"))
    bpy.context.scene.collection.objects.link(cage)
    lattice = obj.modifiers.new("Cage", "LATTICE")
    lattice.object = cage
    cage.location = (5, 0, 0)
    bend = obj.modifiers.new("Bend", "SIMPLE_DEFORM")
    bend.angle = 1.0
    obj.modifiers.new("Smooth Surface", "SUBSURF").levels = 1
    obj.modifiers.new("Shell", "SOLIDIFY").thickness = 0.01


def test_what_stands_above_the_mark_is_replaced_and_what_stands_below_is_applied_once(key, tmp_path):
    obj = make_object()
    frames = make_frames(obj)
    # the reference: the frame as a plain mesh under the lower modifiers alone
    plain = obj.copy()
    plain.data = obj.data.copy()
    bpy.context.scene.collection.objects.link(plain)
    plain.modifiers.new("Smooth Surface", "SUBSURF").levels = 1
    plain.modifiers.new("Shell", "SOLIDIFY").thickness = 0.01
    plain.data.vertices.foreach_set("co", frames.read(12).ravel())
    plain.data.update()

    add_rig(obj)
    playback.show(obj, bpy.context.scene, frames, tmp_path / "jelly", key)
    names = [m.name for m in obj.modifiers]
    expected = ["Cage", "Bend", "Smooth Surface", "Shell"]
    assert names == (expected if key == "shapekeys" else [*expected[:2], "ConJac", *expected[2:]])
    np.testing.assert_allclose(evaluated(obj, 12), evaluated(plain, 12), atol=1e-5)
    assert all(obj.modifiers[name].show_viewport and obj.modifiers[name].show_render for name in expected[2:])

    playback.hide(obj)
    assert all(m.show_viewport and m.show_render for m in obj.modifiers)
    assert [m.name for m in obj.modifiers] == expected


def test_corrections_after_the_rig_stand_above_the_mark():
    obj = make_object()
    for kind in ("SUBSURF", "ARMATURE", "CORRECTIVE_SMOOTH", "SOLIDIFY", "SMOOTH"):
        obj.modifiers.new(kind, kind)
    assert modifier.place(obj) == 3
    obj.modifiers.clear()
    obj.modifiers.new("Smooth", "SMOOTH")
    assert modifier.place(obj) == 0


def test_a_modifier_that_took_our_name_is_renamed_and_stays(tmp_path):
    obj = make_object()
    obj.modifiers.new("ConJac", "SOLIDIFY")
    playback.show(obj, bpy.context.scene, make_frames(obj), tmp_path / "jelly", "pc2")
    assert [(m.name, m.type) for m in obj.modifiers] == [("ConJac", "MESH_CACHE"), ("ConJac (Other)", "SOLIDIFY")]


def test_other_vertex_counts_are_refused_by_name(key, tmp_path):
    obj = make_object()
    frames = make_frames(obj, vertices=12)
    with pytest.raises(BadMesh, match='"Jelly": .*507 vertices.*12'):
        playback.show(obj, bpy.context.scene, frames, tmp_path / "jelly", key)
    assert not obj.modifiers and obj.data.shape_keys is None
    assert list(tmp_path.iterdir()) == []


def test_a_constant_count_above_the_mark_plays_but_gives_no_shape_keys(tmp_path):
    obj = make_object()
    obj.modifiers.new("Fine", "SUBSURF").levels = 1
    obj.modifiers.new("Bend", "SIMPLE_DEFORM")
    count = len(evaluated(obj, 1))
    frames = make_frames(obj, vertices=count)
    for key in ("pc2", "abc"):
        playback.show(obj, bpy.context.scene, frames, tmp_path / "jelly", key)
        np.testing.assert_allclose(evaluated(obj, 12), frames.read(12), atol=1e-6)
    with pytest.raises(BadMesh, match="507 vertices and the bake has"):
        playback.show(obj, bpy.context.scene, frames, tmp_path / "jelly", "shapekeys")
    np.testing.assert_allclose(evaluated(obj, 12), frames.read(12), atol=1e-6)


def test_shape_keys_of_the_artist_and_shared_meshes_are_refused(tmp_path):
    obj = make_object()
    frames = make_frames(obj)
    obj.shape_key_add(name="Basis")
    obj.shape_key_add(name="Smile")
    with pytest.raises(BadMesh, match="shape keys of its own"):
        playback.show(obj, bpy.context.scene, frames, tmp_path / "jelly", "shapekeys")
    assert [block.name for block in obj.data.shape_keys.key_blocks] == ["Basis", "Smile"]
    playback.hide(obj)
    assert len(obj.data.shape_keys.key_blocks) == 2

    twin_owner = make_object("Other")
    twin = twin_owner.copy()
    assert twin.data == twin_owner.data
    with pytest.raises(BadMesh, match="shared"):
        playback.show(twin_owner, bpy.context.scene, frames, tmp_path / "jelly", "shapekeys")


def test_modifiers_come_back_as_they_were_shown(tmp_path):
    obj = make_object()
    for name, viewport, render in (("Both", True, True), ("View", True, False), ("Render", False, True),
                                   ("Off", False, False)):
        bend = obj.modifiers.new(name, "SIMPLE_DEFORM")
        bend.show_viewport, bend.show_render = viewport, render
    before = [(m.name, m.show_viewport, m.show_render) for m in obj.modifiers]
    playback.show(obj, bpy.context.scene, make_frames(obj), tmp_path / "jelly", "shapekeys")
    assert not any(m.show_viewport or m.show_render for m in obj.modifiers)
    with playback.set_aside(obj):
        assert [m.show_viewport for m in obj.modifiers] == [True, True, False, False]
    playback.hide(obj)
    assert [(m.name, m.show_viewport, m.show_render) for m in obj.modifiers] == before


def test_modifiers_that_were_renamed_come_back_too(tmp_path):
    obj = make_object()
    for name, shown in (("One", True), ("Two", False)):
        obj.modifiers.new(name, "SIMPLE_DEFORM").show_viewport = shown
    playback.show(obj, bpy.context.scene, make_frames(obj), tmp_path / "jelly", "shapekeys")
    first, second = obj.modifiers
    first.name, second.name, first.name = "Other", "One", "Two"
    with playback.set_aside(obj):
        assert (first.show_viewport, second.show_viewport) == (True, False)
    assert not first.show_viewport
    playback.hide(obj)
    assert [(m.name, m.show_viewport, m.show_render) for m in obj.modifiers] == [("Two", True, True),
                                                                                 ("One", False, True)]


def test_modifiers_that_an_older_version_replaced_come_back_by_name(tmp_path):
    obj = make_object()
    obj.modifiers.new("One", "SIMPLE_DEFORM")
    playback.show(obj, bpy.context.scene, make_frames(obj), tmp_path / "jelly", "shapekeys")
    for name in (shape_keys.IN_VIEWPORT, shape_keys.IN_RENDER):
        del obj.data.shape_keys[name + shape_keys.IDENTIFIERS]
    playback.hide(obj)
    assert obj.modifiers["One"].show_viewport and obj.modifiers["One"].show_render


def test_many_shape_keys_stay_exact(tmp_path):
    bpy.ops.mesh.primitive_plane_add()
    obj = bpy.context.object
    frames = make_frames(obj, 1, 400)
    playback.show(obj, bpy.context.scene, frames, tmp_path / "x", "shapekeys")
    for frame in (1, 200, 399, 400):
        np.testing.assert_allclose(evaluated(obj, frame), frames.read(frame), atol=1e-6)
    assert not shape_keys.is_ours(make_object("Other"))


def test_pc2_counts_a_frame_only_when_it_is_there(tmp_path):
    obj = make_object()
    frames = make_frames(obj)
    path = tmp_path / "jelly.pc2"
    writer = pc2.Writer(path, FIRST)
    for count, block in enumerate(frames, 1):
        writer.append(block)
        points, first, samples = pc2.read_header(path)
        assert (points, first, samples) == (len(block), FIRST, count)
        assert path.stat().st_size == 32 + 12 * points * count
        if count == 1:
            pc2.attach(obj, path, FIRST)
        # the running scene sees each frame as it comes
        np.testing.assert_allclose(evaluated(obj, FIRST + count - 1), block, atol=1e-6)
    # a torn sample behind the counted ones is written over by the next
    with open(path, "ab") as file:
        file.write(b"torn")
    writer.append(frames.read(FIRST))
    np.testing.assert_allclose(evaluated(obj, LAST + 1), frames.read(FIRST), atol=1e-6)
    with pytest.raises(BadMesh):
        writer.append(np.zeros((3, 3), np.float32))


def test_pc2_says_where_it_cannot_write(tmp_path):
    (tmp_path / "file").write_text("in the way")
    with pytest.raises(CacheUnwritable, match="jelly.pc2 cannot be written"):
        pc2.Writer(tmp_path / "file" / "jelly.pc2", 1).append(np.zeros((4, 3), np.float32))


def test_a_finished_pc2_is_not_written_again(tmp_path):
    obj = make_object()
    frames = make_frames(obj)
    file = playback.show(obj, bpy.context.scene, frames, tmp_path / "jelly", "pc2")
    before = file.stat().st_mtime_ns
    playback.show(obj, bpy.context.scene, frames, tmp_path / "jelly", "pc2")
    assert file.stat().st_mtime_ns == before
    other = playback.Frames(FIRST, LAST, lambda frame: frames.read(frame) + np.float32(frame == LAST))
    playback.show(obj, bpy.context.scene, other, tmp_path / "jelly", "pc2")
    np.testing.assert_allclose(evaluated(obj, LAST), other.read(LAST), atol=1e-6)


def test_alembic_has_the_pose_of_the_object_and_its_uvs(tmp_path):
    obj = make_object()
    frames = make_frames(obj)
    obj.hide_set(True)
    file = playback.show(obj, bpy.context.scene, frames, tmp_path / "jelly", "abc")
    assert obj.hide_get() and obj.users_scene == (bpy.context.scene,)
    world = np.array(obj.matrix_world)
    bpy.ops.wm.read_factory_settings(use_empty=True)
    bpy.ops.wm.alembic_import(filepath=str(file))
    imported = next(o for o in bpy.data.objects if o.type == "MESH")
    np.testing.assert_allclose(evaluated(imported, 12), frames.read(12), atol=1e-6)
    np.testing.assert_allclose(np.array(imported.matrix_world), world, atol=1e-5)
    assert imported.data.uv_layers


@pytest.mark.parametrize("key, other", [("abc", "jelly.usdc"), ("pc2", "jelly.mdd")])
def test_a_format_takes_away_its_own_modifier_alone(tmp_path, key, other):
    """Another format may play by a modifier of the same type: USD by Alembic's, MDD by PC2's."""
    obj = make_object()
    playback.show(obj, bpy.context.scene, make_frames(obj), tmp_path / "jelly", key)
    mark = modifier.find(obj)
    owner = mark if mark.type == "MESH_CACHE" else mark.cache_file
    playing, owner.filepath = owner.filepath, str(tmp_path / other)
    playback.formats()[key]().hide(obj)
    assert modifier.find(obj) is not None
    owner.filepath = playing
    playback.formats()[key]().hide(obj)
    assert modifier.find(obj) is None and not obj.modifiers


def test_what_no_format_knows_is_hidden_all_the_same(tmp_path):
    obj = make_object()
    playback.show(obj, bpy.context.scene, make_frames(obj), tmp_path / "jelly", "abc")
    modifier.find(obj).cache_file.filepath = str(tmp_path / "jelly.of_later")
    playback.hide(obj)
    assert not obj.modifiers and not bpy.data.cache_files


def test_runs_of_frames():
    assert playback.run_from({1, 2, 3, 7, 8}, 1) == (1, 3)
    assert playback.run_from({1, 2, 3, 7, 8}, 7) == (7, 8)
    assert playback.run_from({1, 2}, 5) is None


def render(path: Path, engine="CYCLES"):
    scene = bpy.context.scene
    scene.render.engine, scene.render.filepath = engine, str(path)
    scene.render.image_settings.file_format, scene.render.image_settings.color_mode = "OPEN_EXR", "RGBA"
    scene.render.film_transparent = True
    scene.render.resolution_x, scene.render.resolution_y, scene.render.resolution_percentage = 64, 16, 100
    scene.cycles.samples, scene.cycles.device, scene.cycles.seed = 32, "CPU", 0
    scene.cycles.use_denoising = False
    bpy.ops.render.render(write_still=True)
    image = bpy.data.images.load(str(path))
    pixels = np.empty(64 * 16 * 4, np.float32)
    image.pixels.foreach_get(pixels)
    bpy.data.images.remove(image)
    return pixels.reshape(16, 64, 4)[..., 3]


@pytest.mark.parametrize("key", ["pc2", "abc"])
def test_cycles_blurs_the_motion(key, tmp_path):
    """A cube of one unit flies two units a frame: half a frame of shutter smears its coverage over two units."""
    bpy.ops.mesh.primitive_cube_add(size=1)
    cube, scene = bpy.context.object, bpy.context.scene
    rest = positions(cube.data).copy()
    frames = playback.Frames(1, 5, lambda frame: rest + np.float32([2 * (frame - 3), 0, 0]))
    playback.show(cube, scene, frames, tmp_path / "cube", key)
    camera = bpy.data.objects.new("Camera", bpy.data.cameras.new("Camera"))
    camera.data.type, camera.data.ortho_scale, camera.location = "ORTHO", 8.0, (0, 0, 5)
    scene.collection.objects.link(camera)
    scene.camera = camera
    scene.frame_set(3)

    scene.render.use_motion_blur = False
    still = render(tmp_path / "still.exr")
    scene.render.use_motion_blur, scene.render.motion_blur_shutter = True, 0.5
    blurred = render(tmp_path / "blurred.exr")
    # eight pixels a unit: the cube is eight wide, its streak eight + half a frame of sixteen
    row_still, row_blurred = still[8], blurred[8]
    assert np.count_nonzero((row_still > 0.02) & (row_still < 0.98)) <= 4
    assert np.count_nonzero(row_still > 0.5) == pytest.approx(8, abs=1)
    assert np.count_nonzero(row_blurred > 0.02) == pytest.approx(16, abs=2)
    assert np.count_nonzero((row_blurred > 0.05) & (row_blurred < 0.95)) >= 10
    assert row_blurred.sum() == pytest.approx(row_still.sum(), rel=0.1)
    assert cube.modifiers["ConJac"].type == {"pc2": "MESH_CACHE", "abc": "MESH_SEQUENCE_CACHE"}[key]
