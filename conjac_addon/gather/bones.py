"""Bodies of an armature, their parents and their limits, from the rig's settings alone. Nothing is evaluated, so panels
may call it at every redraw."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from itertools import takewhile
from typing import Any

import bpy

from ...solver import catalogue
from ...solver.errors import BadInput
from .. import members, part_identity, parts
from ..playback import action

#: (bone, constraint) of what a bake that plays has muted
Off = set[tuple[str, str]]

#: range of a limit [rad] below which an axis counts as locked
LOCKED = 1.0e-3

#: a limit that limits nothing
FREE = 1.0e9


@dataclass(frozen=True)
class JointPlan:
    """The kind of a joint and which of the bone's own axes it has."""

    kind: str  #: a key of the catalogue
    axes: tuple[int, ...] = (0, 1, 2)  #: of the bone: those that turn or slide, in the order of the joint's rates
    low: tuple[float, ...] = ()  #: [rad], one for each rate, none without limits
    high: tuple[float, ...] = ()

    @property
    def rates(self) -> tuple[str, ...]:
        """"angle" or "length" for each."""
        return catalogue.find("joint", self.kind).rates


@dataclass(frozen=True)
class BonePlan:
    """One bone that is a rigid body."""

    name: str
    parent: str | None  #: the bone that its joint holds it to
    joint: JointPlan | None  #: none: nothing holds it, it is free
    animated: bool = False  #: it follows its animation for good
    mass: float | None = None  #: [kg], where it is not asked of the part's settings


@dataclass(frozen=True)
class Closing:
    """A joint outside the tree, which closes a loop of bodies."""

    name: str
    kind: str  #: a key of the catalogue's loops
    bodies: tuple[str, ...]  #: two, or one that it holds to the world
    part: Any  #: its settings, a CONJAC_Part


@dataclass(frozen=True)
class RigPlan:
    """The mechanism that an armature becomes."""

    bones: tuple[BonePlan, ...]  #: parents first
    notes: tuple[str, ...] = field(default=())  #: sentences for the artist
    closing: tuple[Closing, ...] = ()  #: none: bones are a tree

    def __iter__(self) -> Iterator[BonePlan]:
        return iter(self.bones)


def plan(armature: bpy.types.Object) -> RigPlan:
    """Return the mechanism of an armature. Raises BadInput, naming the bone, where settings are impossible."""
    pose, notes = armature.pose.bones, []
    wanted = {bone.name for bone in pose if bone.conjac.role != parts.LEFT_OUT}
    if not wanted:
        raise BadInput("none of its bones is simulated", "Set the role of some bones to Simulated", armature.name)
    moving = {bone.name for bone in pose if bone.conjac.role == parts.SIMULATED}
    holding = members.holding(armature)
    if not moving and not holding:
        raise BadInput("all its bones follow their animation, so there is nothing to simulate",
                       "Set the role of some bones to Simulated", armature.name)
    found: dict[str, BonePlan] = {}
    off = action.switched_off(armature)
    copies = _copies(armature, wanted, off)
    for bone in by_depth(armature):
        above = _body_above(armature, bone, wanted, off, copies if bone.name in wanted else {})
        if bone.name in wanted:
            found[bone.name] = _body(armature, bone, above, bone.conjac.role == parts.ANIMATED, off)
        elif above is not None and any(child.name in wanted for child in bone.children_recursive):
            # left out between two bodies: stiff with the one above, or those below would hang on nothing that moves
            found[bone.name] = BonePlan(bone.name, above, JointPlan("fixed"))
            wanted.add(bone.name)
            notes.append(f'"{armature.name}": the bone "{bone.name}" is left out between two that are simulated, so '
                         f'it moves rigidly with "{above}"')
    now_called = part_identity.renamed(armature)
    ends = {now_called(name) for spring in armature.conjac.mechanism.springs for name in (spring.first, spring.second)}
    # what soft bodies touch is needed wherever it hangs
    touched = set(found) if armature.conjac.mechanism.touch_soft else set()
    useful = _needed(found, holding | ends | touched)
    loose = [bone.name for bone in useful if bone.parent is None and not bone.animated]
    if len(loose) > 1:
        names = ", ".join(f'"{name}"' for name in loose[:4]) + (" and others" if len(loose) > 4 else "")
        notes.append(f'"{armature.name}": {names} have no parent, so each moves separately; parent them, or give '
                     "them a Child Of constraint, to join them")
    return RigPlan(tuple(_parents_first(armature, useful)), tuple(notes))


