"""A bake that plays as keyframes: an action of its own, in place of the artist's, which is kept beside it.

The action begins as a copy of the artist's, so that what was not baked stays animated. It remembers in custom
properties which one it stands for and what else was switched off, so that everything comes back without the extension's
help to remember it. Blender's own playback needs nothing of ConJac.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import bpy
import numpy as np
from mathutils import Matrix, Quaternion
from numpy.typing import NDArray

from ...solver.errors import BadInput
from .. import compat
from ..affine import inverse
from . import curves

Array = NDArray[np.float64]

#: custom properties of our action: what it switched off and found (JSON), and the action that it stands for
FOUND, STANDS_FOR = "conjac_found", "conjac_stands_for"

#: custom property of a bone in a baked action: its name at that time
CALLED = "conjac_called"

CHANNELS = ("location", "rotation_quaternion", "rotation_euler", "rotation_axis_angle", "scale")


@dataclass(frozen=True)
class Track:
    """A bone's or an object's own transformation at each frame."""

    bone: str  #: "" for the object itself
    basis: Array  #: (frames, 4, 4) in Blender units


def show(obj: bpy.types.Object, first: int, tracks: Sequence[Track], tolerance: float = 0.0) -> None:
    """Play tracks on an object or its bones from a frame on. Raises BadInput where its animation cannot be written."""
    hide(obj)
    data = obj.animation_data
    if data is not None and data.use_tweak_mode:
        raise BadInput("one of its NLA strips is being edited", "Leave tweak mode and show the bake again", obj.name)
    old = data.action if data is not None else None
    slot = compat.slot_of(obj)
    action = old.copy() if old is not None else bpy.data.actions.new("ConJac")
    action.name = f"{obj.name} ConJac"
    found = _found(obj, tracks) | {"slot": slot, "had_data": data is not None}
    action[FOUND] = json.dumps(found)
    if old is not None:
        action[STANDS_FOR] = old
    for bone in {*found["values"], *(bone for bone, *_ in (*found["constraints"], *found["drivers"]))} - {""}:
        obj.pose.bones[bone][CALLED] = bone
    action.use_fake_user = False
    compat.assign_action(obj, action, slot)
    _switch_off(obj, found)
    _remove_curves(obj, tracks)
    for track in tracks:
        _key(obj, track, first, tolerance)


def hide(obj: bpy.types.Object) -> None:
    """Remove the baked action, from the NLA too, and restore what it replaced. Nothing where none plays."""
    action = ours(obj)
    if action is None:
        return
    strips = _strips(obj)
    baked = {action, *(strip.action for _, strip in strips)}
    if strips:
        obj.animation_data.use_tweak_mode = False
    for track, strip in _strips(obj):
        track.strips.remove(strip)
        if not track.strips:
            obj.animation_data.nla_tracks.remove(track)
    _bring_back(obj, action)
    for bone in obj.pose.bones if obj.pose is not None else ():
        if CALLED in bone:
            del bone[CALLED]
    for baked_action in baked:
        if baked_action.users == 0:  # a duplicate of the object may play it too
            bpy.data.actions.remove(baked_action)


def ours(obj: bpy.types.Object) -> bpy.types.Action | None:
    """Return the baked action that plays on an object, itself or as a strip of the NLA, or None."""
    action = active(obj)
    if action is not None:
        return action
    return next((strip.action for _, strip in _strips(obj)), None)


def active(obj: bpy.types.Object) -> bpy.types.Action | None:
    """Return the baked action that an object plays itself."""
    action = obj.animation_data.action if obj.animation_data is not None else None
    return action if action is not None and FOUND in action else None


def _strips(obj: bpy.types.Object) -> list[tuple[bpy.types.NlaTrack, bpy.types.NlaStrip]]:
    """Return tracks and strips in which the artist has pushed baked actions down into the NLA."""
    if obj.animation_data is None:
        return []
    return [(track, strip) for track in obj.animation_data.nla_tracks for strip in track.strips
            if strip.action is not None and FOUND in strip.action]


def switched_off(obj: bpy.types.Object) -> set[tuple[str, str]]:
    """Return (bone, constraint) of constraints that are muted only because a bake plays, by their present names; ("",
    "") is the rigid body."""
    action = ours(obj)
    if action is None:
        return set()
    found = json.loads(action[FOUND])
    return ({(part.name if part != obj else "", constraint.name) for part, constraint in _constraints(obj, found)}
            | ({("", "")} if found["rigid"] else set()))


def is_simulated(obj: bpy.types.Object) -> bool:
    """Whether an object is one that Blender's rigid body world moves where no bake of ours plays."""
    rigid = obj.rigid_body
    return rigid is not None and rigid.type == "ACTIVE" and (
        not rigid.kinematic or ("", "") in switched_off(obj))


