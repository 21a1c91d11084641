"""A step of condensed velocities that takes one factor: dynamic unknowns swing by their own modes, the rest follows."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from ..assembly.edges import Edges
from ..assembly.products import Products
from ..coordinates.free_nodes import FreeNodes
from ..linear.interface import NotPositiveDefinite
from ..parts.interface import Evaluate, StagePasses
from ..parts.stage import NodeStage
from ..state import State, Vec
from .calm import GaveUp

PASSES = 3  #: on that factor, until what follows does so where the step ends: two leave a quarter of a slow swing
MIDWAY = 0.5  #: share of the step after which it is factored
#: of an edge's length, by which a pass changes it at most: where the last one would change more, energy is asked
LONGEST = 0.5
SETTLED = 0.01  #: of an edge's length: a pass that changes none by so much is the last
GAIN = 0.1  #: of the energy that a step stirs: more than so much is not gained by rounding the corner
MOST = 15  #: steps in which the true stiffness is not tried after it was not definite: that costs a factor

#: passes on a factor made at positions, velocities, (n, 3), and a time, with K negative semi-definite where the last
#: argument says so. Raises NotPositiveDefinite
PassesAt = Callable[[Vec, Vec, float, bool], StagePasses]

#: f and K v where a step ends, from positions, velocities, (n, 3), and fields (c, n, 3)
ProductsAt = Callable[[Vec, Vec, Vec], Products]


class Swings:
    """Steps of soft bodies in which nothing touches.

    V of the true stiffness is how what is quasistatic follows; that of the projected one has another inertia.
    """

    def __init__(self, evaluate: Evaluate, mass: Vec, coordinates: FreeNodes, edges: Edges) -> None:
        """mass: lumped [kg], (n,)."""
        self._evaluate, self._mass, self._coordinates, self._edges = evaluate, mass, coordinates, edges
        self.forget()

    def forget(self) -> None:
        """The true stiffness is tried in the next step."""
        self._wait = self._left = 0  #: steps in which it is not tried, after it was not definite last, and from now on

    def reach(self, passes_at: PassesAt, products_at: ProductsAt, stage: NodeStage, start: State) -> State:
        """The state at a step's end; calmed, from the body as it stands, where a swing gains energy. Raises
        NotPositiveDefinite, and GaveUp where that does so, too."""
        for ahead in (MIDWAY, 0.0):
            after = self._tried(passes_at, products_at, stage, start, ahead)
            if after is not None:
                return after
        raise GaveUp("dynamic nodes swung too far")

    def _factored(self, passes_at: PassesAt, x: Vec, v: Vec, time: float) -> StagePasses:
        """Of the true stiffness where that is definite and was so before."""
        if self._left:
            self._left -= 1
            return passes_at(x, v, time, True)
        try:
            passes, self._wait = passes_at(x, v, time, False), 0
        except NotPositiveDefinite:
            self._left = self._wait = min(4 * self._wait + 3, MOST)
            return passes_at(x, v, time, True)
        return passes

    def _tried(self, passes_at: PassesAt, products_at: ProductsAt, stage: NodeStage, start: State,
               ahead: float) -> State | None:
        """The end of a step that is factored a share of it after its start; None where it gains energy."""
        coordinates, h, free = self._coordinates, stage.h, self._coordinates.free
        time = start.time + ahead * h
        midway = coordinates.place(coordinates.advance(start.q, start.u, ahead * h), time)
        passes = (self._factored(passes_at, midway, stage.v_hat, time) if ahead
                  else passes_at(midway, stage.v_hat, time, True))
        moved, v = passes.swung(ahead, ahead > 0.0)
        x = coordinates.place(start.q + moved[free].ravel(), stage.time)
        v = coordinates.spread(v[free].ravel(), coordinates.kinematic_rate(stage.time))
        change = LONGEST
        for _ in range(PASSES if ahead else 0):
            lacks = passes.followed(products_at(x, v, v[None]))
            sizes = self._edges.largest_change(lacks[0]), h * self._edges.largest_change(lacks[1])
            x += min(1.0, LONGEST / max(sizes[0], LONGEST)) * lacks[0]
            v += min(1.0, LONGEST / max(sizes[1], LONGEST)) * lacks[1]
            change = max(sizes)
            if change < SETTLED:
                break
        after = State(stage.time, x[free].ravel(), v[free].ravel(), start.memory)
        return None if not change < LONGEST and self._gains(stage, start, passes.force, x, v) else after

    def _gains(self, stage: NodeStage, start: State, force: Vec, x: Vec, v: Vec) -> bool:
        """Whether there is more energy at an end, (n, 3) each, than there was, and than what moves prescribed nodes
        against forces, (n, 3) [N], has done."""
        begun = self._coordinates.place(start.q, start.time)
        before, after = (0.5 * float(self._mass @ np.einsum("na,na->n", w, w)) for w in (stage.v_hat, v))
        stored = self._evaluate(x, v, stage.time)[1] - self._evaluate(begun, stage.v_hat, start.time)[1]
        held = self._coordinates.prescribed
        gain = after - before + stored + float(np.vdot(force[held], (x - begun)[held]))
        return not gain <= GAIN * (before + after + abs(stored))
