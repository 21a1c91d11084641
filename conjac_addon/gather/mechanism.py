"""A mechanism of scene.json: its settings, and its animated data. A `Source`, for an armature or for rigid body
objects, provides the bodies."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol

import bpy
import numpy as np
from numpy.typing import NDArray

from ...solver.errors import BadInput
from .. import identity, part_identity
from ..declared import JOINT, LOOP, MECHANISM, RIGID_BODY
from . import fields, springs, turns
from .articulation import JointTrack, smooth
from .bones import BonePlan, Closing, JointPlan

Array = NDArray[np.float64]

@dataclass(frozen=True)
class JointPose:
    """Configuration of a joint at the start frame."""

    plan: JointPlan
    frame: Array  #: in world [m], (4, 4), fixed in the parent
    start: Array  #: joint coordinates, (k,)
    turned: Array  #: rotation (3, 3) of these coordinates


class Keeps(Protocol):
    """Receiver of arrays: a job folder."""

    def array(self, name: str, values: NDArray[Any]) -> str: ...


class Source(Protocol):
    """Bodies of a mechanism, evaluated."""

    names: list[str]
    notes: list[str]
    plan: Any  #: of BonePlan, in the order of `names`
    object: bpy.types.Object

    @property
    def frame(self) -> int: ...
    def part(self, name: str) -> bpy.types.PropertyGroup: ...
    def motor_target(self, name: str) -> float: ...
    def measure(self) -> list[dict[str, Any]]: ...
    def joint_pose(self, name: str) -> JointPose | None: ...
    def loop_frames(self) -> list[Array]: ...
    def poses(self) -> Array: ...
    def middles(self) -> Array: ...


def mechanism_settings(owner: bpy.types.Object, plan: Any, part_of: Callable[[str], bpy.types.PropertyGroup],
                       scene: bpy.types.Scene) -> dict[str, Any]:
    """Return the fields of scene.json's mechanism that depend on settings only."""
    bodies, joints = [], []
    known = part_identity.uuids(owner)
    for bone in plan:
        part = part_of(bone.name)
        start = JointStart.of(owner, bone, known.get(bone.name, ""))
        body = {"name": bone.name} | fields.gathered(RIGID_BODY, owner, scene, item=part, plan=start)
        bodies.append(body)
        joint = _joint_settings(owner, bone, part, scene, start)
        if joint is not None:
            joints.append(joint)
    lists = {"loops": [_loop_settings(owner, loop, scene) for loop in plan.closing],
             "springs": springs.spring_settings(owner, {body["name"] for body in bodies}, scene)}
    return {"name": owner.name, "uuid": identity.of(owner), "bodies": bodies, "joints": joints,
            **fields.gathered(MECHANISM, owner, scene), **{key: entries for key, entries in lists.items() if entries}}


def _loop_settings(owner: bpy.types.Object, one: Closing, scene: bpy.types.Scene) -> dict[str, Any]:
    loop: dict[str, Any] = {"name": one.name, "kind": one.kind}
    loop |= dict(zip(("body_a", "body_b"), one.bodies))
    return loop | fields.gathered(LOOP, owner, scene, item=one.part)


def follows(owner: bpy.types.Object, one: BonePlan) -> bool:
    """Whether a body is driven along its animation, for a while or for good, by its joint."""
    return one.animated or owner.conjac.mechanism.follow


@dataclass(frozen=True)
class JointStart:
    """Facts of a rig or rigid body object about a body and its joint, from which fields of scene.json follow."""

    uuid: str
    mass: float | None  #: [kg], of a rigid body object; None: the settings say it
    rates: tuple[str, ...]  #: what its coordinates are: those of a free body where it is driven and nothing joins it
    low: tuple[float, ...]  #: limits [rad or m], none where it has none
    high: tuple[float, ...]
    is_joined: bool
    is_driven: bool  #: by its animation, for a while or for good
    is_animated: bool  #: for good

    @staticmethod
    def of(owner: bpy.types.Object, one: BonePlan, uuid: str) -> JointStart:
        """Return that of a body of a mechanism."""
        joint = one.joint or JointPlan("free")
        return JointStart(uuid, one.mass, tuple(joint.rates), tuple(joint.low), tuple(joint.high),
                          one.joint is not None, follows(owner, one), one.animated)