@contextmanager
def set_aside(obj: bpy.types.Object) -> Iterator[None]:
    """Context in which the object has the artist's own animation while a bake plays."""
    action = ours(obj)
    if action is None:
        yield
        return
    played, slot = obj.animation_data.action, compat.slot_of(obj)
    users = action.use_fake_user
    action.use_fake_user = True
    shown = [strip for _, strip in _strips(obj) if not strip.mute]
    for strip in shown:
        strip.mute = True
    # found once: what was renamed and moved is known by being muted
    muted = switched_off(obj) - {("", "")}
    _bring_back(obj, action)
    try:
        yield
    finally:
        compat.assign_action(obj, played, slot)
        action.use_fake_user = users
        _switch_off(obj, json.loads(action[FOUND]))
        for bone, name in muted:
            _part(obj, bone).constraints[name].mute = True
        for strip in shown:
            strip.mute = False


def _part(obj: bpy.types.Object, bone: str) -> Any:
    """Return the owner of the channels: the object or one of its bones. None where there is none."""
    return obj.pose.bones.get(bone) if bone else obj


def parts_of(obj: bpy.types.Object) -> dict[str, Any]:
    """Return the object as "" and its bones, by their names when the baked action was made."""
    bones = obj.pose.bones if obj.pose is not None else ()
    # a bone that was copied in Edit Mode has the same sign: the one that still has the name is meant
    renamed = {bone[CALLED]: bone for bone in bones if CALLED in bone and bone[CALLED] != bone.name}
    unrenamed = {bone.name: bone for bone in bones if bone.get(CALLED, bone.name) == bone.name
                 and (bone.name not in renamed or CALLED in bone)}
    return {"": obj} | renamed | unrenamed


def _constraints(obj: bpy.types.Object, found: dict[str, Any]) -> list[tuple[Any, bpy.types.Constraint]]:
    """Return the constraints muted by the baked action with their owners, whatever their present names.

    Those of bones that were copied since are copies of muted ones, and count too.
    """
    parts, there = parts_of(obj), []
    copies = [(bone[CALLED], bone) for bone in (obj.pose.bones if obj.pose is not None else ())
              if CALLED in bone and parts.get(bone[CALLED]) != bone]
    for called, part in (*parts.items(), *copies):
        ours, theirs = ([entry[1:] for entry in found.get(key, ()) if entry[0] == called]
                        for key in ("constraints", "muted"))
        there += [(part, constraint) for constraint in _still_there(part.constraints, ours, theirs)]
    return there


def _still_there(stack: Any, ours: list[list[Any]], theirs: list[list[Any]]) -> list[bpy.types.Constraint]:
    """Return the constraints of a stack that were muted for the bake: by name, by position, else the muted ones of the
    same kind in their order. ours, theirs: [name, position in the stack, kind] of those that were muted for the bake
    and of those that were muted before; older files have only names in `ours`.
    """
    found = [stack[name] for name, *_ in ours if name in stack]
    known = {name for name, *_ in (*ours, *theirs)}
    unnamed = [constraint for constraint in stack if constraint.name not in known]
    renamed = sorted([(where, kind, mine) for wanted, mine in ((ours, True), (theirs, False))
                      for name, *details in wanted if details and name not in stack for where, kind in [details]])
    # one that was not moved stands where it stood; the rest is recognised by its kind and its order
    for moved in (False, True):
        for muted in list(renamed):
            where, kind, mine = muted
            at = next((constraint for constraint in unnamed if constraint.type == kind
                       and (constraint.mute if moved else stack.find(constraint.name) == where)), None)
            if at is not None:
                renamed.remove(muted)
                unnamed.remove(at)
                found += [at] if mine else []
    return found


def path_of(bone: str, channel: str) -> str:
    return f'pose.bones["{bpy.utils.escape_identifier(bone)}"].{channel}' if bone else channel


def _found(obj: bpy.types.Object, tracks: Sequence[Track]) -> dict[str, Any]:
    """Return the state before the bake of everything that it changes besides the action: values of channels,
    constraints, drivers, Blender's rigid body."""
    bones = {track.bone for track in tracks}
    constraints, muted = [], []
    for owner in [obj, *(obj.pose.bones if obj.pose is not None else ())]:
        name = owner.name if owner != obj else ""
        muted += [[name, constraint.name, index, constraint.type]
                  for index, constraint in enumerate(owner.constraints) if constraint.mute]
        # inverse kinematics moves bones far above the one that has it
        constraints += [[name, constraint.name, index, constraint.type]
                        for index, constraint in enumerate(owner.constraints) if not constraint.mute
                        and (name in bones or (name and constraint.type in {"IK", "SPLINE_IK"}
                                               and any(above.name in bones for above in owner.parent_recursive)))]
    paths = {path_of(bone, channel): (bone, channel) for bone in bones for channel in CHANNELS}
    data = obj.animation_data
    drivers = [[*paths[driver.data_path], driver.array_index] for driver in data.drivers
               if driver.data_path in paths and not driver.mute] if data is not None else []
    values = {bone: {channel: list(getattr(_part(obj, bone), channel)) for channel in CHANNELS} for bone in bones}
    nla = [data.action_blend_type, data.action_influence, data.action_extrapolation] if data is not None else None
    rigid = obj.rigid_body is not None and not obj.rigid_body.kinematic and "" in bones
    return {"values": values, "constraints": constraints, "muted": muted, "drivers": drivers, "nla": nla,
            "rigid": rigid}


