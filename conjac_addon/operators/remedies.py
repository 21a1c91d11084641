"""Remedies in the status box for bakes that would show nothing: a ground or a collider below, a mesh fine enough to
bend, obstacles for the bones below soft bodies."""

import math

import bmesh
import bpy
from mathutils import Matrix, Vector

from ...solver.errors import BadInput
from .. import by_button, kinds, members, playback
from ..gather import sources
from ..gather.obstacles import is_full
from ..redraw import redraw_panels
from .light import Behaviour
from .poll import active_mesh, active_soft_body, baked, in_object_mode, unless

#: what lies no higher above the ground is reached with it [Blender units]
GAP = 1.0e-3


class CONJAC_OT_add_ground(Behaviour):
    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        return unless(cls, baked(cls, context), lambda obj: members.owner(obj).conjac.use_ground,
                      "It has a ground already: see Ground") is not None

    @by_button.noting("Add Ground")
    def execute(self, context: bpy.types.Context) -> set[str]:
        obj = members.owner(context.object)
        if not obj.is_editable:
            self.report({"ERROR"}, f'"{obj.name}" is linked from another file: make it local or add a library override')
            return {"CANCELLED"}
        settings = obj.conjac
        settings.use_ground = True
        if settings.ground_object is None:
            settings.ground_height = min(settings.ground_height, lowest(obj, context.scene))
        if members.is_mechanism(obj) and settings.friction == "none":
            # as a ragdoll has it: without, what lies on the ground slides on without end
            settings.friction, settings.friction_coefficient = "coulomb", settings.mechanism.contact_friction
        self.report({"INFO"}, f'"{obj.name}" falls on a plane now: its height and friction are under Ground')
        redraw_panels()
        return {"FINISHED"}


class CONJAC_OT_level_ground(Behaviour):
    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        return unless(cls, baked(cls, context), lambda obj: sunk(obj, context.scene) <= GAP,
                      "Its ground is not below the grid, or something is that deep") is not None

    @by_button.noting("Raise Ground to the Grid")
    def execute(self, context: bpy.types.Context) -> set[str]:
        obj = members.owner(context.object)
        if not obj.is_editable:
            self.report({"ERROR"}, f'"{obj.name}" is linked from another file: make it local or add a library override')
            return {"CANCELLED"}
        obj.conjac.ground_height += sunk(obj, context.scene)
        redraw_panels()
        return {"FINISHED"}


def sunk(obj: bpy.types.Object, scene: bpy.types.Scene) -> float:
    """Return the distance [Blender units] of the ground plane below the grid and everything on it, after the objects
    that lay lower have gone. 0 without such a ground."""
    settings = members.shared_settings(obj)
    if not settings.use_ground or settings.ground_object is not None:
        return 0.0
    below = [box(collider)[0].z for collider in members.colliders(obj, scene)]
    return max(0.0, min(0.0, lowest(members.owner(obj), scene), *below) - settings.ground_height)


def lowest(obj: bpy.types.Object, scene: bpy.types.Scene) -> float:
    """Return the height of the lowest corner of everything baked with an object, at present, in Blender units."""
    shown = [member for member in members.members(obj, scene) if member.type != "EMPTY"]
    if obj.type == "EMPTY" and obj.conjac.mechanism.collection is not None:
        shown += [part for part in obj.conjac.mechanism.collection.all_objects if part.type == "MESH"]
    corners = [part.matrix_world @ Vector(corner) for part in shown for corner in part.bound_box]
    return min((corner.z for corner in corners), default=0.0)


class CONJAC_OT_land(Behaviour):
    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        return unless(cls, active_soft_body(cls, context), lambda obj: not unnoticed(obj, context.scene),
                      "No plain mesh lies below it") is not None

    @by_button.noting("Land on What Is Below")
    def execute(self, context: bpy.types.Context) -> set[str]:
        obj = context.object
        floor = unnoticed(obj, context.scene)[0]
        floor.conjac.kind = kinds.COLLIDER
        if obj.conjac.contact.collides_with == kinds.NOTHING:
            obj.conjac.contact.collides_with = kinds.ALL
        self.report({"INFO"}, f'"{floor.name}" is a collider now, and "{obj.name}" lands on it')
        redraw_panels()
        return {"FINISHED"}


def unnoticed(obj: bpy.types.Object, scene: bpy.types.Scene) -> list[bpy.types.Object]:
    """Meshes that mean nothing to ConJac and lie below a soft body, above its ground, so that it falls through them;
    the highest first. By their boxes: what reaches above its middle, as a room or a sky does, is none.
    """
    found = []
    for candidate in scene.objects:
        if (candidate.type != "MESH" or candidate.conjac.kind != kinds.NONE or candidate.hide_render
                or not candidate.is_editable or candidate.display_type in {"WIRE", "BOUNDS"}
                or not candidate.visible_get() or playback.shows_cut(candidate) or candidate.rigid_body is not None):
            continue
        if is_below(obj, box(candidate)):
            found.append((box(candidate)[1].z, candidate))
    return [candidate for _, candidate in sorted(found, key=lambda each: -each[0])]


def instanced(obj: bpy.types.Object, scene: bpy.types.Scene) -> list[bpy.types.Object]:
    """Return Empties below an object that show instances of a collection: nothing that only they show is solid."""
    found = []
    for instance in scene.objects:
        if instance.instance_type != "COLLECTION" or instance.instance_collection is None or not instance.visible_get():
            continue
        to = instance.matrix_world @ Matrix.Translation(-instance.instance_collection.instance_offset)
        if any(is_below(obj, box(shown, to)) for shown in instance.instance_collection.all_objects
               if shown.type == "MESH" and not shown.hide_render):
            found.append(instance)
    return found


