"""The job folder that is gathered from an artist's object."""

import json
import math
from pathlib import Path

import bpy
import msgspec
import numpy as np
import pytest
from gathered_jobs import coordinates, gathered, paint, volume
from mathutils import Matrix

from solver.job import schema, schema_values


def test_suzanne_as_she_stands(addon, tmp_path):
    bpy.ops.mesh.primitive_monkey_add(location=(1, 2, 3), rotation=(0.3, 0.2, 0.1))
    suzanne, notes = bpy.context.object, []
    scene, array = gathered(suzanne, tmp_path, notes=notes)
    body = scene.bodies[0]
    world = coordinates(suzanne.data) @ np.array(suzanne.matrix_world)[:3, :3].T + (1, 2, 3)
    np.testing.assert_allclose(array(body.surface.vertices), world, atol=1e-6)
    suzanne.data.calc_loop_triangles()
    assert array(body.surface.triangles).shape == (len(suzanne.data.loop_triangles), 3)
    assert array(body.surface.triangles).dtype == np.int32
    # back into object space
    back = array(body.surface.to_object)
    assert back.shape == (250, 4, 4)
    np.testing.assert_allclose(world @ back[7, :3, :3].T + back[7, :3, 3], coordinates(suzanne.data), atol=1e-5)
    assert (body.name, body.pin, body.dynamic, body.painted) == ("Suzanne", schema.Pin(), schema.Dynamic(), {})
    assert not any("quasistatic" in note for note in notes)  # the solver says it, and once is enough


def test_scene_settings_arrive_in_si(soft_cube, tmp_path):
    scene, settings = bpy.context.scene, soft_cube.conjac
    scene.unit_settings.scale_length = 0.01
    scene.render.fps, scene.render.fps_base = 24000, 1001.0
    scene.frame_start, scene.frame_end = 5, 9
    scene.gravity = (0.0, 0.0, -981.0)
    settings.mesher, settings.edge_length, settings.step, settings.youngs_modulus = "tetwild", 0.5, 0.01, 5.0e4
    settings.use_ground, settings.ground_height, settings.accuracy = True, -3.0, 1.0e-3
    settings.largest_deformation = 0.25
    soft_cube.location = (100.0, 0.0, 0.0)
    job, array = gathered(soft_cube, tmp_path)
    assert job.version == schema.VERSION
    assert (job.time.start, job.time.end, job.time.fps) == (5, 9, pytest.approx(24000 / 1001, rel=1e-7))
    assert job.time.step == pytest.approx(0.01, rel=1e-7) and job.time.tolerance == 1.0e-3
    assert job.time.largest_deformation == 0.25
    assert job.gravity == pytest.approx((0.0, 0.0, -9.81), rel=1e-9)
    assert job.bodies[0].mesher == schema_values.Choice(kind="tetwild", params={"edge_length": pytest.approx(0.005),
                                                                          "sheet_thickness": 0.0})
    assert job.bodies[0].material.params["youngs_modulus"] == 5.0e4
    assert job.method.params["gamma"] == 1.0 / 3.0
    assert job.ground.point == pytest.approx((0.0, 0.0, -0.03)) and job.ground.normal == (0.0, 0.0, 1.0)
    assert array(job.bodies[0].surface.vertices).min(axis=0) == pytest.approx([0.99, -0.01, -0.01], abs=1e-7)
    inverse = array(job.bodies[0].surface.to_object)[0]
    assert inverse @ [0.99, -0.01, -0.01, 1.0] == pytest.approx([-1, -1, -1, 1], abs=1e-5)


@pytest.mark.parametrize("fps, typed", [(25, 0.01), (24, 1 / 144), (30, 1 / 120), (60, 1 / 240), (24, 1 / 72)])
def test_a_step_meant_as_a_part_of_a_frame_is_one_exactly(soft_cube, tmp_path, fps, typed):
    bpy.context.scene.render.fps = fps
    soft_cube.conjac.step = typed
    job, _ = gathered(soft_cube, tmp_path)
    steps = 1.0 / (fps * typed)
    assert math.ceil(1.0 / (fps * job.time.step) - 1e-9) == round(steps)


@pytest.mark.parametrize("scale", [(1, 2, 0.5), (-1, 1, 1), (-2, -1, -0.5), (1, -3, -1)])
def test_scale_is_applied_and_faces_keep_their_outside(soft_cube, tmp_path, scale):
    soft_cube.scale = scale
    job, array = gathered(soft_cube, tmp_path)
    surface = job.bodies[0].surface
    assert volume(array(surface.vertices), array(surface.triangles)) == pytest.approx(8 * abs(np.prod(scale)))
    back = array(surface.to_object)[0]
    np.testing.assert_allclose(array(surface.vertices) @ back[:3, :3].T, coordinates(soft_cube.data), atol=1e-6)


