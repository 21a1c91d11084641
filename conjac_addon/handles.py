"""Which objects the settings may point at, and which names they may hold.

Without bpy on purpose: Blender 4.2 as a module keeps a poll function to its very end, and through that function's
globals bpy too, whose own end then never comes: the process crashes when it exits.
"""

from __future__ import annotations

from typing import Any

from . import kinds


def is_empty(_settings: Any, candidate: Any) -> bool:
    """Poll of a pointer to an object: Empties only."""
    return bool(candidate.type == "EMPTY")


def is_soft(settings: Any, candidate: Any) -> bool:
    """Poll of a pointer to an object: a soft body or cloth, another one than that of the settings."""
    return candidate.conjac.kind in (kinds.SOFT_BODY, kinds.CLOTH) and candidate != settings.id_data


def can_hold(settings: Any, candidate: Any) -> bool:
    """Poll of a pointer to an object: one to which a constraint can tie, other than the owner of the settings."""
    return candidate.type in {"MESH", "CURVE", "EMPTY", "ARMATURE"} and candidate != settings.id_data


def counts(empty: Any, view_layer: Any) -> bool:
    """Whether a handle picks a dynamic node: it is still in the scene, and not hidden there."""
    return bool(empty is not None and empty.visible_get(view_layer=view_layer))


def can_cut(_settings: Any, candidate: Any) -> bool:
    """Poll of a pointer to an object: an Empty, whose XY plane cuts, or a mesh."""
    return candidate.type in {"EMPTY", "MESH"}


def has_curves(_settings: Any, candidate: Any) -> bool:
    """Poll of a pointer to an object: hair, a curve, or a mesh whose edges are combed."""
    return candidate.type in {"CURVES", "CURVE", "MESH"}


def painted_names(settings: Any, context: Any, _typed: str) -> list[str]:
    """Search of a map's name: vertex groups, and float attributes of the vertices, those of Geometry Nodes too."""
    obj = settings.id_data
    if obj.type != "MESH":
        return []
    evaluated = obj.evaluated_get(context.view_layer.depsgraph).data
    attributes = {attribute.name for mesh in (obj.data, evaluated) for attribute in mesh.attributes
                  if attribute.domain == "POINT" and attribute.data_type == "FLOAT"}
    return sorted({*obj.vertex_groups.keys(), *(name for name in attributes if not name.startswith("."))})


def keep_identifier(settings: Any, _context: Any) -> None:
    """Update of the name of a modifier: keep Blender's number of it too, which a new name does not change."""
    named = settings.id_data.modifiers.get(settings.simulate_after)
    settings.simulate_after_uid = getattr(named, "persistent_uid", 0)


def is_armature(_settings: Any, candidate: Any) -> bool:
    """Poll of a pointer to an object: an armature, or the Empty of a mechanism."""
    return candidate.type == "ARMATURE" or (candidate.type == "EMPTY" and candidate.conjac.kind == kinds.MECHANISM)


def is_holder(settings: Any, candidate: Any) -> bool:
    """Poll of a pointer to an object to which another can be attached: an armature, the Empty of a mechanism, and for
    cloth also a soft body."""
    return is_armature(settings, candidate) or (candidate.type == "MESH" and candidate.conjac.kind == kinds.SOFT_BODY
                                                and settings.id_data.conjac.kind == kinds.CLOTH)
