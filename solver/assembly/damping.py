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
    """Protocol of the damping of one body's elements, and of its mass damping."""

    @property
    def stiffness_damping(self) -> float | None:
        """Return α [s] where the elements' D is α times their projected K; None where only `fill` computes D."""

    @property
    def drag(self) -> float:
        """Return the coefficient β of the mass damping −β M v [1/s]."""

    def within(self, h: float) -> DampingLaw:
        """Return the law for a step of h seconds, which is this law for most laws."""

    def fill(self, x: Vec, time: float, forces: Vec, blocks: Vec) -> None:
        """Write D [N s/m] at positions x (n, 3) [m] and a time [s] to blocks (e, 6, 9) of element pairs, like those of
        K; forces (e, 4, 3) are scratch."""


class ShortStepDamping:
    """Damping law that adds, in steps that were cut short, α(t) (1 − h/h₀) times the D of a second law to its own D.

    Steps are cut short at impacts, and a short step leaves fine ripples that a whole step dissipates: without this
    damping they persist and cut the next step short, too. In an impact on the ground it would dissipate the bounce; see
    Damping.begin.
    """

    def __init__(self, own: DampingLaw, added: DampingLaw, strength: Callable[[float], float], whole: float) -> None:
        """own: law of whole steps. added: law with a stiffness damping of 1 s and no drag. strength: α [s] at a time
        [s]. whole: length h₀ of a whole step [s]."""
        self.own, self.drag, self.stiffness_damping = own, own.drag, None
        self._added, self._strength, self._whole = added, strength, whole
        self._missing = 0.0  #: 1 − h/h₀
        self._blocks: Vec | None = None  #: of D of the own law

    def within(self, h: float) -> DampingLaw:
        """Return the law for a step of h seconds: this law in a step that was cut short, else its own law of whole
        steps."""
        self._missing = 1.0 - h / self._whole
        return self if self._missing > WHOLE else self.own

    def fill(self, x: Vec, time: float, forces: Vec, blocks: Vec) -> None:
        """Write D [N s/m] at positions x (n, 3) [m] and a time [s] to blocks (e, 6, 9) of element pairs, like those of
        K; forces (e, 4, 3) are scratch."""
        self._added.fill(x, time, forces, blocks)
        blocks *= self._missing * self._strength(time)
        if self.own.stiffness_damping == 0.0:
            return
        if self._blocks is None:
            self._blocks = np.zeros_like(blocks)
        self.own.fill(x, time, forces, self._blocks)
        blocks += self._blocks


@dataclass(frozen=True)
class Damped:
    """Damping matrix D = α K + blocks − drag, negative semi-definite; K = ∂f/∂x is that of the linearisation it belongs
    to."""

    drag: Vec  #: [kg/s], (n,)
    stiffness_damping: float  #: α [s]
    blocks: Vec | None  #: of pairs of corners, as those of K [N s/m], (e, 6, 9)
    node_blocks: Vec | None  #: removes the blocks of single nodes from α K [N s/m], (n, 3, 3)
    _elements: Index
    _tets: Index
    between: Between | None = None

    @property
    def has_blocks(self) -> bool:
        """Whether D has terms other than α K and the drag."""
        return not (self.blocks is None and self.node_blocks is None and self.between is None)

    def drag_rate(self, mass: Vec) -> Vec:
        """Return the drag of each node over its mass [kg], (n,) [1/s]; 0 for obstacles, which have no mass."""
        rate: Vec = np.divide(self.drag, mass, out=np.zeros_like(mass), where=mass > 0.0)
        return rate

    def with_node_blocks(self, node_blocks: Vec) -> Damped:
        """Return D for other blocks of K at single nodes, (n, 3, 3) [N/m], which α K contains and D must not."""
        if not self.stiffness_damping:
            return self
        return replace(self, node_blocks=-self.stiffness_damping * node_blocks if node_blocks.any() else None)

    def multiply(self, columns: Vec) -> Vec:
        """Return the blocks of D, without α K and drag, times columns, both (n, 3, c)."""
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
        """Add blocks (e, 6, 9) of elements with these corners (e, 4), times columns (n, 3, c), to `out`."""
        if columns.shape[2] == 1:
            multiply_one(blocks, corners, columns[:, :, 0], out[:, :, 0])
        else:
            multiply(blocks, elements, corners, columns, out)

    def force(self, v: Vec) -> Vec:
        """Return (blocks − drag) v, (n, 3) [N], for velocities v (n, 3) [m/s]; this is D v where α is 0."""
        force: Vec = self.multiply(v[:, :, None])[:, :, 0] - self.drag[:, None] * v
        return force


