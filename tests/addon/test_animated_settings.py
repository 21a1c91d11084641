"""Settings that are read once may not be animated, and the timeline's frame does not change what makes a bake stale."""

import pytest

bpy = pytest.importorskip("bpy")

from jelly import add_jelly, scene  # noqa: E402, F401
from rig import add_chain  # noqa: E402
from test_gather_rigid import add_box, mechanism  # noqa: E402

from conjac.conjac_addon import bake, compat, gather  # noqa: E402


def animate(owner, path, first, last):
    """Add keyframes of a value at frames 1 and 12."""
    holder, _, name = path.rpartition(".")
    of = owner.path_resolve(holder) if holder else owner
    for frame, value in ((1, first), (12, last)):
        setattr(of, name, value)
        owner.keyframe_insert(path, frame=frame)


def test_only_what_is_read_over_time_can_have_keyframes(scene):  # noqa: F811
    obj, rig = add_jelly(), add_chain(1)
    groups = {"conjac": obj.conjac, "solver": obj.conjac.solver, "part": obj.conjac.part,
              "mechanism": obj.conjac.mechanism, "bone": rig.pose.bones[0].conjac, "cache": obj.conjac.cache,
              "nails": obj.conjac.nails.add(), "cuts": obj.conjac.cuts.add(), "handles": obj.conjac.handles.add(),
              "attachments": obj.conjac.attachments.add(), "springs": rig.conjac.mechanism.springs.add(),
              "pulls": obj.conjac.pulls.add()}
    animatable = {f"{name}.{prop.identifier}" for name, group in groups.items() for prop in group.bl_rna.properties
                  if prop.is_animatable and prop.identifier != "name"}
    assert animatable == {"conjac.activation", "conjac.follow_share", "conjac.pin_stiffness", "conjac.wobble_half_life",
                          "conjac.rope_twist", "pulls.strength"}
    assert obj.bl_rna.properties["conjac_motor_target"].is_animatable


def test_a_scene_whose_gravity_is_animated_is_refused_at_every_frame(scene):  # noqa: F811
    scene.frame_end = 3
    obj, words = add_jelly(), 'Gravity of the scene "Scene" is animated, but a bake reads it only once'
    for prop in (scene.unit_settings.bl_rna.properties["scale_length"], scene.render.bl_rna.properties["fps"]):
        assert not prop.is_animatable
    assert obj.conjac.bake() == 0 and bake.status(obj).state == "complete"
    scene.frame_set(1)
    animate(scene, "gravity", scene.gravity.copy(), (0, 0, -1))
    messages = []
    states = set()
    for frame in (1, 2, 3):
        scene.frame_set(frame)
        status = bake.status(obj)
        states.add(status)
        assert status.state == "stale" and words in status.text
    assert len(states) == 1
    assert bake.bake_object(obj, report=messages.append) == 2
    assert any(f'"Jelly": {words}' in text for text in messages)


def test_keyframes_that_are_all_alike_are_no_animation(scene):  # noqa: F811
    obj = add_jelly()
    animate(scene, "gravity", (0, 0, -5), (0, 0, -5))
    assert obj.conjac.bake() == 0
    assert bake.status(obj).state == "complete"


def test_a_driver_is_an_animation(scene):  # noqa: F811
    obj = add_jelly()
    scene.driver_add("gravity", 2).driver.expression = "-frame"
    assert "Gravity of the scene" in gather.animated_refusal(obj, scene)


def old_keyframes(obj, path, last):
    """Add keyframes like those of files that were saved when every setting could have keyframes."""
    obj.keyframe_insert("conjac_motor_target", frame=1)
    curve = compat.fcurves(obj)[-1]
    curve.data_path = path
    curve.keyframe_points.insert(12, last)


@pytest.mark.parametrize("path, label", [("conjac.youngs_modulus", "Young's Modulus"), ("conjac.step", "Time Step"),
                                         ("conjac.gone", "Gone")])
def test_old_keyframes_of_settings_are_reported_and_change_nothing(scene, path, label):  # noqa: F811
    obj = add_jelly()
    assert obj.conjac.bake() == 0
    old_keyframes(obj, path, 50.0)
    scene.frame_set(12)
    assert obj.conjac.youngs_modulus == 5.0e3
    assert bake.status(obj).text == (f"Its {label} is animated, but a bake reads it only once: Delete its keyframes "
                                     "or its "
                                     "driver; Activation and targets of motors are read over time")
    assert obj.conjac.bake() == 2


def test_activation_and_targets_may_have_keyframes(scene):  # noqa: F811
    obj = add_jelly()
    obj.conjac.fiber_material, obj.conjac.fiber_field = "afung", "straight"
    animate(obj, "conjac.activation", 0.0, 1.0)
    animate(obj, "conjac_motor_target", 0.0, 1.0)
    assert gather.animated_refusal(obj, scene) == ""
    assert obj.conjac.bake() == 0
    for frame in (1, 6, 12):
        scene.frame_set(frame)
        assert bake.status(obj).state == "complete"


