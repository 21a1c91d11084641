"""An armature as rigid bodies: where its bones are, how thick and heavy, and the joints between them."""

from __future__ import annotations

from typing import Any

import bpy
import numpy as np
from numpy.typing import NDArray

from ...solver.errors import BadInput
from .. import settings as properties
from . import bones, skin, turns
from .articulation import coordinates, joint_frame, turned
from .evaluation import Evaluation
from .mechanism import JointPose

Array = NDArray[np.float64]

#: thickness of a bone that no skin tells of, as a share of its length
THIN = 0.12

#: shortest bone [m]: what is shorter has no direction
SHORTEST = 1.0e-5

#: how much the scales of a bone's axes may differ without a word
UNEVEN = 1.0e-3

#: own axes of a body in its bone: Z along the bone, which is the bone's Y
ALONG = np.array([[1.0, 0.0, 0.0], [0.0, 0.0, 1.0], [0.0, -1.0, 0.0]])


class Armature:
    """The bodies of an armature in the order of their plan. Raises BadInput, naming the bone, where one cannot be."""

    def __init__(self, evaluation: Evaluation) -> None:
        self._evaluation = evaluation
        self.object = evaluation.object
        if self.object.data.pose_position == "REST":
            raise BadInput("it is shown in Rest Position, where no pose plays",
                           "Choose Pose Position in its Object Data properties", self.object.name)
        self.object.update_tag()  # Blender does not notice a setting of a bone that a script has changed
        self.plan = bones.plan(self.object)
        self.names = [bone.name for bone in self.plan]
        self.notes = list(self.plan.notes)
        #: body's own frame in its bone's, without scale [m], (b, 4, 4)
        self.offsets = np.broadcast_to(np.eye(4), (len(self.names), 4, 4)).copy()

    def part(self, name: str) -> bpy.types.PropertyGroup:
        """Return the settings of one body and its joint."""
        return self.object.pose.bones[name].conjac

    @property
    def frame(self) -> int:
        """The present frame."""
        return self._evaluation.frame

    def motor_target(self, name: str) -> float:
        """Return the target of a joint's motor at the present frame."""
        return float(self._evaluation.evaluated(self.object).pose.bones[name].conjac_motor_target)

    def measure(self) -> list[dict[str, Any]]:
        """Shape and, where a skin tells it, mass of each body at the present frame, for scene.json."""
        frames = [self._bone(name) for name in self.names]
        # from a bone's head to its tail along its own Y, against it where the rig is mirrored
        along = [self._along(name, scale[1]) for name, (_, scale) in zip(self.names, frames)]
        ends = np.array([[pose[:3, 3], pose[:3, 3] + way * pose[:3, 1]] for (pose, _), way in zip(frames, along)])
        whole = np.linalg.norm(np.array(self.evaluated().matrix_world)[:3, :3], axis=0)
        even = np.ptp(whole) <= UNEVEN * whole.max()
        if not even:
            self.notes.append(f'"{self.object.name}": its scale is not uniform, so its bones will play skewed; '
                              "apply its scale (Object > Apply > Scale)")
        for name, (_, scale) in zip(self.names, frames):
            if even and np.ptp(scale) > UNEVEN * np.abs(scale).max() and self.object.pose.bones[name].children:
                self.notes.append(f'"{self.object.name}": the bone "{name}" has a scale that is not uniform, so '
                                  "those below it will play skewed; give it the same scale on every axis")
        settings, scene = self.object.conjac.mechanism, self._evaluation.scene
        around = skin.volumes(self._evaluation, self.names, ends) if settings.use_skin else {}
        found = []
        for k, (name, way) in enumerate(zip(self.names, along)):
            part, length = self.part(name), abs(way)
            radius = properties.si(part, "radius", scene)
            if not radius:
                radius = skin.radius_of(around[name], length) if name in around else THIN * length
            self.offsets[k] = turns.pose(ALONG, np.array([0.0, 0.5 * way, 0.0]))
            body: dict[str, Any] = {"shape": _SHAPES[part.shape](float(radius), float(length))}
            if not part.mass and name in around:
                body["mass"] = properties.shortest(settings.density) * around[name]
            found.append(body)
        return found

    def joint_pose(self, name: str) -> JointPose | None:
        """Return the configuration of a body's joint at the present frame, None where it has none."""
        one = next(each for each in self.plan if each.name == name)
        if one.joint is None:
            return None
        bone = self.object.pose.bones[name]
        child, _ = self._bone(name)
        rest = self._unposed(bone)
        frame = turns.pose(joint_frame(rest, one.joint), child[:3, 3])
        axes = frame[:3, :3]
        # what the pose turns the bone by, in the joint's frame: the child's axes of the same kind against it
        turn = axes.T @ joint_frame(child[:3, :3], one.joint)
        start = coordinates(one.joint.kind, turn, np.zeros(3))
        return JointPose(one.joint, frame, start, turned(one.joint.kind, start))

    def poses(self) -> Array:
        """Return the bodies' own frames in world at the present frame [m], (b, 4, 4)."""
        return np.array([self._bone(name)[0] for name in self.names]) @ self.offsets

    def middles(self) -> Array:
        """Return the bones' own axes in world, moved to their middles [m], (b, 4, 4)."""
        return self.poses() @ np.linalg.inv(turns.pose(ALONG, np.zeros(3)))

    def loop_frames(self) -> list[Array]:
        """None: bones are a tree."""
        return []

    def playback(self) -> Playback:
        """Return the poses for playback besides those of the bodies, at the start frame."""
        return Playback(self)

    def scales(self) -> Array:
        """Scale of each bone in world at the present frame, (b, 3)."""
        return np.array([self._bone(name)[1] for name in self.names]) / self._evaluation.scale

    def evaluated(self) -> bpy.types.Object:
        """Return the armature at the present frame."""
        return self._evaluation.evaluated(self.object)

    def _bone(self, name: str) -> tuple[Array, Array]:
        """World place of a bone's own axes [m], (4, 4), without scale, and the scale [m per Blender unit], (3,)."""
        armature = self._evaluation.evaluated(self.object)
        matrix = np.array(armature.matrix_world, dtype=np.float64) @ np.array(armature.pose.bones[name].matrix)
        matrix[:3] *= self._evaluation.scale
        try:
            rotation, scale = turns.split(matrix)
        except ValueError as error:
            raise BadInput(f'the bone "{name}" has an invalid pose: {error}', "Clear its pose, and check its "
                           "scale, constraints and drivers", self.object.name, self._evaluation.frame
                           ) from error
        return turns.pose(rotation, matrix[:3, 3]), scale

    def _unposed(self, bone: bpy.types.PoseBone) -> Array:
        """Return axes (3, 3) in world of a bone if it were at rest against its parent body."""
        armature = self._evaluation.evaluated(self.object)
        one = next(each for each in self.plan if each.name == bone.name)
        rest = np.array(bone.bone.matrix_local, dtype=np.float64)
        if one.parent is None:
            above = np.array(armature.matrix_world, dtype=np.float64)
        else:
            parent = armature.pose.bones[one.parent]
            above = (np.array(armature.matrix_world, dtype=np.float64) @ np.array(parent.matrix)
                     @ np.linalg.inv(np.array(parent.bone.matrix_local, dtype=np.float64)))
        return turns.split(above @ rest)[0]

    def _along(self, name: str, scale: float) -> float:
        """Return the place of a bone's tail on its own Y [m]."""
        length = float(self.object.pose.bones[name].bone.length * scale)
        if not abs(length) > SHORTEST:
            raise BadInput(f'the bone "{name}" has no length', "Give it one in Edit Mode, or set its role to Left Out",
                           self.object.name)
        return length


