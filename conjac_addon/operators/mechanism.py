"""Makes mechanisms: ragdolls of armatures, rigid body objects, settings for many bones, driving and letting go."""

from collections.abc import Collection

import bpy

from ...solver.errors import ConJacError
from .. import by_button, gather, kinds, parts
from ..first_solvers import LIVELY
from ..redraw import redraw_panels
from ..timeline import present_frame
from . import anatomy
from .first_settings import WATER, stand_on_ground
from .joining import meet
from .light import Behaviour
from .poll import active_armature, active_mechanism, unless

#: damping of a joint, as a share of what would bring the part below it to rest without a swing
CALM = 0.1


class CONJAC_OT_ragdoll(Behaviour):
    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        return unless(cls, active_armature(cls, context), lambda rig: not len(rig.data.bones),
                      "The armature has no bones") is not None

    @by_button.noting("Ragdoll from Armature")
    def execute(self, context: bpy.types.Context) -> set[str]:
        armature = context.object
        settings = armature.conjac
        settings.kind, settings.use_ground = kinds.MECHANISM, self.use_ground
        if settings.friction == "none":
            # as rough as obstacles, where a ground without friction would let it slide on without end
            settings.friction, settings.friction_coefficient = "coulomb", settings.mechanism.contact_friction
        swing(settings)
        meet(context.scene)
        left_out = choose_bones(armature, self.smallest)
        if not settings.mechanism.is_property_set("self_collisions"):
            settings.mechanism.self_collisions = True  # arms and legs fall through each other without
        try:
            bones = RigidBones(armature, context.scene)
            light = anatomy.light_branches(bones.above, bones.masses) if self.smallest > 0.0 else ()
            if light:
                left_out += leave_out(armature, light)
                bones = RigidBones(armature, context.scene)
            anatomy.limit_joints(armature, bones.above)
            damp(armature, bones)
        except ConJacError as error:
            self.report({"WARNING"}, str(error))
        count = len(armature.pose.bones) - len(left_out)
        self.report({"INFO"}, f'"{armature.name}": {count} bone{" is" if count == 1 else "s are"} simulated'
                    + (f", {len(left_out)} are left out" if left_out else ""))
        redraw_panels()
        return {"FINISHED"}


def groups(scene: bpy.types.Scene) -> int:
    """Return the number of independent groups of rigid bodies: connected by joints, not counting static and animated
    bodies."""
    lot = {obj: obj for obj in scene.objects if moves(obj)}
    for obj in scene.objects:
        constraint = obj.rigid_body_constraint
        if constraint is not None and constraint.object1 in lot and constraint.object2 in lot:
            old, new = lot[constraint.object2], lot[constraint.object1]
            lot = {member: new if first == old else first for member, first in lot.items()}
    return len(set(lot.values()))


def moves(obj: bpy.types.Object) -> bool:
    """Whether an object is a rigid body that forces move."""
    return obj.rigid_body is not None and obj.rigid_body.type == "ACTIVE" and not obj.rigid_body.kinematic


def unjoined(scene: bpy.types.Scene) -> list[bpy.types.Object]:
    """Rigid bodies that move and that no constraint holds."""
    constrained = {part for obj in scene.objects if obj.rigid_body_constraint is not None
                   for part in (obj.rigid_body_constraint.object1, obj.rigid_body_constraint.object2)}
    return [obj for obj in scene.objects if moves(obj) and obj not in constrained]


def swing(settings: bpy.types.PropertyGroup) -> None:
    """Choose the integrator that preserves the swing of jointed bodies, and the spin of flying bodies with soft bodies
    attached, if none has been chosen."""
    if not settings.solver.is_property_set("integrator"):
        settings.solver.integrator = LIVELY
        if not settings.solver.is_property_set("keep_spin"):
            settings.solver.keep_spin = True


def choose_bones(armature: bpy.types.Object, smallest: float) -> list[str]:
    """Set the roles of a ragdoll's bones. Returns the names of bones that are left out."""
    bones = list(armature.pose.bones)
    deforming = [bone for bone in bones if bone.bone.use_deform] or bones
    longest = max(bone.bone.length for bone in deforming)
    simulated = {bone.name for bone in deforming}

    def is_tiny(bone: bpy.types.PoseBone) -> bool:
        """It and all below it."""
        return bone.bone.length < smallest * longest and all(is_tiny(child) for child in bone.children)

    simulated -= {bone.name for bone in deforming if is_tiny(bone)}
    for bone in bones:
        bone.conjac.role = parts.SIMULATED if bone.name in simulated or bone in deforming else parts.LEFT_OUT
    left_out = leave_out(armature, [bone.name for bone in deforming if bone.name not in simulated])
    return left_out + [bone.name for bone in bones if bone not in deforming]


def leave_out(armature: bpy.types.Object, names: Collection[str]) -> list[str]:
    """Leave bones out of the mechanism. Returns those that move with a body above them. The others, such as those of
    Rigify's rigs, whose parents do not move, remain bodies, rigidly attached to their parents."""
    for name in names:
        armature.pose.bones[name].conjac.role = parts.LEFT_OUT
    gone = []
    for name in names:
        bone = armature.pose.bones[name]
        if any(above.conjac.role == parts.SIMULATED for above in bone.parent_recursive):
            gone.append(name)
        else:
            bone.conjac.role, bone.conjac.joint = parts.SIMULATED, "fixed"
    return gone