def test_the_object_space_follows_parent_and_animation(soft_cube, tmp_path):
    bpy.ops.object.empty_add(location=(0, 0, 1))
    parent = bpy.context.object
    soft_cube.parent = parent
    parent.keyframe_insert("location", frame=1)
    parent.location.x = 6.0
    parent.keyframe_insert("location", frame=4)
    soft_cube.rotation_euler.z = 0.5
    bpy.context.scene.frame_set(3)
    job, array = gathered(soft_cube, tmp_path)
    back = array(job.bodies[0].surface.to_object)
    for index, frame in enumerate(range(1, 5)):
        bpy.context.scene.frame_set(frame)
        np.testing.assert_allclose(back[index] @ np.array(soft_cube.matrix_world), np.eye(4), atol=1e-6)


def test_armature_above_subdivision_below_and_pins_that_follow(soft_cube, tmp_path):
    bpy.ops.object.armature_add()
    rig = bpy.context.object
    bone = paint(soft_cube, rig.data.bones[0].name, range(8)).name
    paint(soft_cube, "Pin", [0, 1, 5])
    soft_cube.modifiers.new("Rig", "ARMATURE").object = rig
    soft_cube.modifiers.new("Smooth", "SUBSURF").levels = 2
    pose = rig.pose.bones[bone]
    pose.rotation_mode = "XYZ"
    pose.keyframe_insert("rotation_euler", frame=1)
    pose.rotation_euler = (0.0, 0.0, 1.2)
    pose.keyframe_insert("rotation_euler", frame=4)

    scene = bpy.context.scene
    scene.frame_set(3, subframe=0.25)
    job, array = gathered(soft_cube, tmp_path)
    body = job.bodies[0]
    # the subdivision is applied to the result, so the simulation has the cube's own vertices
    assert array(body.surface.vertices).shape == (8, 3)
    assert array(body.pin.motion_vertices).tolist() == [0, 1, 5]
    motion = array(body.pin.motion)
    assert motion.shape == (3 * 2 + 1, 3, 3)
    assert np.abs(motion[0] - motion[-1]).max() > 0.3
    for sample in range(7):
        scene.frame_set(1 + sample // 2, subframe=sample % 2 / 2)
        turn = np.array(rig.matrix_world @ pose.matrix @ pose.bone.matrix_local.inverted())
        expected = coordinates(soft_cube.data)[[0, 1, 5]] @ turn[:3, :3].T + turn[:3, 3]
        np.testing.assert_allclose(motion[sample], expected, atol=1e-6)


def test_shape_keys_move_pins_between_frames(soft_cube, tmp_path):
    from conjac.conjac_addon import compat

    soft_cube.shape_key_add(name="Basis")
    key = soft_cube.shape_key_add(name="Up")
    key.value = 0.0  # Blender 5 begins with 1
    for point in key.data:
        point.co.z += 1.0
    key.keyframe_insert("value", frame=1)
    key.value = 1.0
    key.keyframe_insert("value", frame=4)
    for curve in compat.fcurves(soft_cube.data.shape_keys):
        for point in curve.keyframe_points:
            point.interpolation = "LINEAR"
    paint(soft_cube, "Pin", [2])
    soft_cube.conjac.samples_per_frame = 4
    job, array = gathered(soft_cube, tmp_path)
    rise = array(job.bodies[0].pin.motion)[:, 0, 2] - soft_cube.data.vertices[2].co.z
    np.testing.assert_allclose(rise, np.linspace(0, 1, 13), atol=1e-6)


def test_a_cache_modifier_that_plays_is_not_taken_for_input(soft_cube, tmp_path):
    """Otherwise a second bake would simulate the cached shape again."""
    displace = soft_cube.modifiers.new("Displace", "DISPLACE")  # stands for what a cache does to the shape
    displace.strength = 1.0
    mark = soft_cube.modifiers.new("ConJac", "MESH_CACHE")
    soft_cube.modifiers.move(1, 0)
    soft_cube.modifiers.new("Subdivision", "SUBSURF")
    assert [m.name for m in soft_cube.modifiers] == ["ConJac", "Displace", "Subdivision"]
    displace.show_viewport = False
    job, array = gathered(soft_cube, tmp_path)
    np.testing.assert_allclose(array(job.bodies[0].surface.vertices), coordinates(soft_cube.data), atol=1e-7)
    assert [m.show_viewport for m in soft_cube.modifiers] == [True, False, True]
    assert mark.show_viewport


@pytest.mark.parametrize("key", ["pc2", "abc", "shapekeys"])
def test_a_bake_that_plays_is_not_taken_for_input_and_goes_on_playing(soft_cube, tmp_path, key):
    """A preview or a second bake reads the artist's own shape, moved by the rig that the bake replaces."""
    from conjac.conjac_addon import playback

    rig = soft_cube.modifiers.new("Bend", "SIMPLE_DEFORM")
    rig.keyframe_insert("angle", frame=1)
    rig.angle = 2.0
    rig.keyframe_insert("angle", frame=4)
    paint(soft_cube, "Pin", [0, 1, 5])
    gathered(soft_cube, tmp_path / "before")
    baked = [(coordinates(soft_cube.data) * (2 + frame)).astype(np.float32) for frame in range(5)]
    playback.show(soft_cube, bpy.context.scene, playback.Frames(1, 4, baked.__getitem__), tmp_path / "cube", key)
    shown = [(m.name, m.show_viewport, m.show_render) for m in soft_cube.modifiers]
    gathered(soft_cube, tmp_path / "after")
    for path in (tmp_path / "before").rglob("*.*"):
        assert path.read_bytes() == (tmp_path / "after" / path.relative_to(tmp_path / "before")).read_bytes(), path.name
    assert [(m.name, m.show_viewport, m.show_render) for m in soft_cube.modifiers] == shown
    bpy.context.scene.frame_set(3)
    seen = soft_cube.evaluated_get(bpy.context.evaluated_depsgraph_get()).data
    np.testing.assert_allclose(coordinates(seen), baked[3], atol=1e-5)


def test_subdivision_above_an_armature_is_simulated_with_its_weights(soft_cube, tmp_path):
    bpy.ops.object.armature_add()
    rig = bpy.context.object
    subdivision = soft_cube.modifiers.new("Subdivision", "SUBSURF")
    subdivision.levels = subdivision.render_levels = 1
    soft_cube.modifiers.new("Rig", "ARMATURE").object = rig
    paint(soft_cube, "Pin", range(4))
    job, array = gathered(soft_cube, tmp_path)
    assert array(job.bodies[0].surface.vertices).shape == (26, 3)
    weights = array(job.bodies[0].pin.weights)
    assert weights.shape == (26,) and set(np.round(weights, 3)) >= {0.0, 0.5, 1.0}


def test_maps_blend_and_mark(soft_cube, tmp_path):
    soft_cube.conjac.youngs_modulus, soft_cube.conjac.youngs_modulus_high = 1.0e4, 1.0e6
    paint(soft_cube, "Stiffness", [0, 3], 0.25)
    paint(soft_cube, "Dynamic", [6])
    paint(soft_cube, "Fibers", [1], 0.5)
    job, array = gathered(soft_cube, tmp_path)
    body = job.bodies[0]
    painted = body.painted["youngs_modulus"]
    assert (painted.low, painted.high) == (1.0e4, 1.0e6)
    np.testing.assert_allclose(array(painted.weights), [0.25, 0, 0, 0.25, 0, 0, 0, 0], atol=1e-7)
    assert array(body.dynamic.weights).tolist() == [0, 0, 0, 0, 0, 0, 1, 0]
    assert array(body.fibers)[1] == 0.5
    assert body.pin == schema.Pin()


def test_a_map_may_come_from_a_float_attribute(soft_cube, tmp_path):
    attribute = soft_cube.data.attributes.new("Pin", "FLOAT", "POINT")
    attribute.data.foreach_set("value", [1, 0, 0, 0, 0, 0, 0, 7])
    job, array = gathered(soft_cube, tmp_path)
    assert array(job.bodies[0].pin.weights).tolist() == [1, 0, 0, 0, 0, 0, 0, 1]


def test_still_pins_have_no_motion(soft_cube, tmp_path):
    paint(soft_cube, "Pin", [0, 1])
    job, _ = gathered(soft_cube, tmp_path)
    assert job.bodies[0].pin.motion is None
    assert not (tmp_path / "arrays" / "pin_motion.npy").exists()
    assert job.bodies[0].surface.to_object is None


def test_handles_are_world_points_at_the_first_frame(soft_cube, tmp_path):
    bpy.context.scene.unit_settings.scale_length = 0.1
    for x in (0.25, 0.75):
        bpy.ops.object.empty_add(location=(x, 0, 0))
        soft_cube.conjac.handles.add().object = bpy.context.object
    bpy.context.object.keyframe_insert("location", frame=1)
    bpy.context.object.location.x = 9.0
    bpy.context.object.keyframe_insert("location", frame=4)
    soft_cube.conjac.handles.add()  # its Empty was deleted
    bpy.context.scene.frame_set(4)
    job, array = gathered(soft_cube, tmp_path)
    np.testing.assert_allclose(array(job.bodies[0].dynamic.points), [[0.025, 0, 0], [0.075, 0, 0]], atol=1e-8)


def test_the_ground_has_friction_where_the_artist_chose_one(soft_cube, tmp_path):
    soft_cube.conjac.use_ground = True
    assert gathered(soft_cube, tmp_path / "none")[0].ground.friction is None
    soft_cube.conjac.friction, soft_cube.conjac.friction_coefficient = "filter", 0.7
    assert gathered(soft_cube, tmp_path / "some")[0].ground.friction == schema_values.Choice(
        kind="filter", params={"friction_coefficient": 0.7})
    soft_cube.conjac.use_ground = False
    assert gathered(soft_cube, tmp_path / "off")[0].ground is None


def test_ground_is_an_objects_plane_that_may_move(soft_cube, tmp_path):
    bpy.ops.mesh.primitive_plane_add(location=(0, 0, -2), rotation=(0.0, 0.1, 0.0), scale=(1, 1, 1))
    ground = bpy.context.object
    ground.scale = (5.0, 5.0, -1.0)
    soft_cube.conjac.use_ground, soft_cube.conjac.ground_object = True, ground
    job, array = gathered(soft_cube, tmp_path)
    assert job.ground.point == pytest.approx((0, 0, -2))
    # local Z points down now: the plane pushes that way
    assert job.ground.normal == pytest.approx((-math.sin(0.1), 0, -math.cos(0.1)), abs=1e-6)
    assert job.ground.motion is None

    ground.keyframe_insert("location", frame=1)
    ground.location.z = -1.0
    ground.keyframe_insert("location", frame=4)
    job, array = gathered(soft_cube, tmp_path)
    motion = array(job.ground.motion)
    assert motion.shape == (7, 3)
    np.testing.assert_allclose(motion[[0, -1], 2], [-2, -1], atol=1e-6)


@pytest.mark.parametrize("name", ["My Cube", "Würfel 立方体 куб", "../../etc", "a/b\\c:d", "..", '"quoted"', "CON"])
def test_names_of_every_kind(soft_cube, tmp_path, name):
    soft_cube.name = name
    paint(soft_cube, "Pin", [0])
    job, array = gathered(soft_cube, tmp_path / "job")
    assert job.bodies[0].name == soft_cube.name
    inside = sorted(path.relative_to(tmp_path).as_posix() for path in tmp_path.rglob("*") if path.is_file())
    assert [path for path in inside if not path.startswith("job/arrays/placed_")] == [
        "job/arrays/pin.npy", "job/arrays/triangles.npy", "job/arrays/vertices.npy", "job/arrays/written.json",
        "job/scene.json"]


def test_another_scene_than_the_open_one(soft_cube, tmp_path):
    other = bpy.data.scenes.new("Other")
    other.collection.objects.link(soft_cube)
    other.frame_start, other.frame_end = 10, 12
    other.frame_set(11)
    here = bpy.context.scene.frame_current
    job, _ = gathered(soft_cube, tmp_path, scene=other)
    assert (job.name, job.time.start, job.time.end) == ("Other", 10, 12)
    assert (other.frame_current, bpy.context.scene.frame_current) == (11, here)


def test_the_same_scene_gives_the_same_bytes(soft_cube, tmp_path):
    paint(soft_cube, "Pin", [0])
    gathered(soft_cube, tmp_path / "a")
    gathered(soft_cube, tmp_path / "b")
    for path in (tmp_path / "a").rglob("*.*"):
        assert path.read_bytes() == (tmp_path / "b" / path.relative_to(tmp_path / "a")).read_bytes()


def test_an_interrupted_reading_leaves_scene_and_folder_as_they_were(soft_cube, tmp_path):
    from conjac.conjac_addon import gather

    scene = bpy.context.scene
    soft_cube.modifiers.new("Subdivision", "SUBSURF")
    gathered(soft_cube, tmp_path)
    before = {path: path.read_bytes() for path in tmp_path.rglob("*.*")}
    scene.frame_set(2, subframe=0.5)
    soft_cube.location.x = 5.0
    steps = gather.write_job_steps(soft_cube, scene, tmp_path)
    fraction, text = next(steps)
    assert 0.0 < fraction < 1.0 and text == "Reading the animation"
    steps.close()
    assert {path: path.read_bytes() for path in tmp_path.rglob("*.*")} == before
    assert (scene.frame_current, scene.frame_subframe) == (2, 0.5)
    assert soft_cube.modifiers[0].show_viewport
    # and a whole one drops what the new scene does not name
    gathered(soft_cube, tmp_path)
    assert json.loads((tmp_path / "scene.json").read_text())["bodies"][0]["surface"].keys() == {
        "vertices", "triangles", "object_vertices", "to_object"}
    soft_cube.location.x = 0.0
    gathered(soft_cube, tmp_path)
    assert not (tmp_path / "arrays" / "to_object.npy").exists()


def test_a_still_job_has_one_frame(soft_cube, tmp_path):
    from conjac.conjac_addon import gather

    soft_cube.keyframe_insert("location", frame=1)
    soft_cube.location.x = 3.0
    soft_cube.keyframe_insert("location", frame=4)
    paint(soft_cube, "Pin", [0])
    assert len(list(gather.write_job_steps(soft_cube, bpy.context.scene, tmp_path, still=True))) == 1
    job = msgspec.json.decode((tmp_path / "scene.json").read_bytes(), type=schema.Scene)
    assert (job.time.start, job.time.end, job.bodies[0].pin.motion) == (1, 1, None)


def test_changed_settings_are_named(soft_cube, tmp_path):
    from conjac.conjac_addon import gather

    scene, settings = bpy.context.scene, soft_cube.conjac
    assert gather.changed_settings(soft_cube, scene, tmp_path) == []
    paint(soft_cube, "Stiffness", [0])
    settings.use_ground, settings.friction = True, "coulomb"
    gathered(soft_cube, tmp_path)
    assert gather.changed_settings(soft_cube, scene, tmp_path) == []
    settings.beta, settings.youngs_modulus_high, settings.step = 0.9, 5.0e6, 0.02
    settings.accuracy = 1.0e-3
    assert gather.changed_settings(soft_cube, scene, tmp_path) == [
        "Accuracy", "Damping", "Time Step", "Young's Modulus (Painted)"]
    settings.property_unset("beta")
    settings.property_unset("step")
    settings.property_unset("youngs_modulus_high")
    settings.friction_coefficient = 0.9
    assert gather.changed_settings(soft_cube, scene, tmp_path) == ["Accuracy", "Friction Coefficient"]
    settings.ground_tangential_share = 0.1
    assert "Tangential Share" in gather.changed_settings(soft_cube, scene, tmp_path)
    settings.method, settings.ground_stiffness, settings.friction = "vanilla", 7.0, "filter"
    assert {"Method", "Friction"} <= set(gather.changed_settings(soft_cube, scene, tmp_path))


def test_the_result_can_be_put_back_into_a_sheared_space(soft_cube, tmp_path):
    soft_cube.matrix_world = Matrix.Shear("XY", 4, (0.4, 0.2)) @ Matrix.Translation((5, 0, 0))
    bpy.ops.object.empty_add()
    bpy.context.object.scale = (1, 3, 1)
    soft_cube.parent = bpy.context.object
    soft_cube.rotation_euler.z = 0.7
    job, array = gathered(soft_cube, tmp_path)
    world, back = array(job.bodies[0].surface.vertices), array(job.bodies[0].surface.to_object)[0]
    np.testing.assert_allclose(world @ back[:3, :3].T + back[:3, 3], coordinates(soft_cube.data), atol=2e-6)


def test_the_folder_is_made_with_its_parents(soft_cube, tmp_path):
    gathered(soft_cube, tmp_path / "a b" / "ключ" / "job")
    assert Path(tmp_path / "a b" / "ключ" / "job" / "scene.json").exists()


def test_a_setting_that_is_newer_than_a_bake_does_not_make_it_stale(soft_cube, tmp_path):
    from conjac.conjac_addon import gather

    soft_cube.conjac.mesher = "grid"
    gathered(soft_cube, tmp_path)
    document = json.loads((tmp_path / "scene.json").read_text(encoding="utf-8"))
    assert document["integrator"]["params"].pop("keep_spin") is False
    (tmp_path / "scene.json").write_text(json.dumps(document), encoding="utf-8")
    assert gather.changed_settings(soft_cube, bpy.context.scene, tmp_path) == []
    soft_cube.conjac.solver.keep_spin = True
    assert gather.changed_settings(soft_cube, bpy.context.scene, tmp_path) == ["Keep Spin"]
