"""What keeps cloth out of itself and of things that are round: the contact law's barrier, within the cloth's own step.

A surface knows where it is by x alone: cloth that slides along itself there changes no distance, so a push has no part
in Ẋ.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np

from ...contact.find.mesh import Surfaces
from ...contact.laws.interface import ContactLaw
from ...forces.stencils import side_by_side
from ...sheet.sheet_mesh import SheetMesh
from ...state import Index, Mask, Vec
from .fabric import Assembled
from .lost import Lost
from .pushing_kernels import add_pushes
from .things import ThingsInStep

CLOTH, FIRST_THING = 0, 1  #: owners of nodes
PAIRS = ((1, 0), (2, 0), (2, 1), (3, 0), (3, 1), (3, 2))  #: whose blocks stencils have
HARD = 0  #: the group of nodes that do not touch each other: those of things

#: the law between surfaces, of nodes of which the first ones are a mesh's, at rest (n, 3) [m]
Law = Callable[[Surfaces, Vec, SheetMesh], ContactLaw]


@dataclass(frozen=True)
class Way:
    """Where cloth and things are between the start of a step and its end."""

    x: Vec  #: cloth, (n, 3) [m]
    things: Vec  #: (o, 3) [m]
    left: float  #: share of the things' way that is left


@dataclass
class Pushing:
    """Barriers around one cloth."""

    law: Law
    triangles: Index  #: of things that are round, (t, 3), numbers among their vertices
    owner: Index  #: of these vertices, (o,), from FIRST_THING on
    itself: bool = True  #: whether the cloth touches itself
    names: list[str] = field(default_factory=list)  #: of owners
    _faces: Index = field(default_factory=lambda: np.zeros((0, 3), np.int32), init=False)
    _surfaces: Surfaces | None = field(default=None, init=False)
    _made: ContactLaw | None = field(default=None, init=False)
    _asked: tuple[SheetMesh, ThingsInStep, Lost | None, tuple[str, str, Vec] | None] | None = field(
        default=None, init=False)
    _apart: Mask = field(default_factory=lambda: np.zeros(0, bool), init=False)

    def forget_past(self) -> None:
        """Drop what was made for the mesh of the last step."""
        self._surfaces = self._made = self._asked = None

    def of(self, mesh: SheetMesh, now: ThingsInStep, lost: Lost | None = None) -> Pushes | None:
        """For a step from there on, but where it is lost; None where it is everywhere."""
        return None if self._is_all(lost, mesh) else Pushes(self._law_of(mesh, now, lost), mesh, now, lost)

    @staticmethod
    def _is_all(lost: Lost | None, mesh: SheetMesh) -> bool:
        return lost is not None and bool(lost.of(mesh)[mesh.faces].any(axis=1).all())

    def lost(self, mesh: SheetMesh, now: ThingsInStep) -> Lost | None:
        """Where it goes through something; None where nothing does."""
        if self.crossing(mesh, now) is None:
            return None
        self._law_of(mesh, now)
        assert self._surfaces is not None
        nodes = [np.concatenate(pair) for pair in self._surfaces.crossings(np.concatenate([mesh.x, now.round_x]))]
        all_nodes: Index = np.unique(np.concatenate(nodes)).astype(np.int32)
        return Lost.at(mesh, all_nodes[all_nodes < len(mesh.x)])

    def crossing(self, mesh: SheetMesh, now: ThingsInStep, lost: Lost | None = None) -> tuple[str, str, Vec] | None:
        """What goes through what, and where (3,) [m]; None where nothing does but where it is lost. Looked for once."""
        last = self._asked
        if last is None or last[1] is not now or last[2] is not lost or last[0].x is not mesh.x or (
                last[0].faces is not mesh.faces):
            last = self._asked = mesh, now, lost, self._crossing(mesh, now, lost)
        return last[3]

    def crossing_anew(self, mesh: SheetMesh, before: SheetMesh, now: ThingsInStep) -> tuple[str, str, Vec] | None:
        """What goes through what, but where it did so on an earlier mesh of the same cloth."""
        crossing = self.crossing(mesh, now)
        lost = None if crossing is None else self.lost(before, now)
        return crossing if lost is None else self.crossing(mesh, now, lost)

    def _crossing(self, mesh: SheetMesh, now: ThingsInStep, lost: Lost | None) -> tuple[str, str, Vec] | None:
        if self._is_all(lost, mesh):
            return None
        self._law_of(mesh, now, lost)
        assert self._surfaces is not None
        x, count = np.concatenate([mesh.x, now.round_x]), len(mesh.x)
        found = self._surfaces.crossing(x)
        if found is None:
            return None
        one, other = (self.names[0 if nodes[0] < count else int(self.owner[nodes[0] - count])] for nodes in found)
        return one, other, x[found[1]].mean(axis=0)

    def _law_of(self, mesh: SheetMesh, now: ThingsInStep, lost: Lost | None = None) -> ContactLaw:
        apart = np.ones(len(mesh.faces), dtype=bool) if lost is None else ~lost.of(mesh)[mesh.faces].any(axis=1)
        if self._made is None or not np.array_equal(self._faces, mesh.faces) or not np.array_equal(self._apart, apart):
            count = len(mesh.x)
            flat = np.column_stack([mesh.material, np.zeros(count)])
            rest = np.concatenate([flat, now.round_x])
            group = np.concatenate([np.full(count, -1), np.full(len(now.round_x), HARD)])
            owner = np.concatenate([np.full(count, CLOTH), self.owner]).astype(np.int32)
            meets = np.ones((int(owner.max(initial=0)) + 1,) * 2, dtype=bool)
            meets[CLOTH, CLOTH] = self.itself
            faces = np.concatenate([mesh.faces[apart], self.triangles + np.int32(count)]).astype(np.int32)
            self._surfaces = Surfaces(rest, faces, group, owner, None if meets.all() else meets)
            self._made, self._faces, self._apart = self.law(self._surfaces, rest, mesh), mesh.faces, apart
        return self._made


@dataclass(frozen=True)
class Pushes:
    """Those of one step. [Thesis 2.12, changed: a barrier's quadratic besides]"""

    law: ContactLaw
    mesh: SheetMesh  #: at the start
    now: ThingsInStep
    lost: Lost | None = None  #: where nothing pushes
    firmest: float = np.inf  #: no pair is stiffer than this, and pushes that much less [N/m]

    @property
    def reach(self) -> float:
        """How near surfaces are that push [m]."""
        return self.law.reach

    @property
    def start(self) -> Way:
        return Way(self.mesh.x, self.now.round_x, 1.0)

    def added(self, posed: Assembled, at: Way, h: float) -> Assembled:
        """The step with pushes and friction as they are there, to the second order; itself where nothing is near."""
        nodes, forces, blocks = self._at(at, h)
        if not len(nodes):
            return posed
        count = len(at.x)
        # a thing's node is no unknown: in the pattern one of the cloth's stands for it
        own = nodes < count
        joined = np.where(own, nodes, nodes[np.arange(len(nodes)), own.argmax(axis=1)][:, None]).astype(np.int32)
        unknowns, all_blocks = posed.unknowns.joining(joined, posed.blocks)
        impulse = posed.impulse.copy()
        way = np.concatenate([self.mesh.x - at.x, at.left * h * self.now.round_velocity])
        add_pushes(nodes, np.ascontiguousarray(unknowns.slots[len(posed.unknowns.elements):]), count,
                   np.ascontiguousarray(forces), blocks, way, h, all_blocks, impulse)
        return Assembled(unknowns, all_blocks, impulse)

    def _at(self, at: Way, h: float) -> tuple[Index, Vec, Vec]:
        """Nodes (k, 4), forces (k, 4, 3) [N] and blocks (k, 6, 9) of all that pushes there, friction included."""
        here = np.concatenate([at.x, at.things])
        tables = [self.law.fill(here, 0.0, True)]
        if not len(tables[0].nodes):
            return tables[0].nodes, tables[0].forces, tables[0].blocks
        rubs = self.law.sliding(here, np.concatenate([self.mesh.x, self.now.round_x]), h)
        if rubs is not None:
            tables.append(rubs.fill(here, 0.0, True))
        nodes, blocks = side_by_side(tables)
        forces = np.concatenate([one.forces for one in tables])
        if self.firmest < np.inf:
            share = self.firmest / np.maximum(np.abs(blocks).max(axis=(1, 2)), self.firmest)
            blocks, forces = share[:, None, None] * blocks, share[:, None, None] * forces
        return nodes, forces, blocks

    def felt(self, at: Way, x: Vec, h: float) -> Vec:
        """Impulses on what is round, (o, 3) [N s], in a step that was solved there and ends with the cloth at x: what
        `added` has for the cloth, turned round."""
        nodes, forces, blocks = self._at(at, h)
        impulse = np.zeros((len(at.x) + len(at.things), 3))
        way = np.concatenate([x - at.x, at.left * h * self.now.round_velocity])
        for pair, (a, b) in enumerate(PAIRS[: blocks.shape[1]]):
            moved = way[nodes[:, b]] - way[nodes[:, a]]
            K = blocks[:, pair].reshape(-1, 3, 3)
            np.add.at(impulse, nodes[:, a], h * np.einsum("kij,kj->ki", K, moved))
            np.add.at(impulse, nodes[:, b], -h * np.einsum("kji,kj->ki", K, moved))
        np.add.at(impulse, nodes, h * forces)
        return impulse[len(at.x):]

    def go(self, at: Way, x: Vec, h: float) -> tuple[Way, float]:
        """As far towards the step's end, where the cloth is at x, as nothing meets; and the share of it."""
        end = at.things + at.left * h * self.now.round_velocity
        share = self.law.largest_step(np.concatenate([at.x, at.things]), np.concatenate([x, end]))
        return Way(at.x + share * (x - at.x), at.things + share * (end - at.things), at.left * (1.0 - share)), share

    def may_go(self, start: Vec, end: Vec, h: float) -> bool:
        """Whether cloth may go straight from one place to another at the end of the step, (n, 3) [m] each."""
        things = self.now.round_x + h * self.now.round_velocity
        return self.law.largest_step(np.concatenate([start, things]), np.concatenate([end, things])) == 1.0

    def is_near(self, at: Way) -> bool:
        """Whether anything pushes there."""
        return len(self.law.measure(np.concatenate([at.x, at.things]), 0.0).nodes) > 0
