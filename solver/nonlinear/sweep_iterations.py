"""Iterations of a stage with condensed velocities by sweeps on one factor, with Anderson acceleration."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from ..assembly.products import Products
from ..coordinates.free_nodes import FreeNodes
from ..iteration.protocol import Bound, Exhausted, StageDirections, Stop
from ..parts.interface import FixedPointSweeps
from ..parts.stage import NodeStage
from ..state import Vec
from .anderson import DEPTH, Anderson
from .limits import StopRule, remaining
from .problem import NEGLIGIBLE_STEP

#: f and products with the true K at positions and velocities, (n, 3), of fields (c, n, 3)
ProductsAt = Callable[[Vec, Vec, Vec], Products]


@dataclass(frozen=True)
class SweptStage:
    """Equations of a stage and sweeps on a factor of it."""

    sweeps: FixedPointSweeps
    products_at: ProductsAt
    stage: NodeStage
    columns: Vec  #: storage for two fields, (2, n, 3)


@dataclass(frozen=True)
class SweptIterate:
    """An iterate of a stage: x − base − b h v, b h v and the auxiliary field p: (3, n, 3) [m], [m], [m s].

    Where positions and velocities are consistent the first is zero, and stays so under linear combinations.
    """

    z: Vec  #: the three fields, (3, n, 3)
    base: Vec  #: positions at v = 0, (n, 3) [m]
    seconds: float  #: b h

    @classmethod
    def of(cls, stage: NodeStage, base: Vec, coordinates: FreeNodes, v: Vec, p: Vec | None) -> SweptIterate:
        """Return the iterate with velocities v (n, 3) [m/s] and the field p (n, 3) [m s], zero if None. base: positions
        at v = 0 with prescribed nodes at the stage's end, (n, 3) [m]; overwritten."""
        seconds, prescribed = stage.b * stage.h, coordinates.prescribed
        base[prescribed] -= seconds * v[prescribed]
        return cls(np.stack([np.zeros_like(v), seconds * v, np.zeros_like(v) if p is None else p]), base, seconds)

    @property
    def x(self) -> Vec:
        """Return positions (n, 3) [m]."""
        out: Vec = self.base + (self.z[0] + self.z[1])
        return out

    @property
    def v(self) -> Vec:
        """Return velocities (n, 3) [m/s]."""
        out: Vec = self.z[1] / self.seconds
        return out

    @property
    def p(self) -> Vec:
        """Return the auxiliary field p, (n, 3) [m s]."""
        out: Vec = self.z[2]
        return out

    def move_to(self, z: Vec) -> SweptIterate:
        """Return the iterate with three other fields, (3, n, 3) or flat."""
        return SweptIterate(z.reshape(self.z.shape), self.base, self.seconds)


@dataclass(frozen=True)
class Sweep:
    """The change by one sweep."""

    change: Vec  #: of the three fields, (3, n, 3)
    size: float  #: largest change of a coordinate [m]
    strain: float  #: largest relative change of an edge


@dataclass(frozen=True)
class SweepStep:
    """A step by one sweep."""

    after: SweptIterate
    direction: Sweep
    is_full: bool  #: whether the sweep was not clipped


class AcceleratedSweeps(Bound[SweptStage, SweptIterate, Sweep, SweepStep]):
    """Bound that clips long sweeps, and else combines them by Anderson acceleration."""

    longest = 0.5  #: largest relative change of an edge in a sweep; a longer sweep is clipped to it

    def __init__(self) -> None:
        self._anderson = Anderson(DEPTH)

    def clear(self) -> None:
        """Discard the differences of sweeps on earlier factors."""
        self._anderson.clear()

    def start(self) -> None:
        """Begin another stage on the present factor."""
        self._anderson.start()

    def step_along(self, problem: SweptStage, at: SweptIterate, direction: Sweep) -> SweepStep:
        """Return the step by a sweep."""
        change = direction.change
        if direction.strain > self.longest:
            self._anderson.start()
            return SweepStep(at.move_to(at.z + self.longest / direction.strain * change), direction, False)
        z = self._anderson.next(at.z.ravel(), change.ravel(), 2 * at.z[0].size)
        return SweepStep(at.move_to(z), direction, True)


class SweepIterations(StageDirections[SweptStage, SweptIterate, SweepStep, Sweep], Stop[SweepStep]):
    """Directions and stop rule of the sweeps of one stage, which may need several factors."""

    diverged = 20.0  #: relative to the smallest change so far: a larger change has diverged
    cut = 4  #: number of clipped sweeps on one factor after which a factor nearer to the root converges sooner

    def __init__(self, limits: StopRule, extent: float) -> None:
        """extent: of the body [m]."""
        self._limits, self._extent = limits, extent
        self._goal = 0.0  #: tolerance of a sweep's change [m], from that of the stage's first sweep
        self.strain = 0.0  #: largest relative change of an edge by the whole change of the last sweep
        self.may_converge = False  #: whether a factor made at the last iterate may converge
        self.start()

    def start(self) -> None:
        """Begin sweeps on another factor."""
        self._sizes: list[float] = []
        self._last_strain = self._last_size = 0.0
        self._cut = 0

    def find(self, problem: SweptStage, at: SweptIterate, last: SweepStep | None) -> Sweep:
        """Return the change by a sweep. Raises Exhausted where it has diverged, and where contacts are not in the
        factor."""
        v, columns = at.v, problem.columns
        columns[0], columns[1] = v, at.p
        products = problem.products_at(at.x, v, columns)
        if len(products.contacts) and not problem.sweeps.includes_contacts:
            self.may_converge = True  # with a factor that includes contacts
            raise Exhausted
        change = problem.sweeps.change(products, problem.stage)
        size = max(float(np.abs(change[0] + change[1]).max()), float(np.abs(change[1]).max()))
        if not self._goal:
            self._goal = max(self._limits.tolerance * (size + 1.0e-3 * self._extent), NEGLIGIBLE_STEP * self._extent)
        self._sizes.append(size)
        if not np.isfinite(size) or size > self.diverged * min(self._sizes):
            raise Exhausted
        self.strain = problem.sweeps.strain(change)
        return Sweep(change, size, self.strain)

    def is_done(self, step: SweepStep) -> bool:
        """Whether the changes of further sweeps are small enough. Raises Exhausted where too many sweeps on this factor
        were clipped."""
        size, strain = step.direction.size, step.direction.strain
        if not step.is_full:
            self._last_strain = self._last_size = 0.0
            self._cut, self.may_converge = self._cut + 1, True
            if self._cut == self.cut:
                raise Exhausted
            return False
        self.may_converge = size < self._sizes[0]
        strain_left = self._limits.strain_left
        # a tolerance relative to a large first change would be a large error at the start of the next step
        done = (remaining(strain, self._last_strain) <= strain_left if strain_left
                else _remaining(size, self._last_size) <= self._goal)
        self._last_strain, self._last_size = strain, size
        return done


def _remaining(size: float, last: float) -> float:
    """Return the sum of the changes of further sweeps, if each shrinks by the ratio of the last two, at least a fifth.
    """
    return max(remaining(size, last), 0.25 * size)
