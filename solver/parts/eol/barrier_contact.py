"""Barrier contact of sliding cloth with itself and with smooth obstacles, within the cloth's own step.

The position of a surface is x alone: cloth that slides along itself changes no distance, so barrier forces do not act
on Ẋ.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import numpy as np

from ...contact.find.mesh import Surfaces
from ...contact.laws.interface import ContactLaw
from ...forces.stencils import Stencils, block_diagonal
from ...sheet.sheet_mesh import SheetMesh
from ...state import Index, Mask, Vec
from .barrier_kernels import add_barrier_forces, add_forces
from .eol_elements import AssembledSystem
from .interface_inertia import InterfaceInertia
from .obstacles import ObstacleMotion
from .tangled_region import TangledRegion

HARD = 0  #: group of nodes that do not touch each other: those of obstacles

#: the law between surfaces, of nodes of which the first ones are a mesh's, at rest (n, 3) [m]
Law = Callable[[Surfaces, Vec, SheetMesh], ContactLaw]


@dataclass(frozen=True)
class MotionPath:
    """End positions of a motion of cloth and obstacles within a step."""

    x: Vec  #: cloth, (n, 3) [m]
    obstacles: Vec  #: (o, 3) [m]

    def off(self, other: MotionPath) -> float:
        """Return the largest component of the difference between two end positions [m]."""
        return max(float(np.abs(self.x - other.x).max(initial=0.0)), float(np.abs(self.obstacles - other.obstacles).max(
            initial=0.0)))

    def half(self, end: MotionPath) -> MotionPath:
        """Return positions midway between two."""
        return MotionPath(0.5 * (self.x + end.x), 0.5 * (self.obstacles + end.obstacles))


@dataclass
class ContactSettings:
    """Barrier contact of one cloth: its law and surfaces."""

    nearer = 0.5  #: of the least distance before: pairs that are no nearer count as unchanged
    #: of the activation distance: a pair that is nearer after remeshing, and was not before, touches
    touch_distance = 0.5

    law: Law
    triangles: Index  #: of smooth obstacles, (t, 3), numbers among their vertices
    owner: Index  #: of these vertices, (o,), numbers after those of the sheets
    itself: Sequence[bool] = (True,)  #: of each sheet of the cloth, whether it touches itself
    names: list[str] = field(default_factory=list)  #: of owners
    sheet_of: Callable[[Vec], Index] | None = None  #: of material positions (n, 2), where the cloth has several
    _faces: Index = field(default_factory=lambda: np.zeros((0, 3), np.int32), init=False)
    _surfaces: Surfaces | None = field(default=None, init=False)
    _made: ContactLaw | None = field(default=None, init=False)
    _last_query: tuple[SheetMesh, ObstacleMotion, TangledRegion | None, tuple[str, str, Vec] | None] | None = field(
        default=None, init=False)
    _before: tuple[SheetMesh, ObstacleMotion, TangledRegion | None] | None = field(default=None, init=False)
    _separated: Mask = field(default_factory=lambda: np.zeros(0, bool), init=False)

    def forget_past(self) -> None:
        """Discard what was made for the mesh of the last step."""
        self._surfaces = self._made = self._last_query = self._before = None

    def of(self, mesh: SheetMesh, now: ObstacleMotion, tangled: TangledRegion | None = None) -> BarrierContacts | None:
        """Return the barrier contact of a step from this mesh on, without tangled regions; None where these are
        everywhere."""
        return None if self._is_all(tangled, mesh) else BarrierContacts(
            self._law_of(mesh, now, tangled), mesh, now, tangled)

    @staticmethod
    def _is_all(tangled: TangledRegion | None, mesh: SheetMesh) -> bool:
        return tangled is not None and bool(tangled.of(mesh)[mesh.faces].any(axis=1).all())

    def find_tangled_region(self, mesh: SheetMesh, now: ObstacleMotion) -> TangledRegion | None:
        """Return the region in which surfaces intersect; None where there is none."""
        if self.intersecting_pair(mesh, now) is None:
            return None
        self._law_of(mesh, now)
        assert self._surfaces is not None
        nodes = [np.concatenate(pair) for pair in self._surfaces.intersections(np.concatenate([mesh.x, now.smooth_x]))]
        all_nodes: Index = np.unique(np.concatenate(nodes)).astype(np.int32)
        return TangledRegion.at(mesh, all_nodes[all_nodes < len(mesh.x)])

    def intersecting_pair(self, mesh: SheetMesh, now: ObstacleMotion,
                          tangled: TangledRegion | None = None) -> tuple[str, str, Vec] | None:
        """Return the names of two surfaces that intersect, and where, (3,) [m]; None for no intersection outside of
        `tangled`. Detected once."""
        last = self._last_query
        if last is None or last[1] is not now or last[2] is not tangled or last[0].x is not mesh.x or (
                last[0].faces is not mesh.faces):
            last = self._last_query = mesh, now, tangled, self._find_intersecting_pair(mesh, now, tangled)
        return last[3]

    def find_new_intersecting_pair(self, mesh: SheetMesh, before: SheetMesh, now: ObstacleMotion) -> tuple[str, str,
                                                                                                           Vec] | None:
        """Return the names of two surfaces that intersect, and where, (3,) [m], without intersections of an earlier
        mesh of the cloth; None where there is none."""
        pair = self.intersecting_pair(mesh, now)
        if pair is None:
            return None
        known = self._before  # many meshes are tried in the place of one
        if known is None or known[0] is not before or known[1] is not now:
            known = self._before = before, now, self.find_tangled_region(before, now)
        return pair if known[2] is None else self.intersecting_pair(mesh, now, known[2])

    def find_new_intersection(self, mesh: SheetMesh, before: SheetMesh, now: ObstacleMotion) -> Vec | None:
        """Return a position, (3,) [m], where another mesh of the cloth intersects a surface, or comes much nearer to it
        than the mesh before: a barrier that begins there has no digits left. None where there is none."""
        pair = self.find_new_intersecting_pair(mesh, before, now)
        if pair is not None:
            return pair[2]
        gap, position = self._nearest(mesh, now)
        return position if gap < self.touch_distance and gap < self.nearer * self._nearest(before, now)[0] else None

    def _nearest(self, mesh: SheetMesh, now: ObstacleMotion) -> tuple[float, Vec]:
        """Return the least distance between two surfaces relative to the activation distance, and where it is, (3,)
        [m]."""
        law = self._law_of(mesh, now)
        forces = law.contact_forces(np.concatenate([mesh.x, now.smooth_x]))
        if not len(forces):
            return 1.0, np.zeros(3)
        nearest = forces[forces[:, 6].argmin()]
        return float(nearest[6]) / law.activation, nearest[:3]

    def _find_intersecting_pair(self, mesh: SheetMesh, now: ObstacleMotion,
                                tangled: TangledRegion | None) -> tuple[str, str, Vec] | None:
        """Return the names of two surfaces that intersect outside of `tangled`, and where, (3,) [m]; None for no
        intersection."""
        if self._is_all(tangled, mesh):
            return None
        self._law_of(mesh, now, tangled)
        assert self._surfaces is not None
        x, count = np.concatenate([mesh.x, now.smooth_x]), len(mesh.x)
        edge_and_face = self._surfaces.intersection(x)
        if edge_and_face is None:
            return None
        sheets = self._sheets(mesh)
        one, other = (self.names[int(sheets[nodes[0]] if nodes[0] < count else self.owner[nodes[0] - count])]
                      for nodes in edge_and_face)
        return one, other, x[edge_and_face[1]].mean(axis=0)

    def _sheets(self, mesh: SheetMesh) -> Index:
        """Return the sheet of each vertex, (n,)."""
        return np.zeros(len(mesh.x), np.int32) if self.sheet_of is None else self.sheet_of(mesh.material)

    def _law_of(self, mesh: SheetMesh, now: ObstacleMotion, tangled: TangledRegion | None = None) -> ContactLaw:
        """Return the law between the surfaces of a mesh and of obstacles, without faces in `tangled`; it is made again
        where these have changed."""
        separated = np.ones(len(mesh.faces), dtype=bool) if tangled is None else (
            ~tangled.of(mesh)[mesh.faces].any(axis=1))
        if self._made is None or not np.array_equal(self._faces, mesh.faces) or not np.array_equal(
                self._separated, separated):
            count = len(mesh.x)
            flat = np.column_stack([mesh.material, np.zeros(count)])
            rest = np.concatenate([flat, now.smooth_x])
            group = np.concatenate([np.full(count, -1), np.full(len(now.smooth_x), HARD)])
            owner = np.concatenate([self._sheets(mesh), self.owner]).astype(np.int32)
            collides = np.ones((max(int(owner.max(initial=0)) + 1, len(self.itself)),) * 2, dtype=bool)
            sheets = np.arange(len(self.itself))
            collides[sheets, sheets] = self.itself
            faces = np.concatenate([mesh.faces[separated], self.triangles + np.int32(count)]).astype(np.int32)
            self._surfaces = Surfaces(rest, faces, group, owner, None if collides.all() else collides,
                                      serves_long=False)
            self._made, self._faces, self._separated = self.law(self._surfaces, rest, mesh), mesh.faces, separated
        return self._made


@dataclass(frozen=True)
class BarrierContacts:
    """Barrier forces of one step. [Thesis 2.12, changed: with the second-order expansion of a barrier]"""

    as_far = 0.8  #: of the least distance: a step's rounds do not begin at a motion that brings pairs nearer

    law: ContactLaw
    mesh: SheetMesh  #: at the start
    now: ObstacleMotion
    tangled: TangledRegion | None = None  #: without contact
    max_stiffness: float = np.inf  #: largest stiffness of a pair [N/m]; forces of stiffer ones are scaled as well
    interface: InterfaceInertia | None = None  #: inertia of smooth obstacles; None: their motion is prescribed
    start_rates: Vec = field(default_factory=lambda: np.zeros((0, 3)))  #: δ⁰ of its movers, (c, 3)
    done: float = 0.0  #: elapsed part of their step [s]

    @property
    def activation(self) -> float:
        """Return the distance at which barrier forces start [m]."""
        return self.law.activation

    @property
    def start(self) -> MotionPath:
        """Return the positions of cloth and obstacles at the step's start."""
        return MotionPath(self.mesh.x, self.now.smooth_x)

    def add_to_system(self, posed: AssembledSystem, at: MotionPath, h: float) -> tuple[AssembledSystem, Index]:
        """Return the step's system with barrier forces and friction at a motion, to second order, and the movers of
        obstacles in it, (k,), whose rates come after the cloth's; the system itself where no pair is near."""
        nodes, forces, blocks = self._at(at, h)
        wrench, loaded = self._under(h)
        obstacle_nodes = nodes[nodes >= len(at.x)] - len(at.x)
        used = np.unique(np.concatenate([loaded, *(() if self.interface is None else (
            self.interface.movers[obstacle_nodes].ravel(),))]))
        used = used[used >= 0].astype(np.int32)
        used = used if self.interface is None else self.interface.with_their_groups(used)
        if not len(nodes) and not len(used):
            return posed, used
        movers, arms, elements = self._moving(nodes, used, len(at.x), len(at.obstacles))
        unknowns, all_blocks = posed.unknowns.joining(elements, posed.blocks, len(used))
        impulse = np.concatenate([posed.impulse, np.zeros((len(used), posed.impulse.shape[1]))])
        if self.interface is not None:
            index = np.full(self.interface.count, -1)
            index[used] = len(at.x) + np.arange(len(used))
            high, low = index[self.interface.pairs].T
            own = high >= 0
            slots = np.searchsorted(unknowns.keys, low[own] << 32 | high[own])
            all_blocks[slots, :3, :3] += h / (self.done + h) * self.interface.inertia[own]
            impulse[len(at.x):, :3] = wrench[used]
        displacement = np.concatenate([self.mesh.x - at.x, self.predict_positions(h) - at.obstacles])
        add_barrier_forces(nodes, movers, arms, unknowns.keys, np.ascontiguousarray(forces),
                           np.ascontiguousarray(blocks), displacement, h, all_blocks, impulse)
        return AssembledSystem(unknowns, all_blocks, impulse), used

    def _under(self, h: float) -> tuple[Vec, Index]:
        """Return A' δ⁰ − h Jᵀ f of movers, (c, 3), and the numbers of those for which it is not zero."""
        if self.interface is None:
            return np.zeros((0, 3)), np.zeros(0, np.int32)
        wrench = h / (self.done + h) * self.interface.momentum(self.start_rates) - h * self.interface.gather_impulses(
            self.interface.forces)
        return wrench, np.flatnonzero(wrench.any(axis=1)).astype(np.int32)

    def _moving(self, nodes: Index, used: Index, count: int, obstacles: int) -> tuple[Index, Vec, Index]:
        """Return the vertices that move each node, (m, 2), and their arms, (m, 3); and elements (k, 4) that join all
        that contact forces move."""
        movers, arms = np.full((count + obstacles, 2), -1, np.int32), np.zeros((count + obstacles, 3))
        movers[:count, 0] = np.arange(count)
        elements = [np.zeros((0, 4), np.int32)]
        if self.interface is not None and len(used):
            index = np.full(self.interface.count + 1, -1, np.int32)
            index[used] = count + np.arange(len(used), dtype=np.int32)
            movers[count:], arms[count:] = index[self.interface.movers], self.interface.arms
            pairs = index[self.interface.pairs]
            elements.append(pairs[pairs[:, 0] >= 0][:, [0, 1, 1, 1]])
        if len(nodes):
            moved = movers[nodes]
            # a prescribed node is no unknown: in the pattern one of the cloth's replaces it
            substitute = nodes[np.arange(len(nodes)), (nodes < count).argmax(axis=1)][:, None]
            straight = np.where(moved[:, :, 0] >= 0, moved[:, :, 0], substitute)
            rotates = (moved[:, :, 1] >= 0).any(axis=1)
            elements += [straight, np.where(moved[:, :, 1] >= 0, moved[:, :, 1], straight)[rotates]]
        return movers, arms, np.concatenate(elements).astype(np.int32)

    def predict_positions(self, h: float) -> Vec:
        """Return predicted positions of smooth obstacles at the step's end, (o, 3) [m]."""
        return self.now.smooth_x + h * self.now.smooth_velocity

    def rates(self, u: Vec, used: Index) -> Vec:
        """Return δ of all movers, (c, 3). u: rates of the movers `used`, (3 k,)."""
        out = self.start_rates.copy()
        out[used] = u.reshape(-1, 3)
        return out

    def advance_positions(self, rates: Vec, h: float) -> Vec:
        """Return positions of smooth obstacles at the step's end, (o, 3) [m]. rates: δ of their movers, (c, 3)."""
        return self.predict_positions(h) if self.interface is None else (
            self.predict_positions(h) + h * self.interface.velocities(rates))

    def _at(self, at: MotionPath, h: float) -> tuple[Index, Vec, Vec]:
        """Return nodes (k, 4), forces (k, 4, 3) [N] and blocks (k, 6, 9) of all pairs near a motion's end, friction
        included."""
        x = self._all(at)
        tables = [self.law.fill(x, 0.0, True)]
        friction = None
        if len(tables[0].nodes):
            friction = self.law.lag_friction(x, np.concatenate([self.mesh.x, self.now.smooth_x]), h)
        if friction is not None:
            tables.append(friction.fill(x, 0.0, True))
        return self._softer(tables)

    def _barrier_forces(self, x: Vec) -> tuple[Index, Vec, Vec]:
        """Return nodes, forces and blocks of the barrier alone, with all nodes at (n + o, 3)."""
        return self._softer([self.law.fill(x, 0.0, True)])

    def _softer(self, tables: list[Stencils]) -> tuple[Index, Vec, Vec]:
        """Return nodes, forces and blocks, both scaled where a pair is stiffer than admissible."""
        nodes, blocks = block_diagonal(tables)
        forces = np.concatenate([table.forces for table in tables])
        if self.max_stiffness < np.inf and len(nodes):
            scale = self.max_stiffness / np.maximum(np.abs(blocks).max(axis=(1, 2)), self.max_stiffness)
            blocks, forces = scale[:, None, None] * blocks, scale[:, None, None] * forces
        return nodes, forces, blocks

    def obstacle_impulses(self, at: MotionPath, end: MotionPath, h: float) -> Vec:
        """Return impulses on smooth obstacles, (o, 3) [N s], in a step that was solved at one motion and ends in
        another: the reactions to the forces that `add_to_system` applies to the cloth."""
        impulses: Vec = h * self._predict_forces(self._at(at, h), at, end)[len(at.x):]
        return impulses

    @staticmethod
    def _predict_forces(stencils: tuple[Index, Vec, Vec], at: MotionPath, end: MotionPath) -> Vec:
        """Return f + K Δx of barrier forces at one motion, (n + o, 3) [N], where the step ends in another."""
        out, displacement = np.zeros((len(at.x) + len(at.obstacles), 3)), np.concatenate([
            end.x - at.x, end.obstacles - at.obstacles])
        add_forces(stencils[0], np.ascontiguousarray(stencils[1]), np.ascontiguousarray(stencils[2]), displacement, out)
        return out

    def force_errors(self, at: MotionPath, end: MotionPath) -> tuple[Vec, Vec]:
        """Return the error of each vertex' barrier force, where the step ends in another motion than it was solved
        with, and the size of that force, both (n,) [N]."""
        nodes, forces, _ = self._barrier_forces(self._all(end))
        barrier_forces = np.zeros((len(at.x) + len(at.obstacles), 3))
        np.add.at(barrier_forces, nodes, forces)
        predicted = self._predict_forces(self._barrier_forces(self._all(at)), at, end)
        return (np.linalg.norm((barrier_forces - predicted)[: len(at.x)], axis=1),
                np.linalg.norm(barrier_forces[: len(at.x)], axis=1))

    def advance(self, at: MotionPath, end: MotionPath) -> tuple[MotionPath, float]:
        """Return the motion towards a step's end as far as it is free of contact, and its fraction."""
        fraction = self.largest(at, end)
        return MotionPath(at.x + fraction * (end.x - at.x), at.obstacles + fraction * (
            end.obstacles - at.obstacles)), fraction

    def initial_guess(self, h: float) -> tuple[MotionPath, bool]:
        """Return the ballistic end of a step of h [s], half as far where surfaces would touch, or the start where no
        pair is near it or where one would be much nearer at that end; and whether any pair is near."""
        start, count = self.start, len(self.mesh.x)
        if not self.is_near(start):
            return start, False
        start_x, end_x = self._all(start), self._all(MotionPath(start.x + h * self.mesh.v, self.predict_positions(h)))
        fractions = self.law.largest_steps(start_x, end_x, np.arange(len(start_x)))
        fractions[fractions < 1.0] *= 0.5
        end_x = start_x + fractions[:, None] * (end_x - start_x)
        on = MotionPath(end_x[:count], end_x[count:])
        if self.largest(start, on) == 1.0:
            if self._nearest(on) >= self.as_far * self._nearest(start):
                return on, True
        return start, True

    @staticmethod
    def _all(at: MotionPath) -> Vec:
        """Return positions of all nodes, (n + o, 3) [m]."""
        return np.concatenate([at.x, at.obstacles])

    def _nearest(self, at: MotionPath) -> float:
        """Return the least distance between two surfaces relative to the activation distance; 1 where none is nearer.
        """
        forces = self.law.contact_forces(self._all(at))
        return float(forces[:, 6].min(initial=self.activation)) / self.activation

    def largest(self, at: MotionPath, end: MotionPath) -> float:
        """Return the largest fraction of a straight motion from `at` to `end` that is free of contact."""
        return self.law.largest_step(self._all(at), self._all(end))

    def is_near(self, at: MotionPath) -> bool:
        """Return whether any pair is within the activation distance at a motion's end."""
        return len(self.law.measure(self._all(at), 0.0).nodes) > 0

    def find_near_points(self, at: MotionPath) -> Index:
        """Return the numbers of points of smooth obstacles with barrier forces at a motion's end, (k,)."""
        nodes = np.unique(self.law.measure(self._all(at), 0.0).nodes)
        near: Index = nodes[nodes >= len(at.x)] - len(at.x)
        return near

    def name_touched(self, at: MotionPath, owner: Index, names: Sequence[str]) -> str:
        """Return names of the smooth obstacles with contact forces at a motion's end, separated by commas; "" for none.
        owner: of their vertices, (o,)."""
        return ", ".join(f'"{names[k]}"' for k in np.unique(owner[self.find_near_points(at)]))
