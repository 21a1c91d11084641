"""Linear damping at one moment: the matrix D = ∂f/∂v, which a stage holds fixed."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Protocol

import numpy as np

from ..state import Index, Vec
from .elements import Elements
from .kernels import multiply, multiply_one

WHOLE = 1.0e-6  #: of a step: one that is no shorter than that is whole
#: nodes of elements other than tets, (s, 4), and their blocks of D [N s/m], (s, 6, 9)
Between = tuple[Index, Vec]


class DampingLaw(Protocol):
    """How the elements of one body are damped, and its mass."""

    @property
    def share(self) -> float | None:
        """Fraction of their projected K that D of the elements is [s]; None where only `fill` returns D."""

    @property
    def drag(self) -> float:
        """β of the mass damping −β M v [1/s]."""

    def within(self, h: float) -> DampingLaw:
        """Return the law in a step of h seconds, for most laws themselves."""

    def fill(self, x: Vec, time: float, forces: Vec, blocks: Vec) -> None:
        """Write D [N s/m] at positions x (n, 3) [m] and a time [s] as blocks of element pairs like those of K; forces
        are scratch."""


class ShortStepDamping:
    """D of a law, and in steps that were cut short α(t) (1 − h/h₀) times that of another one.

    Steps are cut short where something is hit, and a short one leaves fine ripples that a whole one takes: without
    something in its place they go on, and cut the next step short, too. In an impact on the ground this would take the
    bounce.
    """

    def __init__(self, own: DampingLaw, added: DampingLaw, strength: Callable[[float], float], whole: float) -> None:
        """added: with a stiffness damping of 1 s and no drag. strength: α [s] at a time [s]. whole: h₀ [s]."""
        self.own, self.drag, self.share = own, own.drag, None
        self._added, self._strength, self._whole = added, strength, whole
        self._missing = 0.0  #: 1 − h/h₀
        self._blocks: Vec | None = None  #: of the first

    def within(self, h: float) -> DampingLaw:
        """Return the law in a step of h seconds: itself in a step that was cut short, else its own law."""
        self._missing = 1.0 - h / self._whole
        return self if self._missing > WHOLE else self.own

    def fill(self, x: Vec, time: float, forces: Vec, blocks: Vec) -> None:
        """Write D [N s/m] at positions x (n, 3) [m] and a time [s] as the element blocks; forces (p, 4, 3) are
        scratch."""
        self._added.fill(x, time, forces, blocks)
        blocks *= self._missing * self._strength(time)
        if self.own.share == 0.0:
            return
        if self._blocks is None:
            self._blocks = np.zeros_like(blocks)
        self.own.fill(x, time, forces, self._blocks)
        blocks += self._blocks


@dataclass(frozen=True)
class Damped:
    """D = share K + blocks − drag, negative semi-definite; K = ∂f/∂x is that of the linearisation it belongs to."""

    drag: Vec  #: [kg/s], (n,)
    share: float  #: [s]
    blocks: Vec | None  #: of pairs of corners, as those of K [N s/m], (e, 6, 9)
    node_blocks: Vec | None  #: takes what touches single nodes out of share K again [N s/m], (n, 3, 3)
    _elements: Index
    _tets: Index
    between: Between | None = None

    @property
    def has_blocks(self) -> bool:
        """Whether D is more than a share of K and a drag."""
        return not (self.blocks is None and self.node_blocks is None and self.between is None)

    def drag_rate(self, mass: Vec) -> Vec:
        """Return the drag of each node over its mass [kg], (n,) [1/s]; 0 for obstacles, which have no mass."""
        rate: Vec = np.divide(self.drag, mass, out=np.zeros_like(mass), where=mass > 0.0)
        return rate

    def with_node_blocks(self, node_blocks: Vec) -> Damped:
        """Return D for other blocks of K at single nodes, (n, 3, 3), which stiffness damping alone scales into D."""
        if not self.share:
            return self
        return replace(self, node_blocks=-self.share * node_blocks if node_blocks.any() else None)

    def multiply(self, columns: Vec) -> Vec:
        """The blocks times columns, both (n, 3, c)."""
        out, columns = np.zeros(columns.shape), np.ascontiguousarray(columns)
        if self.blocks is not None:
            self._add(self.blocks, self._elements, self._tets, columns, out)
        if self.between is not None:
            others, blocks = self.between
            self._add(blocks, np.arange(len(others), dtype=np.int32), others, columns, out)
        if self.node_blocks is not None:
            out += self.node_blocks @ columns
        return out

    @staticmethod
    def _add(blocks: Vec, elements: Index, corners: Index, columns: Vec, out: Vec) -> None:
        """Blocks (e, 6, 9) of all these elements (e, 4) times columns (n, 3, c) to out."""
        if columns.shape[2] == 1:
            multiply_one(blocks, corners, columns[:, :, 0], out[:, :, 0])
        else:
            multiply(blocks, elements, corners, columns, out)

    def force(self, v: Vec) -> Vec:
        """(blocks − drag) v, (n, 3) [N], for velocities v (n, 3); D v where there is no share of K."""
        force: Vec = self.multiply(v[:, :, None])[:, :, 0] - self.drag[:, None] * v
        return force


class Damping:
    """Damping of the bodies of a world, and of the elements between them."""

    def __init__(self, laws: Sequence[DampingLaw], elements: Elements, mass: Vec) -> None:
        """laws: one a body; none where no material is damped. mass: (n,) [kg]."""
        self._of_steps, self._elements = laws, elements
        self._every: Index = np.arange(len(elements.tets), dtype=np.int32)
        self._drag = np.zeros(len(mass))
        self._law_of = np.full(len(mass), len(laws), dtype=np.int32)  #: number of each node's law, (n,)
        for number, (law, where) in enumerate(zip(laws, elements.slices)):
            nodes = np.unique(elements.tets[where])
            self._drag[nodes], self._law_of[nodes] = law.drag * mass[nodes], number
        self._blocks: Vec | None = None
        whole = [law.within(math.inf) for law in laws]
        self.may_change = any(one is not law for one, law in zip(whole, laws))  #: from step to step
        self._use(whole)

    def begin(self, h: float, at_ground: Index) -> None:
        """Damp from now on as a step of h seconds does, and bodies of which nodes `at_ground` (k,) touch the ground as
        a whole step."""
        if self.may_change:
            touches = np.zeros(len(self._of_steps) + 1, dtype=bool)
            touches[self._law_of[at_ground]] = True
            self._use([law.within(math.inf if touches[number] else h) for number, law in enumerate(self._of_steps)])

    def _use(self, laws: Sequence[DampingLaw]) -> None:
        self._laws = laws
        shares = {law.share for law in laws} or {0.0}
        self._share = shares.pop() if len(shares) == 1 else None
        self.is_off = self._share == 0.0 and not self._drag.any()  #: whether no material is damped at all

    def of_stiffness(self, node_blocks: Vec, between: Between | None) -> Damped | None:
        """D at the place where K is taken: for nothing, but only where it is one share of K everywhere, else None.

        node_blocks: those of K, (n, 3, 3), which no material damps. between: D of other elements there.
        """
        if self._share is None or (self.is_off and between is None):
            return None
        touched = self._share != 0.0 and node_blocks.any()
        apart: Vec | None = -self._share * node_blocks if touched else None
        return Damped(self._drag, self._share, None, apart, self._every, self._elements.tets, between)

    def at(self, x: Vec, v: Vec, time: float) -> Damped | None:
        """Return D at positions [m] and velocities [m/s], (n, 3), and a time [s], with blocks of its own, which each
        call overwrites; None where nothing is damped."""
        between = self._elements.damp(x, v, time)
        if self.is_off and between is None:
            return None
        if self._share != 0.0:
            if self._blocks is None:
                self._blocks, self._forces = np.zeros((len(self._every), 6, 9)), np.zeros((len(self._every), 4, 3))
            self._elements.activate(time)
            for law, where in zip(self._laws, self._elements.slices):
                law.fill(x, time, self._forces[where], self._blocks[where])
        return Damped(self._drag, 0.0, self._blocks, None, self._every, self._elements.tets, between)
