"""Cloth that slides over what is sharp: one step of it. [Thesis Alg. 2.1]"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from ...contact.find.features import Features
from ...errors import StepFailed
from ...linear.constrained.program import SparseProgram
from ...linear.constrained.rows import MOST, Answer, VertexRows, WarmStart
from ...sheet.adapt import adapt
from ...sheet.conform import conform
from ...sheet.limits import Limits
from ...sheet.runs import Runs
from ...sheet.sheet_mesh import SheetMesh
from ...sheet.sizing import Sizing
from ...sheet.tracking import material_reach
from ...state import Index, Mask, Vec
from .cone import Cone, cone
from .fabric import Assembled, Assembler, Fabric
from .rubbing import Rubbed, along_surface, over_features
from .things import Moment, Things
from .touching import Touching, touching

T = TypeVar("T", bound=np.generic)

OFF = 0.25  #: of the thickness: a vertex that is further off its feature after a step has lifted off
LEAP = 3.0  #: of the thickness and a step's move: what is further through an edge is pushed out before it sits there
SHORTER = 0.5  #: of a step in which a face would be pulled through an edge
SHORTEST = 1.0 / 64.0  #: of a step that is tried
RENEWALS = 4  #: of friction
RENEWED = 0.02  #: by which no resistance changes any more, as a share

#: where pinned vertices are, (p, 3) [m], at a time [s]
Pins = Callable[[float], Vec]


@dataclass(frozen=True)
class Cloth:
    """Where it is and how it moves between two steps."""

    mesh: SheetMesh
    pin: Index  #: number of the pin that holds each vertex, −1 for none, (n,)
    flat: Mask  #: vertices on features whose cloth did not fold, (n,)
    free: Mask  #: vertices that came off a feature, (n,)

    @classmethod
    def at_rest(cls, mesh: SheetMesh, pinned: Index) -> Cloth:
        """pinned: vertices, (p,)."""
        pin = np.full(len(mesh.x), -1, dtype=np.int32)
        pin[pinned] = np.arange(len(pinned))
        return cls(mesh, pin, np.ones(len(mesh.x), dtype=bool), np.zeros(len(mesh.x), dtype=bool))

    def moved(self, mesh: SheetMesh, was: Index) -> Cloth:
        """The same on another mesh; was: the vertex that each of its is, −1 of new ones."""
        old = was >= 0

        def carried(values: NDArray[T], new: float) -> NDArray[T]:
            out: NDArray[T] = np.full(len(was), new, dtype=values.dtype)
            out[old] = values[was[old]]
            return out

        return Cloth(mesh, carried(self.pin, -1), carried(self.flat, True), carried(self.free, False))


@dataclass
class Told:
    """What steps did since it was last asked."""

    substeps: int = 0
    factored: int = 0
    one_by_one: int = 0
    sentences: list[str] = field(default_factory=list)


@dataclass
class SlidingCloth:
    """Steps of one cloth among things. Steps are pure; what is kept saves time alone."""

    fabric: Fabric
    gravity: Vec  #: [m/s²], (3,)
    things: Things
    limits: Limits
    sizing: Sizing | None  #: None: triangles change only where something is sharp
    pins: Pins
    friction: Callable[[Vec, Vec], Vec] | None = None  #: of folds: coefficients and angles (k,) to coefficients (k,)
    sharp: bool = True  #: False: Lagrangian, nothing is conformed to
    told: Told = field(default_factory=Told)

    def __post_init__(self) -> None:
        self._assembler = Assembler(self.fabric, self.gravity)
        self._program = SparseProgram()
        self._warm: WarmStart | None = None

    @property
    def backend(self) -> str:
        """What factors its matrices."""
        return self._program.backend

    def forget_past(self) -> None:
        """Drop what depends on earlier steps and is not in the state."""
        self.__post_init__()

    def step(self, cloth: Cloth, time: float, h: float) -> Cloth:
        """h seconds on. Raises StepFailed."""
        done = 0.0
        while done < h * (1.0 - 1e-9):
            cloth, taken = self._substep(cloth, time + done, h - done, h * SHORTEST)
            done += taken
            self.told.substeps += 1
        return cloth

    def _substep(self, cloth: Cloth, time: float, h: float, shortest: float) -> tuple[Cloth, float]:
        now = self.things.at(time, h)
        cloth = self._remeshed(cloth, now.features, h)
        while True:
            mesh, cone_rows, answer = self._solved(cloth, now, time, h)
            moved = self._advanced(mesh, answer, h)
            if material_reach(replace(mesh, slide=moved.slide), h) >= 1.0:
                break
            h *= SHORTER
            if h < shortest:
                raise StepFailed("cloth slides through an edge faster than its triangles can follow")
            now = self.things.at(time, h)
        self._warm = answer.warm
        way = self._off(cone_rows, moved, h)
        off = np.linalg.norm(way, axis=1) > OFF * self.limits.thickness
        free = np.zeros(len(mesh.x), dtype=bool)
        free[cone_rows.vertices] = off
        # what all but stays there stays there
        moved.x[cone_rows.vertices[~off]] -= way[~off]
        flat = np.ones(len(mesh.x), dtype=bool)
        flat[cone_rows.vertices] = cone_rows.flat
        return Cloth(moved, cloth.pin, flat, free), h

    def _remeshed(self, cloth: Cloth, features: Features, h: float) -> Cloth:
        """On what is sharp now, and as fine as it bends."""
        if not self.sharp:
            return cloth
        conformed = conform(cloth.mesh, features, replace(self.limits, leap=LEAP), h, cloth.free, self.gravity)
        cloth = cloth.moved(conformed.mesh, conformed.was)
        if self.sizing is None:
            return cloth
        runs = Runs(features)
        adapted = adapt(replace(cloth.mesh, on=runs.from_edges(cloth.mesh.on)), self.sizing, runs.points, runs.ends)
        if not adapted.changed:
            return cloth
        if adapted.said:
            self.told.sentences.append(adapted.said)
        mesh = replace(adapted.mesh, on=runs.to_edges(adapted.mesh.on, adapted.mesh.x))
        return cloth.moved(mesh, adapted.was)

    def _solved(self, cloth: Cloth, now: Moment, time: float, h: float) -> tuple[SheetMesh, Cone, Answer]:
        """Rates at the end of a step that begins on this mesh. [Thesis 2.12]"""
        mesh = cloth.mesh
        posed = self._assembler.assemble(mesh, h)
        on_features = cone(mesh, now.features, cloth.flat, h)
        touched = touching(mesh, posed.unknowns, self.things, now, self.gravity, h)
        rows = _together(on_features.rows, touched.rows, self._held(cloth, time, h))
        answer = self._ask(posed, rows, touched, self._warm)
        rubbed = self._rubbed(mesh, on_features, touched, now)
        if rubbed is not None:
            answer = self._rub(posed, rows, touched, on_features, rubbed, answer)
        return mesh, on_features, answer

    def _ask(self, posed: Assembled, rows: VertexRows, touched: Touching, warm: WarmStart | None) -> Answer:
        answer = self._program.solve(posed.matrix, posed.right, posed.unknowns.table, rows, touched.spread, warm)
        self.told.factored += answer.factored
        self.told.one_by_one += answer.one_by_one
        return answer

    def _held(self, cloth: Cloth, time: float, h: float) -> VertexRows:
        """Pinned vertices go where their pins are at the end of the step."""
        vertices = np.flatnonzero(cloth.pin >= 0).astype(np.int32)
        target = (self.pins(time + h)[cloth.pin[vertices]] - cloth.mesh.x[vertices]) / h
        factor = np.zeros((3 * len(vertices), MOST))
        factor[np.arange(len(factor)), np.tile(np.arange(3), len(vertices))] = 1.0
        rows = np.repeat(vertices, 3)
        return VertexRows(rows, factor, target.ravel(), np.ones(len(rows), dtype=bool),
                          3 * rows.astype(np.int64) + np.tile(np.arange(3), len(vertices)) + (1 << 59))

    def _advanced(self, mesh: SheetMesh, answer: Answer, h: float) -> SheetMesh:
        """q + h u."""
        v, slide = self._assembler.unknowns.parted(answer.u)
        return replace(mesh, x=mesh.x + h * v, material=mesh.material + h * slide, v=v, slide=slide)

    @staticmethod
    def _off(cone_rows: Cone, moved: SheetMesh, h: float) -> Vec:
        """The ways of vertices off their features after the step, (k, 3) [m]."""
        way = moved.x[cone_rows.vertices] - cone_rows.places - h * cone_rows.velocity
        along = np.einsum("ki,ki->k", way, cone_rows.along)[:, None] * cone_rows.along
        off: Vec = way - along
        return off

    def _rubbed(self, mesh: SheetMesh, on_features: Cone, touched: Touching, now: Moment) -> Rubbed | None:
        """What touches with friction; None for nothing. A vertex that touches several rubs on the first."""
        coefficient = self.things.friction_on(now.features, mesh.on[on_features.vertices])
        if self.friction is not None:
            coefficient = self.friction(coefficient, on_features.fold)
        still = np.zeros((len(coefficient), MOST))
        still[:, :3] = on_features.velocity
        vertex, first = np.unique(touched.rows.vertex, return_index=True)
        mu = np.concatenate([coefficient, touched.friction[first]])
        if not mu.any():
            return None
        other = np.zeros((len(first), MOST))
        other[:, :3] = touched.velocity[first]
        return Rubbed(np.concatenate([on_features.vertices, vertex]).astype(np.int32),
                      np.concatenate([over_features(on_features.along), along_surface(touched.normal[first])]),
                      np.concatenate([still, other]), mu)

    def _rub(self, posed: Assembled, rows: VertexRows, touched: Touching, on_features: Cone, rubbed: Rubbed,
             answer: Answer) -> Answer:
        """The same with friction."""
        contact = len(on_features.rows) + len(touched.rows)
        pushes = (rows.factor[:, 3:] == 0.0).all(axis=1) & (np.arange(len(rows)) < contact)
        place = np.full(len(posed.impulse), -1)
        place[rubbed.vertices] = np.arange(len(rubbed.vertices))
        before = None
        for _ in range(RENEWALS):
            pressing = np.zeros((len(rubbed.vertices), 3))
            np.add.at(pressing, place[rows.vertex[pushes]], (answer.on_vertex[:, None] * rows.factor[:, :3])[pushes])
            v, slide = posed.unknowns.parted(answer.u)
            rates = np.concatenate([v, slide], axis=1)[rubbed.vertices]
            blocks = rubbed.resistance(np.linalg.norm(pressing, axis=1), rates)
            if before is not None and np.abs(blocks - before).max(initial=0.0) <= RENEWED * np.abs(before).max():
                break
            before = blocks
            held = posed.with_resistance(rubbed.vertices, blocks, rubbed.still)
            answer = self._ask(held, rows, touched, answer.warm)
        return answer


def _together(*tables: VertexRows) -> VertexRows:
    """All rows in one table."""
    return VertexRows(*(np.concatenate([getattr(one, name) for one in tables])
                        for name in ("vertex", "factor", "target", "equal", "key")))
