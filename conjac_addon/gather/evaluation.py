"""One object, evaluated frame by frame as the simulation sees it: its bake, and all that is applied to it, off."""

from __future__ import annotations

from contextlib import ExitStack

import bpy
import numpy as np
from numpy.typing import NDArray

from ...solver.errors import BadInput
from .. import members, playback, settings, timeline
from . import stack, turns
from .alone import Alone
from .taken_up import TakenUp

Array = NDArray[np.float64]


class Evaluation(TakenUp):
    """Use with `with`: the scene's frame and the modifiers' switches are as before afterwards, and between `put_back`
    and `take_up`.

    Raises BadInput where the object cannot be evaluated in the scene.
    """

    def __init__(self, obj: bpy.types.Object, scene: bpy.types.Scene, alone: Alone | None = None) -> None:
        """alone: scene in which only the objects that are read are evaluated; none: the artist's scene."""
        if obj.type != "MESH" and not members.is_mechanism(obj):
            raise BadInput(f"it is a {obj.type.title()} and not a mesh", "Convert it to a mesh", obj.name)
        check_mode(obj)
        self.object, self.scene = obj, scene
        self.view_layer, self._alone = view_layer_of(obj, scene), alone
        self.scale = settings.unit_scale(scene)
        self._frame: tuple[int, float] = (scene.frame_current, scene.frame_subframe)
        self._switches: list[tuple[str, bool]] = []
        self._aside: ExitStack | None = None

    def take_up(self) -> None:
        """Show the simulation's input on the object from now on. Raises BadInput if the object is being edited."""
        check_mode(self.object)
        self._frame = self.scene.frame_current, self.scene.frame_subframe
        self._aside = ExitStack()
        self._aside.enter_context(playback.set_aside(self.object))
        self._switches = [(modifier.name, modifier.show_viewport) for modifier in self.object.modifiers]
        for modifier in stack.from_mark_on(self.object):
            modifier.show_viewport = False

    def put_back(self) -> None:
        """Restore the object and the frame as the artist left them."""
        if self._aside is None:
            return
        for name, shown in self._switches:
            modifier: bpy.types.Modifier | None = self.object.modifiers.get(name)
            if modifier is not None and modifier.show_viewport != shown:
                modifier.show_viewport = shown
        self._aside.close()
        self._aside = None
        frame, subframe = self._frame
        # several of one scene are put back together
        if (self.scene.frame_current, self.scene.frame_subframe) != self._frame:
            self.scene.frame_set(frame, subframe=subframe)

    def go_to(self, frame: int, subframe: float = 0.0) -> None:
        """Evaluate the scene at a frame of animation; `subframe` in [0, 1)."""
        timeline.go_to(self._evaluated_scene, frame, subframe)
        self._check_evaluated(frame)

    def stay(self) -> None:
        """Evaluate the scene at its present frame."""
        scene = self._evaluated_scene
        scene.frame_set(scene.frame_current, subframe=scene.frame_subframe)
        self._check_evaluated(scene.frame_current)

    @property
    def _evaluated_scene(self) -> bpy.types.Scene:
        return self.scene if self._alone is None else self._alone.scene

    @property
    def depsgraph(self) -> bpy.types.Depsgraph:
        """Return the dependency graph that evaluates the object."""
        return (self.view_layer if self._alone is None else self._alone.view_layer).depsgraph

    @property
    def frame(self) -> int:
        """The present frame."""
        return int(self._evaluated_scene.frame_current)

    @property
    def subframe(self) -> float:
        return float(self._evaluated_scene.frame_subframe)

    def _check_evaluated(self, frame: int) -> None:
        if not self.evaluated(self.object).is_evaluated:
            raise BadInput(f'it is not evaluated in the scene "{self.scene.name}"',
                           "Show it in the viewport and in its collections", self.object.name, frame)

    def evaluated(self, obj: bpy.types.Object) -> bpy.types.Object:
        """Return the evaluated object at the present frame."""
        return obj.evaluated_get(self.depsgraph)

    def to_world(self, obj: bpy.types.Object | None = None) -> Array:
        """Object space [Blender units] → world space [m] at the present frame, (4, 4). Raises BadInput if singular."""
        of = obj or self.object
        matrix = np.array(self.evaluated(of).matrix_world, dtype=np.float64)
        if not np.abs(matrix).max() < turns.FARTHEST:
            raise BadInput("its location is not a number or too far away",
                           "Check its location, constraints and drivers", of.name, self.frame)
        if np.linalg.matrix_rank(matrix[:3, :3], tol=1e-12) < 3:
            raise BadInput("its scale is zero on an axis, so the result could not be brought back to its own space",
                           "Give it a scale above zero on every axis", of.name, self.frame)
        matrix[:3] *= self.scale
        return matrix

    def check_enabled(self, obj: bpy.types.Object, doing: str, instead: str = "") -> None:
        """Check that Blender evaluates an object with its animation; raises BadInput otherwise. doing: purpose of the
        object, such as 'it cuts "Ear"'; instead: an alternative remedy, such as "free it"."""
        # it is in Blender's graph, as the settings point at it, and yet it is not moved
        off = _off(obj, self.scene, self.view_layer)
        if off is None:
            return
        why, remedy = off
        raise BadInput(f"{doing}, but {why}, so it does not move",
                       f"{remedy}, or {instead}" if instead else remedy, obj.name)

    def origin(self, obj: bpy.types.Object) -> Array:
        """World position of an object's origin [m], (3,)."""
        return np.array(self.evaluated(obj).matrix_world.translation, dtype=np.float64) * self.scale

    def mesh(self, all_layers: bool = False) -> bpy.types.Mesh:
        """Return the evaluated mesh; free it with `release`. all_layers: guarantee vertex groups and attributes."""
        evaluated = self.evaluated(self.object)
        if all_layers:
            return evaluated.to_mesh(preserve_all_data_layers=True, depsgraph=self.depsgraph)
        return evaluated.to_mesh()

    def release(self) -> None:
        self.evaluated(self.object).to_mesh_clear()

    def positions(self) -> Array:
        """World positions of the evaluated vertices [m], (n, 3)."""
        mesh = self.mesh()
        local = coordinates(mesh)
        self.release()
        matrix = self.to_world()
        return local @ matrix[:3, :3].T + matrix[:3, 3]