class Playback:
    """Poses of the armature and of the bones above its bodies at each frame, for bone keyframes.

    Arrays of the job folder: `mechanism_spaces` (frames, 1 + t, 4, 4), the armature in world and the poses of t bones
    in the armature, in Blender units; `mechanism_tops` (t,), the bodies that stand directly below those; and of each
    body `mechanism_offsets` (b, 4, 4), its own frame in its bone's [m], and `mechanism_scales` (b, 3).
    """

    def __init__(self, source: Armature) -> None:
        self._source = source
        keyed = {bone.name for bone in source.plan if is_keyed(bone)}
        self._tops = [k for k, bone in enumerate(source.plan) if bone.name in keyed
                      and (above := source.object.pose.bones[bone.name].parent) is not None and above.name not in keyed]
        self._scales = source.scales()
        self._spaces: list[Array] = []

    def sample(self) -> None:
        """Read the present frame."""
        evaluated = self._source.evaluated()
        pose = evaluated.pose.bones
        found = [evaluated.matrix_world, *(pose[self._source.names[k]].parent.matrix for k in self._tops)]
        self._spaces.append(np.array(found, dtype=np.float64))

    def arrays(self) -> dict[str, NDArray[Any]]:
        return {"mechanism_spaces": np.array(self._spaces), "mechanism_tops": np.array(self._tops, dtype=np.int32),
                "mechanism_offsets": self._source.offsets, "mechanism_scales": self._scales}


def is_keyed(one: bones.BonePlan) -> bool:
    """Whether the bake gives a bone its keyframes: an animated one that nothing simulated takes along has its own."""
    return not one.animated or one.parent is not None


def _capsule(radius: float, length: float) -> dict[str, Any]:
    straight = length - 2.0 * radius
    if straight <= 1.0e-3 * radius:
        return {"kind": "sphere", "params": {"radius": radius}}
    return {"kind": "capsule", "params": {"radius": radius, "length": straight}}


_SHAPES = {
    "capsule": _capsule,
    "sphere": lambda radius, length: {"kind": "sphere", "params": {"radius": radius}},
    "box": lambda radius, length: {"kind": "box", "params": {
        "size_x": 2.0 * radius, "size_y": 2.0 * radius, "size_z": length}},
}
