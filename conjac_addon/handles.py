"""Which objects the settings may point at.

Without bpy on purpose: Blender 4.2 as a module keeps a poll function to its very end, and through that function's
globals bpy too, whose own end then never comes: the process crashes when it exits.
"""

from __future__ import annotations

from typing import Any


def is_empty(_settings: Any, candidate: Any) -> bool:
    """Poll of a pointer to an object: Empties only."""
    return bool(candidate.type == "EMPTY")


def has_curves(_settings: Any, candidate: Any) -> bool:
    """Poll of a pointer to an object: hair, a curve, or a mesh whose edges are combed."""
    return candidate.type in {"CURVES", "CURVE", "MESH"}