def _joint_settings(owner: bpy.types.Object, one: BonePlan, part: bpy.types.PropertyGroup,
                    scene: bpy.types.Scene, start: JointStart) -> dict[str, Any] | None:
    """None for a body that nothing holds and nothing drives."""
    if not (start.is_joined or start.is_driven):
        return None
    plan = one.joint or JointPlan("free")
    joint: dict[str, Any] = {"name": one.name, "child": one.name, "kind": plan.kind}
    if one.parent is not None:
        joint["parent"] = one.parent
    return joint | fields.gathered(JOINT, owner, scene, item=part, plan=start)


def motor_words(plan: JointPlan) -> str:
    """Return a description of the one target of a motor at a joint of several freedoms, "" at a joint of one freedom.
    """
    rates = plan.rates
    if len(rates) < 2:
        return ""
    what = "the angle about" if rates[0] == "angle" else "the way along"
    others = "the other is" if len(rates) == 2 else f"the other {len(rates) - 1} are"
    return f"{what} its {'XYZ'[plan.axes[0]]}; {others} held as at the start"


class MechanismReader:
    """Reads one mechanism over the samples of a bake. `begin` at the start frame, then `sample` at each of them."""

    def __init__(self, source: Source, owner: bpy.types.Object, job: Keeps, scene: bpy.types.Scene,
                 start: int) -> None:
        self._source, self._owner, self._job, self._start, self._scene = source, owner, job, start, scene
        self._plan: dict[str, BonePlan] = {bone.name: bone for bone in source.plan}
        self.document = mechanism_settings(owner, source.plan, source.part, scene)
        self._joint_poses: dict[str, JointPose] = {}
        self._tracks: dict[str, JointTrack] = {}
        self._readings: dict[str, list[Array]] = {}
        self._targets: dict[str, list[float]] = {}

    def begin(self, checked: bool = True) -> None:
        """Shapes, places and joints at the start frame. checked: whether letting go has to come after it."""
        source, index = self._source, {name: k for k, name in enumerate(self._source.names)}
        settings = self._owner.conjac.mechanism
        if checked and settings.follow and settings.let_go <= self._start:
            raise BadInput(f"it lets go of its animation at frame {settings.let_go}, and the bake begins at "
                           f"{self._start}", "Let it go later, or disable Follow Animation", self._owner.name)
        measured = source.measure()
        poses = source.poses()
        for k, (body, more, pose) in enumerate(zip(self.document["bodies"], measured, poses)):
            for key in ("vertices", "triangles"):
                if key in more:
                    more[key] = self._job.array(f"part_{k}_{key}", more[key])
            body |= more | {"position": pose[:3, 3].tolist(), "rotation": turns.quaternion(pose[:3, :3]).tolist()}
        to_rest = settings.pull_to == "rest"
        for joint in self.document["joints"]:
            name = joint["child"]
            joint_pose = source.joint_pose(name) or self._free(poses[index[name]])
            self._joint_poses[name] = joint_pose
            joint |= {"position": joint_pose.frame[:3, 3].tolist(),
                      "rotation": turns.quaternion(joint_pose.frame[:3, :3]).tolist()}
            if joint_pose.start.any():
                joint["start"] = joint_pose.start.tolist()
            if "stiffness" in joint and to_rest:
                joint["rest"] = [0.0] * len(joint_pose.start)
            self._check_start(joint, joint_pose)
            if "motor" not in joint:  # what is stiff cannot be driven
                continue
            if follows(self._owner, self._plan[name]):
                above = self._plan[name].parent
                self._tracks[name] = JointTrack(joint_pose.plan.kind, joint_pose.frame, poses[index[name]],
                                                None if above is None else poses[index[above]], joint_pose.turned)
                self._readings[name] = []
            else:
                self._targets[name] = []
        self._index = index
        for spring, ends in zip(self.document.get("springs", []),
                                springs.ends(self._owner, dict(zip(source.names, source.middles())),
                                             self._scene)):
            spring |= {"point_a": ends[0].tolist(), "point_b": ends[1].tolist()}
        self._tell()
        for loop, frame in zip(self.document.get("loops", []), source.loop_frames()):
            loop |= {"position": frame[:3, 3].tolist(), "rotation": turns.quaternion(frame[:3, :3]).tolist()}

    def _check_start(self, joint: dict[str, Any], joint_pose: JointPose) -> None:
        """Note a start outside of the limits, which is allowed: the solver pulls it in softly."""
        if "low" not in joint:
            return
        start = joint_pose.start
        outside = [k for k in range(len(start))
                   if not joint["low"][k] - 1.0e-4 <= start[k] <= joint["high"][k] + 1.0e-4]
        if outside:
            k = outside[0]
            unit, factor = ("°", 57.29577951308232) if joint_pose.plan.rates[k] == "angle" else (" m", 1.0)
            numbers = [f"{factor * value:.4g}{unit}" for value in (start[k], joint["low"][k], joint["high"][k])]
            self._source.notes.append(f'"{self._owner.name}": "{joint["name"]}" begins at {numbers[0]}, outside its '
                                      f"limits {numbers[1]} to {numbers[2]}, and is pulled in softly")

    def _tell(self) -> None:
        """Report settings that have no effect, or an unexpected one."""
        note, owner = self._source.notes.append, self._owner
        rubbing = [joint["name"] for joint in (*self.document["joints"], *self.document.get("loops", []))
                   if "friction" in joint]
        if rubbing and owner.conjac.mechanism.joint_friction == "none":
            note(f'"{owner.name}": the friction of "{rubbing[0]}"' + (" and others" if len(rubbing) > 1 else "")
                 + " has no effect, since Joint Friction of the mechanism is None; choose BISP")
        for joint in self.document["joints"]:
            words = motor_words(self._joint_poses[joint["child"]].plan) if "motor" in joint else ""
            if words and not follows(owner, self._plan[joint["child"]]):
                note(f'"{owner.name}": the motor of "{joint["name"]}" has one target: {words}')

    def _free(self, pose: Array) -> JointPose:
        """Return the joint of a driven body that nothing holds: free, its coordinates counted from where it begins."""
        return JointPose(JointPlan("free"), pose, np.zeros(6), np.eye(3))

    @property
    def may_move(self) -> bool:
        """Whether it must be read between whole frames."""
        return bool(self._tracks or self._targets)

    def sample(self) -> None:
        """Read the animated values at the present sample."""
        if not self.may_move:
            return
        poses = self._source.poses()
        for name, track in self._tracks.items():
            above = self._plan[name].parent
            self._readings[name].append(track.read(poses[self._index[name]],
                                                   None if above is None else poses[self._index[above]]))
        for name, values in self._targets.items():
            target = self._source.motor_target(name)
            if not abs(target) < turns.FARTHEST:
                raise BadInput(f'the motor of "{name}" has a target that is not a number or too large',
                               "Check its keyframes and drivers", self._owner.name, self._source.frame)
            values.append(target)

    def finish(self) -> dict[str, Any]:
        """Return the mechanism of scene.json; its arrays are in the job folder."""
        number = {name: k for k, name in enumerate(self._source.names)}
        for joint in self.document["joints"]:
            name = joint["child"]
            joint_pose = self._joint_poses[name]
            if name in self._readings:
                track = smooth(joint_pose.plan.kind, joint_pose.plan.rates, np.array(self._readings[name]))
                joint["motor"]["target"] = self._job.array(f"drive_{number[name]}", track)
            elif name in self._targets:
                speed = joint["motor"]["mode"]["kind"] == "speed"
                values = np.zeros((len(self._targets[name]), len(joint_pose.start)))
                values[:, 0] = self._targets[name]
                values += 0.0 if speed else joint_pose.start
                moving = not np.array_equal(values, np.broadcast_to(values[0], values.shape))
                joint["motor"]["target"] = (self._job.array(f"motor_{number[name]}", values) if moving
                                            else values[0].tolist())
        return self.document
