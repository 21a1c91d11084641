"""Jiggle the soft parts of a character: soft body, held by bones where it is not soft, and dynamic nodes."""

from __future__ import annotations

from collections.abc import Iterator

import bpy
import numpy as np
from numpy.typing import NDArray

from ...solver.errors import BadInput
from .. import kinds, members
from ..redraw import redraw_panels
from .attach import rig_of
from .entries import UNDOABLE
from .first_settings import suit
from .poll import active_armature, active_mesh, in_object_mode, unless

#: vertex group that says what is soft, and what is put behind a bone's name for what it holds
SOFT, HELD = "Soft", "{} Held"

#: share of each bone's vertices, those farthest from it, that are soft until the artist paints them
SHARE = 0.5


class CONJAC_OT_jiggle(bpy.types.Operator):
    """Make the skin of an armature a soft body that is held by its bones except where the group Soft is painted"""

    bl_idname = "conjac.jiggle"
    bl_label = "Jiggle the Soft Parts"
    bl_options = UNDOABLE

    nodes: bpy.props.IntProperty(
        name="Dynamic Nodes", description="How many dynamic nodes to suggest where only these move, 0 for none",
        default=2, min=0, max=100)

    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        obj = context.object
        if obj is not None and obj.type == "ARMATURE":
            return active_armature(cls, context) is not None
        skin = unless(cls, active_mesh(cls, context), lambda mesh: rig_of(mesh, context) is None,
                      "No armature deforms it")
        return in_object_mode(cls, skin) is not None

    def execute(self, context: bpy.types.Context) -> set[str]:
        active = context.object
        skins = [active] if active.type == "MESH" else [
            obj for obj in context.scene.objects if obj.type == "MESH" and obj.is_editable
            and any(m.type == "ARMATURE" and m.object == active for m in obj.modifiers)]
        if not skins:
            self.report({"ERROR"}, f'"{active.name}" deforms no mesh')
            return {"CANCELLED"}
        for obj in skins:
            try:
                self._soften(context, obj, rig_of(obj, context) if obj == active else active)
            except BadInput as error:
                self.report({"ERROR"}, str(error))
                return {"CANCELLED"}
        context.view_layer.objects.active = active
        redraw_panels()
        return {"FINISHED"}

    def _soften(self, context: bpy.types.Context, obj: bpy.types.Object, rig: bpy.types.Object) -> None:
        bones = dominant(obj, rig)
        soft = soft_vertices(obj, rig, bones)
        obj.conjac.kind = kinds.SOFT_BODY
        held = [(name, np.flatnonzero((bones == k) & ~soft)) for k, name in enumerate(rig.data.bones.keys())]
        held = [(name, vertices) for name, vertices in held if len(vertices)]
        if not held:
            raise BadInput("all of it is painted Soft, so nothing holds it", "Paint less of it", obj.name)
        if members.is_mechanism(rig):
            attach(obj, rig, held)
        else:
            pin = obj.vertex_groups.get(obj.conjac.pin_group) or obj.vertex_groups.new(name=obj.conjac.pin_group)
            pin.remove(range(len(obj.data.vertices)))
            for _, vertices in held:
                pin.add(vertices.tolist(), 1.0, "REPLACE")
            suit(obj, context.scene, held=_size(obj, soft))
        how = f"held by {len(held)} bones" if members.is_mechanism(rig) else f'pinned to "{rig.name}"'
        self.report({"INFO"}, f'"{obj.name}": {int(soft.sum())} vertices are soft, the others {how}')
        if self.nodes and not len(obj.conjac.handles) and members.moves_dynamic_nodes(obj):
            context.view_layer.objects.active = obj
            # behind a window it goes on while the artist does
            how_run = "EXEC_DEFAULT" if bpy.app.background else "INVOKE_DEFAULT"
            with context.temp_override(active_object=obj, object=obj):
                bpy.ops.conjac.suggest_handles(how_run, count=self.nodes)


