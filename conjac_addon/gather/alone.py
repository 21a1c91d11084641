"""A scene of its own for what a bake reads, so that Blender evaluates nothing else of the artist's at every frame.

It is a copy of the artist's scene with its gravity, units, stretching, drivers and camera, and holds only the objects
that the bake reads and what these depend on: parents, targets of constraints, drivers and modifiers, collections that
are instanced. It is gone again whenever the window is let in, and the artist's own scene stays at its frame.
"""

from __future__ import annotations

import types
from collections.abc import Iterable, Iterator

import bpy

from .. import members, scene_removal
from . import read_by_itself
from .taken_up import TakenUp

#: what remembers earlier frames, or feels what else is in the scene: it is evaluated where it belongs
_REMEMBERING = {"CLOTH", "SOFT_BODY", "FLUID", "PARTICLE_SYSTEM", "PARTICLE_INSTANCE", "EXPLODE", "DYNAMIC_PAINT",
                "COLLISION", "OCEAN"}
_REMEMBERING_NODES = {"GeometryNodeSimulationInput", "GeometryNodeSimulationOutput", "GeometryNodeBake"}

_ADDON = __package__.rpartition(".")[0]


class Alone(TakenUp):
    """Use with `with`; inside, `scene` and `view_layer` are the passing ones, between `put_back` and `take_up` not."""

    def __init__(self, of: bpy.types.Object, scene: bpy.types.Scene, view_layer: bpy.types.ViewLayer) -> None:
        self._of, self._artists, self._layer = of, scene, view_layer
        self._passing: bpy.types.Scene | None = None

    @property
    def scene(self) -> bpy.types.Scene:
        """The scene to evaluate; the artist's own where something would be another there than in it."""
        return self._passing or self._artists

    @property
    def view_layer(self) -> bpy.types.ViewLayer:
        return self._layer if self._passing is None else self._passing.view_layers[0]

    def take_up(self) -> None:
        """Build the scene from the current objects."""
        needed = _needed(_roots(self._of, self._artists))
        if self._artists in needed or self._reads_more(needed):
            return
        shown = [obj for obj in self._layer.objects if obj in needed and _is_enabled(obj, self._layer)]
        if len(shown) == len(self._layer.objects) and len(self._artists.view_layers) == 1:
            return  # there is nothing else
        passing = self._artists.copy()
        members.passing.add(passing.session_uid)
        self._passing = passing
        for layer in list(passing.view_layers)[1:]:
            passing.view_layers.remove(layer)
        for child in list(passing.collection.children):
            passing.collection.children.unlink(child)
        present = set(shown)
        for obj in list(passing.collection.objects):
            if obj not in present:
                passing.collection.objects.unlink(obj)
        linked = set(passing.collection.objects)
        for obj in shown:
            if obj not in linked:
                passing.collection.objects.link(obj)
        # Blender evaluates the new scene once it is at a frame
        passing.frame_set(self._artists.frame_current, subframe=self._artists.frame_subframe)

    def put_back(self) -> None:
        """Remove the scene."""
        passing, self._passing = self._passing, None
        if passing is None:
            return
        try:
            members.passing.discard(passing.session_uid)
            scene_removal.remove(passing)
        except ReferenceError:  # undone, or another file was opened meanwhile
            pass

    def _reads_more(self, needed: set[bpy.types.ID]) -> bool:
        """Whether anything that is read may depend on more than the data it refers to, or on earlier frames."""
        handlers = (*bpy.app.handlers.frame_change_pre, *bpy.app.handlers.frame_change_post)
        if any(not getattr(handler, "__module__", "").startswith(_ADDON) for handler in handlers):
            return True
        if any(_remembers(block) for block in needed if isinstance(block, bpy.types.Object)):
            return True
        if any(_has_nodes(block) for block in needed if isinstance(block, bpy.types.NodeTree)):
            return True
        expressions = list(_expressions(needed))
        if not expressions:
            return False  # once asked for its names, bpy as a module would not end with its process
        names = {name for name, value in bpy.app.driver_namespace.items() if isinstance(value, types.FunctionType)}
        return any(word in expression for expression in expressions for word in ("bpy", "depsgraph", *names))


def _roots(of: bpy.types.Object, scene: bpy.types.Scene) -> Iterator[bpy.types.Object]:
    """Yield the objects that a bake reads itself; those that their settings point at are found as all others are."""
    yield from members.members(of, scene)
    yield from members.colliders(of, scene)
    yield from read_by_itself.fields(of, scene)
    if of.type == members.ARMATURE:
        yield from read_by_itself.skins(of, scene.objects)


def _needed(roots: Iterable[bpy.types.Object]) -> set[bpy.types.ID]:
    """Return these data-blocks and all to which they refer, directly or indirectly, but not through a scene."""
    points_at: dict[bpy.types.ID, list[bpy.types.ID]] = {}
    for used, users in bpy.data.user_map().items():
        for user in users:
            points_at.setdefault(user, []).append(used)
    found, ahead = set[bpy.types.ID](), list[bpy.types.ID](roots)
    while ahead:
        one = ahead.pop()
        if one not in found:
            found.add(one)
            if not isinstance(one, bpy.types.Scene):
                ahead += points_at.get(one, ())
    return found


def _remembers(obj: bpy.types.Object) -> bool:
    return bool(obj.rigid_body is not None or obj.rigid_body_constraint is not None or len(obj.particle_systems)
                or any(modifier.type in _REMEMBERING for modifier in obj.modifiers))


def _has_nodes(tree: bpy.types.NodeTree) -> bool:
    return any(node.bl_idname in _REMEMBERING_NODES for node in tree.nodes)


def _expressions(of: Iterable[bpy.types.ID]) -> Iterator[str]:
    """Yield the expressions of scripted drivers."""
    for block in of:
        data = getattr(block, "animation_data", None)
        for curve in () if data is None else data.drivers:
            if curve.driver.type == "SCRIPTED":
                yield curve.driver.expression


def _is_enabled(obj: bpy.types.Object, layer: bpy.types.ViewLayer) -> bool:
    """Whether Blender evaluates an object itself, not only as a dependency."""
    if obj.hide_viewport:
        return False
    within = [layer.layer_collection]
    while within:
        one = within.pop()
        if one.exclude or one.collection.hide_viewport:
            continue
        if obj in one.collection.objects.values():
            return True
        within += one.children
    return False
