"""Soft pins: whether weights of Pin are strengths, and which of them hold."""

from __future__ import annotations

from collections.abc import Callable

import bpy
import numpy as np
from numpy.typing import NDArray

from ...solver import catalogue
from .. import members
from . import animated, stack
from .maps import PAINTED

STIFFNESS = catalogue.PIN_STIFFNESS.key


def has_keyframes(obj: bpy.types.Object) -> bool:
    """Whether the stiffness is read at every sample."""
    return members.has_soft_pins(obj) and animated.is_animated(obj, f"conjac.{STIFFNESS}")


def may_change(obj: bpy.types.Object) -> bool:
    """Whether vertices may be pinned softly on the way that are not at the start. Geometry Nodes are common, and are
    taken to change weights where they make them."""
    return members.has_soft_pins(obj) and any(
        modifier.type in stack.REWEIGH and not (modifier.type == "NODES" and obj.conjac.pin_group in obj.vertex_groups)
        for modifier in stack.above(obj))


def holds(obj: bpy.types.Object, weights: NDArray[np.float64]) -> NDArray[np.bool_]:
    """Return which vertices are pinned, softly or hard, (n,). weights: of Pin, (n,)."""
    return weights > (0.0 if members.has_soft_pins(obj) else PAINTED)


def is_hard(obj: bpy.types.Object, weights: NDArray[np.float64]) -> NDArray[np.bool_]:
    """Return which vertices are pinned hard, (n,). weights: of Pin, (n,)."""
    return weights >= catalogue.HARD if members.has_soft_pins(obj) else weights > PAINTED


def report_halves(obj: bpy.types.Object, weights: NDArray[np.float64], report: Callable[[str], None]) -> None:
    """Report the effect of weights between 0 and 1, (n,), that are not strengths."""
    between = int(np.count_nonzero((weights > 0.0) & (weights < catalogue.HARD)))
    if not between or members.has_soft_pins(obj):
        return
    count = f"{between} vertices have weights" if between > 1 else "one vertex has a weight"
    why = ("Sharp Edges do not support Soft Pins" if members.is_sharp(obj)
           else "Soft Pins, below the map, uses weights as strengths")
    report(f'"{obj.name}": {count} of Pin between 0 and 1: above {PAINTED} they hold hard, below they do not hold. '
           f"{why}")