def _size(obj: bpy.types.Object, soft: NDArray[np.bool_]) -> list[float]:
    """Of the soft part along x, y and z in the world, in Blender units."""
    places = np.empty(3 * len(soft), dtype=np.float32)
    obj.data.vertices.foreach_get("co", places)
    there = places.reshape(-1, 3)[soft] @ np.array(obj.matrix_world.to_3x3()).T
    sizes: list[float] = np.ptp(there, axis=0).tolist() if len(there) else [0.0, 0.0, 0.0]
    return sizes


def attach(obj: bpy.types.Object, rig: bpy.types.Object, held: list[tuple[str, NDArray[np.int64]]]) -> None:
    """Attach vertices to the bones that are simulated, or to what these hang on; earlier ones of this rig go."""
    entries = obj.conjac.attachments
    for index in reversed(range(len(entries))):
        if entries[index].object == rig:
            entries.remove(index)
    by_body: dict[str, list[NDArray[np.int64]]] = {}
    for name, vertices in held:
        by_body.setdefault(next(_bodies_above(rig, name), name), []).append(vertices)
    for name, lists in by_body.items():
        group = obj.vertex_groups.get(HELD.format(name)) or obj.vertex_groups.new(name=HELD.format(name))
        group.remove(range(len(obj.data.vertices)))
        group.add(np.concatenate(lists).tolist(), 1.0, "REPLACE")
        one = entries.add()
        one.object, one.part, one.group = rig, name, group.name


def _bodies_above(rig: bpy.types.Object, name: str) -> Iterator[str]:
    """The bone itself and those above it, as far as they are bodies."""
    bone = rig.pose.bones[name]
    for one in (bone, *bone.parent_recursive):
        if one.conjac.role != "none":
            yield one.name


def dominant(obj: bpy.types.Object, rig: bpy.types.Object) -> NDArray[np.int64]:
    """(n,) for each vertex the bone that moves it most, as its place among the rig's bones; -1 where none does.

    Raises BadInput where no bone moves the mesh.
    """
    place = {name: k for k, name in enumerate(rig.data.bones.keys())}
    of_group = {group.index: place[group.name] for group in obj.vertex_groups if group.name in place}
    bones, best = np.full(len(obj.data.vertices), -1), np.zeros(len(obj.data.vertices))
    for k, vertex in enumerate(obj.data.vertices):
        for element in vertex.groups:
            if element.group in of_group and element.weight > best[k]:
                bones[k], best[k] = of_group[element.group], element.weight
    if (bones < 0).all():
        raise BadInput(f'no vertex group of it has the name of a bone of "{rig.name}"',
                       "Parent it to the armature with weights first", obj.name)
    return bones


def soft_vertices(obj: bpy.types.Object, rig: bpy.types.Object, bones: NDArray[np.int64]) -> NDArray[np.bool_]:
    """(n,) what is painted Soft; where nothing is yet, the group is made of what is farthest from the bones."""
    group: bpy.types.VertexGroup | None = obj.vertex_groups.get(SOFT)
    count = len(obj.data.vertices)
    soft = np.zeros(count, dtype=bool)
    if group is not None:
        for k, vertex in enumerate(obj.data.vertices):
            soft[k] = any(element.group == group.index and element.weight > 0.5 for element in vertex.groups)
        if soft.any():
            return soft
    local = np.empty(3 * count, dtype=np.float32)
    obj.data.vertices.foreach_get("co", local)
    matrix = np.array(rig.matrix_world.inverted_safe() @ obj.matrix_world, dtype=np.float64)
    x = local.reshape(-1, 3) @ matrix[:3, :3].T + matrix[:3, 3]
    for k, bone in enumerate(rig.data.bones):
        mine = np.flatnonzero(bones == k)
        if len(mine):
            head, tail = np.array(bone.head_local), np.array(bone.tail_local)
            along = tail - head
            where = np.clip((x[mine] - head) @ along / max(along @ along, 1.0e-30), 0.0, 1.0)
            far = np.linalg.norm(x[mine] - head - where[:, None] * along, axis=1)
            soft[mine[far > np.quantile(far, 1.0 - SHARE)]] = True
    group = group or obj.vertex_groups.new(name=SOFT)
    group.add(np.flatnonzero(soft).tolist(), 1.0, "REPLACE")
    return soft


classes = (CONJAC_OT_jiggle,)