def test_what_a_rig_says_once_may_not_be_animated(scene):  # noqa: F811
    rig = add_chain(2)
    limit = rig.pose.bones["B1"].constraints.new("LIMIT_ROTATION")
    limit.use_limit_x, limit.owner_space = True, "LOCAL"
    assert gather.animated_refusal(rig, scene) == ""
    animate(rig, f'pose.bones["B1"].constraints["{limit.name}"].max_x', 0.5, 1.0)
    assert 'Its Maximum X of the bone "B1" is animated' in gather.animated_refusal(rig, scene)
    rig.animation_data_clear()
    animate(rig, 'pose.bones["B1"].ik_stiffness_x', 0.1, 0.5)  # this is no limit
    animate(rig, 'pose.bones["B1"].rotation_quaternion', (1, 0, 0, 0), (0, 1, 0, 0))
    assert gather.animated_refusal(rig, scene) == ""
    animate(rig, 'pose.bones["B1"].ik_max_x', 0.5, 1.0)
    assert 'of the bone "B1" is animated' in gather.animated_refusal(rig, scene)


def drive(rig, path, variable):
    """Add a driver that reads one property, or a transform."""
    curve = rig.driver_add(path)
    curve.driver.expression = "switch"
    variable_entry = curve.driver.variables.new()
    variable_entry.name, variable_entry.type = "switch", "TRANSFORMS" if variable is None else "SINGLE_PROP"
    variable_entry.targets[0].id = rig
    if variable is not None:
        variable_entry.targets[0].data_path = variable
    return curve


@pytest.mark.parametrize("path, label", [('pose.bones["B1"].constraints["{limit}"].max_x', "Maximum X"),
                                         ('pose.bones["B1"].ik_max_x', "IK X Maximum")])
def test_what_drives_the_limits_of_a_bone_may_not_change(scene, path, label):  # noqa: F811
    rig = add_chain(2)
    limit = rig.pose.bones["B1"].constraints.new("LIMIT_ROTATION")
    limit.use_limit_x, limit.owner_space = True, "LOCAL"
    path, words = path.format(limit=limit.name), f'ts {label} of the bone "B1" is animated'
    rig["switch"], rig["other"] = 0.5, 0.5
    curve = drive(rig, path, '["switch"]')
    assert gather.animated_refusal(rig, scene) == ""  # a switch of the rig, which stands still
    second = drive(rig, '["switch"]', '["other"]')
    assert gather.animated_refusal(rig, scene) == ""
    for frame, value in ((1, 0.2), (12, 0.7)):
        rig["other"] = value
        rig.keyframe_insert('["other"]', frame=frame)
    assert words in gather.animated_refusal(rig, scene)
    messages = []
    assert bake.bake_object(rig, report=messages.append) == 2 and any(words in text for text in messages)
    curve.mute = True
    assert gather.animated_refusal(rig, scene) == ""
    curve.mute = False
    second.driver.variables[0].targets[0].data_path = '["switch"]'  # in a circle: Blender refuses it, it may be there
    assert words in gather.animated_refusal(rig, scene)
    rig.driver_remove('["switch"]')
    assert gather.animated_refusal(rig, scene) == ""
    curve.driver.expression = "0.1 * frame"
    assert words in gather.animated_refusal(rig, scene)
    rig.driver_remove(path)
    drive(rig, path, None)
    assert words in gather.animated_refusal(rig, scene)
    rig.driver_remove(path)
    drive(rig, 'pose.bones["B1"].ik_stiffness_x', None)  # this is no limit
    assert gather.animated_refusal(rig, scene) == ""


def test_what_a_rigid_body_says_once_may_not_be_animated(scene):  # noqa: F811
    box = add_box("Box", (0, 0, 1))
    owner = mechanism()
    assert gather.animated_refusal(owner, scene) == ""
    animate(box, "rigid_body.mass", 1.0, 2.0)
    assert "Its Mass is animated" in gather.animated_refusal(owner, scene)


def test_strips_are_looked_at_too(scene):  # noqa: F811
    obj = add_jelly()
    animate(scene, "gravity", (0, 0, -5), (0, 0, 5))
    action = scene.animation_data.action
    slot = compat.slot_of(scene)
    scene.animation_data.action = None
    assert gather.animated_refusal(obj, scene) == ""
    strip = scene.animation_data.nla_tracks.new().strips.new("Strip", 1, action)
    if slot:
        strip.action_slot = next(action_slot for action_slot in action.slots if action_slot.identifier == slot)
    assert "Gravity" in gather.animated_refusal(obj, scene)
    strip.mute = True
    assert gather.animated_refusal(obj, scene) == ""


def test_an_animated_handle_makes_no_difference_between_frames(scene):  # noqa: F811
    obj = add_jelly()
    bpy.ops.object.empty_add(location=(-0.05, -0.05, -0.05))
    handle = bpy.context.object
    obj.conjac.handles.add().object = handle
    animate(handle, "location", (-0.05, -0.05, -0.05), (0.5, 0, 0))
    scene.frame_set(1)
    assert obj.conjac.bake() == 0
    animate(handle, "location", (0.05, 0.05, 0.05), (0.5, 0, 0))
    digests = set()
    for frame in (1, 2, 6, 12):
        scene.frame_set(frame)
        digests.add(bake.status(obj))
    assert len(digests) == 1
