"""Panels of mechanisms, of the empties that join rigid bodies, and of soft bodies attached to a mechanism."""

import bpy
from drawn_panels import drawn, mechanism


def test_every_setting_of_a_mechanism_can_be_reached(soft_cube):
    def props(obj):
        return {name for kind, name in drawn(obj) if kind == "prop"}

    rig = mechanism()
    part = rig.pose.bones[0].conjac
    shown = props(rig)
    part.joint, part.motor, part.friction, part.stiffness = "revolute", "servo", 0.1, 1.0
    part.use_limits = True
    rig.conjac.mechanism.springs.add().as_placed = False
    shown |= props(rig)
    bpy.ops.object.empty_add()
    empty = bpy.context.object
    empty.conjac.enabled = True
    shown |= props(empty)
    bpy.ops.rigidbody.world_add()
    bpy.ops.object.empty_add()
    bpy.ops.rigidbody.constraint_add(type="HINGE")
    shown |= props(bpy.context.object)
    soft_cube.conjac.attachments.add().object = rig
    shown |= props(soft_cube)
    for group in (part, rig.conjac.mechanism, rig.conjac.mechanism.springs[0], soft_cube.conjac.attachments[0]):
        there = {prop.identifier for prop in group.bl_rna.properties if not prop.is_hidden}
        assert there - {"rna_type", "name"} <= shown
    assert "conjac_motor_target" in shown
    assert {"step", "use_ground", "integrator", "cache_folder", "frame_start"} <= shown
    assert "beta" in props(empty) and "mesher" not in props(rig)


def test_an_empty_that_joins_rigid_bodies_shows_its_joint(soft_cube):
    bpy.ops.rigidbody.world_add()
    bpy.ops.object.empty_add()
    empty = bpy.context.object
    assert not [item for item in drawn(empty) if item[0] != "label"]
    bpy.ops.rigidbody.constraint_add(type="HINGE")
    shown = {name for kind, name in drawn(empty) if kind == "prop"}
    assert {"stiffness", "friction", "motor", "planar"} <= shown and "role" not in shown
    empty.rigid_body_constraint.type = "POINT"
    assert ("prop", "planar") not in drawn(empty)


def test_a_soft_body_that_hangs_on_a_mechanism_says_so(soft_cube):
    rig = mechanism()
    soft_cube.conjac.attachments.add().object = rig
    labels = " ".join(text for kind, text in drawn(soft_cube) if kind == "label")
    assert "baked with it" in labels
    assert soft_cube.name in [text for kind, text in drawn(rig) if kind == "label"]