def by_depth(armature: bpy.types.Object) -> list[bpy.types.PoseBone]:
    """Pose bones, each after its parent, in the armature's order."""
    depth: dict[str, int] = {}
    for bone in armature.pose.bones:
        # up to the first whose depth is known, and back
        way = [bone, *takewhile(lambda one: one.name not in depth, ancestors(bone))]
        top = way[-1].parent
        for step, link in enumerate(reversed(way)):
            depth.setdefault(link.name, (depth[top.name] + 1 if top is not None else 0) + step)
    return sorted(armature.pose.bones, key=lambda bone: depth[bone.name])


def ancestors(bone: bpy.types.PoseBone) -> Iterator[bpy.types.PoseBone]:
    """Yield a bone's parents, the nearest first. `parent_recursive` would find all of them in advance."""
    while bone.parent is not None:
        bone = bone.parent
        yield bone


def _needed(found: dict[str, BonePlan], holding: set[str]) -> list[BonePlan]:
    """Return the bodies without animated bones that move no other body, since these only follow their animation.
    holding: bones with attached soft bodies or springs, or in contact with soft bodies."""
    carriers = {bone.parent for bone in found.values() if not bone.animated} | holding
    needed: dict[str, BonePlan] = {}
    for bone in found.values():
        if not bone.animated:
            needed[bone.name] = bone
        elif bone.name in carriers or (bone.parent is not None and not found[bone.parent].animated):
            # its own parent does not push it, unless that one is simulated
            above = bone.parent if bone.parent is not None and not found[bone.parent].animated else None
            needed[bone.name] = bone if above else replace(bone, parent=None, joint=None)
    return list(needed.values())


def _parents_first(armature: bpy.types.Object, bodies: list[BonePlan]) -> list[BonePlan]:
    """Return bones in an order in which parents precede children. Raises BadInput for a cycle."""
    waiting, placed, done = list(bodies), [], set()
    while waiting:
        ready = [bone for bone in waiting if bone.parent is None or bone.parent in done]
        if not ready:
            ring = " → ".join(f'"{bone.name}"' for bone in waiting[:5])
            raise BadInput(f"its bones are parented in a circle ({ring})",
                           "Remove a Child Of constraint", armature.name)
        placed += ready
        done |= {bone.name for bone in ready}
        waiting = [bone for bone in waiting if bone.name not in done]
    return placed


def _copies(armature: bpy.types.Object, wanted: set[str], off: Off) -> dict[str, str]:
    """Bodies by the bone that they copy: in rigs such as Rigify's, bones that deform are no children of each other but
    of other bones, which their parents copy."""
    return {constraint.subtarget: bone.name for bone in armature.pose.bones if bone.name in wanted
            for constraint in bone.constraints if constraint.type == "COPY_TRANSFORMS"
            and constraint.target == armature and constraint.subtarget and _is_on(bone, constraint, off)}


def _body_above(armature: bpy.types.Object, bone: bpy.types.PoseBone, wanted: set[str], off: Off,
                copies: dict[str, str]) -> str | None:
    """Return the nearest body above, which is the parent or one of its parents, or copies it; else the target of a
    Child Of constraint."""
    for above in ancestors(bone):
        if above.name in wanted:
            return above.name
        copy = copies.get(above.name, bone.name)
        if copy != bone.name and bone not in armature.pose.bones[copy].parent_recursive:
            return copy
    for constraint in bone.constraints:
        if (constraint.type == "CHILD_OF" and _is_on(bone, constraint, off) and constraint.target == armature
                and constraint.subtarget in wanted and constraint.subtarget != bone.name):
            return str(constraint.subtarget)
    return None


def _is_on(bone: bpy.types.PoseBone, constraint: bpy.types.Constraint, off: Off) -> bool:
    """Whether a constraint does anything, or would without the bake that plays."""
    return (not constraint.mute or (bone.name, constraint.name) in off) and constraint.influence > 0.0


def _body(armature: bpy.types.Object, bone: bpy.types.PoseBone, above: str | None, animated: bool,
          off: Off) -> BonePlan:
    if above is None:
        kind = bone.conjac.joint
        is_jointed = kind not in (parts.AUTOMATIC, "free") and not animated
        return BonePlan(bone.name, None, _joint_of(armature, bone, off) if is_jointed else None, animated)
    return BonePlan(bone.name, above, _joint_of(armature, bone, off), animated)


