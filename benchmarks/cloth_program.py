"""Measure the quadratic program of contact in a step: cloths of 128 and of 2,048 faces on a box.

    python -m benchmarks.cloth_program

A square of 1 m of cotton lies on a box of 0.8 m and hangs down around it. Every vertex above the lid has a row, and so
has, as the second case, each edge of the cloth that crosses the lid's rim: a row over two vertices. Linearly implicit
steps of 1/96 s from a guess that is the last step's. Thread milliseconds of a program, the median, with filling of its
frames, factors and solves; the matrix is given.
"""

from __future__ import annotations

import statistics
import time
from typing import Any

from solver import threads  # isort: skip  # first: it sets what numba and BLAS read

import numpy as np
import scipy.sparse as sp

from benchmarks.cloth import square
from benchmarks.report import claim, emit
from solver.forces.cloth.corotated_membrane import CorotatedMembrane
from solver.forces.cloth.quadratic_bending import QuadraticBending
from solver.forces.cloth.sheet import Sheet
from solver.rows.sparse.program import SparseProgram
from solver.rows.tables import SparseRows, VertexRows

H, STEPS, WARM, HALF, DENSITY, NEAR = 1 / 96, 60, 40, 0.4, 0.2, 0.02
STRETCH = {"stretch_warp": 900.0, "stretch_weft": 900.0, "shear": 300.0, "poisson_ratio": 0.3}


class Lying:
    """A cloth on a box whose lid is at height 0."""

    def __init__(self, cells: int) -> None:
        vertices, triangles = square(cells)
        self.x = vertices + [0.003, 0.002, 0.001]
        self.v = np.zeros_like(self.x)
        sheet = Sheet(self.x.copy(), triangles, np.ascontiguousarray(vertices[:, :2][triangles]))
        self.laws = [CorotatedMembrane(sheet, STRETCH), QuadraticBending(sheet, {"bending_stiffness": 1.0e-4})]
        third = np.repeat(DENSITY * sheet.areas / 3.0, 3)
        self.mass = np.bincount(triangles.ravel(), third, len(vertices))
        sides = np.sort(np.concatenate([triangles[:, [0, 1]], triangles[:, [1, 2]], triangles[:, [2, 0]]]), axis=1)
        self.edges = np.unique(sides, axis=0)
        self.unknowns = np.full((len(vertices), 5), -1, np.int32)
        self.unknowns[:, :3] = np.arange(3 * len(vertices)).reshape(-1, 3)

    def system(self) -> tuple[sp.csc_matrix, Any]:
        """A = M − h² K and b = M v + h f, with a little drag."""
        force = self.mass[:, None] * [0.0, 0.0, -9.81] - 0.5 * self.mass[:, None] * self.v
        at, entries = [], []
        for law in self.laws:
            corners, blocks = np.zeros((len(law.nodes), 4, 3)), np.zeros((len(law.nodes), 6, 9))
            law.fill(self.x, True, corners, blocks)
            np.add.at(force, law.nodes, corners[:, : law.nodes.shape[1]])
            pair = 0
            for a in range(1, law.nodes.shape[1]):
                for b in range(a):
                    i, j, block = law.nodes[:, a], law.nodes[:, b], blocks[:, pair].reshape(-1, 3, 3)
                    at += [(i, j), (j, i), (i, i), (j, j)]
                    entries += [block, block.transpose(0, 2, 1), -block, -block.transpose(0, 2, 1)]
                    pair += 1
        row, column = (np.concatenate([one[k] for one in at]) for k in (0, 1))
        values = -H * H * np.concatenate(entries)
        inside = np.arange(3)
        rows = np.broadcast_to(3 * row[:, None, None] + inside[:, None], values.shape).ravel()
        columns = np.broadcast_to(3 * column[:, None, None] + inside, values.shape).ravel()
        own = np.arange(self.x.size)
        matrix = sp.csc_matrix((np.concatenate([values.ravel(), np.repeat(self.mass, 3)]),
                                (np.concatenate([rows, own]), np.concatenate([columns, own]))))
        return matrix, (self.mass[:, None] * self.v + H * force).ravel()

    def rows(self) -> VertexRows:
        """Return the rows of the vertices above the lid and near it: the normal's velocity has to keep them above."""
        over = np.flatnonzero((np.abs(self.x[:, :2]) <= HALF).all(axis=1) & (np.abs(self.x[:, 2]) < NEAR))
        factor = np.zeros((len(over), 5))
        factor[:, 2] = 1.0
        return VertexRows.hard(over.astype(np.int32), factor, -self.x[over, 2] / H, np.zeros(len(over), bool),
                               over.astype(np.int64))

    def rim(self) -> SparseRows:
        """Return the rows of edges that cross the lid's rim, at the points where they do."""
        ends = self.x[self.edges]
        out = np.abs(ends[:, :, :2]).max(axis=2) > HALF
        crossing = np.flatnonzero(out[:, 0] != out[:, 1])
        low, high = np.zeros(len(crossing)), np.ones(len(crossing))
        first_out, a, b = out[crossing, 0], ends[crossing, 0], ends[crossing, 1]
        for _ in range(40):
            middle = 0.5 * (low + high)
            beyond = np.abs(a + middle[:, None] * (b - a))[:, :2].max(axis=1) > HALF
            low, high = np.where(beyond == first_out, middle, low), np.where(beyond == first_out, high, middle)
        height = a[:, 2] + low * (b - a)[:, 2]
        near = np.abs(height) < NEAR
        crossing, low, height = crossing[near], low[near], height[near]
        row = np.repeat(np.arange(len(crossing)), 2)
        matrix = sp.csr_matrix((np.stack([1.0 - low, low], axis=1).ravel(),
                                (row, 3 * self.edges[crossing].ravel() + 2)), (len(crossing), self.x.size))
        return SparseRows.hard(matrix, -height / H, np.zeros(len(crossing), bool),
                               crossing.astype(np.int64) + len(self.x))


def measured(cells: int, rim: bool) -> dict[str, Any]:
    cloth, program, warm = Lying(cells), SparseProgram(), None
    times, factored, most_active, one_by_one = [], [], 0, 0
    for step in range(WARM + STEPS):
        matrix, rhs = cloth.system()
        rows, spread = cloth.rows(), cloth.rim() if rim else None
        began = time.thread_time()
        answer = program.solve(matrix, rhs, cloth.unknowns, rows, spread, warm)
        if step >= WARM:
            times.append(1e3 * (time.thread_time() - began))
            factored.append(answer.factored)
            most_active = max(most_active, int(answer.active.sum() + answer.spread_active.sum()))
            one_by_one += answer.one_by_one
        warm = answer.warm
        cloth.v = answer.u.reshape(-1, 3)
        cloth.x = cloth.x + H * cloth.v
    return {"ms": round(statistics.median(times), 2), "worst_ms": round(max(times), 2), "rows_held": most_active,
            "factors": statistics.median(factored), "most_factors": max(factored), "one_by_one": one_by_one}


def main() -> None:
    threads.configure(1)
    details = {f"{2 * cells**2} faces{', rim' if rim else ''}": measured(cells, rim)
               for cells in (8, 32) for rim in (False, True)}
    emit("cloth_program",
         [claim("program_2048_faces_ms", details["2048 faces"]["ms"], "ms", "<= 20"),
          claim("program_2048_faces_rim_ms", details["2048 faces, rim"]["ms"], "ms", "<= 20"),
          claim("program_128_faces_ms", details["128 faces"]["ms"], "ms", "<= 1")], details)


if __name__ == "__main__":
    main()
