"""Parts of a world in Play Live: motion of their prescribed nodes by the artist, and grabs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from ..coordinates.prescribed import StepMotion, transform_points
from ..forces.springs import Springs
from ..integrators.sdirk import SSDIRK2
from ..integrators.semi_implicit import SemiImplicit
from ..state import State, Vec
from ..world.joints_part import JointsPart
from ..world.nodes_part import NodesPart
from .engines.interface import Hold, Inputs
from .grabbing import Grabbed, around, radius_of, strength_of
from .leading import Leading

ANGULAR_FREQUENCY = 2.0 * np.pi * 2.0  #: of a whole mechanism that hangs on a hand of strength 1 [rad/s]


class LiveNodes:
    """Live input of a part of soft bodies, cloth and ropes: motion of prescribed nodes, soft pins and grabs."""

    def __init__(self, part: NodesPart, numbers: dict[str, int], obstacles: Sequence[str],
                 leading: Mapping[int, Leading]) -> None:
        """part: its motion and pulls are replaced. numbers: of the scene's bodies by name. obstacles: names of the
        scene's obstacles. leading: vertices that bones move, by number of the body."""
        self.part, self._leading = part, leading
        coordinates = part.coordinates
        self._motion, start_positions = coordinates.motion, coordinates.where_prescribed(0.0)
        own = coordinates.prescribed[:len(start_positions)]
        self._bodies = np.array([numbers[shown.name] for shown in part.bodies_in_world])
        #: number of the body and of the obstacle whose object carries each prescribed node; -1: none
        self._body, self._obstacle = np.full(len(own), -1), np.full(len(own), -1)
        for number, body in zip(self._bodies, part.bodies_in_world):
            self._body[(own >= body.nodes.start) & (own < body.nodes.stop)] = number
        for obstacle in part.obstacles:
            if obstacle.name in obstacles:
                self._obstacle[(own >= obstacle.nodes.start) & (own < obstacle.nodes.stop)] = obstacles.index(
                    obstacle.name)
        self._path = StepMotion(start_positions)
        coordinates.follow(self._path)
        self._start = start_positions
        #: soft pins: number of the body, motion of their targets, and targets at the start, (k, 3) [m]
        self._soft_pins: list[tuple[int, StepMotion, Vec]] = []
        pulls = list(part.pulls)
        for k, pins in enumerate(pulls):
            if pins.is_on_object:
                number = next(int(number) for number, body in zip(self._bodies, part.bodies_in_world)
                              if body.nodes.start <= pins.nodes[0] < body.nodes.stop)
                start = pins.targets.at(0.0)
                path = StepMotion(start)
                pulls[k] = pins.towards(path)
                self._soft_pins.append((number, path, start))
        self._pulls = pulls
        self._all_pulls = [*pulls]  # one list, shared by all variants of the part
        part.exchange_pulls(self._all_pulls)
        #: variants of the part by integrator; a part of a coupling is stepped by the coupling
        # impacts on the ground are solved in converged stages, and linearised in linearised ones
        self._variants: list[NodesPart] = [part, *(part.with_integrator(integrator, None)
                                                   for integrator in (SSDIRK2({}), SemiImplicit({})))]
        self._chosen = 0
        self.holds: dict[int, tuple[int, Grabbed]] = {}  #: grabbed body in the part and spring, by number of the hand

    def move_to_objects(self, state: State, inputs: Inputs) -> State:
        """Return the initial state with bodies moved to where their objects are. state: initial state of the part."""
        x = state.q.reshape(-1, 3).copy()
        free = self.part.coordinates.free
        for number, body in zip(self._bodies, self.part.bodies_in_world):
            own = (free >= body.nodes.start) & (free < body.nodes.stop)
            matrix = inputs.carrier(int(number))
            x[own] = x[own] @ matrix[:3, :3].T + matrix[:3, 3]
        at = self._compute_prescribed(0.0, inputs)
        self._path.set_step(0.0, 1.0, at, at)
        return replace(state, q=x.ravel())

    def _compute_prescribed(self, time: float, inputs: Inputs) -> Vec:
        """Return positions of prescribed nodes at a time [s], (p, 3) [m]."""
        positions: Vec = np.array(self._start if self._motion is None else self._motion.at(time))
        moved = [(self._body == number, inputs.carrier(int(number))) for number in np.unique(self._bodies)]
        moved += [(self._obstacle == bump.number, bump.matrix) for bump in inputs.bumps]
        for own, matrix in moved:
            if own.any():
                positions[own] = positions[own] @ matrix[:3, :3].T + matrix[:3, 3]
        for number, leading in self._leading.items():
            own = self._body == number
            if len(inputs.pinned) and own.any():
                positions[own] = leading.at(self._start[own], inputs.pinned)
        return positions

    def prepare(self, time: float, h: float, before: Inputs, inputs: Inputs) -> None:
        """Set prescribed motion, targets of soft pins and gravity for a step of h seconds from `time` [s] on.

        before, inputs: inputs at the start and at the end of the step, between which motion is linear.
        """
        self._path.set_step(time, h, self._compute_prescribed(time, before), self._compute_prescribed(time + h, inputs))
        for number, targets, start in self._soft_pins:
            targets.set_step(time, h, *(transform_points(moment.carrier(number), start) for moment in (before, inputs)))
        if not np.array_equal(self.part.gravity, inputs.gravity):
            self.part.weigh(inputs.gravity)

    def choose(self, variant: int) -> bool:
        """Select the integrator of the part and return whether it has changed.

        variant: 0 for that of the job, 1 for linearised SSDIRK2, 2 for linearised semi-implicit Euler.
        """
        changed, self._chosen = variant != self._chosen, variant
        self.part = self._variants[variant]
        return changed

    def positions(self, state: State) -> Vec:
        """Return positions of all nodes in a state of the part, (n, 3) [m]."""
        return self.part.coordinates.positions(state.q, state.time, state.carrier_motion)

    def vertices(self, x: Vec, number: int) -> Vec:
        """Return positions of the vertices of one body, (v, 3) [m].

        x: positions of all nodes, (n, 3) [m]. number: index of the body in the part.
        """
        body = self.part.bodies_in_world[number]
        own = x[body.nodes]
        return own if body.embedding is None else body.embedding.apply(own)

    def distance(self, x: Vec, hold: Hold) -> float:
        """Return the distance from a hand to the nearest node of a body [m]. x: positions of all nodes, (n, 3) [m]."""
        last = max(body.nodes.stop for body in self.part.bodies_in_world)
        return float(np.linalg.norm(x[:last] - hold.start, axis=1).min())

    def hold(self, grabs: Sequence[Hold], x: Vec, time: float, h: float) -> None:
        """Make grabbed nodes follow the hands in a step of h seconds from `time` [s] on.

        x: positions of all nodes at the start of the step, (n, 3) [m].
        """
        present = {hold.id for hold in grabs}
        self.holds = {key: grab for key, grab in self.holds.items() if key in present}
        for hold in grabs:
            if hold.id not in self.holds:
                self.holds[hold.id] = self._take(hold, x)
            number, grabbed = self.holds[hold.id]
            body = self.part.bodies_in_world[number]
            stiffness = hold.strength * strength_of(float(self.part.mass[body.nodes].sum()), body.size)
            grabbed.follow(hold.target, stiffness, time, h)
        self._all_pulls[:] = [*self._pulls, *(grabbed for _, grabbed in self.holds.values())]

    def _take(self, hold: Hold, x: Vec) -> tuple[int, Grabbed]:
        """Return the body in the part whose node is nearest to a hand, and a spring from its free nodes around the
        hand. x: positions of all nodes, (n, 3) [m]."""
        free, bodies = self.part.coordinates.free, self.part.bodies_in_world
        number = min(range(len(bodies)), key=lambda k: float(
            np.linalg.norm(x[bodies[k].nodes] - hold.start, axis=1).min()))
        own = free[(free >= bodies[number].nodes.start) & (free < bodies[number].nodes.stop)]
        if not len(own):  # no node of the body is free
            own = free
        nodes, weights = around(x[own], hold.start, radius_of(hold.radius, bodies[number].size))
        return number, Grabbed(own[nodes], weights, x, hold.start)

    def release(self) -> None:
        """Release all grabs."""
        self.holds.clear()
        self._all_pulls[:] = self._pulls


