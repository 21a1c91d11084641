"""Reduced soft body for bakes: pins, pulls and colliders move as the job prescribes, without input of an artist."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from ..build.draft_pins import draft_pins
from ..build.fields import Prepared
from ..build.inputs import activation_of, over_time
from ..build.pulls import make_pulls
from ..build.soft_pins import make_soft_pins
from ..coordinates.prescribed import Constant, Transformed
from ..forces.pulls import Pull
from ..job.folder import Job
from ..parts.modes.loads import PointSprings
from ..state import Index, Vec
from .engines.interface import Inputs
from .prescribed_bumps import find_prescribed_bumps
from .reduced import LiveBody


class DraftedBody(LiveBody):
    """Live body of a bake, whose pins, pulls and obstacles move as the job prescribes."""

    def _build(self, job: Job, prepared: Prepared) -> None:
        """Read the job's prescribed nodes, soft pins, pulls and obstacles in addition to the body itself. Raises a
        ConJacError where the body cannot be built."""
        self._prescribed, self._path = draft_pins(job, prepared)
        super()._build(job, prepared)
        order = np.argsort(self._prescribed)
        #: rows of prescribed nodes that belong to each group of pins
        self._rows = [order[np.searchsorted(self._prescribed, nodes, sorter=order)] for nodes in self.body.pins.groups]
        self._softly = make_soft_pins(job, prepared, self.body.subspace.mass)
        self._pulls = self._single_pulls(job, prepared)
        self._obstacles = find_prescribed_bumps(job, prepared.body.touches)

    def _find_pinned_nodes(self, job: Job, prepared: Prepared) -> Index:
        return self._prescribed

    def _single_pulls(self, job: Job, prepared: Prepared) -> list[Pull]:
        """Return the body's pulls, each on the vertex of the artist's mesh nearest to it, like a grab of an artist.
        Raises BadScene where a pull is far from all nodes."""
        make_pulls(job, prepared, self.body.subspace.mass)  # raises BadScene
        positions, pulls = self.displace_mesh(self.body.rest()), []
        for pull in prepared.body.pulls:
            vertex = int(np.argmin(np.linalg.norm(positions - np.array(pull.position), axis=1)))
            position = positions[vertex][None]
            path = Constant(position) if pull.motion is None else Transformed(over_time(job, pull.motion), position)
            strength = None if pull.strength is None else activation_of(job, pull.strength)
            pulls.append(Pull(np.array([vertex], np.int32), np.array([pull.stiffness]), path, strength))
        return pulls

    def _lead(self, carrier: Vec, pinned: Vec) -> Vec:
        return self._pins_at(0.0)

    def _pins_at(self, time: float) -> Vec:
        """Return coordinates of groups of pins at a time [s], (4 g, 3) [m]."""
        positions = self._path.at(time)
        return self.body.pins.lead([positions[rows] for rows in self._rows])

    def _pins_after(self, inputs: Inputs, h: float) -> Vec | None:
        return self._pins_at(self.state.time + h) if self._path.moves else None

    def _springs_after(self, inputs: Inputs, h: float) -> PointSprings | None:
        for pins in self._softly:
            assert self._springs is not None  # they are of the same pins
            _, stiffness, positions = pins.springs_at(self.state.time + h)
            return replace(self._springs, targets=positions, stiffness=stiffness)
        return None

    def step(self, h: float, iterations: int, inputs: Inputs) -> None:
        """Advance by h seconds in contact with the job's obstacles, with its pulls as they are at the step's end.

        inputs: colliders of the artist are replaced by those obstacles. Raises StepFailed where the step fails; the
        state is then unchanged.
        """
        time = self.state.time
        self._grabs = {}
        for key, pull in enumerate(self._pulls):
            if pull.at_work(time + h):
                [vertex], [stiffness], [position] = pull.springs_at(time + h)
                self._grabs[key] = self.body.grab(int(vertex), position, stiffness, self._drag_of(stiffness))
        bumps = tuple(obstacle.in_step(time, h) for obstacle in self._obstacles)
        super().step(h, iterations, replace(inputs, bumps=bumps))
