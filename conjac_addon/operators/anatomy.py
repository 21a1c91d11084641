"""Estimates the anatomy that a rig does not give a ragdoll: how far its joints turn, and which bones are too light to
fall by themselves.

A bone that is long turns far, as hips and shoulders do, a short one little, as in a spine. Of two long bones in a row
that the rest pose bends, the lower one is a hinge that folds further that way: a knee, an elbow.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from typing import Any

import bpy
from mathutils import Vector

from .. import parts

#: how far a bone turns that is so long, as a share of the longest one, and how far the shortest [rad]
WIDEST, NARROWEST, WIDE = math.radians(90.0), math.radians(25.0), 0.6
#: how far it turns about itself, as a share of that
TWIST = 0.5
#: bones of knees and elbows are at least so long, as a share of the longest one
LONG = 0.4
#: how far the rest pose bends them at least and at most, and how far they fold from straight on [rad]
BENT, ONWARDS, FOLDED = math.radians(0.5), math.radians(45.0), math.radians(150.0)
#: a hinge is about an axis of its bone that is within this of where the rest pose bends [rad]
ASKEW = math.radians(30.0)
#: what a branch weighs at least of all that falls: less is a toe, a breast, a part of a face
LIGHT = 0.004

_HALF = re.compile(r"(?P<limb>.*[._][LlRr])\.\d+")  #: of a limb that a rig such as Rigify's has in two halves


def light_branches(above: Mapping[str, str], masses: Mapping[str, float]) -> set[str]:
    """Return bones of side branches that have a negligible share of the total mass. above: parent of each bone, parents
    first; masses: [kg], of all bones."""
    hanging = dict(masses)
    below: dict[str, list[str]] = {name: [] for name in masses}
    for name in reversed([*above]):
        hanging[above[name]] += hanging[name]
        below[above[name]].append(name)
    light = [name for name in above if len(below[above[name]]) > 1 and hanging[name] < LIGHT * sum(masses.values())]
    for name in light:  # the list grows during the loop
        light += [child for child in below[name] if child not in light]
    return set(light)


def limit_joints(armature: bpy.types.Object, above: Mapping[str, str]) -> None:
    """Give limits to joints of bones for which neither the rig nor the artist has any. above: as before."""
    rest = {name: _Rest(armature.data.bones[name], armature.data.bones.get(above.get(name, "")))
            for name in {*above, *above.values()}}
    limbs = _Limbs(rest, above)
    for name in above:
        bone = armature.pose.bones[name]
        part = bone.conjac
        if part.use_limits or part.joint != parts.AUTOMATIC or _is_limited(bone):
            continue
        low, high = [0.0] * 3, [0.0] * 3
        fold = None if name in limbs.halves else limbs.fold(name)
        if fold is not None:
            axis, low[axis], high[axis] = fold
        elif name not in limbs.halves:
            share = min(limbs.length(name) / (WIDE * limbs.longest), 1.0)
            bend = NARROWEST + (WIDEST - NARROWEST) * share**2
            high = [bend, TWIST * bend, bend]
            low = [-end for end in high]
        part.use_limits, part.limit_low, part.limit_high = True, low, high


def _is_limited(bone: bpy.types.PoseBone) -> bool:
    """Whether the rig limits the rotation of a bone, about any axis."""
    return any(getattr(bone, f"lock_ik_{axis}") or getattr(bone, f"use_ik_limit_{axis}") for axis in "xyz") or any(
        constraint.type == "LIMIT_ROTATION" and not constraint.mute for constraint in bone.constraints)


class _Rest:
    """A bone in the rest pose."""

    def __init__(self, bone: bpy.types.Bone, parent: bpy.types.Bone | None) -> None:
        self.name, self.length = bone.name, bone.length
        self.head, self.tail = bone.head_local, bone.tail_local
        self.axes: Any = bone.matrix_local.to_3x3().col
        self.along: Vector = self.axes[1]

    def angle(self, parent: _Rest) -> float:
        """Return the angle to its parent's direction [rad]."""
        return float(parent.along.angle(self.along, 0.0))

    def is_half(self, parent: _Rest) -> bool:
        """Whether it is the second half of the limb that its parent begins."""
        name = _HALF.fullmatch(self.name)
        return (name is not None and parent.name in (name["limb"], *(f"{name['limb']}.{k:03d}" for k in range(9)))
                and self.angle(parent) < math.radians(5.0))


class _Limbs:
    """Limbs: bones in a row, with halves of a limb counted as one."""

    def __init__(self, rest: Mapping[str, _Rest], above: Mapping[str, str]) -> None:
        self._rest, self._above = rest, above
        self.halves = {name for name in above if rest[name].is_half(rest[above[name]])}
        self._lengths = dict.fromkeys(rest, 0.0)
        for name, bone in rest.items():
            self._lengths[self._first(name)] += bone.length
        self.longest = max(self._lengths.values(), default=0.0)

    def length(self, name: str) -> float:
        """Return the length of the whole limb that contains a bone."""
        return self._lengths[self._first(name)]

    def _first(self, name: str) -> str:
        while name in self.halves:
            name = self._above[name]
        return name

    def fold(self, name: str) -> tuple[int, float, float] | None:
        """Return the axis of a bone about which a knee or an elbow bends, and its limits [rad]; None for other
        bones."""
        if not self._goes_on(name):
            return None
        # in a tail or a rope any number of them stand in a row
        below = [child for child, above in self._above.items()
                 if self._first(above) == name and child not in self.halves]
        if self._goes_on(self._first(self._above[name])) or any(map(self._goes_on, below)):
            return None
        bone, parent = self._rest[name], self._rest[self._above[name]]
        bent, normal = bone.angle(parent), parent.along.cross(bone.along).normalized()
        axis = max((0, 2), key=lambda k: abs(normal.dot(bone.axes[k])))
        if bent < BENT or abs(normal.dot(bone.axes[axis])) < math.cos(ASKEW):
            return None
        folds = normal.dot(bone.axes[axis]) > 0.0
        return (axis, -bent, FOLDED - bent) if folds else (axis, bent - FOLDED, bent)

    def _goes_on(self, name: str) -> bool:
        """Whether a long bone begins at the end of a long one and continues in about its direction."""
        if name not in self._above:
            return False
        bone, parent = self._rest[name], self._rest[self._above[name]]
        return (min(self.length(name), self.length(parent.name)) >= LONG * self.longest
                and (bone.head - parent.tail).length < 0.1 * self.longest and bone.angle(parent) < ONWARDS)
