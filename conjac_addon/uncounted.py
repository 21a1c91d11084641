"""Reasons why a setting has no effect with the present choices, for the tooltips of greyed-out settings."""

from __future__ import annotations

import bpy

from ..solver import catalogue
from . import members


def why(obj: bpy.types.Object, key: str) -> str:
    """Return the reason why a setting has no effect, without a full stop; "" where it has one. key: of a map; handles
    and spots are "dynamic"."""
    reason = _REASONS.get(key)
    return "" if reason is None else reason(obj)


def tooltip(sentence: str, obj: bpy.types.Object | None, key: str) -> str:
    """Return a tooltip, followed by the reason where there is one."""
    if obj is None or obj.type != "MESH" or not members.is_soft_body(obj):
        return sentence
    reason = why(obj, key)
    return f"{sentence}. Grayed out, as it has no effect yet: {reason}" if reason else sentence


def _dynamic(obj: bpy.types.Object) -> str:
    if members.moves_dynamic_nodes(obj):
        return ""
    method = (members.owner(obj) if members.is_mechanism(members.owner(obj)) else obj).conjac.solver.method
    entry = catalogue.find("method", method)
    if entry.follows:
        integrator = catalogue.find("integrator", members.shared_settings(obj).solver.integrator)
        return f"{integrator.label} moves every node, choose another Integrator under Advanced"
    return f"{entry.label} moves every node, choose the Method ConJac under Advanced"


def _fibers(obj: bpy.types.Object) -> str:
    return "" if obj.conjac.fiber_material != "none" else "it has no fibers, choose some under Fibers"


def _friction(obj: bpy.types.Object) -> str:
    return "" if members.collides(obj) else "it touches nothing, choose what it Collides With under Collisions"


_REASONS = {"dynamic": _dynamic, "fibers": _fibers, "friction": _friction}
