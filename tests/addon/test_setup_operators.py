"""Buttons for adding, painting, handles, preview and removing: their greyed-out reasons and their errors."""

import bpy
import numpy as np
import pytest


def reason(operator):
    """Return Blender's answer when a grey button is pressed."""
    with pytest.raises(RuntimeError) as caught:
        operator()
    return str(caught.value)


def test_add_makes_all_selected_meshes_soft(addon):
    for x in (0, 3):
        bpy.ops.mesh.primitive_cube_add(location=(x, 0, 0))
    bpy.ops.object.light_add()
    bpy.ops.object.select_all(action="SELECT")
    bpy.context.view_layer.objects.active = bpy.data.objects["Cube"]
    assert bpy.ops.conjac.add_soft_body() == {"FINISHED"}
    assert [o.name for o in bpy.data.objects if o.conjac.enabled] == ["Cube", "Cube.001"]
    assert "soft body already" in reason(bpy.ops.conjac.add_soft_body)


def test_grey_buttons_say_why(addon):
    assert "Select a mesh object" in reason(bpy.ops.conjac.add_soft_body)
    bpy.ops.mesh.primitive_cube_add()
    for name in ("remove", "add_group", "add_handle", "remove_handle", "preview_tets", "preview_field",
                 "suggest_handles", "set_wobble", "remove_previews"):
        assert "not a ConJac soft body" in reason(getattr(bpy.ops.conjac, name))
    bpy.ops.conjac.add_soft_body()
    bpy.ops.object.mode_set(mode="EDIT")
    assert "Object Mode" in reason(bpy.ops.conjac.add_handle)
    for name in ("preview_tets", "preview_field", "suggest_handles", "set_wobble", "bake", "export"):
        assert "Leave Edit Mode" in reason(getattr(bpy.ops.conjac, name))
    bpy.ops.object.mode_set(mode="OBJECT")
    assert "Nothing is shown for it" in reason(bpy.ops.conjac.remove_previews)
    for name in ("export", "free_bake"):
        assert "Nothing is baked" in reason(getattr(bpy.ops.conjac, name))
    for name in ("pause", "cancel"):
        assert "No bake" in reason(getattr(bpy.ops.conjac, name))


def test_a_linked_object_cannot_be_changed(soft_cube, tmp_path):
    soft_cube.conjac.enabled = False
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "asset.blend"))
    bpy.ops.wm.read_factory_settings(use_empty=True)
    with bpy.data.libraries.load(str(tmp_path / "asset.blend"), link=True) as (_, wanted):
        wanted.objects = ["Cube"]
    linked = bpy.data.objects["Cube"]
    bpy.context.scene.collection.objects.link(linked)
    bpy.context.view_layer.objects.active = linked
    assert "linked from another file" in reason(bpy.ops.conjac.add_soft_body)


def test_an_overridden_character_gets_handles_and_a_preview(soft_cube, tmp_path):
    """Its collection cannot be changed, so new objects are in the scene's own."""
    from conjac.conjac_addon.operators import previews

    asset = bpy.data.collections.new("Asset")
    bpy.context.scene.collection.children.link(asset)
    soft_cube.users_collection[0].objects.unlink(soft_cube)
    asset.objects.link(soft_cube)
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "asset.blend"))
    bpy.ops.wm.read_factory_settings(use_empty=True)
    with bpy.data.libraries.load(str(tmp_path / "asset.blend"), link=True) as (_, wanted):
        wanted.collections = ["Asset"]
    scene = bpy.context.scene
    asset = bpy.data.collections["Asset"]
    scene.collection.children.link(asset)  # from 5.3 on only what a scene uses is overridden
    asset.override_hierarchy_create(scene, bpy.context.view_layer)
    cube = next(o for o in bpy.data.objects if o.override_library)
    bpy.context.view_layer.objects.active = cube
    cube.conjac.cache_folder, cube.conjac.mesher, cube.conjac.edge_length = str(tmp_path), "grid", 1.0
    assert bpy.ops.conjac.add_handle() == {"FINISHED"}
    assert bpy.ops.conjac.preview_tets() == {"FINISHED"}
    assert {o.name for o in scene.collection.objects} == {"Cube Handle"}
    assert all(o.parent == cube for o in scene.collection.objects)
    assert previews.is_shown(cube)
    assert bpy.ops.conjac.remove() == {"FINISHED"}
    assert not previews.is_shown(cube)


