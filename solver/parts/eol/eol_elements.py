"""Elements of sheets of cloth whose vertices slide through their material: mass, membrane, bending and air."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
import scipy.sparse as sp

from ...forces.cloth.elements import ClothElements
from ...forces.cloth.sheet import Sheet, SheetLaw
from ...sheet.sheet_mesh import SheetMesh
from ...state import Index, Mask, Vec
from .sheet_offsets import SheetOffsets
from .sliding_kernels import add_drag, add_faces, add_hinges, add_inertia, add_turning
from .unknowns import MOST, Unknowns

Law = Callable[[Sheet], SheetLaw]
#: coefficients of friction and angles of folds [rad], (k,), to coefficients (k,)
OfFolds = Callable[[Vec, Vec], Vec]


@dataclass(frozen=True)
class EolElements:
    """Laws and densities of one sheet."""

    membrane: Law
    bending: Law
    density: float  #: [kg/m²]
    stiffness_damping: float = 0.0  #: α in D = α K − β M, as Rayleigh has it [s]
    mass_damping: float = 0.0  #: β [1/s]
    #: forces on X take what the energy of a face changes by as it grows, so that they are its exact slope; else what
    #: the forces on its corners do as the material slides under them
    exact: bool = False
    drag: float = 0.0  #: c_n, of air that blows onto a face
    air_friction: float = 0.0  #: c_t, of air that blows along it
    friction: OfFolds | None = None  #: of folds over what is sharp; None: as of all else


@dataclass(frozen=True)
class AirFlow:
    """Air that drags cloth along, as `Air` does: C is that of where a step begins."""

    density: float  #: ρ [kg/m³]
    way: Callable[[float], Vec]  #: how far the air has gone at a time [s], (3,) [m]

    def velocity(self, time: float, h: float) -> Vec:
        """Its mean over a step, (3,) [m/s]."""
        mean: Vec = (self.way(time + h) - self.way(time)) / h
        return mean


@dataclass
class AssembledSystem:
    """A u = b of one linearly implicit step, A = M − h D − h² K. K is negative semi-definite. [Thesis 2.11]"""

    unknowns: Unknowns
    blocks: Vec  #: of A, by pairs of vertices, (p, 5, 5)
    impulse: Vec  #: b of each vertex, (n, 5)

    @property
    def matrix(self) -> sp.csc_matrix:
        """A, its lower triangle; overwritten by the next step's."""
        return self.unknowns.lower(self.blocks)

    @property
    def right(self) -> Vec:
        """b, (m,)."""
        return self.unknowns.flat(self.impulse[:, :3], self.impulse[:, 3:])

    def with_resistance(self, vertices: Index, blocks: Vec, towards: Vec) -> AssembledSystem:
        """Return the system with drag of vertices (k,), each once, by blocks (k, 5, 5) [kg] towards rates (k, 5)."""
        more = self.blocks.copy()
        more[self.unknowns.diagonal[vertices]] += blocks
        return replace(self.with_impulse(vertices, np.einsum("kij,kj->ki", blocks, towards)), blocks=more)

    def with_impulse(self, vertices: Index, impulses: Vec) -> AssembledSystem:
        """Return the system with impulses (k, 5) on vertices (k,), each once."""
        impulse = self.impulse.copy()
        impulse[vertices] += impulses
        return replace(self, impulse=impulse)


class ClothPiece:
    """One sheet of a cloth: its faces and what they resist."""

    def __init__(self, fabric: EolElements, sheet: SheetMesh, own: slice | Index) -> None:
        """own: which of all faces are its."""
        self.fabric, self.own = fabric, own
        self.faces: Index = np.ascontiguousarray(sheet.faces[own])  #: (m, 3)
        self.cloth = Sheet(sheet.x, self.faces, sheet.material[self.faces], slides=True)
        self._membrane = fabric.membrane(self.cloth)
        self.elements = ClothElements([self._membrane, fabric.bending(self.cloth)])

    def of_growth(self, x: Vec, slides: Mask) -> Vec:
        """−Σ A ψ ∇N of the membrane at x (n, 3) [m], (n, 2) [N]: what its energy takes for there being more of a face.
        """
        self._membrane.measure(x, np.empty((len(self.faces), 4, 3)))
        growth: Vec = np.zeros((len(x), 2))
        np.add.at(growth, self.faces, -self._membrane.energies[:, None, None] * self.cloth.gradients)
        growth[~slides] = 0.0
        return growth


