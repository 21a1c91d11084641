"""Dynamic spots of a soft body: painted ones and handles, those that move in one way together."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import bpy
import numpy as np

from ...solver import catalogue
from .. import entries, members
from .. import settings as properties
from ..handles import counts
from . import maps
from .evaluation import Evaluation
from .folder import JobFolder, JobPart


def fill_painted(body: dict[str, Any], evaluation: Evaluation, mesh: bpy.types.Mesh, job: JobFolder | JobPart,
                 report: Callable[[str], None]) -> None:
    """Put spots with a way of their own into a body of scene.json. Raises NoSuchThing for a group that is not there."""
    obj = evaluation.object
    for k, spot in enumerate(obj.conjac.spots):
        weights = maps.of_group(evaluation.evaluated(obj), mesh, spot.group, "spots", obj.name, report)
        if (weights > maps.PAINTED).any():
            _add(body, evaluation, spot.spot, weights=job.array(f"spots_{k}", weights))


def fill_handles(body: dict[str, Any], evaluation: Evaluation, job: JobFolder | JobPart,
                 report: Callable[[str], None]) -> None:
    """Put the places of its handles there, and how many spots are to be found where nothing is dynamic."""
    obj, settings = evaluation.object, evaluation.object.conjac
    there = [handle for handle in settings.handles if counts(handle.object, evaluation.view_layer)]
    unseen = [handle.object.name for handle in settings.handles
              if handle.object is not None and not counts(handle.object, evaluation.view_layer)]
    if unseen:
        report(f'"{obj.name}": {_listed(unseen)} picks no dynamic node: hidden or deleted')
    for way in dict.fromkeys(handle.spot for handle in there):
        places = np.array([evaluation.origin(handle.object) for handle in there if handle.spot == way])
        if way == entries.AS_BODY[0]:
            body["dynamic"]["points"] = job.array("handles", places)
        else:
            _add(body, evaluation, way, points=job.array(f"handles_{way}", places))
    if settings.suggest_spots and members.moves_dynamic_nodes(obj) and not body["dynamic"]:
        body["dynamic"]["suggested"] = settings.suggestions


def _add(body: dict[str, Any], evaluation: Evaluation, way: str, **arrays: str) -> None:
    """Spots that move in a way of their own; around handles as far as those of the body reach."""
    how = {}
    if way != entries.SINGLE[0]:
        entry = catalogue.find("spot", way)
        number = lambda param: properties.si(evaluation.object.conjac, properties.property_name(entry, param),  # noqa: E731
                                             evaluation.scene)
        how = {"spot": {"kind": way, "params": {param.key: number(param) for param in entry.params}}}
    body["dynamic"].setdefault("spots", []).append(how | arrays)


def _listed(names: list[str]) -> str:
    """Return the first of some handles by name, and the number of the others."""
    return f'its handle "{names[0]}"' + (f" and {len(names) - 1} more" if len(names) > 1 else "")
