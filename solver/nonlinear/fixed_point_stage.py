"""A stage with condensed velocities, solved by quasi-Newton sweeps on a factor of several stages."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from ..assembly.products import Products
from ..coordinates.free_nodes import FreeNodes
from ..linear.interface import NotPositiveDefinite
from ..parts.interface import FixedPointSweeps
from ..parts.stage import NodeStage
from ..state import Index, State, Vec
from .anderson import DEPTH, Anderson
from .limits import StopRule, remaining
from .problem import NEGLIGIBLE_STEP

#: sweeps on a stage factored at positions and velocities, (n, 3), with K projected to negative semi-definite where the
#: last argument is true. Raises NotPositiveDefinite
SweepsAt = Callable[[Vec, Vec, bool], FixedPointSweeps]

#: f and products with the true K at positions and velocities, (n, 3), of fields (c, n, 3)
ProductsAt = Callable[[Vec, Vec, Vec], Products]


class FixedPointStage:
    """Solver of stages with condensed velocities: a reused factor, its Anderson acceleration, and the nodes'
    accelerations in the last stage."""

    #: sweeps on one factor of a stage: a stage that needs a few more is nearly converged, and another factor costs six
    max_sweeps = 20
    factors = 5  #: largest number of factors of a stage
    #: limits of both with early stopping: more of them seldom converge
    early_sweeps, early_factors = 14, 2
    diverged = 20.0  #: relative to the smallest change so far: a larger change has diverged
    longest = 0.5  #: largest relative change of an edge in a sweep; a longer sweep is clipped to it
    #: relative change of an edge: sweeps that end above it are far from the root, as the true K, definite or nearly so,
    #: overshoots; then the projected one is factored
    near_strain = 0.02
    cut = 4  #: number of clipped sweeps on one factor after which a factor nearer to the root converges sooner

    def __init__(self) -> None:
        self._anderson, self._columns = Anderson(DEPTH), np.zeros((2, 0, 3))
        self.forget()

    def forget(self) -> None:
        """Discard the factor and the history of earlier stages."""
        self._drop()
        self._acceleration: Vec | None = None
        self._indefinite = False  #: whether the true K was indefinite when it was last tried

    def _drop(self) -> None:
        self._anderson.clear()
        self._sweeps: FixedPointSweeps | None = None
        self._p: Vec | None = None

    def _first(self, sweeps_at: SweepsAt, at: Iterate) -> FixedPointSweeps:
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
        """Return the state at the end of a stage with condensed velocities, by the equations of `Coupled`; None where
        the sweeps do not converge.

        start: state at the step's start. base: coordinates at zero rates, (3 f,) [m]. extent: of the body [m].
        """
        v = coordinates.spread(self._predicted_rates(stage, start, coordinates), stage.w)
        at = Iterate.at(stage, coordinates.positions(base, stage.time), coordinates.prescribed, v, self._p)
        for _ in range(self.early_factors if limits.strain_left else self.factors):
            if self._sweeps is None or not self._sweeps.serves(at.x, stage, start, not limits.strain_left):
                self._drop()
                try:
                    is_near = at.strain <= self.near_strain
                    self._sweeps = self._first(sweeps_at, at) if is_near else sweeps_at(at.x, at.v, True)
                except (NotPositiveDefinite, np.linalg.LinAlgError):
                    break
            if self._iterate(at, products_at, stage, limits, extent):
                self._p = at.p
                free = coordinates.free
                after = State(stage.time, at.x[free].ravel(), at.v[free].ravel(), start.memory)
                self._acceleration = (after.u - stage.v_hat[free].ravel()) / (stage.a * stage.h)
                return after
            self._drop()
            if not at.may_converge or at.sweeps >= limits.iterations:
                break
        self.forget()
        return None

    def _iterate(self, at: Iterate, products_at: ProductsAt, stage: NodeStage, limits: StopRule, extent: float) -> bool:
        """Sweep from an iterate, which is updated in place; return whether it converged."""
        assert self._sweeps is not None
        self._anderson.start()
        sizes: list[float] = []
        last, before, cut = 0.0, 0.0, 0
        most = self.early_sweeps if limits.strain_left else self.max_sweeps
        for _ in range(min(most, limits.iterations - at.sweeps)):
            at.sweeps += 1
            v, columns = at.v, self._columns_of(at)
            columns[0], columns[1] = v, at.p
            products = products_at(at.x, v, columns)
            if len(products.contacts) and not self._sweeps.includes_contacts:
                at.may_converge = True  # with a factor that includes contacts
                return False
            change = self._sweeps.change(products, stage)
            size = max(float(np.abs(change[0] + change[1]).max()), float(np.abs(change[1]).max()))
            if not at.goal:
                at.goal = max(limits.tolerance * (size + 1.0e-3 * extent), NEGLIGIBLE_STEP * extent)
            sizes.append(size)
            if not np.isfinite(size) or size > self.diverged * min(sizes):
                return False
            at.strain = strain = self._sweeps.strain(change)
            if strain > self.longest:
                last, before, cut, at.may_converge = 0.0, 0.0, cut + 1, True
                self._anderson.start()
                at.move(at.z + self.longest / strain * change)
                if cut == self.cut:
                    return False
                continue
            at.move(self._anderson.next(at.z.ravel(), change.ravel(), 2 * at.z[0].size))
            at.may_converge = size < sizes[0]
            # a tolerance relative to a large first change would be a large error at the start of the next step
            if remaining(strain, last) <= limits.strain_left if limits.strain_left else _remaining(size,
                                                                                                   before) <= at.goal:
                return True
            last, before = strain, size
        return False

    def _columns_of(self, at: Iterate) -> Vec:
        """Return storage for two fields, (2, n, 3)."""
        if self._columns.shape[1:] != at.z.shape[1:]:
            self._columns = np.zeros((2, *at.z.shape[1:]))
        return self._columns

    def _predicted_rates(self, stage: NodeStage, start: State, coordinates: FreeNodes) -> Vec:
        """Return rates at the stage's end, (3 f,), with the accelerations of the last stage."""
        if self._acceleration is None:
            return start.u
        predicted: Vec = stage.v_hat[coordinates.free].ravel() + stage.a * stage.h * self._acceleration
        return predicted


