"""Table of all elements of a part: those of its bodies, called tets, then those of other forces between nodes."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from itertools import groupby

import numpy as np

from ..forces.elastic import corner_products
from ..forces.stencils import BodyElements, StencilForce, Stencils, block_diagonal
from ..state import Index, Mask, Vec
from .pattern import NodeSum

TETS_PER_ELEMENT = 2  #: tets for each other element that there is room for at first
CLAMPED = 1.0e-9  #: of an element's trace: a smaller change is rounding


def find_joined_nodes(laws: Sequence[StencilForce], x: Vec, time: float) -> Index:
    """Return the nodes that these forces act on at positions x (n, 3) [m] and a time [s], ascending, (k,)."""
    tables = [law.measure(x, time).nodes.ravel() for law in laws]
    tables += [table.nodes.ravel() for law in laws if (table := law.damp(x, np.zeros_like(x), time)) is not None]
    nodes: Index = np.unique(np.concatenate(tables)) if tables else np.zeros(0, dtype=np.int32)
    return nodes


class Elements:
    """Forces and stiffness of all elements of a part; each call overwrites the arrays."""

    def __init__(self, elastic: Sequence[BodyElements], between: Sequence[StencilForce], count: int) -> None:
        """elastic: elements of each body. between: other forces. count: number of all nodes."""
        self.elastic, self._between = elastic, between
        self.tets: Index = np.concatenate([body.tets for body in elastic])
        ends = np.cumsum([0, *(len(body.tets) for body in elastic)]).tolist()
        self.slices = [slice(first, end) for first, end in zip(ends, ends[1:])]  #: of each body among the tets
        self._corners, self._count = NodeSum.build(self.tets, count), count
        self._forces = np.zeros((ends[-1], 4, 3))
        # with capacity for other elements: what is not written to costs nothing, to copy all for more pairs does
        self._table = np.zeros((ends[-1] + ends[-1] // TETS_PER_ELEMENT, 6, 9))
        self.filled = np.zeros(len(elastic), dtype=np.int64)  #: how often the blocks of each body's tets were
        #: K of pairs of nodes as it was filled last, of the tets and then of `others`, (e + s, 6, 9)
        self.blocks = self.of_tets
        self.others: Index | None = None  #: nodes of the other elements, (s, 4); None where there are none

    @cached_property
    def _runs(self) -> list[tuple[BodyElements, slice]]:
        """Return the elements that are evaluated in one call, of all bodies, and their slices of the tets."""
        runs: list[tuple[BodyElements, slice]] = []
        for family, some in groupby(range(len(self.elastic)), lambda k: self.elastic[k].family):
            which = [*some]
            if family is None or len(which) == 1:
                runs += [(self.elastic[k], self.slices[k]) for k in which]
            else:
                one = self.elastic[which[0]].in_one([self.elastic[k] for k in which])
                runs.append((one, slice(self.slices[which[0]].start, self.slices[which[-1]].stop)))
        return runs

    def _runs_of(self, bodies: Sequence[int] | None) -> list[tuple[BodyElements, slice]]:
        """Return elements and their slices of the tets, for these bodies; None for all."""
        return self._runs if bodies is None else [(self.elastic[k], self.slices[k]) for k in bodies]

    @cached_property
    def _corners_of(self) -> list[NodeSum]:
        """Return sums over the tets of each body alone."""
        return [NodeSum.build(body.tets, self._count) for body in self.elastic]

    @property
    def of_tets(self) -> Vec:
        """Return the blocks of K of the tets alone, (e, 6, 9) [N/m]."""
        return self._table[: len(self.tets)]

    def fill(self, x: Vec, time: float, project: bool, force: Vec, extra_forces: Sequence[StencilForce] = (),
             bodies: Sequence[int] | None = None) -> None:
        """Write `blocks` and `others` at positions x (n, 3) [m] and a time [s], and add forces to `force`, (n, 3) [N].

        K = ∂f/∂x is negative semi-definite if `project`. extra_forces: forces of one stage. bodies: numbers of bodies
        whose tets are evaluated, blocks of other tets do not change; None evaluates all.
        """
        self.activate(time)
        self.filled[slice(None) if bodies is None else list(bodies)] += 1
        for some, where in self._runs_of(bodies):
            some.fill(x, project, self._forces[where], self._table[where])
        self._corners.gather(self._forces, force)
        tables = [law.fill(x, time, project) for law in (*self._between, *extra_forces)]
        for table in tables:
            table.add_forces(force)
        self._append(tables)

    def fill_again(self, x: Vec, time: float, which: Index) -> None:
        """Write the projected blocks of these tets alone, (k,), ascending, at positions x (n, 3) [m] and a time [s]."""
        self.activate(time)
        for k, where in enumerate(self.slices):
            own = which[slice(*np.searchsorted(which, [where.start, where.stop]))] - where.start
            if len(own):
                self.filled[k] += 1
                self.elastic[k].fill_again(x, own, self._table[where])

    def fill_others(self, x: Vec, time: float, extra_forces: Sequence[StencilForce]) -> None:
        """Write the projected blocks of all elements but tets, without forces, at positions x (n, 3) [m] and a time
        [s]; blocks of tets do not change.

        extra_forces: forces of one stage.
        """
        self._append([law.fill(x, time, True) for law in (*self._between, *extra_forces)])

    def _append(self, tables: Sequence[Stencils]) -> None:
        """Append blocks of other elements to those of the tets."""
        count = sum(len(table.nodes) for table in tables)
        if not count:
            self.others, self.blocks = None, self.of_tets
            return
        first, end = len(self.tets), len(self.tets) + count
        if end > len(self._table):
            roomy = np.empty((first + 2 * count, 6, 9))
            roomy[:first] = self.of_tets
            self._table = roomy
        self.others, _ = block_diagonal(tables, self._table[first:end])
        self.blocks = self._table[:end]

    def multiply(self, x: Vec, time: float, columns: Vec, force: Vec) -> Vec:
        """Return the true K times fields, both (c, n, 3), at positions x (n, 3) [m] and a time [s]; adds forces to
        `force`, (n, 3) [N]."""
        self.activate(time)
        gathered = np.zeros((1 + len(columns), *x.shape))
        for body, sum_of in zip(self.elastic, self._corners_of):
            sum_of.gather_fields(body.multiply(x, columns), gathered)
        force += gathered[0]
        out = gathered[1:]
        tables = [law.fill(x, time, False) for law in self._between]
        for table in tables:
            table.add_forces(force)
        if tables:
            nodes, blocks = block_diagonal(tables)
            for field, into in zip(corner_products(blocks, columns[:, nodes]), out):
                np.add.at(into, nodes, field)
        return out

    def measure(self, x: Vec, time: float, force: Vec, energy: float = 0.0,
                extra_forces: Sequence[StencilForce] = (), bodies: Sequence[int] | None = None) -> float:
        """Return `energy` plus the energy of all elements [J] at positions x (n, 3) [m] and a time [s]; adds forces to
        `force`, (n, 3) [N].

        extra_forces: forces of one stage. bodies: numbers of bodies whose tets are evaluated, None evaluates all.
        """
        self.activate(time)
        for some, where in self._runs_of(bodies):
            energy += some.measure(x, self._forces[where])
        self._corners.gather(self._forces, force)
        for law in (*self._between, *extra_forces):
            table = law.measure(x, time)
            table.add_forces(force)
            energy += table.energy
        return energy

    def damp(self, x: Vec, v: Vec, time: float) -> tuple[Index, Vec] | None:
        """Return D of the elements other than tets, nodes (s, 4) and blocks (s, 6, 9) [N s/m], at positions x [m] and
        velocities v [m/s], (n, 3) each, and a time [s]; None where nothing damps."""
        tables = [table for law in self._between if (table := law.damp(x, v, time)) is not None and len(table.nodes)]
        return block_diagonal(tables) if tables else None

    def activate(self, time: float) -> None:
        """Set the activation of muscles to that at `time` [s]."""
        for body in self.elastic:
            body.activate(time)

    def find_paired_nodes(self, x: Vec, time: float) -> Index:
        """Return the nodes that other forces join to some other node at positions x (n, 3) [m] and a time [s],
        ascending, (k,)."""
        return find_joined_nodes(self._between, x, time)

    def find_clamped_elements(self, x: Vec, time: float) -> Mask:
        """Return whether the projection changes the stiffness of each tet at positions x (n, 3) [m] and a time [s],
        (e,).

        Clamping an eigenvalue changes the trace, whatever the material, so the two traces are compared.
        """
        traces = []
        for project in (False, True):
            self.fill(x, time, project, np.zeros_like(x))
            traces.append(-2.0 * self.of_tets[:, :, [0, 4, 8]].sum(axis=(1, 2)))
        whole, projected = traces
        changed: Mask = whole - projected > CLAMPED * np.abs(projected)
        return changed

    def stretching(self, x: Vec, v: Vec) -> Vec:
        """Return V mean|Ṡ| of each tet, (e,) [m³/s], at positions x [m] and velocities v [m/s], (n, 3) each.
        [Thesis 4.17]"""
        rates = np.zeros(len(self.tets))
        for body, where in zip(self.elastic, self.slices):
            body.stretching(x, v, rates[where])
        return rates
