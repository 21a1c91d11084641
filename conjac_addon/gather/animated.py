"""Refuses animation of values that are read once: gravity, settings, properties of rigid bodies and limits of bones.

Only the curves are looked at, nothing is evaluated, so that the frame at which an artist looks changes no answer.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

import bpy

from ...solver.errors import BadInput
from .. import compat, members
from ..settings import READ_OVER_TIME, TIED_OVER_TIME

#: settings that a scene has only once, with their labels. Its units, frame rate and stretching have no keyframes
_OF_SCENE = {"gravity": "Gravity", "use_gravity": "Gravity"}

#: in the expression of a driver
_FRAME = re.compile(r"\bframe\b")

#: of an array, at the end of a path
_INDEX = re.compile(r"\[\d+\]$")

#: drivers that drive drivers: a rig that goes deeper may go in a circle
DEEPEST = 8

#: settings of an object or a bone
_SETTING = re.compile(r'(?:pose\.bones\["(?P<bone>.*)"\]\.)?conjac\.'
                      rf'(?!(?:pulls\[\d+\]\.)?(?:{"|".join(READ_OVER_TIME)})$'
                      rf'|constraints\[\d+\]\.(?:{"|".join(TIED_OVER_TIME)})$)')

#: what Blender says of a rigid body, of a joint, and of how far a bone may turn
_KEYED = re.compile(
    r'rigid_body\.(?:mass|kinematic|type|collision_shape)|rigid_body_constraint\.(?:enabled|type|use_limit_|limit_)'
    r'|pose\.bones\["(?P<bone>.*)"\]\.(?:ik_m|use_ik_limit_|lock_ik_)')

_LIMITS = re.compile(r'pose\.bones\["(?P<bone>.*)"\]\.constraints\["(?P<constraint>.*)"\]\.'
                     r'(?:min_|max_|use_limit_|influence|mute)')


def check(obj: bpy.types.Object, scene: bpy.types.Scene) -> None:
    """Raises BadInput where something is animated that the bake of this object reads once."""
    for error in _animated(obj, scene):
        raise error


def refusal(obj: bpy.types.Object, scene: bpy.types.Scene) -> str:
    """Return the reason of a refusal as a sentence without a full stop, empty where all is well."""
    return next((f"{error.what[0].upper()}{error.what[1:]}: {error.remedy}" for error in _animated(obj, scene)), "")


def _animated(obj: bpy.types.Object, scene: bpy.types.Scene) -> Iterator[BadInput]:
    for path in (*_keyed(scene), *_driven(scene)):
        if path in _OF_SCENE:
            yield BadInput(f'{_OF_SCENE[path]} of the scene "{scene.name}" is animated, but a bake reads it only once',
                           "Delete its keyframes or its driver", obj.name)
    holders = [*members.members(obj, scene), *members.colliders(obj, scene)]
    for block in {block.name: block for holder in holders for block in _holders(holder)}.values():
        for path in (*_keyed(block), *_driven(block)):
            found = _SETTING.match(path)
            if found:
                yield _error(block, path, found["bone"])
        # a rig may compute them once from its own switches; what drives them may not change
        for path in (*_keyed(block), *_driven_over_time(block)):
            found = _KEYED.match(path) or _limit(block, path)
            if found:
                yield _error(block, path, found["bone"])


def _limit(obj: bpy.types.Object, path: str) -> re.Match[str] | None:
    """Return the match of a path that leads to a constraint which limits how a bone turns; None for any other path."""
    found = _LIMITS.match(path)
    bone = obj.pose.bones.get(found["bone"]) if found and obj.pose is not None else None
    constraint = bone.constraints.get(found["constraint"]) if found and bone is not None else None
    return found if constraint is not None and constraint.type == "LIMIT_ROTATION" else None


def _error(obj: bpy.types.Object, path: str, bone: str | None) -> BadInput:
    owner, _, name = path.rpartition(".")
    try:
        label = obj.path_resolve(owner).bl_rna.properties[name].name
    except (ValueError, KeyError):  # a setting that this ConJac does not have
        label = name.replace("_", " ").title()
    whose = f' of the bone "{bone}"' if bone else ""
    return BadInput(f"its {label}{whose} is animated, but a bake reads it only once",
                    "Delete its keyframes or its driver; Activation and targets of motors are read over time", obj.name)


def _holders(obj: bpy.types.Object) -> list[bpy.types.Object]:
    """Return the owners of an object's settings in the bake: the object itself, and those of a mechanism's collection.
    """
    collection = obj.conjac.mechanism.collection if members.is_mechanism(obj) else None
    return [obj, *(collection.all_objects if collection is not None else ())]


def may_be_animated(obj: bpy.types.Object) -> bool:
    """Whether anything of the object has keyframes or drivers."""
    data = obj.animation_data
    return data is not None and (data.action is not None or bool(data.drivers) or bool(data.nla_tracks))


def is_animated(obj: bpy.types.ID, path: str) -> bool:
    """Whether a property of an object or its data has keyframes that differ, or a driver."""
    return path in _keyed(obj) or path in _driven(obj)


def _keyed(owner: bpy.types.ID) -> list[str]:
    """Return paths of properties with keyframes; keyframes of equal values are not animation."""
    return [curve.data_path for curve in compat.all_fcurves(owner)
            if len(curve.modifiers) or len({key.co[1] for key in curve.keyframe_points}) > 1]


def _driven(owner: bpy.types.ID) -> list[str]:
    return [] if owner.animation_data is None else [curve.data_path for curve in owner.animation_data.drivers]


def _driven_over_time(owner: bpy.types.ID) -> list[str]:
    """Return paths of properties with a driver that may depend on the frame; muted drivers are ignored."""
    return [] if owner.animation_data is None else [
        curve.data_path for curve in owner.animation_data.drivers if not curve.mute and _may_change(curve.driver)]


def _may_change(driver: bpy.types.Driver, depth: int = 0) -> bool:
    """Whether a driver reads the frame, a transform, or a property that may change."""
    if driver.type == "SCRIPTED" and _FRAME.search(driver.expression):
        return True
    for variable in driver.variables:
        if variable.type in {"TRANSFORMS", "ROTATION_DIFF", "LOC_DIFF"}:
            return True  # what has a place may be moved
        read = [(target.id, target.data_path) for target in variable.targets if target.id is not None]
        if variable.type == "SINGLE_PROP" and any(_changes(owner, path, depth) for owner, path in read):
            return True
    return False


def _changes(owner: bpy.types.ID, path: str, depth: int) -> bool:
    """Whether a property has keyframes, or a driver that may change; also where a part of it does, such as an axis."""
    path = _INDEX.sub("", path)
    drivers = () if owner.animation_data is None else owner.animation_data.drivers
    return path in _keyed(owner) or any(
        curve.data_path == path and not curve.mute and (depth > DEEPEST or _may_change(curve.driver, depth + 1))
        for curve in drivers)