def joint_of(armature: bpy.types.Object, bone: bpy.types.PoseBone) -> JointPlan | None:
    """Return the possible motion of a bone relative to its parent, according to its own settings; None if these are
    invalid."""
    try:
        return _joint_of(armature, bone, action.switched_off(armature))
    except BadInput:
        return None


def _joint_of(armature: bpy.types.Object, bone: bpy.types.PoseBone, off: Off) -> JointPlan:
    """Return the possible motion of a bone relative to its parent. Raises BadInput where a limit's low end is above its
    high end."""
    chosen = bone.conjac.joint
    if chosen in _FORCED:
        return _FORCED[chosen]
    limits = [_limits(armature, bone, axis, off) for axis in range(3)]
    free = [axis for axis in range(3) if limits[axis][1] - limits[axis][0] > LOCKED]
    if chosen != parts.AUTOMATIC:
        first = "XYZ".index(bone.conjac.axis)
        turning = _axes(chosen, first)
        return _with_limits(chosen, turning, limits, len(turning) == len(catalogue.find("joint", chosen).rates))
    return _with_limits(_BY_FREEDOMS[len(free)], tuple(free) or (0, 1, 2), limits, bool(free))


#: how many axes may turn → the joint
_BY_FREEDOMS = ("fixed", "revolute", "universal", "spherical")

#: joints that read no limits of angles
_FORCED = {"fixed": JointPlan("fixed"), "free": JointPlan("free"), "translational": JointPlan("translational"),
           "free_planar": JointPlan("free_planar")}

def _axes(kind: str, first: int) -> tuple[int, ...]:
    """Return which axes of the bone a joint of this kind turns about, or slides along where nothing turns, from the one
    that the artist chose. The joint's own Z is the chosen axis; its X and Y are that one and the next."""
    motions = catalogue.find("joint", kind).motions
    moving = [motion for motion in motions if not motion.startswith("slide")] or motions
    letters = "".join(sorted(motion[-1] for motion in moving))
    return {"z": (first,), "xy": (first, (first + 1) % 3)}.get(letters, (0, 1, 2))


def _with_limits(kind: str, axes: tuple[int, ...], limits: list[tuple[float, float]], limited: bool) -> JointPlan:
    """Limits only where every rate is an angle and one of them has any."""
    rates = catalogue.find("joint", kind).rates
    low, high = tuple(limits[axis][0] for axis in axes), tuple(limits[axis][1] for axis in axes)
    if not limited or set(rates) != {"angle"} or all(abs(end) == FREE for end in (*low, *high)):
        return JointPlan(kind, axes)
    return JointPlan(kind, axes, low, high)


def _limits(armature: bpy.types.Object, bone: bpy.types.PoseBone, axis: int, off: Off) -> tuple[float, float]:
    """Return how far a bone may turn about one of its axes [rad]: by limits of its own, Limit Rotation constraints in
    its own space, and those of IK."""
    letter, low, high = "xyz"[axis], -FREE, FREE
    part = bone.conjac
    if part.use_limits:
        low, high = part.limit_low[axis], part.limit_high[axis]
        _check(armature, bone, f"its own limits go about {letter.upper()}", (low, high))
    for constraint in bone.constraints:
        if (constraint.type == "LIMIT_ROTATION" and _is_on(bone, constraint, off) and constraint.owner_space == "LOCAL"
                and getattr(constraint, f"use_limit_{letter}")):
            ends = getattr(constraint, f"min_{letter}"), getattr(constraint, f"max_{letter}")
            _check(armature, bone, f'the constraint "{constraint.name}" limits {letter.upper()}', ends)
            low, high = max(low, ends[0]), min(high, ends[1])
    if getattr(bone, f"lock_ik_{letter}"):
        return 0.0, 0.0
    if getattr(bone, f"use_ik_limit_{letter}"):
        ends = getattr(bone, f"ik_min_{letter}"), getattr(bone, f"ik_max_{letter}")
        _check(armature, bone, f"inverse kinematics limits {letter.upper()}", ends)
        low, high = max(low, ends[0]), min(high, ends[1])
    _check(armature, bone, f"its limits about {letter.upper()} combined go", (low, high))
    return low, high


def _check(armature: bpy.types.Object, bone: bpy.types.PoseBone, what: str, ends: tuple[float, float]) -> None:
    if ends[0] > ends[1] + 1.0e-6:
        degrees = [57.29577951308232 * end for end in ends]
        raise BadInput(f'the bone "{bone.name}" has limits the wrong way round: {what} from {degrees[0]:.4g}° to '
                       f"{degrees[1]:.4g}°", "Set the lower end below the upper one", armature.name)
