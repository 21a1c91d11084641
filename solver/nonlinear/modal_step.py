"""A step of condensed velocities with one factor: dynamic unknowns move by their vibration modes, and quasistatic nodes
follow them."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from ..assembly.edges import Edges
from ..assembly.products import Products
from ..coordinates.free_nodes import FreeNodes
from ..linear.interface import NotPositiveDefinite
from ..parts.interface import Evaluate, FixedPointSweeps
from ..parts.stage import NodeStage
from ..state import State, Vec
from .fallback_euler import StageNotConverged

#: sweeps on a factor made at positions, velocities, (n, 3), and a time, with K projected to negative semi-definite
#: where the last argument is true. Raises NotPositiveDefinite
SweepsAt = Callable[[Vec, Vec, float, bool], FixedPointSweeps]

#: f and K v at the end of a step, from positions, velocities, (n, 3), and fields (c, n, 3)
ProductsAt = Callable[[Vec, Vec, Vec], Products]


class ModalStep:
    """Solver of steps of soft bodies with condensed velocities and without contact.

    V of the true stiffness gives the motion of quasistatic nodes; that of the projected one has another inertia.
    """

    #: sweeps on one factor that relax the quasistatic nodes at the end of a step: two would leave a quarter of a slow
    #: oscillation
    max_sweeps = 3
    midpoint = 0.5  #: fraction of the step at which the stiffness is factored
    longest = 0.5  #: largest relative change of an edge in a sweep; energy is checked if the last sweep would exceed it
    converged = 0.01  #: relative change of an edge below which a sweep is the last
    energy_gain = 0.1  #: relative to the kinetic and elastic energy of a step: a larger gain is not rounding
    #: largest number of steps before an indefinite true stiffness is tried again, since each try costs a factor
    max_wait = 15

    def __init__(self, evaluate: Evaluate, mass: Vec, coordinates: FreeNodes, edges: Edges) -> None:
        """evaluate: returns forces and their energy. mass: lumped [kg], (n,). coordinates: of the free nodes. edges: of
        which the strain is measured."""
        self._evaluate, self._mass, self._coordinates, self._edges = evaluate, mass, coordinates, edges
        self.forget()

    def forget(self) -> None:
        """Discard the stored energies, and try the true stiffness in the next step."""
        #: energies of the last positions: time, positions, energy [J]
        self._known_energies: list[tuple[float, Vec, float]] = []
        #: steps in which it is not tried, after the next time that it is indefinite, and from now on
        self._wait_next = self._left = 0

    def solve_stage(self, sweeps_at: SweepsAt, products_at: ProductsAt, stage: NodeStage, start: State) -> State:
        """Return the state at the end of a step. Where the modal motion gains energy, a fallback step replaces it,
        which may end after half of the step. Raises NotPositiveDefinite, and StageNotConverged where the fallback gains
        energy as well."""
        coordinates = self._coordinates
        time = start.time + self.midpoint * stage.h
        midway = coordinates.positions(coordinates.advance(start.q, start.u, self.midpoint * stage.h), time)
        sweeps = self._factor_sweeps(sweeps_at, midway, stage.v_hat, time)
        x, v = self._modal_motion(sweeps, start, stage.h, self.midpoint * stage.h, True)
        change = self._follow(sweeps, products_at, stage.h, x, v)
        if not change < self.longest and self._gains_energy(stage, start, sweeps.force, x, v, stage.time):
            return self._fallback_step(sweeps, sweeps_at, stage, start)
        return self._state(x, v, stage.time, start)

    def _fallback_step(self, sweeps: FixedPointSweeps, sweeps_at: SweepsAt, stage: NodeStage, start: State) -> State:
        """Return the state after a dissipative step of Euler, tried in turn with the present factor of the midpoint,
        with one of the step's start, and with that for half of the step, until one gains no energy. Raises
        StageNotConverged."""
        elapsed = self.midpoint * stage.h
        for fraction in (1.0, 1.0, 0.5):
            time = start.time + fraction * stage.h
            x, v = self._modal_motion(sweeps, start, fraction * stage.h, elapsed, False)
            if not self._gains_energy(stage, start, sweeps.force, x, v, time):
                return self._state(x, v, time, start)
            if elapsed:
                step_start, elapsed = self._coordinates.positions(start.q, start.time), 0.0
                sweeps = sweeps_at(step_start, stage.v_hat, start.time, True)
        raise StageNotConverged("dynamic nodes moved too far")

    def _state(self, x: Vec, v: Vec, time: float, start: State) -> State:
        free = self._coordinates.free
        return State(time, x[free].ravel(), v[free].ravel(), start.memory)

    def _factor_sweeps(self, sweeps_at: SweepsAt, x: Vec, v: Vec, time: float) -> FixedPointSweeps:
        """Return sweeps on the true stiffness where that is definite and was definite in the last step, else on the
        projected one."""
        if self._left:
            self._left -= 1
            return sweeps_at(x, v, time, True)
        try:
            sweeps, self._wait_next = sweeps_at(x, v, time, False), 0
        except NotPositiveDefinite:
            self._left = self._wait_next = min(4 * self._wait_next + 3, self.max_wait)
            return sweeps_at(x, v, time, True)
        return sweeps

    def _modal_motion(self, sweeps: FixedPointSweeps, start: State, h: float, elapsed: float,
                      modal: bool) -> tuple[Vec, Vec]:
        """Return positions and velocities, (n, 3), after h seconds, by a factor `elapsed` seconds after the start."""
        coordinates, free, time = self._coordinates, self._coordinates.free, start.time + h
        moved, v = sweeps.modal_motion(h, elapsed, modal)
        return (coordinates.positions(start.q + moved[free].ravel(), time),
                coordinates.spread(v[free].ravel(), coordinates.kinematic_rate(time)))

    def _follow(self, sweeps: FixedPointSweeps, products_at: ProductsAt, h: float, x: Vec, v: Vec) -> float:
        """Relax the quasistatic nodes in positions and velocities, (n, 3) each, in place; return the relative change of
        an edge by the full change of the last sweep."""
        change = self.longest
        for _ in range(self.max_sweeps):
            corrections = sweeps.compute_quasistatic_correction(products_at(x, v, v[None]))
            sizes = self._edges.largest_change(corrections[0]), h * self._edges.largest_change(corrections[1])
            x += min(1.0, self.longest / max(sizes[0], self.longest)) * corrections[0]
            v += min(1.0, self.longest / max(sizes[1], self.longest)) * corrections[1]
            change = max(sizes)
            if change < self.converged:
                break
        return change

    def _gains_energy(self, stage: NodeStage, start: State, force: Vec, x: Vec, v: Vec, time: float) -> bool:
        """Whether the energy at an end, with positions and velocities (n, 3) at a time, exceeds that at the start plus
        the work of prescribed nodes against forces (n, 3) [N]."""
        step_start = self._coordinates.positions(start.q, start.time)
        before, after = (0.5 * float(self._mass @ np.einsum("na,na->n", w, w)) for w in (stage.v_hat, v))
        stored = self._evaluate_energy(x, time) - self._evaluate_energy(step_start, start.time)
        prescribed = self._coordinates.prescribed
        gain = after - before + stored + float(np.vdot(force[prescribed], (x - step_start)[prescribed]))
        return not gain <= self.energy_gain * (before + after + abs(stored))

    def _evaluate_energy(self, x: Vec, time: float) -> float:
        """Return the energy of positions [J]; a step mostly begins where the last one ended, so the last values are
        cached."""
        for known in self._known_energies:
            if known[0] == time and np.array_equal(known[1], x):
                return known[2]
        energy = self._evaluate(x, time)[1]
        self._known_energies = [*self._known_energies[-2:], (time, x, energy)]
        return energy
