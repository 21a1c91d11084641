"""Live cloth, rope or soft body on projective dynamics, with pins, grabs, ground and colliders."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, cast

import numpy as np

from ..build.constraint_drafts import projective_draft
from ..build.draft_obstacles import touching_nodes
from ..build.fields import Prepared
from ..contact.find.ground import Ground
from ..coordinates.prescribed import StepMotion, transform_points
from ..job.folder import Job
from ..meshing.volume import mean_edge
from ..parts.projective.body import ProjectiveBody, StepSettings, TargetRows
from ..state import State, Vec
from ..world.constraint_drafts import FIRM, NEAR
from .bumps import Clearances, planes_before
from .engines.interface import GrabbedVertex, Hold, Inputs, Report
from .grabbing import Grabbed, around, radius_of, strength_of
from .layers import Layer, neighbours
from .leading import leading_of
from .played import PlayedBody
from .skins import friction_of


class ProjectedBody(PlayedBody):
    """Live body on projective dynamics whose pins, ground and colliders the artist moves."""

    body: ProjectiveBody

    def __init__(self, job: Job, number: int, prepared: Prepared, report: Report) -> None:
        """number: in the scene. report: receives progress. Raises a ConJacError that names the body."""
        self._report, self._number = report, number
        self._inputs: Inputs | None = None  #: those of the last step
        self._leading = leading_of(job).get(number)
        self._hands: dict[int, tuple[Grabbed, int, Vec]] = {}  #: spring, vertex and its offset from the hand [m]
        self._build(job, prepared)
        self.state = self._draft.initial_state()

    def _build(self, job: Job, prepared: Prepared) -> None:
        """Build the draft of projective dynamics, with prescribed motion, soft pins and colliders that the artist
        moves. Raises a ConJacError where the body cannot be built."""
        draft = projective_draft(job, prepared, self._report)
        self.body, self._size = cast(ProjectiveBody, draft.body), draft.shown.size
        self._start = draft.motion.at(0.0)
        self._path = StepMotion(self._start)
        #: motion of the targets of soft pins, and targets at the start, (k, 3) [m]
        self._soft_pins: list[tuple[StepMotion, Vec]] = []
        pulls = list(draft.pulls)
        for k, pins in enumerate(pulls):
            if pins.is_on_object:
                start = pins.targets.at(0.0)
                path = StepMotion(start)
                pulls[k] = pins.towards(path)
                self._soft_pins.append((path, start))
        # the artist moves colliders, which the draft does not know
        self._draft = replace(draft, touches=None, motion=self._path, pulls=pulls,
                              pressures=prepared.own_forces(job, self.body.rest, 0))
        self._ground = self._floor = draft.ground  #: of the scene, and in the present step
        self._touching = np.setdiff1d(touching_nodes(prepared), self.body.prescribed)
        self._thickness = prepared.thickness or 0.0
        self._friction = friction_of(prepared.body.friction)
        triangles = prepared.skin if prepared.kind.is_sheet else np.zeros((0, 3), np.int32)
        edge = mean_edge(self.body.rest, triangles) if len(triangles) else 0.0
        #: sheet for contact with others; only cloth has triangles
        self.layer = Layer(neighbours(triangles, len(self.body.rest)), triangles, len(self.body.rest), edge,
                           self._thickness, self._friction)
        self._clearances = Clearances()
        self._strength = strength_of(float(self.body.mass.sum()), self._size)

    def _continue(self, before: dict[str, Any]) -> None:
        self._hands = {}  # hands grab the body again, where it is now
        if len(self.state.q) != 3 * len(self.body.rest):
            self.restart()

    @property
    def positions(self) -> Vec:
        """Return positions of the vertices of the artist's mesh in world space, (n, 3) [m]."""
        x, embedding = self.x, self._draft.shown.embedding
        return x if embedding is None else embedding.apply(x)

    @property
    def x(self) -> Vec:
        """Return positions of nodes, (n, 3) [m]."""
        return self.state.q.reshape(-1, 3)

    @property
    def v(self) -> Vec:
        """Return velocities of nodes, (n, 3) [m/s]."""
        return self.state.u.reshape(-1, 3)

    def place(self, inputs: Inputs) -> None:
        """Restart the body where its object is, before its first step; do nothing before later ones."""
        if self._inputs is None:
            self._inputs = inputs
            self.restart()

    def restart(self) -> None:
        """Reset the body to its initial state, moved with its object and its pins, and release all grabs."""
        self._hands = {}
        state = self._draft.initial_state()
        if self._inputs is not None:
            x = transform_points(self._inputs.carrier(self._number), state.q.reshape(-1, 3))
            x[self.body.prescribed] = self._compute_prescribed(self._inputs)
            state = State(state.time, x.ravel(), state.u, state.memory)
        self.state = state

    def _compute_prescribed(self, inputs: Inputs) -> Vec:
        """Return positions of pinned nodes, (p, 3) [m]."""
        if self._leading is not None and len(inputs.pinned):
            return self._leading.at(self._start, inputs.pinned)
        return transform_points(inputs.carrier(self._number), self._start)

    def step(self, h: float, iterations: int, inputs: Inputs, contact_rows: Sequence[TargetRows] = ()) -> None:
        """Advance by h seconds in `iterations` iterations. Raises StepFailed; the state is then unchanged.

        contact_rows: half-spaces of other sheets, with weights relative to those of ground and colliders.
        """
        before, time = self._inputs or inputs, self.state.time
        self._path.set_step(time, h, self._compute_prescribed(before), self._compute_prescribed(inputs))
        for path, start in self._soft_pins:
            path.set_step(time, h, *(transform_points(moment.carrier(self._number), start)
                                     for moment in (before, inputs)))
        if inputs.ground is not None and self._ground.exists:
            self._floor = Ground(inputs.ground[0], inputs.ground[1], self._ground.friction)
        stiffness = FIRM * self.body.diagonal(h)
        rows = [rows_of_sheet.scale_weights(stiffness[rows_of_sheet.nodes]) for rows_of_sheet in contact_rows]
        rows = [*self._on_colliders(h, inputs, stiffness), *rows, *self._hand_rows()]
        state = self._draft.step_among(self.state, h, self._floor, TargetRows.join(rows),
                                       StepSettings(inputs.gravity, iterations))
        self.state, self._inputs = state, inputs

    def _on_colliders(self, h: float, inputs: Inputs, stiffness: Vec) -> list[TargetRows]:
        """Return half-spaces for nodes near colliders in a step of h seconds. stiffness: weights of nodes, (n,)
        [N/m]."""
        if not inputs.bumps:
            return []
        step_start = self.x[self._touching]
        end = step_start + h * self.v[self._touching]
        planes = planes_before(inputs.bumps, step_start, end, h, self._thickness + NEAR * self._size, self._clearances)
        nodes = self._touching[planes.points]
        return [TargetRows.touching(nodes, stiffness[nodes], planes.positions + self._thickness * planes.normals,
                                    planes.normals, self._friction, planes.speed)]

    def hold(self, grabs: Sequence[Hold], h: float) -> None:
        """Make grabbed nodes follow the hands of the artist in a step of h seconds; a new grab takes the free nodes
        around its start."""
        x, positions, free = self.x, self.positions, self.body.free
        self._hands = {hold.id: self._hands[hold.id] for hold in grabs if hold.id in self._hands}
        for hold in grabs:
            if hold.id not in self._hands:
                nodes, weights = around(x[free], hold.start, radius_of(hold.radius, self._size))
                vertex = int(np.linalg.norm(positions - hold.start, axis=1).argmin())
                self._hands[hold.id] = (Grabbed(free[nodes], weights, x, hold.start), vertex,
                                       positions[vertex] - hold.start)
            self._hands[hold.id][0].follow(hold.target, hold.strength * self._strength, self.state.time, h)

    def _hand_rows(self) -> list[TargetRows]:
        """Return springs of single nodes that pull the mean of each grab to its hand, from present positions."""
        return [TargetRows.springs(*grabbed.springs_from(self.x)) for grabbed, _, _ in self._hands.values()]

    @property
    def grabbed(self) -> list[GrabbedVertex]:
        """Return the grabbed vertices, numbered within the body, with their targets and stiffness."""
        return [GrabbedVertex(key, vertex, grabbed.hand + away, grabbed.stiffness)
                for key, (grabbed, vertex, away) in self._hands.items()]
