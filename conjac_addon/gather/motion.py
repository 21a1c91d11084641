"""Motion over the frames: pins, ground, nails, pulls, the object's own space. Read one sample at a time."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from ...solver import catalogue
from .. import members
from . import animated, fibers, pins, ropes
from .evaluation import Evaluation
from .folder import ArrayStream, JobFolder, JobPart
from .follow import Follow
from .ground import GroundPlane
from .mesh import count_changed
from .nails import Nails
from .pulls import Pulls


class Motion:
    """Writes all motion into a job folder, and returns afterwards the fields of whatever moved. vertices: the surface
    at the start frame [m], (n, 3); pinned: indices of vertices whose motion is stored, (s,). read: other readers,
    called at every sample.
    """

    def __init__(self, evaluation: Evaluation, job: JobFolder | JobPart, frames: tuple[int, int], samples: int,
                 vertices: NDArray[np.float64], pinned: NDArray[np.int32], ground: GroundPlane | None,
                 read: Sequence[Nails | Pulls | Follow | None] = ()) -> None:
        self._evaluation, self._job = evaluation, job
        self._start, self._end, self._samples = *frames, samples
        self._rest, self._pinned, self._ground = vertices, pinned, ground
        self._followed = [followed for followed in read if followed]
        self._pins: ArrayStream | None = None
        self._plane: ArrayStream | None = None
        self._pins_move = False
        self._to_object: list[NDArray[np.float64]] = []
        self._is_activated = fibers.is_activated(evaluation.object)
        self._activation: list[float] = []
        self._calms = (animated.is_animated(evaluation.object, f"conjac.{catalogue.WOBBLE_HALF_LIFE.key}")
                       and not members.is_sharp(evaluation.object))
        self._winds = members.is_rope(evaluation.object) and animated.is_animated(evaluation.object,
                                                                                  f"conjac.{ropes.TWIST}")
        self._twists: list[float] = []
        self._half_lives: list[float] = []
        self._softens = pins.has_keyframes(evaluation.object)
        self._stiffness: list[float] = []

    def begin(self) -> None:
        """Open the arrays that are written sample by sample."""
        if len(self._pinned):
            self._pins = self._job.stream("pin_motion", (self.count, len(self._pinned), 3))
        if self._ground and self._ground.may_move:
            self._plane = self._job.stream("ground_motion", (self.count, 3))

    @property
    def count(self) -> int:
        """How many samples there are."""
        return (self._end - self._start) * self._samples + 1

    @property
    def moves_between(self) -> bool:
        """Whether samples between whole frames are read."""
        return bool(self._pins or self._plane or self._is_activated or self._calms or self._softens or self._winds
                    or self._followed)

    def take(self, i: int) -> None:
        """Read sample `i`, the present time of the scene."""
        frame, sub = self._start + i // self._samples, i % self._samples
        if not sub or self.moves_between:
            self._sample(frame, sub / self._samples, self._pins, self._plane)
        if not sub:
            self._to_object.append(np.linalg.inv(self._evaluation.to_world()))

    def _sample(self, frame: int, subframe: float, pin_stream: ArrayStream | None, plane: ArrayStream | None) -> None:
        if self._is_activated:
            muscle = self._evaluation.evaluated(self._evaluation.object).conjac
            self._activation.append(float(getattr(muscle, fibers.ACTIVATION)))
        if self._calms:
            body = self._evaluation.evaluated(self._evaluation.object).conjac
            self._half_lives.append(float(getattr(body, catalogue.WOBBLE_HALF_LIFE.key)))
        if self._winds:
            self._twists.append(float(getattr(self._evaluation.evaluated(self._evaluation.object).conjac, ropes.TWIST)))
        if self._softens:
            self._stiffness.append(float(getattr(self._evaluation.evaluated(self._evaluation.object).conjac,
                                                 pins.STIFFNESS)))
        for followed in self._followed:
            followed.sample()
        positions = self._evaluation.positions()
        if len(positions) != len(self._rest):
            raise count_changed(self._evaluation, self._start, frame, subframe, (len(self._rest), len(positions)))
        if pin_stream is not None:
            self._pins_move |= not np.array_equal(positions[self._pinned], self._rest[self._pinned])
            self._job.append(pin_stream, positions[self._pinned])
        if plane is not None and self._ground is not None:
            self._job.append(plane, self._ground.follow())

    def pin_motion(self) -> dict[str, str]:
        """Return the fields of scene.json's pin, empty if the pinned region does not move."""
        if not len(self._pinned):
            return {}
        if not self._pins_move:
            self._job.drop("pin_motion")
            return {}
        return {"motion": self._job.path("pin_motion"),
                "motion_vertices": self._job.array("pin_vertices", self._pinned.astype(np.int32))}

    def activation(self) -> dict[str, str]:
        """Return the field of scene.json's body, empty where nothing may have been keyframed."""
        if not self._is_activated:
            return {}
        return {"fiber_activation": self._job.array("fiber_activation", np.clip(self._activation, 0.0, 1.0))}

    def half_life(self) -> dict[str, str]:
        """Return the name of the array with the body's Wobble Half-Life over time, by its key; empty where it has none.
        """
        if not self._calms:
            return {}
        return {catalogue.WOBBLE_HALF_LIFE.key: self._job.array("wobble_half_life", np.maximum(self._half_lives, 0.0))}

    def twist(self) -> dict[str, str]:
        """Return the field of scene.json's rope, empty where it has no keyframes."""
        return {"twist": self._job.array("twist", np.array(self._twists))} if self._winds else {}

    def pin_stiffness(self) -> dict[str, str]:
        """Return the field of scene.json's pin, empty where it has no keyframes."""
        if not self._softens:
            return {}
        least = catalogue.PIN_STIFFNESS.low or 0.0
        return {"stiffness": self._job.array("pin_stiffness", np.maximum(self._stiffness, least))}

    def ground_motion(self) -> dict[str, str]:
        """Return the fields of scene.json's ground, empty if it does not move."""
        if self._ground is None or not self._ground.may_move:
            return {}
        if not self._ground.moves:
            self._job.drop("ground_motion")
            return {}
        return {"motion": self._job.path("ground_motion")}

    def to_object(self) -> dict[str, str]:
        """Return the fields of scene.json's surface: world [m] → object space at each frame."""
        matrices = np.array(self._to_object)
        if np.array_equal(matrices, np.broadcast_to(np.eye(4), matrices.shape)):
            return {}
        return {"to_object": self._job.array("to_object", matrices)}
