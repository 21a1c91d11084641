"""Welds: which soft bodies of a bake stick to which, as forces of scene.json between them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import bpy

from ...solver.errors import BadInput
from .. import entries, members
from ..declared import WELD
from . import fields, maps
from .evaluation import Evaluation
from .folder import JobFolder


def welds(obj: bpy.types.Object, scene: bpy.types.Scene, start: int) -> dict[str, Any]:
    """Return the field `forces` of scene.json, of all bodies in the bake of an object; empty where nothing is welded.

    start: first frame. Raises BadInput where a weld's other object is not baked with its own, or it lets go before
    anything moves.
    """
    soft = members.soft_bodies(obj, scene)
    found = [_force(body, weld, soft, scene, start) for body in soft for weld in body.conjac.welds]
    return {"forces": found} if found else {}


def _force(obj: bpy.types.Object, weld: bpy.types.PropertyGroup, soft: list[bpy.types.Object], scene: bpy.types.Scene,
           start: int) -> dict[str, Any]:
    other = weld.object
    if other is None or other == obj:
        raise BadInput("one of its welds has no other object to stick to", "Choose one under Welds, or remove the weld",
                       obj.name)
    if other not in soft:
        raise BadInput(f'it is welded to "{other.name}", which is not baked with it',
                       f'Make "{other.name}" a soft body or cloth, and let both collide with all', obj.name)
    begins = entries.begins(weld, start)
    if weld.is_released and weld.until <= begins:
        before = "it sticks" if begins > start else "anything moves"
        raise BadInput(f'its weld to "{other.name}" lets go at frame {weld.until}, before {before}',
                       f"Choose a frame after {begins} under Welds, or remove the weld", obj.name)
    frames = start, start  # nothing of it follows from the last one
    return fields.gathered(WELD, obj, scene, item=weld, frames=frames) | {"bodies": [obj.name, other.name]}


class Glue:
    """Painted maps of welds as they are at the start frame."""

    def __init__(self, soft: list[Evaluation], job: JobFolder, report: Callable[[str], None]) -> None:
        """soft: of all bodies in the bake, at the start frame. report: takes sentences for the artist. Raises
        NoSuchThing where a weld's group is none."""
        self._paths = [_paint_path(body_evaluation, weld, job.array, f"weld{number}_{k}", report)
                       for number, body_evaluation in enumerate(soft)
                       for k, weld in enumerate(body_evaluation.object.conjac.welds)]

    def finish(self, settings: dict[str, Any]) -> dict[str, Any]:
        """Return the field of scene.json with its arrays, from that of `welds`."""
        for path, force in zip(self._paths, settings.get("forces", ())):
            if path:
                force["weights"] = path
        return settings


def _paint_path(evaluation: Evaluation, weld: bpy.types.PropertyGroup, store: Callable[[str, Any], str], name: str,
                report: Callable[[str], None]) -> str:
    """Return the array's path of the weights of a weld's group; empty where it has none."""
    if not weld.group:
        return ""
    mesh = evaluation.mesh(all_layers=True)
    try:
        weights = maps.of_group(evaluation.evaluated(evaluation.object), mesh, weld.group, "a weld",
                                evaluation.object.name, report)
    finally:
        evaluation.release()
    return store(name, weights)
