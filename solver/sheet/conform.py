"""A sheet that conforms to sharp features, with a vertex where it passes over a feature and an edge along it.

Vertices on features are tracked first; vertices that lifted off are Lagrangian again. Then new vertices are inserted
and joined along edges of features, and short or thin triangles there are improved. Velocities are computed last, on the
final triangles.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..contact.find.features import Features
from ..state import Index, Mask, Vec
from .insertion import Conforming, insert
from .joining import join
from .limits import RemeshLimits
from .mending import mend
from .runs import Runs
from .sheet_mesh import SheetMesh
from .tracking import track
from .transfer import gradients_at, not_sliding, sliding, world_velocities_at
from .working import Outcome, Working


@dataclass(frozen=True)
class Conformed:
    """A sheet that conforms to features, and the changes that were made for it."""

    mesh: SheetMesh
    was: Index  #: vertex of the sheet before that each vertex is, −1 for a new one, (n,)
    changed: bool  #: whether triangles have changed
    inserted: Index  #: vertices of `mesh` that came onto a feature, (i,)
    released: Index  #: vertices of `mesh` that left a feature, (r,)
    jump: float  #: largest displacement of a vertex in the world onto a feature [m]
    before: SheetMesh  #: the sheet from which it was made
    unjoined: list[tuple[int, int]]  #: vertices of `mesh` on one feature that no edge could join

    @property
    def momentum(self) -> Vec:
        """Return the change of the sheet's momentum, divided by its mass per area, (3,) [m³/s]."""
        changed: Vec = self.mesh.momentum - self.before.momentum
        return changed


def conform(mesh: SheetMesh, features: Features, limits: RemeshLimits, h: float = 0.0, free: Mask | None = None,
            gravity: Vec | None = None, spared: Mask | None = None, runs: Runs | None = None
            ) -> Conformed:
    """Return the sheet that conforms to features at their present positions, before a step of h [s].

    free: vertices whose constraints on a feature had no impulse in the last step, which lift off, (n,). gravity:
    acceleration by other forces in the step, (3,) [m/s²], used for wires, which have no outside. spared: vertices whose
    triangles are not changed, (n,), except at vertices that leave a feature. runs: of the features, if known.
    [Thesis 2.6]
    """
    runs = Runs(features) if runs is None else runs
    tracked = track(mesh, runs, limits, h, free)
    moved = mesh.replace(x=tracked.x, on=tracked.on)
    working = Working(moved, runs.points, runs.ends)
    fall = np.zeros(3) if gravity is None or not features.thin.any() else h * h * gravity
    now = Conforming(working, runs, limits, h, mesh.material[mesh.border_edges], fall, spared=spared)
    for vertex, corner in tracked.onto_corner.tolist():
        _move_onto_corner(now, moved, vertex, corner)
    for vertex, corner in tracked.ended.tolist():
        _run_into(now, vertex, corner)
    now.released |= set(tracked.released.tolist())
    _restore_velocities(now, mesh, now.released)
    insert(now)
    unjoined = join(now)
    _transfer(now)
    before = now.released.copy()
    if mend(now):
        _restore_velocities(now, mesh, now.released - before)
        _transfer(now)
    return _finish(mesh, now, unjoined)


def _move_onto_corner(now: Conforming, mesh: SheetMesh, vertex: int, corner: int) -> None:
    """Move a vertex that has run over the end of its run to the corner there, and to the material over that corner."""
    at = np.array([vertex])
    position = now.runs.features.points[corner]
    world, gradient = world_velocities_at(mesh, at)[0], gradients_at(mesh, at)[0]
    now.shift(vertex, mesh.material[vertex] + np.linalg.lstsq(gradient, position - mesh.x[vertex], rcond=None)[0],
              position, world)
    now.new[vertex] = world
    now.sit(vertex, corner, position)


def _run_into(now: Conforming, vertex: int, corner: int) -> None:
    """Collapse a vertex that has run over the end of its run onto the vertex at the corner there, or release it."""
    working = now.working
    n = int(working.counts[0])
    others = np.flatnonzero((working.on[:n] == corner) & working.alive)
    if not any(working.collapse(vertex, int(other)) is Outcome.DONE for other in others):
        now.release(vertex)


def _restore_velocities(now: Conforming, mesh: SheetMesh, vertices: set[int]) -> None:
    """Set the velocities of released vertices to those of their material in `mesh`. [Thesis 2.2]"""
    if not vertices:
        return
    working, rows = now.working, np.array(sorted(vertices))
    known = rows[rows < len(mesh.x)]
    working.v[known] = world_velocities_at(mesh, known)
    working.slide[rows] = 0.0
    working.mark_changed()


def _transfer(now: Conforming) -> None:
    """Set the velocities of vertices that came onto features such that those of the material do not change.
    [Thesis 2.6.2]"""
    working, runs = now.working, now.runs
    if not now.new:
        return
    mesh, _ = working.sheet()
    rows = np.array(sorted(now.new))
    number = np.full(int(working.counts[0]), -1)
    number[np.flatnonzero(working.alive)] = np.arange(len(mesh.x))
    vertices, on = number[rows], working.on[rows]
    gradients = gradients_at(mesh, vertices)
    across = not_sliding(mesh, vertices, on, runs, gradients)
    working.v[rows], working.slide[rows] = sliding(np.array([now.new[i] for i in rows.tolist()]), gradients, across,
                                                   runs.velocity(on, working.x[rows]))


def _finish(before: SheetMesh, now: Conforming, unjoined: list[tuple[int, int]]) -> Conformed:
    """Return the present mesh, with edges in place of runs in `on`, and the changes since `before`."""
    made, was = now.working.sheet()
    made = made.replace(on=now.runs.to_edges(made.on, made.x))
    number = np.full(int(now.working.counts[0]), -1)
    number[np.flatnonzero(now.working.alive)] = np.arange(len(made.x))

    def numbers_of(vertices: list[int]) -> Index:
        numbers: Index = number[np.array(vertices, dtype=int)].astype(np.int32)
        return numbers[numbers >= 0]

    jump = max([now.jump, *(off for _, _, off in now.carried_over.values())])
    pairs = [(int(number[a]), int(number[b])) for a, b in unjoined if number[a] >= 0 and number[b] >= 0]
    return Conformed(made, was, not np.array_equal(made.faces, before.faces), numbers_of(sorted(now.new)),
                     numbers_of(sorted(now.released)), jump, before, pairs)
