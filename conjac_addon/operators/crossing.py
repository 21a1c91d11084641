"""Find faces that go through each other where a bake begins, and select them: such a start is refused."""

from __future__ import annotations

import itertools

import bpy
from mathutils.bvhtree import BVHTree

from ...solver.errors import ConJacError
from .. import compat, members
from ..redraw import redraw_panels
from ..timeline import frame_range, go_to
from . import rigid_faces
from .light import Behaviour
from .poll import in_object_mode, to_read, unless

#: how many pairs are named
NAMED = 3

Pair = tuple[bpy.types.Object, bpy.types.Object, set[int], set[int]]
#: a soft body, the mechanism, the name of its bone or object, and the faces of the soft body
Pierced = tuple[bpy.types.Object, bpy.types.Object, str, set[int]]


class CONJAC_OT_select_crossing(Behaviour):
    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        obj = in_object_mode(cls, to_read(cls, context))
        return unless(cls, obj, lambda one: not (members.collides(one) or members.touches_soft(one)),
                      "It collides with nothing") is not None

    def execute(self, context: bpy.types.Context) -> set[str]:
        obj, scene = context.object, context.scene
        start = frame_range(members.shared_settings(obj), scene)[0]
        go_to(scene, start)
        found = crossing(obj, context)
        try:
            pierced = by_rigid(obj, context)
        except ConJacError as error:
            self.report({"ERROR"}, str(error))
            return {"CANCELLED"}
        if not found and not pierced:
            self.report({"INFO"}, f"At frame {start} no faces of the objects that are baked together intersect")
            return {"FINISHED"}
        _select(found, pierced, context)
        sentences = [f'"{body.name}" and "{other.name}" cross with {len(of_one) + len(of_other)} faces'
                     for body, other, of_one, of_other in found]
        sentences += [f'"{part}" of "{mechanism.name}" crosses {len(faces)} faces of "{body.name}"'
                      for body, mechanism, part, faces in pierced]
        more = f", and {len(sentences) - NAMED} more pairs" if len(sentences) > NAMED else ""
        self.report({"WARNING"}, f"Frame {start}: {', '.join(sentences[:NAMED])}{more}")
        redraw_panels()
        return {"FINISHED"}


def crossing(obj: bpy.types.Object, context: bpy.types.Context) -> list[Pair]:
    """Return the pairs of a simulation that touch and cross at the present frame, and the faces of both that do."""
    bodies, colliders = members.soft_bodies(obj, context.scene), members.colliders(obj, context.scene)
    trees = {body: _tree(body, context) for body in (*bodies, *colliders)}
    pairs = [(body, other) for body, other in itertools.combinations(bodies, 2) if members.touch(body, other)]
    pairs += [(body, other) for body in bodies for other in colliders if members.wants(body, other)]
    found = []
    for body, other in pairs:
        faces = trees[body].overlap(trees[other])
        if faces:
            found.append((body, other, {first for first, _ in faces}, {second for _, second in faces}))
    return found


def by_rigid(obj: bpy.types.Object, context: bpy.types.Context) -> list[Pierced]:
    """Return the soft bodies that bones or rigid bodies of their mechanism cross at the present frame. Raises
    ConJacError."""
    mechanism = members.owner(obj)
    if not members.touches_soft(mechanism):
        return []
    bodies = [body for body in members.soft_bodies(mechanism, context.scene)
              if members.collides(body) and members.wants(body, mechanism)]
    trees = {body: _tree(body, context) for body in bodies}
    rigid = rigid_faces.trees(mechanism, context.scene) if bodies else {}
    found = [(body, mechanism, part, {face for face, _ in tree.overlap(other)})
             for body, tree in trees.items() for part, other in rigid.items()]
    return [crossed for crossed in found if crossed[3]]


def _tree(obj: bpy.types.Object, context: bpy.types.Context) -> BVHTree:
    """Return the faces of an object as they are seen, in the world."""
    evaluated = obj.evaluated_get(context.evaluated_depsgraph_get())
    mesh = evaluated.to_mesh()
    vertices = [(evaluated.matrix_world @ vertex.co).to_tuple() for vertex in mesh.vertices]
    tree = BVHTree.FromPolygons(vertices, [tuple(face.vertices) for face in mesh.polygons])
    evaluated.to_mesh_clear()
    return tree


def _select(found: list[Pair], pierced: list[Pierced], context: bpy.types.Context) -> None:
    """The objects, and in Edit Mode their faces, where modifiers make no others of them; and bones, alone."""
    faces: dict[bpy.types.Object, set[int]] = {}
    parts: dict[bpy.types.Object, set[str]] = {}
    for body, mechanism, part, of_one in pierced:
        faces.setdefault(body, set()).update(of_one)
        parts.setdefault(mechanism, set()).add(part)
    for body, other, of_one, of_other in found:
        faces.setdefault(body, set()).update(of_one)
        faces.setdefault(other, set()).update(of_other)
    for obj in context.view_layer.objects:
        obj.select_set(obj in faces or any(_stands_for(obj, mechanism, names) for mechanism, names in parts.items()))
    for mechanism, names in parts.items():
        if mechanism.type == "ARMATURE":
            compat.select_bones(mechanism, names)
    for obj, chosen in faces.items():
        mesh = obj.data
        seen = obj.evaluated_get(context.evaluated_depsgraph_get()).data
        if len(seen.polygons) != len(mesh.polygons):
            continue
        for elements in (mesh.vertices, mesh.edges):
            elements.foreach_set("select", [False] * len(elements))
        corners = {vertex for face in chosen for vertex in mesh.polygons[face].vertices}
        for vertex in corners:
            mesh.vertices[vertex].select = True
        mesh.polygons.foreach_set("select", [index in chosen for index in range(len(mesh.polygons))])
    context.view_layer.objects.active = next(iter(faces))
    context.tool_settings.mesh_select_mode = (False, False, True)
    bpy.ops.object.mode_set(mode="EDIT")


def _stands_for(obj: bpy.types.Object, mechanism: bpy.types.Object, parts: set[str]) -> bool:
    """Whether it is an armature with such bones, or a rigid body object of that name."""
    return obj == mechanism if mechanism.type == "ARMATURE" else obj.name in parts