class RigidBones:
    """Bones of a rig as rigid bodies: masses [kg] and lengths [m] of all, and the parent of those that have one,
    parents first. Raises ConJacError where the rig cannot be simulated."""

    def __init__(self, armature: bpy.types.Object, scene: bpy.types.Scene) -> None:
        mechanism, _ = gather.mechanism_now(armature, scene)
        bodies = mechanism["bodies"]
        self.masses = {body["name"]: body.get("mass") or body["density"] * volume_of(body["shape"]) for body in bodies}
        self.lengths = {body["name"]: extent_of(body["shape"]) for body in bodies}
        above = {joint["child"]: joint["parent"] for joint in mechanism["joints"] if "parent" in joint}
        self.above = {name: above[name] for name in self.masses if name in above}


def damp(armature: bpy.types.Object, bones: RigidBones) -> None:
    """Give each joint a little damping, according to the mass below it."""
    hanging = dict(bones.masses)
    for name in reversed([*bones.above]):
        hanging[bones.above[name]] += hanging[name]
    for name in bones.above:
        # a pendulum of this length swings with √(g/l); twice its m l² that is critical damping
        armature.pose.bones[name].conjac.damping = CALM * 2.0 * hanging[name] * bones.lengths[name]**1.5 * 9.81**0.5


def volume_of(shape: dict) -> float:
    """[m³] of a bone's shape."""
    size = shape["params"]
    if shape["kind"] == "box":
        return size["size_x"] * size["size_y"] * size["size_z"]
    ball = 4.0 / 3.0 * 3.141592653589793 * size["radius"] ** 3
    return ball + 3.141592653589793 * size["radius"] ** 2 * size.get("length", 0.0)


def extent_of(shape: dict) -> float:
    """Return how long [m] a bone's shape is."""
    size = shape["params"]
    return size["size_z"] if shape["kind"] == "box" else 2.0 * size["radius"] + size.get("length", 0.0)


class CONJAC_OT_drive_then_let_go(Behaviour):
    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        return unless(cls, active_mechanism(cls, context), lambda obj: obj.type != "ARMATURE",
                      "Select an armature") is not None

    def invoke(self, context: bpy.types.Context, _event: bpy.types.Event) -> set[str]:
        self.frame = present_frame(context.scene)
        return self.execute(context)

    def execute(self, context: bpy.types.Context) -> set[str]:
        obj = context.object
        obj.conjac.mechanism.follow, obj.conjac.mechanism.let_go = True, self.frame
        data = obj.animation_data
        if data is None or (data.action is None and not len(data.nla_tracks)):
            self.report({"WARNING"}, f'"{obj.name}" has no animation to follow: it is held still until it is let go')
        redraw_panels()
        return {"FINISHED"}


class CONJAC_OT_copy_to_bones(Behaviour):
    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        return unless(cls, active_armature(cls, context),
                      lambda rig: rig.mode != "POSE" or context.active_pose_bone is None,
                      "Choose bones in Pose Mode") is not None

    def execute(self, context: bpy.types.Context) -> set[str]:
        source = context.active_pose_bone
        others = [bone for bone in context.selected_pose_bones if bone != source]
        for bone in others:
            for name in source.conjac.bl_rna.properties.keys():
                if name not in ("rna_type", "name"):
                    setattr(bone.conjac, name, getattr(source.conjac, name))
        self.report({"INFO"}, f"Copied to {len(others)} bones")
        return {"FINISHED"}


class CONJAC_OT_mechanism_from_rigid_bodies(Behaviour):
    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        if not any(obj.rigid_body is not None for obj in context.scene.objects):
            cls.poll_message_set("No object of the scene is a rigid body: add some in Physics properties")
            return False
        return True

    def execute(self, context: bpy.types.Context) -> set[str]:
        scene = context.scene
        collection = bpy.data.collections.new("Mechanism Parts")
        scene.collection.children.link(collection)
        for obj in list(scene.objects):
            if obj.rigid_body is not None or obj.rigid_body_constraint is not None:
                collection.objects.link(obj)
        empty = bpy.data.objects.new("Mechanism", None)
        empty.empty_display_type, empty.empty_display_size = "CUBE", 0.25
        scene.collection.objects.link(empty)
        empty.conjac.kind, empty.conjac.mechanism.collection = kinds.MECHANISM, collection
        rough = {obj.rigid_body.friction for obj in collection.objects if moves(obj)}
        if len(rough) == 1:
            empty.conjac.mechanism.contact_friction = rough.pop()
        swing(empty.conjac)
        meet(scene)
        free = unjoined(scene)
        if free or groups(scene) > 1:
            # as they do in Blender; of one linkage, whose bars cross, this cannot be assumed
            empty.conjac.mechanism.self_collisions = True
        if free and not any(part.rigid_body.type == "PASSIVE" for part in collection.objects if part.rigid_body):
            stand_on_ground(empty, scene, WATER)
        for obj in context.selected_objects:
            obj.select_set(False)
        empty.select_set(True)
        context.view_layer.objects.active = empty
        return {"FINISHED"}