class Iterate:
    """An iterate of a stage: x − base − b h v, b h v and the auxiliary field p: (3, n, 3) [m], [m], [m s].

    Where positions and velocities are consistent the first is zero, and stays so under linear combinations.
    """

    def __init__(self, base: Vec, z: Vec, seconds: float) -> None:
        self.z, self._base, self._seconds = z, base, seconds
        self.goal = 0.0  #: tolerance of the last sweep's change [m], from that of the first
        self.sweeps = 0  #: sweeps so far
        self.strain = 0.0  #: largest relative change of an edge by the full change of the last sweep
        self.may_converge = False  #: whether a factor made at this iterate may converge

    @classmethod
    def at(cls, stage: NodeStage, base: Vec, prescribed: Index, v: Vec, p: Vec | None) -> Iterate:
        """Return the iterate with velocities v (n, 3) [m/s] and the field p (n, 3) [m s], zero if None. base: positions
        at v = 0 with prescribed nodes at the stage's end, (n, 3) [m]; overwritten."""
        seconds = stage.b * stage.h
        base[prescribed] -= seconds * v[prescribed]
        return cls(base, np.stack([np.zeros_like(v), seconds * v, np.zeros_like(v) if p is None else p]), seconds)

    @property
    def x(self) -> Vec:
        """Return positions (n, 3) [m]."""
        out: Vec = self._base + (self.z[0] + self.z[1])
        return out

    @property
    def v(self) -> Vec:
        """Return velocities (n, 3) [m/s]."""
        out: Vec = self.z[1] / self._seconds
        return out

    @property
    def p(self) -> Vec:
        """Return the auxiliary field p, (n, 3) [m s]."""
        out: Vec = self.z[2]
        return out

    def move(self, z: Vec) -> None:
        """Set the three fields from their values, (3, n, 3) or flat."""
        self.z = z.reshape(self.z.shape)


def _remaining(size: float, last: float) -> float:
    """Return the sum of the changes of further sweeps, if each shrinks by the ratio of the last two, at least a fifth.
    """
    return max(remaining(size, last), 0.25 * size)