@dataclass
class Assembler:
    """Steps of one cloth. It keeps what belongs to a mesh for as long as the mesh keeps its faces."""

    fabrics: Sequence[EolElements]  #: of each sheet
    gravity: Vec  #: [m/s²], (3,)
    air: AirFlow | None = None
    apart: SheetOffsets = field(default_factory=SheetOffsets.alone)  #: where each sheet is in the material
    _faces: Index = field(default_factory=lambda: np.zeros((0, 3), np.int32), init=False)
    _unknowns: Unknowns | None = field(default=None, init=False)

    @property
    def unknowns(self) -> Unknowns:
        """Return the unknowns of the sheet that was assembled last."""
        assert self._unknowns is not None
        return self._unknowns

    def assemble(self, sheet: SheetMesh, h: float, time: float = 0.0) -> AssembledSystem:
        """The step of h seconds from there on, at `time` [s]."""
        slides, F = sheet.on >= 0, np.ascontiguousarray(sheet.gradients)
        pieces = [ClothPiece(one, sheet, own) for one, own in zip(self.fabrics, self._owned(sheet))]
        unknowns = self._unknowns_of(sheet.faces, slides, pieces)
        blocks, impulse = np.zeros((unknowns.blocks, MOST, MOST)), np.zeros((len(sheet.x), MOST))
        first = 0
        for one in pieces:
            slots = unknowns.slots[first : first + len(one.elements.tets)]
            self._add(one, sheet, unknowns, slots, slides, F[one.own], h, blocks, impulse)
            first += len(slots)
            if self.air is not None:
                half = 0.5 * self.air.density
                add_drag(one.faces, unknowns.diagonal, slides, F[one.own], sheet.x, sheet.v, sheet.slide,
                         self.air.velocity(time, h), half * one.fabric.drag, half * one.fabric.air_friction, h, blocks,
                         impulse)
            if one.fabric.exact:
                impulse[:, 3:] += h * one.of_growth(sheet.x, slides)
        return AssembledSystem(unknowns, blocks, impulse)

    def masses(self, sheet: SheetMesh) -> Vec:
        """Return masses of vertices, a third of each face's, (n,) [kg]."""
        masses = np.zeros(len(sheet.x))
        for one, own in zip(self.fabrics, self._owned(sheet)):
            np.add.at(masses, sheet.faces[own], (one.density / 3.0 * sheet.areas[own])[:, None])
        return masses

    def _add(self, one: ClothPiece, sheet: SheetMesh, unknowns: Unknowns, slots: Index, slides: Mask, F: Vec, h: float,
             blocks: Vec, impulse: Vec) -> None:
        """Inertia, forces and stiffness of a sheet. slots: of its elements. F: of its faces."""
        fabric, faces, areas = one.fabric, one.faces, sheet.areas[one.own]
        mass_share, momentum = 1.0 + h * fabric.mass_damping, np.zeros_like(impulse)
        add_inertia(faces, slots, slides, F, mass_share * fabric.density * areas / 12.0, sheet.v, sheet.slide, blocks,
                    momentum)
        impulse += momentum / mass_share
        add_turning(faces, slides, F, np.ascontiguousarray(one.cloth.gradients), fabric.density * areas / 12.0,
                    sheet.v, sheet.slide, h, impulse)

        tets = one.elements.tets
        forces, stiffness = np.zeros((len(tets), 4, 3)), np.zeros((len(tets), 6, 9))
        one.elements.fill(sheet.x, True, forces, stiffness)
        forces[: len(faces), :3] += (fabric.density / 3.0 * areas)[:, None, None] * self.gravity
        # a face slides with its own F: averaged over a fold a force would do work that nobody gets
        share, first, hinges = h * h + h * fabric.stiffness_damping, len(faces), one.cloth.hinges
        add_faces(tets[:first], slots[:first], slides, F, forces[:first], stiffness[:first], share, h, blocks, impulse)
        add_hinges(tets[first:], slots[first:], slides, F, hinges.sides, hinges.cotangents, forces[first:],
                   stiffness[first:], share, h, blocks, impulse)

    def _owned(self, sheet: SheetMesh) -> Sequence[slice | Index]:
        """Faces of each sheet."""
        if len(self.fabrics) == 1:
            return [slice(None)]
        of_face = self.apart.sheet_of(sheet.material[sheet.faces[:, 0]])
        return [np.flatnonzero(of_face == k) for k in range(len(self.fabrics))]

    def _unknowns_of(self, faces: Index, slides: Mask, pieces: Sequence[ClothPiece]) -> Unknowns:
        cached = self._unknowns
        if cached is None or not np.array_equal(self._faces, faces) or not np.array_equal(cached.slides, slides):
            cached = self._unknowns = Unknowns(slides, np.concatenate([one.elements.tets for one in pieces]))
            self._faces = faces
        return cached
