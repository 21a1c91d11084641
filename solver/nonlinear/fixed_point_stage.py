"""A stage with condensed velocities, solved by quasi-Newton sweeps on a factor of several stages."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from ..coordinates.free_nodes import FreeNodes
from ..iteration.iterate import iterate
from ..linear.interface import NotPositiveDefinite
from ..parts.interface import FixedPointSweeps
from ..parts.stage import NodeStage
from ..state import State, Vec
from .limits import StopRule
from .sweep_iterations import AcceleratedSweeps, ProductsAt, SweepIterations, SweptIterate, SweptStage

#: sweeps on a stage factored at positions and velocities, (n, 3), with K projected to negative semi-definite where the
#: last argument is true. Raises NotPositiveDefinite
SweepsAt = Callable[[Vec, Vec, bool], FixedPointSweeps]


class FixedPointStage:
    """Solver of stages with condensed velocities: a reused factor, its Anderson acceleration, and the nodes'
    accelerations in the last stage."""

    #: sweeps on one factor of a stage: a stage that needs a few more is nearly converged, and another factor costs six
    max_sweeps = 20
    factors = 5  #: largest number of factors of a stage
    #: limits of both with early stopping: more of them seldom converge
    early_sweeps, early_factors = 14, 2
    #: relative change of an edge: sweeps that end above it are far from the root, as the true K, definite or nearly so,
    #: overshoots; then the projected one is factored
    near_strain = 0.02

    def __init__(self) -> None:
        self._accelerated, self._columns = AcceleratedSweeps(), np.zeros((2, 0, 3))
        self.forget()

    def forget(self) -> None:
        """Discard the factor and the history of earlier stages."""
        self._drop()
        self._acceleration: Vec | None = None
        self._indefinite = False  #: whether the true K was indefinite when it was last tried

    def _drop(self) -> None:
        self._accelerated.clear()
        self._sweeps: FixedPointSweeps | None = None
        self._p: Vec | None = None

    def _first(self, sweeps_at: SweepsAt, at: SweptIterate) -> FixedPointSweeps:
        """Return sweeps on a factor of the true K, or of the projected one where the true one is indefinite or was so
        last, which only a factorization shows."""
        self._indefinite, was_indefinite = False, self._indefinite
        if not was_indefinite:
            try:
                return sweeps_at(at.x, at.v, False)
            except NotPositiveDefinite:
                self._indefinite = True
        return sweeps_at(at.x, at.v, True)

    def solve_stage(self, sweeps_at: SweepsAt, products_at: ProductsAt, stage: NodeStage, start: State, base: Vec,
                    coordinates: FreeNodes, limits: StopRule, extent: float) -> State | None:
        """Return the state at the end of a stage with condensed velocities, as `solve_condensed` solves it; None where
        the sweeps do not converge.

        start: state at the step's start. base: coordinates at zero rates, (3 f,) [m]. extent: of the body [m].
        """
        v = coordinates.spread(self._predict_rates(stage, start, coordinates), stage.w)
        at = SweptIterate.of(stage, coordinates.positions(base, stage.time), coordinates, v, self._p)
        iterations, count = SweepIterations(limits, extent), 0
        if self._columns.shape[1:] != v.shape:
            self._columns = np.zeros((2, *v.shape))
        most = self.early_sweeps if limits.strain_left else self.max_sweeps
        for _ in range(self.early_factors if limits.strain_left else self.factors):
            if self._sweeps is None or not self._sweeps.serves(at.x, stage, start, not limits.strain_left):
                self._drop()
                try:
                    is_near = iterations.strain <= self.near_strain
                    self._sweeps = self._first(sweeps_at, at) if is_near else sweeps_at(at.x, at.v, True)
                except (NotPositiveDefinite, np.linalg.LinAlgError):
                    break
            iterations.start()
            self._accelerated.start()
            swept = SweptStage(self._sweeps, products_at, stage, self._columns)
            end = iterate(swept, at, iterations, self._accelerated, iterations, min(most, limits.iterations - count))
            at, count = end.at, count + end.count
            if end.has_converged:
                self._p = at.p
                return self._end(at, stage, start, coordinates)
            self._drop()
            if not iterations.may_converge or count >= limits.iterations:
                break
        self.forget()
        return None

    def _end(self, at: SweptIterate, stage: NodeStage, start: State, coordinates: FreeNodes) -> State:
        """Return the state at the last iterate, with whose accelerations the next stage begins."""
        free = coordinates.free
        after = State(stage.time, at.x[free].ravel(), at.v[free].ravel(), start.memory)
        self._acceleration = (after.u - stage.v_hat[free].ravel()) / (stage.a * stage.h)
        return after

    def _predict_rates(self, stage: NodeStage, start: State, coordinates: FreeNodes) -> Vec:
        """Return rates at the stage's end, (3 f,), with the accelerations of the last stage."""
        if self._acceleration is None:
            return start.u
        predicted: Vec = stage.v_hat[coordinates.free].ravel() + stage.a * stage.h * self._acceleration
        return predicted
