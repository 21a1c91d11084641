"""A sheet that conforms to what is sharp: a vertex wherever it goes over a feature, an edge wherever it lies along one.

Its vertices are tracked first; those that lifted off are Lagrangian again. Then new ones are inserted, joined along
edges of features, and what is short or thin there is mended. Velocities come last, when the triangles stand.
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
    """A sheet on its features, and what was done for it."""

    mesh: SheetMesh
    was: Index  #: which vertex of the sheet before each is, -1 of new ones, (n,)
    changed: bool  #: whether the triangles are others than before
    inserted: Index  #: vertices of `mesh` that came onto a feature, (i,)
    released: Index  #: vertices of `mesh` that left one, (r,)
    jump: float  #: the furthest that a vertex was moved in the world to lie on a feature [m]
    before: SheetMesh  #: that it was made from
    unjoined: list[tuple[int, int]]  #: vertices of `mesh` on one feature that no edge could join

    @property
    def momentum(self) -> Vec:
        """Return the change of momentum of the whole, for a kilogram a square metre [m³/s], (3,)."""
        changed: Vec = self.mesh.momentum - self.before.momentum
        return changed


def conform(mesh: SheetMesh, features: Features, limits: RemeshLimits, h: float = 0.0, free: Mask | None = None,
            gravity: Vec | None = None, spared: Mask | None = None, runs: Runs | None = None
            ) -> Conformed:
    """Return the sheet on features as they are now, before a step of h [s] that begins with its velocities.

    free: vertices whose constraints on a feature had no impulse in the step before, which lift off, (n,). gravity:
    change of velocities in the step by other forces [m/s²], (3,): a wire that is passed has no outside. spared:
    vertices whose triangles are not changed, (n,), except at those that leave a feature. runs: those of the features,
    where they are known. [Thesis 2.6]
    """
    runs = Runs(features) if runs is None else runs
    tracked = track(mesh, runs, limits, h, free)
    here = mesh.replaced(x=tracked.x, on=tracked.on)
    working = Working(here, runs.points, runs.ends)
    fall = np.zeros(3) if gravity is None or not features.thin.any() else h * h * gravity
    now = Conforming(working, runs, limits, h, mesh.material[mesh.border_edges], fall, spared=spared)
    for vertex, corner in tracked.turned.tolist():
        _turn(now, here, vertex, corner)
    for vertex, corner in tracked.ended.tolist():
        _run_into(now, vertex, corner)
    now.released |= set(tracked.released.tolist())
    _let_go(now, mesh, now.released)
    insert(now)
    unjoined = join(now)
    _transfer(now)
    before = now.released.copy()
    if mend(now):
        _let_go(now, mesh, now.released - before)
        _transfer(now)
    return _finished(mesh, now, unjoined)


def _turn(now: Conforming, mesh: SheetMesh, vertex: int, corner: int) -> None:
    """A vertex that has run over the end of its run stands for the material over the corner there."""
    at = np.array([vertex])
    place = now.runs.features.points[corner]
    world, gradient = world_velocities_at(mesh, at)[0], gradients_at(mesh, at)[0]
    now.shift(vertex, mesh.material[vertex] + np.linalg.lstsq(gradient, place - mesh.x[vertex], rcond=None)[0], place,
              world)
    now.new[vertex] = world
    now.sit(vertex, corner, place)


def _run_into(now: Conforming, vertex: int, corner: int) -> None:
    """A vertex that has run over the end of its run becomes one with that of the corner, or is let go."""
    working = now.working
    n = int(working.counts[0])
    others = np.flatnonzero((working.on[:n] == corner) & working.alive)
    if not any(working.collapse(vertex, int(other)) is Outcome.DONE for other in others):
        now.release(vertex)


def _let_go(now: Conforming, mesh: SheetMesh, vertices: set[int]) -> None:
    """Lagrangian vertices move as their material did. [Thesis 2.2]"""
    if not vertices:
        return
    working, rows = now.working, np.array(sorted(vertices))
    known = rows[rows < len(mesh.x)]
    working.v[known] = world_velocities_at(mesh, known)
    working.slide[rows] = 0.0
    working.mark_changed()


def _transfer(now: Conforming) -> None:
    """Velocities of the vertices that came onto features: their material keeps its own. [Thesis 2.6.2]"""
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


def _finished(before: SheetMesh, now: Conforming, unjoined: list[tuple[int, int]]) -> Conformed:
    """The mesh as it is now, with numbers of edges."""
    made, was = now.working.sheet()
    made = made.replaced(on=now.runs.to_edges(made.on, made.x))
    number = np.full(int(now.working.counts[0]), -1)
    number[np.flatnonzero(now.working.alive)] = np.arange(len(made.x))

    def numbers_of(vertices: list[int]) -> Index:
        numbers: Index = number[np.array(vertices, dtype=int)].astype(np.int32)
        return numbers[numbers >= 0]

    jump = max([now.jump, *(off for _, _, off in now.carried_over.values())])
    pairs = [(int(number[a]), int(number[b])) for a, b in unjoined if number[a] >= 0 and number[b] >= 0]
    return Conformed(made, was, not np.array_equal(made.faces, before.faces), numbers_of(sorted(now.new)),
                     numbers_of(sorted(now.released)), jump, before, pairs)