@pytest.mark.parametrize("key, label", [("dynamic", "Dynamic"), ("pin", "Pin"), ("stiffness", "Stiffness"),
                                        ("fibers", "Fibers"), ("density", "Density")])
def test_each_map_is_created_made_active_and_painted(soft_cube, key, label):
    soft_cube.vertex_groups.new(name="Other")
    assert bpy.ops.conjac.add_group(map=key) == {"FINISHED"}
    assert (soft_cube.mode, soft_cube.vertex_groups.active.name) == ("WEIGHT_PAINT", label)
    # once more, from weight paint: the same group again
    bpy.ops.conjac.add_group(map=key)
    assert soft_cube.vertex_groups.keys() == ["Other", label]


def test_what_is_painted_is_stiffer_however_stiff_the_body_is(soft_cube):
    settings = soft_cube.conjac
    settings.youngs_modulus = 1.0e7  # beyond what paint stands for until somebody says otherwise
    bpy.ops.conjac.add_group(map="stiffness")
    assert settings.youngs_modulus_high == pytest.approx(1.0e8)
    settings.youngs_modulus_high = 1.0e3  # softer on purpose
    bpy.ops.conjac.add_group(map="stiffness")
    assert settings.youngs_modulus_high == pytest.approx(1.0e3)


def test_a_map_keeps_the_name_the_artist_gave_it(soft_cube):
    soft_cube.conjac.pin_group = "Nœud"
    bpy.ops.conjac.add_group(map="pin")
    assert soft_cube.vertex_groups.keys() == ["Nœud"]
    soft_cube.conjac.pin_group = ""
    bpy.ops.conjac.add_group(map="pin")
    assert soft_cube.conjac.pin_group == "Pin" and soft_cube.vertex_groups.active.name == "Pin"


def test_handles_stand_at_the_cursor_and_go_with_the_body(soft_cube):
    scene = bpy.context.scene
    soft_cube.location, soft_cube.scale = (1, 2, 3), (2, 1, 0.5)
    bpy.context.view_layer.update()
    scene.cursor.location = (1.5, 2, 3)
    assert bpy.ops.conjac.add_handle() == {"FINISHED"}
    empty = soft_cube.conjac.handles[0].object
    bpy.context.view_layer.update()
    np.testing.assert_allclose(empty.matrix_world.translation, (1.5, 2, 3), atol=1e-6)
    soft_cube.location.x += 10.0
    bpy.context.view_layer.update()
    np.testing.assert_allclose(empty.matrix_world.translation, (11.5, 2, 3), atol=1e-6)
    assert "only 1 handles" in reason(lambda: bpy.ops.conjac.remove_handle(index=4))
    assert bpy.ops.conjac.remove_handle(index=0) == {"FINISHED"}
    assert len(soft_cube.conjac.handles) == 0 and empty.name in bpy.data.objects


def test_adding_can_be_undone(addon):
    bpy.ops.mesh.primitive_cube_add()
    bpy.ops.ed.undo_push(message="before")
    bpy.ops.conjac.add_soft_body()
    bpy.ops.ed.undo_push(message="after")
    bpy.ops.ed.undo()
    assert not bpy.data.objects["Cube"].conjac.enabled
    bpy.ops.ed.redo()
    assert bpy.data.objects["Cube"].conjac.enabled


def test_remove_takes_modifier_and_preview_but_not_the_painting(soft_cube):
    from conjac.conjac_addon.operators import previews
    from conjac.conjac_addon.playback import modifier

    soft_cube.vertex_groups.new(name="Pin")
    modifier.put(soft_cube, "MESH_CACHE")
    soft_cube.modifiers.new("Subdivision", "SUBSURF")
    previews.show_wire(soft_cube, np.eye(4)[:, :3], np.array([[0, 1, 2, 3]], np.int32))
    bpy.context.view_layer.objects.active = soft_cube
    assert bpy.ops.conjac.remove() == {"FINISHED"}
    assert [m.name for m in soft_cube.modifiers] == ["Subdivision"]
    assert soft_cube.vertex_groups.keys() == ["Pin"] and not soft_cube.conjac.enabled
    assert not previews.is_shown(soft_cube)


def test_a_body_that_is_being_baked_cannot_be_removed(soft_cube, tmp_path):
    from conjac.conjac_addon import bake
    from conjac.conjac_addon.bake import session

    soft_cube.conjac.cache_folder = str(tmp_path)
    running = session.Bake(soft_cube, bpy.context.scene)
    try:
        assert bake.status(soft_cube).state == "baking"
        assert "Cancel the running bake" in reason(bpy.ops.conjac.remove)
    finally:
        running.close()
    assert bpy.ops.conjac.remove() == {"FINISHED"}


