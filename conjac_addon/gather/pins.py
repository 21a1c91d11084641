"""Soft pins: whether weights of Pin are strengths, and which of them hold."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import bpy
import numpy as np
from numpy.typing import NDArray

from ...solver import catalogue
from .. import members
from .. import settings as properties
from . import animated, stack
from .maps import PAINTED

STIFFNESS = catalogue.PIN_STIFFNESS.key


def are_soft(obj: bpy.types.Object) -> bool:
    """Whether weights of an object are strengths; else those above a half hold hard, and the others do not hold."""
    return obj.conjac.soft_pins and not members.is_sharp(obj)


def pin_settings(obj: bpy.types.Object, scene: bpy.types.Scene) -> dict[str, Any]:
    """scene.json's pin as far as it follows from settings alone, without keyframes."""
    group, mesh = obj.conjac.pin_group, obj.data
    made_on_the_way = any(modifier.type == "NODES" for modifier in obj.modifiers)
    if has_keyframes(obj) or not are_soft(obj) or not (group in obj.vertex_groups or group in mesh.attributes
                                                       or made_on_the_way):
        return {}
    return {"stiffness": properties.si(obj.conjac, STIFFNESS, scene)}


def has_keyframes(obj: bpy.types.Object) -> bool:
    """Whether the stiffness is read at every sample."""
    return are_soft(obj) and animated.is_animated(obj, f"conjac.{STIFFNESS}")


def may_change(obj: bpy.types.Object) -> bool:
    """Whether vertices may be held softly on the way that are not at the start. Geometry Nodes are common, and are
    taken to change weights where they make them."""
    return are_soft(obj) and any(
        one.type in stack.REWEIGH and not (one.type == "NODES" and obj.conjac.pin_group in obj.vertex_groups)
        for one in stack.above(obj))


def holds(obj: bpy.types.Object, weights: NDArray[np.float64]) -> NDArray[np.bool_]:
    """Which vertices are held, softly or hard, (n,). weights: of Pin, (n,)."""
    return weights > (0.0 if are_soft(obj) else PAINTED)


def is_hard(obj: bpy.types.Object, weights: NDArray[np.float64]) -> NDArray[np.bool_]:
    """Which vertices are held hard, (n,). weights: of Pin, (n,)."""
    return weights >= catalogue.HARD if are_soft(obj) else weights > PAINTED


def report_halves(obj: bpy.types.Object, weights: NDArray[np.float64], report: Callable[[str], None]) -> None:
    """Say what weights between 0 and 1, (n,), mean where they are no strengths."""
    between = int(np.count_nonzero((weights > 0.0) & (weights < catalogue.HARD)))
    if not between or are_soft(obj):
        return
    count = f"{between} vertices have weights" if between > 1 else "one vertex has a weight"
    why = ("Sharp Edges know no Soft Pins" if members.is_sharp(obj)
           else "Soft Pins, below the map, makes weights strengths")
    report(f'"{obj.name}": {count} of Pin between 0 and 1: above {PAINTED} they hold hard, below they do not hold. '
           f"{why}")