def _switch_off(obj: bpy.types.Object, found: dict[str, Any]) -> None:
    """Mute whatever moves the baked parts besides their keyframes."""
    _mute(obj, found, True)
    data = obj.animation_data
    data.action_blend_type, data.action_influence, data.action_extrapolation = "REPLACE", 1.0, "HOLD"
    if found["rigid"] and obj.rigid_body is not None:
        obj.rigid_body.kinematic = True  # "Animated": Blender's own rigid body world leaves it alone


def _mute(obj: bpy.types.Object, found: dict[str, Any], muted: bool) -> None:
    for _, constraint in _constraints(obj, found):
        constraint.mute = muted
    parts = parts_of(obj)
    for *where, index in found["drivers"]:
        if len(where) == 1:  # of an older file: the path
            path = where[0]
        elif where[0] in parts:
            path = path_of(parts[where[0]].name if where[0] else "", where[1])
        else:
            continue
        driver = obj.animation_data.drivers.find(path, index=index)
        if driver is not None:
            driver.mute = muted


def _bring_back(obj: bpy.types.Object, action: bpy.types.Action) -> None:
    """Everything as it was before `show`; our action stays in the file."""
    found = json.loads(action[FOUND])
    _mute(obj, found, False)
    data = obj.animation_data
    if data.action is None or FOUND in data.action:  # else the artist has another one, and the bake in the NLA
        compat.assign_action(obj, action.get(STANDS_FOR), found["slot"])
    if found["nla"] is not None:
        data.action_blend_type, data.action_influence, data.action_extrapolation = found["nla"]
    if not found["had_data"] and not len(data.drivers) and not len(data.nla_tracks) and data.action is None:
        obj.animation_data_clear()
    if found["rigid"] and obj.rigid_body is not None:
        obj.rigid_body.kinematic = False
    parts = parts_of(obj)
    for bone, channels in found["values"].items():
        part = parts.get(bone)
        if part is not None:
            for channel, value in channels.items():
                setattr(part, channel, value)


def _remove_curves(obj: bpy.types.Object, tracks: Sequence[Track]) -> None:
    """Remove the artist's curves of baked channels from the bake's action, which is a copy: the original keeps them."""
    paths = {path_of(track.bone, channel) for track in tracks for channel in CHANNELS}
    for curve in compat.fcurves(obj):
        if curve.data_path in paths:
            compat.remove_fcurve(obj, curve)


def _key(obj: bpy.types.Object, track: Track, first: int, tolerance: float) -> None:
    part, name = _part(obj, track.bone), track.bone or "Object Transforms"
    scale = np.linalg.norm(track.basis[:, :3, :3], axis=1)
    scale *= np.where(np.linalg.det(track.basis[:, :3, :3]) < 0.0, -1.0, 1.0)[:, None]  # of a mirror, all three
    rotations = track.basis[:, :3, :3] / scale[:, None, :]
    curves.write(obj, path_of(track.bone, "location"), name, first, track.basis[:, :3, 3], tolerance)
    turns = curves.quaternions(rotations)
    channel, values = _rotation(part, turns)
    curves.write(obj, path_of(track.bone, channel), name, first, values, tolerance)
    if track.bone:
        part.scale = scale[0]


def _rotation(part: Any, turns: Array) -> tuple[str, Array]:
    """Return the channel of a part's rotation mode, and its values at each frame without jumps."""
    mode = part.rotation_mode
    if mode == "QUATERNION":
        return "rotation_quaternion", turns
    if mode == "AXIS_ANGLE":
        found = [(angle, *axis) for axis, angle in (Quaternion(turn).to_axis_angle() for turn in turns.tolist())]
        return "rotation_axis_angle", np.array(found)
    angles: list[tuple[float, ...]] = []
    before = None
    for turn in turns.tolist():
        before = Quaternion(turn).to_euler(mode, before) if before is not None else Quaternion(turn).to_euler(mode)
        angles.append(tuple(before))  # type: ignore[arg-type]
    return "rotation_euler", np.array(angles)


def local(bone: bpy.types.PoseBone, pose: Array, above: Array | None) -> Array:
    """Return a bone's own transformation (frames, 4, 4) from its poses in the armature, and those of its parent."""
    rest = np.array(bone.bone.matrix_local, dtype=np.float64)
    if bone.parent is None or above is None:
        return inverse(rest) @ pose
    rest_above = np.array(bone.parent.bone.matrix_local, dtype=np.float64)
    if bone.bone.use_inherit_rotation and bone.bone.inherit_scale == "FULL" and bone.bone.use_local_location:
        return inverse(above @ (inverse(rest_above) @ rest)) @ pose
    found = [bone.bone.convert_local_to_pose(Matrix(matrix), bone.bone.matrix_local, parent_matrix=Matrix(parent),
                                             parent_matrix_local=bone.parent.bone.matrix_local, invert=True)
             for matrix, parent in zip(pose, above)]
    return np.array(found, dtype=np.float64)
