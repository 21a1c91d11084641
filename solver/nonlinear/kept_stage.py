"""A stage with condensed velocities, solved by passes on a factor that serves several stages."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from ..assembly.products import Products
from ..coordinates.free_nodes import FreeNodes
from ..linear.interface import NotPositiveDefinite
from ..parts.interface import StagePasses
from ..parts.stage import NodeStage
from ..state import Index, State, Vec
from .anderson import DEPTH, Anderson
from .limits import StopRule, left
from .problem import SAME_PLACE

#: on one factor in one stage: who needs a few more than the first is nearly there, and another costs six
PASSES = 20
FACTORS = 5  #: in one stage
#: of both where a stage may be given up: what so many do not solve a few more seldom do
SOON_PASSES, SOON = 14, 2
LOST = 20.0  #: times the smallest change so far: a pass that changes so much leads nowhere
#: a pass changes no edge by more than this share of its length; one that would goes so far in its direction
LONGEST = 0.5
#: passes that end while they still change an edge by more than this share of its length lead nowhere near: the true K,
#: definite or not far from where it is not, sends them too far, and the projected one is factored next
ASTRAY = 0.02
CUT = 4  #: passes on one factor that may be cut: then one that is made further on leads on sooner


#: passes on a stage factored at positions and velocities, (n, 3), with K negative semi-definite where the last argument
#: says so. Raises NotPositiveDefinite
PassesAt = Callable[[Vec, Vec, bool], StagePasses]

#: f and products with the true K at positions and velocities, (n, 3), of fields (c, n, 3)
ProductsAt = Callable[[Vec, Vec, Vec], Products]


class KeptStage:
    """The factor, how the passes on it converge, and the accelerations of the last stage."""

    def __init__(self) -> None:
        self._anderson, self._columns = Anderson(DEPTH), np.zeros((2, 0, 3))
        self.forget()

    def forget(self) -> None:
        """The next stage factors anew, and knows nothing of those before."""
        self._drop()
        self._acceleration: Vec | None = None
        self._bent = False  #: whether the true K was not definite where it was asked for last

    def _drop(self) -> None:
        self._anderson.clear()
        self._passes: StagePasses | None = None
        self._p: Vec | None = None

    def _first(self, passes_at: PassesAt, at: Iterate) -> StagePasses:
        """Passes on a factor of the true K, or of the projected one where that has none, or had none the last time:
        to find that out costs as much as a factor."""
        self._bent, was_bent = False, self._bent
        if not was_bent:
            try:
                return passes_at(at.x, at.v, False)
            except NotPositiveDefinite:
                self._bent = True
        return passes_at(at.x, at.v, True)

    def reach(self, passes_at: PassesAt, products_at: ProductsAt, stage: NodeStage, start: State, base: Vec,
              coordinates: FreeNodes, limits: StopRule, extent: float) -> State | None:
        """The state at the end of a stage as `Coupled` does it; None where passes do not lead there.

        base: coordinates at zero rates, (3 f,). extent: of the body [m].
        """
        v = coordinates.spread(self._foreseen(stage, start, coordinates), stage.w)
        at = Iterate.at(stage, coordinates.place(base, stage.time), coordinates.prescribed, v, self._p)
        for _ in range(SOON if limits.strain_left else FACTORS):
            if self._passes is None or not self._passes.serves(at.x, stage, start, not limits.strain_left):
                self._drop()
                try:
                    self._passes = self._first(passes_at, at) if at.strain <= ASTRAY else passes_at(at.x, at.v, True)
                except (NotPositiveDefinite, np.linalg.LinAlgError):
                    break
            if self._iterate(at, products_at, stage, limits, extent):
                self._p = at.p
                free = coordinates.free
                after = State(stage.time, at.x[free].ravel(), at.v[free].ravel(), start.memory)
                self._acceleration = (after.u - stage.v_hat[free].ravel()) / (stage.a * stage.h)
                return after
            self._drop()
            if not at.is_worth_more or at.passes >= limits.iterations:
                break
        self.forget()
        return None

    def _iterate(self, at: Iterate, products_at: ProductsAt, stage: NodeStage, limits: StopRule, extent: float) -> bool:
        """Passes from an iterate on, which is moved; whether they came to their end."""
        assert self._passes is not None
        self._anderson.start()
        sizes: list[float] = []
        last, before, cut = 0.0, 0.0, 0
        most = SOON_PASSES if limits.strain_left else PASSES
        for _ in range(min(most, limits.iterations - at.passes)):
            at.passes += 1
            v, columns = at.v, self._columns_of(at)
            columns[0], columns[1] = v, at.p
            here = products_at(at.x, v, columns)
            if len(here.contacts) and not self._passes.serves_contacts:
                at.is_worth_more = True  # a factor that knows of contacts
                return False
            change = self._passes.change(here, stage)
            size = max(float(np.abs(change[0] + change[1]).max()), float(np.abs(change[1]).max()))
            if not at.goal:
                at.goal = max(limits.tolerance * (size + 1.0e-3 * extent), SAME_PLACE * extent)
            sizes.append(size)
            if not np.isfinite(size) or size > LOST * min(sizes):
                return False
            at.strain = strain = self._passes.strain(change)
            if strain > LONGEST:
                last, before, cut, at.is_worth_more = 0.0, 0.0, cut + 1, True
                self._anderson.start()
                at.move(at.z + LONGEST / strain * change)
                if cut == CUT:
                    return False
                continue
            at.move(self._anderson.next(at.z.ravel(), change.ravel(), 2 * at.z[0].size))
            at.is_worth_more = size < sizes[0]
            # a share of the first change is much where that was large: it harms the next step, which begins from there
            if left(strain, last) <= limits.strain_left if limits.strain_left else _ahead(size, before) <= at.goal:
                return True
            last, before = strain, size
        return False

    def _columns_of(self, at: Iterate) -> Vec:
        """Room for two fields, (2, n, 3)."""
        if self._columns.shape[1:] != at.z.shape[1:]:
            self._columns = np.zeros((2, *at.z.shape[1:]))
        return self._columns

    def _foreseen(self, stage: NodeStage, start: State, coordinates: FreeNodes) -> Vec:
        """Rates at the stage's end, (3 f,), should nodes accelerate as in the last one."""
        if self._acceleration is None:
            return start.u
        foreseen: Vec = stage.v_hat[coordinates.free].ravel() + stage.a * stage.h * self._acceleration
        return foreseen