def check_mode(obj: bpy.types.Object) -> None:
    """Raises BadInput for an object in a mode in which Blender does not evaluate its mesh again."""
    if members.is_edited(obj):
        mode = "Sculpt Mode" if obj.mode == "SCULPT" else "Edit Mode"
        raise BadInput(f"it is in {mode}", "Go back to Object Mode and try again", obj.name)


def coordinates(mesh: bpy.types.Mesh) -> Array:
    """Vertex coordinates in object space [Blender units], (n, 3)."""
    local = np.empty(len(mesh.vertices) * 3, dtype=np.float32)
    mesh.vertices.foreach_get("co", local)
    return local.reshape(-1, 3).astype(np.float64)


def view_layer_of(obj: bpy.types.Object, scene: bpy.types.Scene) -> bpy.types.ViewLayer:
    """Return a view layer of the scene that holds the object, the current one if it does."""
    current = bpy.context.view_layer
    layers = sorted(scene.view_layers, key=lambda layer: layer != current)
    for layer in layers:
        # a script may have linked the object a moment ago, and Blender has not looked since
        if obj not in layer.objects.values():
            layer.update()
        if obj in layer.objects.values():
            return layer
    raise BadInput(*(_off(obj, scene, scene.view_layers[0]) or _nowhere(scene)), obj.name)


def _off(obj: bpy.types.Object, scene: bpy.types.Scene, view_layer: bpy.types.ViewLayer) -> tuple[str, str] | None:
    """Return the reason why Blender does not evaluate an object of a view layer, and a remedy; None if it does."""
    if obj.hide_viewport:
        return "it is disabled in viewports", "Enable it (the eye in the Outliner may hide it)"
    found = _nowhere(scene)
    within = [(view_layer.layer_collection, "")]
    while within:
        layer, above = within.pop()
        disabled = above or (layer.collection.name if layer.collection.hide_viewport else "")
        if obj in layer.collection.objects.values():
            if layer.exclude:
                found = (f'its collection "{layer.collection.name}" is excluded from the view layer',
                         "Tick the collection in the Outliner")
            elif disabled:
                found = (f'its collection "{disabled}" is disabled in viewports',
                         "Enable the collection in the Outliner (its eye may hide it)")
            else:
                return None
        within += [(child, disabled) for child in layer.children]
    return found


def _nowhere(scene: bpy.types.Scene) -> tuple[str, str]:
    return f'it is not in the scene "{scene.name}"', "Link it to a collection of the scene"
