"""Panels of jointed rigid bodies: the mechanism, its active bone, joints of Empties, bodies that hang on it."""

from __future__ import annotations

import bpy

from .. import members, parts
from ..gather import bones, mechanism, rigid
from ..text import hint, setting
from . import fields


def draw_mechanism(layout: bpy.types.UILayout, context: bpy.types.Context) -> None:
    """Draw the settings of the whole mechanism."""
    obj, settings = context.object, context.object.conjac.mechanism
    if obj.type == "EMPTY":
        column = layout.column()
        column.alert = settings.collection is None
        column.prop(settings, "collection")
    else:
        fields.draw(layout, obj, "density of bodies")
        setting(layout, settings, "use_skin")
        setting(layout, settings, "pull_to")
    setting(layout, settings, "obstacles")
    setting(layout, settings, "touch_soft")
    if settings.touch_soft:
        layout.operator("conjac.select_crossing", icon="RESTRICT_SELECT_OFF")
    fields.draw(layout, obj, "mechanism")
    if settings.joint_friction != "none":
        hint(layout, "Each joint has its own Friction, 0 at first")
    layout.operator("conjac.show_joints", icon="HIDE_OFF")
    layout.operator("conjac.remove_joints_preview", icon="X")


def draw_letting_go(layout: bpy.types.UILayout, context: bpy.types.Context) -> None:
    """Following the animation until a frame."""
    settings = context.object.conjac.mechanism
    layout.active = settings.follow
    fields.draw(layout, context.object, "letting go")
    layout.operator("conjac.drive_then_let_go", icon="ACTION")


def draw_letting_go_header(layout: bpy.types.UILayout, context: bpy.types.Context) -> None:
    layout.prop(context.object.conjac.mechanism, "follow", text="")


def draw_keyframes(layout: bpy.types.UILayout, context: bpy.types.Context) -> None:
    """Draw the conversion of the bake to keyframes, and its location on disk."""
    settings = context.object.conjac
    setting(layout, settings.mechanism, "use_decimation")
    row = layout.row()
    row.active = settings.mechanism.use_decimation
    row.prop(settings.mechanism, "tolerance")
    setting(layout, settings, "cache_folder")
    fields.draw(layout, context.object, "linear solver")


def draw_hanging(layout: bpy.types.UILayout, context: bpy.types.Context) -> None:
    """Draw the soft bodies that are baked with the mechanism."""
    bodies = members.soft_bodies(context.object, context.scene)
    for body in bodies:
        layout.label(text=body.name, icon="MESH_DATA")
    if not bodies:
        hint(layout, "Select a soft body and add this mechanism under Attach")
    layout.operator("conjac.jiggle", icon="MOD_CLOTH")


def draw_springs(layout: bpy.types.UILayout, context: bpy.types.Context) -> None:
    """Damped springs between its parts: a list, and the one that is chosen in it."""
    obj, settings = context.object, context.object.conjac.mechanism
    row = layout.row()
    row.template_list("UI_UL_list", "conjac_springs", settings, "springs", settings, "active_spring", rows=3)
    column = row.column(align=True)
    column.operator("conjac.add_spring", text="", icon="ADD")
    column.operator("conjac.remove_spring", text="", icon="REMOVE")
    if settings.active_spring >= len(settings.springs):
        hint(layout, "Select the objects or bones to join, and press +")
        return
    spring = settings.springs[settings.active_spring]
    for end in ("first", "second"):
        if obj.type == "ARMATURE":
            layout.prop_search(spring, end, obj.data, "bones")
        elif settings.collection is not None:
            layout.prop_search(spring, end, settings.collection, "all_objects")
        setting(layout, spring, f"{end}_point")
    column = layout.column(align=True)
    column.prop(spring, "stiffness")
    column.prop(spring, "damping")
    setting(layout, spring, "implicit")
    setting(layout, spring, "as_placed")
    if not spring.as_placed:
        setting(layout, spring, "rest_length")


def active_bone(context: bpy.types.Context) -> bpy.types.PoseBone | None:
    """Return the pose bone of the armature's active bone."""
    obj = context.object
    if obj is None or obj.type != "ARMATURE" or obj.data.bones.active is None:
        return None
    return obj.pose.bones.get(obj.data.bones.active.name)