class Iterate:
    """How far positions are from where velocities bring them, how far these reach, and p: (3, n, 3) [m], [m], [m s].

    Where nodes move as their velocities tell, the first is zero, and stays so whatever is combined.
    """

    def __init__(self, base: Vec, z: Vec, reached: float) -> None:
        self.z, self._base, self._reached = z, base, reached
        self.goal = 0.0  #: the largest change of the last pass [m], from the first one's
        self.passes = 0  #: that it took
        self.strain = 0.0  #: the largest share of its length by which the last pass would have changed an edge
        self.is_worth_more = False  #: whether another factor, made here, may lead to the root

    @classmethod
    def at(cls, stage: NodeStage, base: Vec, prescribed: Index, v: Vec, p: Vec | None) -> Iterate:
        """Where velocities (n, 3) bring it from base, (n, 3), at which prescribed nodes are where the stage ends."""
        reached = stage.b * stage.h
        base[prescribed] -= reached * v[prescribed]
        return cls(base, np.stack([np.zeros_like(v), reached * v, np.zeros_like(v) if p is None else p]), reached)

    @property
    def x(self) -> Vec:
        """(n, 3) [m]."""
        out: Vec = self._base + (self.z[0] + self.z[1])
        return out

    @property
    def v(self) -> Vec:
        """(n, 3) [m/s]."""
        out: Vec = self.z[1] / self._reached
        return out

    @property
    def p(self) -> Vec:
        """(n, 3) [m s]."""
        out: Vec = self.z[2]
        return out

    def move(self, z: Vec) -> None:
        """To flat values."""
        self.z = z.reshape(self.z.shape)


def _ahead(size: float, last: float) -> float:
    """What further passes would change, where none makes less of it than the last two do, or a fifth."""
    return max(left(size, last), 0.25 * size)