def is_below(obj: bpy.types.Object, of: tuple[Vector, Vector]) -> bool:
    """Whether a box, given by its lowest and highest corner, is below a soft body and above its ground plane."""
    low, high = box(obj)
    middle, settings = (low + high) / 2, members.shared_settings(obj)
    if settings.use_ground and settings.ground_object is not None:
        return False
    least = settings.ground_height if settings.use_ground else -math.inf
    bottom, top = of
    return (least + GAP < top.z <= middle.z
            and all(bottom[axis] <= middle[axis] <= top[axis] for axis in range(2)))


class CONJAC_OT_add_obstacles(Behaviour):
    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        return unless(cls, baked(cls, context), lambda obj: not _no_obstacles(obj, context.scene),
                      "No bones or rigid bodies pass through a collider") is not None

    def execute(self, context: bpy.types.Context) -> set[str]:
        holder = members.owner(context.object)
        settings, missed = holder.conjac.mechanism, unmet(holder, context.scene)[0]
        if not holder.is_editable or (settings.obstacles is not None and not settings.obstacles.is_editable):
            self.report({"ERROR"}, f'"{holder.name}" or its Obstacles are linked from another file: make them local')
            return {"CANCELLED"}
        if not missed:
            self.report({"WARNING"}, "All that they pass through is hollow, and an obstacle is solid: build it from "
                        "convex pieces")
            return {"CANCELLED"}
        if settings.obstacles is None:
            settings.obstacles = bpy.data.collections.new(f"{holder.name} Obstacles")
            context.scene.collection.children.link(settings.obstacles)
        for obstacle in missed:
            settings.obstacles.objects.link(obstacle)
        names = ", ".join(f'"{obstacle.name}"' for obstacle in missed)
        self.report({"INFO"}, f'"{holder.name}" now collides with {names}: each loose part counts as its convex hull')
        redraw_panels()
        return {"FINISHED"}


def unmet(obj: bpy.types.Object, scene: bpy.types.Scene) -> tuple[list[bpy.types.Object], list[bpy.types.Object]]:
    """Colliders that the bones and rigid bodies baked with an object pass, since these bump into the mechanism's
    Obstacles alone: those that may be obstacles, and the hollow ones, which as obstacles would be full.
    """
    holder = members.owner(obj)
    passed = _no_obstacles(holder, scene)
    if not passed or not _any_moves_itself(holder):
        return [], []
    full = [is_full(collider.data) for collider in passed]  # type: ignore[arg-type]
    return ([collider for collider, yes in zip(passed, full) if yes],
            [collider for collider, yes in zip(passed, full) if not yes])


def _no_obstacles(obj: bpy.types.Object, scene: bpy.types.Scene) -> list[bpy.types.Object]:
    """Colliders that are no obstacles of the mechanism that an object is baked with, above its ground: those of the
    soft bodies baked with it, or of the scene, where none of these touches anything.
    """
    holder = members.owner(obj)
    settings = holder.conjac
    if not members.is_mechanism(holder):
        return []
    met: set[bpy.types.Object] = set()
    for collection in (settings.mechanism.obstacles, settings.mechanism.collection):
        met |= set() if collection is None else set(collection.all_objects)
    least = settings.ground_height if settings.use_ground and settings.ground_object is None else -math.inf
    touched = any(members.collides(body) for body in members.soft_bodies(holder, scene))
    return [candidate for candidate in (members.colliders(holder, scene) if touched else scene.objects)
            if candidate not in met and candidate.type == "MESH" and candidate.conjac.kind == kinds.COLLIDER
            and len(candidate.data.polygons) and box(candidate)[1].z > least + GAP]


def _any_moves_itself(mechanism: bpy.types.Object) -> bool:
    """Whether any part of a mechanism is moved by forces, so that obstacles would stop it."""
    try:
        plan, _ = sources.plan(mechanism)
    except BadInput:
        return False  # the bake says what is wrong
    return any(not bone.animated for bone in plan)


def box(obj: bpy.types.Object, to: Matrix | None = None) -> tuple[Vector, Vector]:
    """Return the lowest and the highest corner of an object's box in the world, in Blender units. to: transform of an
    instance, by default of the object."""
    place = obj.matrix_world if to is None else to @ obj.matrix_world
    corners = [place @ Vector(corner) for corner in obj.bound_box]
    return (Vector(tuple(min(corner[axis] for corner in corners) for axis in range(3))),
            Vector(tuple(max(corner[axis] for corner in corners) for axis in range(3))))


class CONJAC_OT_subdivide(Behaviour):
    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        obj = in_object_mode(cls, active_mesh(cls, context))
        return unless(cls, obj, lambda one: not one.data.is_editable,
                      "The mesh is linked from another file: make it local first") is not None

    def execute(self, context: bpy.types.Context) -> set[str]:
        mesh = context.object.data
        before = len(mesh.vertices)
        changed = bmesh.new()
        try:
            changed.from_mesh(mesh)  # type: ignore[arg-type]
            bmesh.ops.subdivide_edges(changed, edges=changed.edges[:], cuts=self.cuts, use_grid_fill=True)
            changed.to_mesh(mesh)  # type: ignore[arg-type]
        finally:
            changed.free()
        mesh.update()
        self.report({"INFO"}, f'"{mesh.name}": {len(mesh.vertices)} vertices now, instead of {before}')
        return {"FINISHED"}