class Damping:
    """Damping of the bodies of a world, and of other elements between nodes."""

    def __init__(self, laws: Sequence[DampingLaw], elements: Elements, mass: Vec) -> None:
        """laws: one for each body; none where no material is damped. elements: of all bodies. mass: of the nodes, (n,)
        [kg]."""
        self._of_steps, self._elements = laws, elements
        self._every: Index = np.arange(len(elements.tets), dtype=np.int32)
        self._drag = np.zeros(len(mass))
        self._law_of = np.full(len(mass), len(laws), dtype=np.int32)  #: number of each node's law, (n,)
        for number, (law, where) in enumerate(zip(laws, elements.slices)):
            nodes = np.unique(elements.tets[where])
            self._drag[nodes], self._law_of[nodes] = law.drag * mass[nodes], number
        self._blocks: Vec | None = None
        whole = [law.within(math.inf) for law in laws]
        self.may_change = any(full is not law for full, law in zip(whole, laws))  #: from step to step
        self._use(whole)

    def begin(self, h: float, at_ground: Index) -> None:
        """Set the damping for a step of h seconds; bodies with nodes `at_ground`, (k,), on the ground are damped as in
        a whole step."""
        if self.may_change:
            touches = np.zeros(len(self._of_steps) + 1, dtype=bool)
            touches[self._law_of[at_ground]] = True
            self._use([law.within(math.inf if touches[number] else h) for number, law in enumerate(self._of_steps)])

    def _use(self, laws: Sequence[DampingLaw]) -> None:
        """Use these laws from now on, one for each body."""
        self._laws = laws
        coefficients = {law.stiffness_damping for law in laws} or {0.0}
        self._stiffness_damping = coefficients.pop() if len(coefficients) == 1 else None
        self.is_off = self._stiffness_damping == 0.0 and not self._drag.any()  #: whether no material is damped at all

    def of_stiffness(self, node_blocks: Vec, between: Between | None) -> Damped | None:
        """Return D where it is one multiple of K for all elements, so that it needs no evaluation; None where it is
        not, or where nothing is damped.

        node_blocks: of K at single nodes, (n, 3, 3) [N/m], which no material damps. between: nodes (s, 4) and blocks
        (s, 6, 9) [N s/m] of D of other elements; None without any.
        """
        if self._stiffness_damping is None or (self.is_off and between is None):
            return None
        touched = self._stiffness_damping != 0.0 and node_blocks.any()
        of_nodes: Vec | None = -self._stiffness_damping * node_blocks if touched else None
        return Damped(self._drag, self._stiffness_damping, None, of_nodes, self._every, self._elements.tets, between)

    def at(self, x: Vec, v: Vec, time: float) -> Damped | None:
        """Return D at positions x [m] and velocities v [m/s], (n, 3) each, and a time [s], with blocks of its own,
        which each call overwrites; None where nothing is damped."""
        between = self._elements.damp(x, v, time)
        if self.is_off and between is None:
            return None
        if self._stiffness_damping != 0.0:
            if self._blocks is None:
                self._blocks, self._forces = np.zeros((len(self._every), 6, 9)), np.zeros((len(self._every), 4, 3))
            self._elements.activate(time)
            for law, where in zip(self._laws, self._elements.slices):
                law.fill(x, time, self._forces[where], self._blocks[where])
        return Damped(self._drag, 0.0, self._blocks, None, self._every, self._elements.tets, between)
