"""One cloth, rope or soft body on projective dynamics, as it is played: pins, hands, ground, colliders."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import cast

import numpy as np

from ..build.constraint_drafts import projective_draft
from ..build.draft_obstacles import touching_nodes
from ..build.fields import Prepared
from ..contact.find.ground import Ground
from ..coordinates.prescribed import OnItsWay, carried
from ..job.folder import Job
from ..meshing.volume import mean_edge
from ..parts.projective.body import ProjectiveBody, TargetRows
from ..state import State, Vec
from ..world.constraint_drafts import FIRM, NEAR
from ..world.interface import StepInputs
from .bumps import planes_before
from .engines.interface import HeldPlace, Hold, Inputs, Report
from .grabbing import REACH, Grabbed, around, strength_of
from .layers import Layer, neighbours
from .leading import leading_of
from .skins import RESTS


class ProjectedBody:
    """A draft on projective dynamics whose pins, ground and colliders are where the artist has them."""

    body: ProjectiveBody

    def __init__(self, job: Job, number: int, prepared: Prepared, report: Report) -> None:
        """number: among the scene's bodies. Raises a ConJacError that names the body."""
        self._report, self._number = report, number
        self._inputs: Inputs | None = None  #: of its last step
        self._leading = leading_of(job).get(number)
        self._hands: dict[int, tuple[Grabbed, int, Vec]] = {}  #: by number; a vertex and where it is from the hand [m]
        self._build(job, prepared)
        self.state = self._draft.initial_state()

    def _build(self, job: Job, prepared: Prepared) -> None:
        self._draft = draft = projective_draft(job, prepared, self._report)
        self.body, self._size = cast(ProjectiveBody, draft.body), draft.shown.size
        draft.touches = None  # colliders are where the artist has them
        self._still = draft.motion.at(0.0)
        draft.motion = self._way = OnItsWay(self._still)
        #: where soft pins are carried, and where that was at the start [m]
        self._soft_pins: list[tuple[OnItsWay, Vec]] = []
        for pins in draft.pulls:
            if pins.is_on_object:
                start = pins.places.at(0.0)
                pins.places = way = OnItsWay(start)
                self._soft_pins.append((way, start))
        self._ground = draft.ground
        self._touching = np.setdiff1d(touching_nodes(prepared), self.body.prescribed)
        self._thickness = prepared.thickness or 0.0
        self._friction = RESTS if prepared.body.friction is None else prepared.body.friction
        self._triangles = prepared.skin if prepared.body.cloth is not None else np.zeros((0, 3), np.int32)
        self._near = neighbours(self._triangles, len(self.body.rest))
        self._edge = mean_edge(self.body.rest, self._triangles) if len(self._triangles) else 0.0
        self._strength = strength_of(float(self.body.mass.sum()), self._size)

    def change(self, job: Job, prepared: Prepared) -> Callable[[], None]:
        """Go on from where it stands with other settings. Returns what takes that back. Raises what its maps raise."""
        before = self.__dict__.copy()
        take_back = lambda: self.__dict__.update(before)  # noqa: E731
        try:
            self._build(job, prepared)
        except Exception:
            take_back()
            raise
        self._hands = {}  # they are taken hold of again where they are
        if len(self.state.q) != 3 * len(self.body.rest):
            self.restart()
        return take_back

    @property
    def places(self) -> Vec:
        """Vertices of the artist's mesh [m], (n, 3)."""
        x, embedding = self._x, self._draft.shown.embedding
        return x if embedding is None else embedding.apply(x)

    @property
    def _x(self) -> Vec:
        return self.state.q.reshape(-1, 3)

    def place(self, inputs: Inputs) -> None:
        """Put it where the object is, before its first step."""
        if self._inputs is None:
            self._inputs = inputs
            self.restart()

    def restart(self) -> None:
        """Back to the start, where the object is now."""
        self._hands = {}
        state = self._draft.initial_state()
        if self._inputs is not None:
            x = carried(self._inputs.carrier(self._number), state.q.reshape(-1, 3))
            x[self.body.prescribed] = self._prescribed(self._inputs)
            state = State(state.time, x.ravel(), state.u, state.memory)
        self.state = state

    def _prescribed(self, inputs: Inputs) -> Vec:
        """Return positions of pinned nodes, (p, 3) [m]."""
        if self._leading is not None and len(inputs.pinned):
            return self._leading.at(self._still, inputs.pinned)
        return carried(inputs.carrier(self._number), self._still)

    @property
    def layer(self) -> Layer:
        """Return it as one of the sheets that meet each other; only cloth has triangles."""
        return Layer(self._near, self._triangles, self._edge, self._thickness, self._x,
                     self.state.u.reshape(-1, 3), self._friction)

    def step(self, h: float, iterations: int, inputs: Inputs, beside: Sequence[TargetRows] = ()) -> None:
        """Move on by h seconds. Raises StepFailed, and is as it was.

        beside: half-spaces of sheets that it meets, whose weights are shares of how firm ground and colliders are."""
        draft, body, before, time = self._draft, self.body, self._inputs or inputs, self.state.time
        self._way.goes(time, h, self._prescribed(before), self._prescribed(inputs))
        for way, start in self._soft_pins:
            way.goes(time, h, *(carried(one.carrier(self._number), start) for one in (before, inputs)))
        x, y, z = inputs.gravity.tolist()
        body.gravity, body.iterations = (x, y, z), iterations
        if inputs.ground is not None and self._ground.is_there:
            draft.ground = Ground(inputs.ground[0], inputs.ground[1], self._ground.friction)
        firm = FIRM * body.diagonal(h)
        rows = [one.weighed(firm[one.nodes]) for one in beside]
        draft.beside = TargetRows.joined([*self._on_colliders(h, inputs, firm), *rows, *self._held_rows()])
        state = draft.attempt(self.state, h, StepInputs())
        self.state, self._inputs = state, inputs

    def _on_colliders(self, h: float, inputs: Inputs, firm: Vec) -> list[TargetRows]:
        """Return half-spaces of nodes that a step of h seconds leads to colliders. firm: weights of nodes [N/m]."""
        if not inputs.bumps:
            return []
        begun = self._x[self._touching]
        end = begun + h * self.state.u.reshape(-1, 3)[self._touching]
        found = planes_before(inputs.bumps, begun, end, h, self._thickness + NEAR * self._size)
        nodes = self._touching[found.points]
        return [TargetRows.touching(nodes, firm[nodes], found.places + self._thickness * found.normals, found.normals,
                                    self._friction, found.speed)]

    def hold(self, grabs: Sequence[Hold], h: float) -> None:
        """Let what is held follow the artist's hand in a step of h seconds."""
        x, places, free = self._x, self.places, self.body.free
        self._hands = {one.id: self._hands[one.id] for one in grabs if one.id in self._hands}
        for one in grabs:
            if one.id not in self._hands:
                nodes, weights = around(x[free], one.start, one.radius or REACH * self._size)
                vertex = int(np.linalg.norm(places - one.start, axis=1).argmin())
                self._hands[one.id] = (Grabbed(free[nodes], weights, x, one.start), vertex,
                                       places[vertex] - one.start)
            self._hands[one.id][0].follow(one.target, one.strength * self._strength, self.state.time, h)

    def _held_rows(self) -> list[TargetRows]:
        """Return springs from nodes to where their mean would be at the hand, as the body is now."""
        return [TargetRows.held(*grabbed.springs_from(self._x)) for grabbed, _, _ in self._hands.values()]

    @property
    def held(self) -> list[HeldPlace]:
        """Return the points that hands hold; vertices are the body's own."""
        return [HeldPlace(key, vertex, grabbed.hand + away, grabbed.stiffness)
                for key, (grabbed, vertex, away) in self._hands.items()]

    def distance(self, place: Vec) -> float:
        """Return how far its nearest vertex is from a place, (3,) [m]."""
        return float(np.linalg.norm(self.places - place, axis=1).min())