def draw_bone(layout: bpy.types.UILayout, context: bpy.types.Context) -> None:
    """Draw the rigid body and the joint of the active bone."""
    bone = active_bone(context)
    if bone is None:
        hint(layout, "Choose a bone in Pose Mode")
        return
    part = bone.conjac
    layout.label(text=bone.name, icon="BONE_DATA")
    setting(layout, part, "role")
    if part.role != parts.LEFT_OUT:
        setting(layout, part, "shape")
        setting(layout, part, "radius")
        setting(layout, part, "mass")
        setting(layout, part, "joint")
        if part.joint not in (parts.AUTOMATIC, "fixed", "spherical", "free", "translational", "free_planar"):
            setting(layout, part, "axis")
        if part.joint not in ("fixed", "free", "translational", "free_planar"):
            setting(layout, part, "use_limits")
            if part.use_limits:
                setting(layout, part, "limit_low")
                setting(layout, part, "limit_high")
        draw_joint(layout, part, bone, bones.joint_of(bone.id_data, bone))  # type: ignore[arg-type]
        if part.friction and bone.id_data.conjac.mechanism.joint_friction == "none":
            hint(layout, "Friction has no effect: Joint Friction of the mechanism is None")
    layout.operator("conjac.copy_to_bones", icon="COPYDOWN")


def draw_joint(layout: bpy.types.UILayout, part: parts.CONJAC_Part, holder: bpy.types.PoseBone | bpy.types.Object,
               plan: bones.JointPlan | None) -> None:
    """Draw the springs, friction and motor of a joint. holder: the owner of the motor's target; plan: its kind."""
    column = layout.column(align=True)
    column.prop(part, "stiffness")
    column.prop(part, "damping")
    if part.stiffness or part.damping:
        setting(layout, part, "implicit")
    setting(layout, part, "friction")
    if part.friction:
        column = layout.column(align=True)
        column.prop(part, "bearing_radius")
        column.prop(part, "bearing_length")
        column.prop(part, "bearing_points")
    setting(layout, part, "motor")
    if part.motor != parts.NO_MOTOR:
        setting(layout, holder, "conjac_motor_target")
        words = mechanism.motor_words(plan) if plan is not None else ""
        if words:
            hint(layout, f"Target is {words}")
        if part.motor == "servo":
            setting(layout, part, "motor_stiffness")
        if part.motor != "drive":
            setting(layout, part, "motor_damping")
            setting(layout, part, "motor_implicit")
        setting(layout, part, "motor_limit")


def draw_empty(layout: bpy.types.UILayout, context: bpy.types.Context) -> None:
    """Draw the joint of an Empty's rigid body constraint."""
    obj = context.object
    if obj.rigid_body_constraint is not None and obj.rigid_body_constraint.type == "HINGE":
        setting(layout, obj.conjac.part, "planar")
    plan = rigid.joint_of(obj) if obj.rigid_body_constraint is not None else None
    draw_joint(layout, obj.conjac.part, obj, plan)


def is_skinned(obj: bpy.types.Object) -> bool:
    """Whether an armature deforms or carries a mesh, so that soft bodies can be attached to its bones."""
    return (obj.parent is not None and obj.parent.type == "ARMATURE"
            or any(modifier.type == "ARMATURE" and modifier.object is not None for modifier in obj.modifiers))


def draw_attach(layout: bpy.types.UILayout, context: bpy.types.Context) -> None:
    """Draw the attachments of a soft body to bones."""
    obj, settings = context.object, context.object.conjac
    for index, attachment in enumerate(settings.attachments):
        column = layout.column(align=True)
        row = column.row(align=True)
        is_flesh = members.is_volume(attachment.object)
        row.alert = not (is_flesh or members.is_mechanism(attachment.object))
        row.prop(attachment, "object", text="")
        row.operator("conjac.remove_attachment", text="", icon="REMOVE").index = index
        if attachment.object is not None and attachment.object.type == "ARMATURE":
            column.prop_search(attachment, "part", attachment.object.data, "bones", text="Bone")
        elif not is_flesh:
            column.prop(attachment, "part", text="Object")
        column.prop_search(attachment, "group", obj, "vertex_groups", text="Group")
        if is_flesh and not members.is_sharp(obj):
            hint(column, "Only cloth with Sharp Edges can be attached to soft bodies")
        elif attachment.object is not None and not is_flesh and not members.is_mechanism(attachment.object):
            hint(column, f"{attachment.object.name} is not a mechanism: add ConJac to it")
    layout.operator("conjac.add_attachment", icon="BONE_DATA")
    if is_skinned(obj):
        layout.operator("conjac.jiggle", icon="MOD_CLOTH")
    holder = members.owner(obj)
    if holder != obj:
        hint(layout, f"Baked together with {holder.name}, with its step, ground and frames")