class LiveJoints:
    """Live input of a part of jointed rigid bodies: gravity, and damped springs from grabbed points to hands."""

    def __init__(self, part: JointsPart) -> None:
        self._part, self._springs = part, part.condensation.springs
        self.holds: list[int] = []  #: numbers of the hands
        self._mass: Vec = part.tree.inertia[:, 5, 5]

    def prepare(self, inputs: Inputs) -> None:
        """Set gravity for the next step."""
        self._part.condensation.weigh(inputs.gravity)

    def hold(self, grabs: Sequence[Hold], state: State) -> None:
        """Set the springs that pull grabbed rigid bodies to the targets of the hands.

        grabs: hands on rigid bodies; those on bodies of other parts are ignored. state: of this part.
        """
        grabs = [hold for hold in grabs if self._part.shown.body[hold.rigid] >= 0]
        if self.holds != [hold.id for hold in grabs]:
            self._take(grabs, state)
        springs, first = self._part.condensation.springs, len(self._springs)
        for row, hold in enumerate(grabs, first):
            stiffness = hold.strength * float(self._mass.sum()) * ANGULAR_FREQUENCY**2
            springs.pull(row, hold.target, stiffness, float(np.sqrt(stiffness * self._mass[springs.body[row, 1]])))

    def _take(self, grabs: Sequence[Hold], state: State) -> None:
        """Replace the springs of the part by its own and one for each hand; a hand that has grabbed already keeps its
        point of the body."""
        tree, springs, present = self._part.tree, self._springs, self._part.condensation.springs
        at = tree.posture(state.q, state.u, state.memory, self._part._postures[1]).E
        known = {key: row for row, key in enumerate(self.holds, len(springs))}
        bodies, points = [], []
        for hold in grabs:
            body = int(self._part.shown.body[hold.rigid])
            own = np.linalg.inv(at[body]) @ [*hold.start, 1.0]
            bodies.append([-1, body])
            points.append([hold.target, present.point[known[hold.id], 1] if hold.id in known else own[:3]])
        count = len(grabs)
        self._part.exchange_springs(Springs(
            np.concatenate([springs.body, np.array(bodies, np.int32).reshape(-1, 2)]),
            np.concatenate([springs.point, np.array(points).reshape(-1, 2, 3)]),
            np.concatenate([springs.law, np.zeros((count, 3))]), tree.parent))
        self.holds = [hold.id for hold in grabs]

    def release(self) -> None:
        """Release all grabs."""
        self.holds = []
        self._part.exchange_springs(self._springs)