def test_preview_shows_the_very_tetrahedra_of_the_bake(soft_cube, tmp_path):
    """The mesher runs in its own process, and the bake reuses its result."""
    from conjac.conjac_addon import bake, gather
    from conjac.conjac_addon.operators import previews
    from solver.job import hashes, load, stages

    bpy.context.scene.unit_settings.scale_length = 0.1
    soft_cube.conjac.cache_folder = str(tmp_path)
    soft_cube.conjac.mesher, soft_cube.conjac.edge_length = "grid", 1.0
    soft_cube.location, soft_cube.scale = (5, 0, 0), (1, 1, 2)
    for _ in range(2):  # the second takes the first one's place
        assert bpy.ops.conjac.preview_tets() == {"FINISHED"}
    # 2 x 2 x 4 cells of six tetrahedra between 3 x 3 x 5 nodes, in the object's own space
    positions = np.unique(previews.shown[soft_cube.session_uid]["conjac_tets"].ends, axis=0)
    assert len(positions) == 45 and [o.name for o in bpy.data.objects] == ["Cube"]
    np.testing.assert_allclose([positions.min(axis=0), positions.max(axis=0)], [[-1, -1, -1], [1, 1, 1]], atol=1e-6)

    folder = bake.job_folder(soft_cube)
    gather.write_job(soft_cube, bpy.context.scene, folder)
    job = load.load(folder)
    key = hashes.hashes(hashes.settings(job)).bodies["Cube"]["tets"]
    assert len(stages.load_stage(job, "tets", "Cube", key)["tets"]) == 96


def test_preview_says_what_the_mesher_refuses(addon, tmp_path):
    bpy.ops.mesh.primitive_ico_sphere_add()
    ball = bpy.context.object
    bpy.ops.conjac.add_soft_body()
    ball.conjac.cache_folder, ball.conjac.mesher = str(tmp_path), "grid"
    text = reason(bpy.ops.conjac.preview_tets)
    assert '"Icosphere"' in text and "box" in text
    ball.data.clear_geometry()
    assert "no vertices" in reason(bpy.ops.conjac.preview_tets)
    # the panel is usable as before, and nothing is left behind
    assert bpy.ops.conjac.preview_tets.poll() and len(bpy.data.objects) == 1


def test_closing_a_preview_early_ends_its_process(soft_cube, tmp_path):
    from conjac.conjac_addon.operators import preview

    soft_cube.conjac.cache_folder = str(tmp_path)
    steps = preview.preview_tets(soft_cube, bpy.context.scene, wait=0.05)
    next(steps), next(steps)
    worker = steps.gi_yieldfrom.gi_frame.f_locals["worker"]
    steps.close()
    assert worker.exit_code is not None
    assert len(bpy.data.objects) == 1 and not list(tmp_path.rglob("*.npz"))


@pytest.mark.parametrize("mesh_too", [False, True], ids=["linked", "overridden"])
def test_painting_an_override_whose_mesh_is_not_local_is_refused_with_a_sentence(soft_cube, tmp_path, mesh_too):
    soft_cube.vertex_groups.new(name="Pin")
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "asset.blend"))
    bpy.ops.wm.read_factory_settings(use_empty=True)
    with bpy.data.libraries.load(str(tmp_path / "asset.blend"), link=True) as (_, wanted):
        wanted.objects = ["Cube"]
    bpy.context.collection.objects.link(bpy.data.objects["Cube"])
    local = bpy.data.objects["Cube"].override_create(remap_local_usages=True)
    if mesh_too:
        local.data.override_create(remap_local_usages=True)
    bpy.context.view_layer.objects.active = local
    for name in ("pin", "dynamic"):  # one that is there, and one that is not
        error = reason(lambda name=name: bpy.ops.conjac.add_group(map=name))
        assert "Its mesh is linked from another file" in error and "Traceback" not in error
    assert local.mode == "OBJECT" and local.vertex_groups.keys() == ["Pin"]
    local.select_set(True)
    bpy.ops.object.make_local(type="SELECT_OBDATA")
    local = bpy.context.view_layer.objects.active
    assert bpy.ops.conjac.add_group(map="dynamic") == {"FINISHED"} and local.mode == "WEIGHT_PAINT"
