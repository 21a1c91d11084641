"""Cuts: transforms of Empties and meshes at the frames at which they cut the body."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import bpy
import numpy as np
from numpy.typing import NDArray

from ...solver.errors import BadInput
from ..declared import CUT
from ..entries import CUTTERS
from . import fields
from .evaluation import Evaluation, coordinates
from .mesh import triangles

Store = Callable[[str, NDArray[Any]], str]

def cut_settings(obj: bpy.types.Object, scene: bpy.types.Scene) -> list[dict[str, Any]]:
    """Return the cuts of scene.json's body that depend on settings only."""
    return [fields.gathered(CUT, obj, scene, item=cut)
            for cut in obj.conjac.cuts if cut.object is not None and cut.object.type in CUTTERS]


class Cuts:
    """The cuts of an evaluation's object; `see` is to be called at every whole frame."""

    def __init__(self, evaluation: Evaluation, store: Store, frames: tuple[int, int]) -> None:
        """Raises BadInput where a cut has no cutting object or would never be seen between first and last frame."""
        self._evaluation, self._store = evaluation, store
        obj, (start, end) = evaluation.object, frames
        self._cutters = [cut.object for cut in obj.conjac.cuts]
        for cut, cutter in zip(obj.conjac.cuts, self._cutters):
            frame = cut.frame
            if cutter is None:
                raise BadInput(f"its cut at frame {frame} has no cutting object",
                               "Choose an Empty or a mesh, or remove the cut", obj.name)
            if cutter.type not in CUTTERS:
                raise BadInput(f'it cuts "{obj.name}" and is a {cutter.type.title()}', "Choose an Empty or a mesh, or "
                               "remove the cut", cutter.name)
            if not start <= frame < end:
                raise BadInput(f"its cut at frame {frame} would never be seen: it is baked from frame {start} to {end}",
                               f"Cut from frame {start} to {end - 1}", obj.name)
            evaluation.check_enabled(cutter, f'it cuts "{obj.name}"')
        self._cuts = cut_settings(obj, evaluation.scene)
        self._seen: dict[int, dict[str, Any]] = {}

    def see(self, frame: int) -> None:
        """Read the cuts between this frame, the present frame of the scene, and the next. Raises BadInput for an
        invalid cut."""
        for number, (cut, cutter) in enumerate(zip(self._cuts, self._cutters)):
            if cut["frame"] != frame:
                continue
            after = cut.get("subframe", 0.0)
            if after:
                self._evaluation.go_to(frame, after)
            self._seen[number] = {**cut, **_READERS[cutter.type](
                self._evaluation, cutter, lambda name, values, n=number: self._store(f"cut_{n}_{name}", values))}
            if after:
                self._evaluation.go_to(frame)

    def fields(self) -> dict[str, list[dict[str, Any]]]:
        """Return the field of scene.json's body, empty where nothing is cut."""
        return {"cuts": [self._seen[number] for number in sorted(self._seen)]} if self._seen else {}


def _plane(evaluation: Evaluation, empty: bpy.types.Object, store: Store) -> dict[str, Any]:
    """Return the XY plane of an Empty."""
    # the cross product of the other two axes stays at right angles to the plane under any scale
    matrix = evaluation.to_world(empty)
    normal = np.cross(matrix[:3, 0], matrix[:3, 1])
    return {"point": matrix[:3, 3].tolist(), "normal": (normal / np.linalg.norm(normal)).tolist()}


def _sheet(evaluation: Evaluation, cutter: bpy.types.Object, store: Store) -> dict[str, Any]:
    """Return the faces of a mesh, with its modifiers."""
    if cutter == evaluation.object:
        raise BadInput("it cuts itself", "Choose another mesh, or an Empty", cutter.name)
    evaluated = evaluation.evaluated(cutter)
    mesh = evaluated.to_mesh()
    local, corners = coordinates(mesh), triangles(mesh)
    evaluated.to_mesh_clear()
    if not len(corners):
        raise BadInput(f'it cuts "{evaluation.object.name}" and has no faces', "Give it faces, or use an Empty",
                       cutter.name)
    matrix = evaluation.to_world(cutter)
    world = local @ matrix[:3, :3].T + matrix[:3, 3]
    return {"vertices": store("vertices", world), "triangles": store("triangles", corners)}


_READERS = {"EMPTY": _plane, "MESH": _sheet}
