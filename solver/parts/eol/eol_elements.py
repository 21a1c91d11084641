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
    """Material laws and densities of one sheet."""

    membrane: Law
    bending: Law
    density: float  #: [kg/m²]
    stiffness_damping: float = 0.0  #: α in D = α K − β M, as Rayleigh has it [s]
    mass_damping: float = 0.0  #: β [1/s]
    #: whether forces on X include the change of a face's energy as it grows, so that they are its exact derivative;
    #: else they are those of its corners alone, as material slides under them
    exact: bool = False
    drag: float = 0.0  #: c_n, drag of air across a face
    air_friction: float = 0.0  #: c_t, drag of air along it
    friction: OfFolds | None = None  #: on folds over features; None: as elsewhere


@dataclass(frozen=True)
class AirFlow:
    """Moving air with drag on cloth, as `Air`; its C is evaluated at the start of a step."""

    density: float  #: ρ [kg/m³]
    displacement: Callable[[float], Vec]  #: displacement of the air at a time [s], (3,) [m]

    def velocity(self, time: float, h: float) -> Vec:
        """Return the mean velocity of the air over a step of h seconds from `time` [s] on, (3,) [m/s]."""
        mean: Vec = (self.displacement(time + h) - self.displacement(time)) / h
        return mean


@dataclass
class AssembledSystem:
    """System A u = b of one linearly implicit step, A = M − h D − h² K with negative semi-definite K. [Thesis 2.11]"""

    unknowns: Unknowns
    blocks: Vec  #: of A, by pairs of vertices, (p, 5, 5)
    impulse: Vec  #: b of each vertex, (n, 5)

    @property
    def matrix(self) -> sp.csc_matrix:
        """Return the lower triangle of A, (m, m); that of the next step overwrites it."""
        return self.unknowns.lower(self.blocks)

    @property
    def rhs(self) -> Vec:
        """Return b, (m,)."""
        return self.unknowns.join(self.impulse[:, :3], self.impulse[:, 3:])

    def with_resistance(self, vertices: Index, blocks: Vec, towards: Vec) -> AssembledSystem:
        """Return the system with drag on distinct vertices, (k,), by blocks (k, 5, 5) [kg] towards rates (k, 5)."""
        more = self.blocks.copy()
        more[self.unknowns.diagonal[vertices]] += blocks
        return replace(self.with_impulse(vertices, np.einsum("kij,kj->ki", blocks, towards)), blocks=more)

    def with_impulse(self, vertices: Index, impulses: Vec) -> AssembledSystem:
        """Return the system with impulses (k, 5) on distinct vertices, (k,)."""
        impulse = self.impulse.copy()
        impulse[vertices] += impulses
        return replace(self, impulse=impulse)


class ClothPiece:
    """Sheet of a cloth: its faces and elements."""

    def __init__(self, properties: EolElements, sheet: SheetMesh, own: slice | Index) -> None:
        """Make the elements of one sheet. own: its faces among all of the mesh."""
        self.properties, self.own = properties, own
        self.faces: Index = np.ascontiguousarray(sheet.faces[own])  #: (m, 3)
        self.cloth = Sheet(sheet.x, self.faces, sheet.material[self.faces], slides=True)
        self._membrane = properties.membrane(self.cloth)
        self.elements = ClothElements([self._membrane, properties.bending(self.cloth)])

    def of_growth(self, x: Vec, slides: Mask) -> Vec:
        """Return −Σ A ψ ∇N of the membrane at x (n, 3) [m], (n, 2) [N]: forces on X by the energy of faces that grow in
        the material; zero on vertices that do not slide."""
        self._membrane.measure(x, np.empty((len(self.faces), 4, 3)))
        growth: Vec = np.zeros((len(x), 2))
        np.add.at(growth, self.faces, -self._membrane.energies[:, None, None] * self.cloth.gradients)
        growth[~slides] = 0.0
        return growth


@dataclass
class Assembler:
    """Assembler of the steps of one cloth. It reuses what depends on the faces of the mesh alone."""

    sheet_properties: Sequence[EolElements]  #: of each sheet
    gravity: Vec  #: [m/s²], (3,)
    air: AirFlow | None = None
    #: where each sheet is in the material
    sheet_offsets: SheetOffsets = field(default_factory=SheetOffsets.single_sheet)
    _faces: Index = field(default_factory=lambda: np.zeros((0, 3), np.int32), init=False)
    _unknowns: Unknowns | None = field(default=None, init=False)

    @property
    def unknowns(self) -> Unknowns:
        """Return the unknowns of the sheet that was assembled last."""
        assert self._unknowns is not None
        return self._unknowns

    def assemble(self, sheet: SheetMesh, h: float, time: float = 0.0) -> AssembledSystem:
        """Return the system of a step of h seconds from this state of the cloth on, at `time` [s]."""
        slides, F = sheet.on >= 0, np.ascontiguousarray(sheet.gradients)
        pieces = [ClothPiece(properties, sheet, own)
                  for properties, own in zip(self.sheet_properties, self._split_faces(sheet))]
        unknowns = self._unknowns_of(sheet.faces, slides, pieces)
        blocks, impulse = np.zeros((unknowns.blocks, MOST, MOST)), np.zeros((len(sheet.x), MOST))
        first = 0
        for piece in pieces:
            slots = unknowns.slots[first : first + len(piece.elements.tets)]
            self._add(piece, sheet, unknowns, slots, slides, F[piece.own], h, blocks, impulse)
            first += len(slots)
            if self.air is not None:
                half = 0.5 * self.air.density
                add_drag(piece.faces, unknowns.diagonal, slides, F[piece.own], sheet.x, sheet.v, sheet.slide,
                         self.air.velocity(time, h), half * piece.properties.drag,
                         half * piece.properties.air_friction, h, blocks, impulse)
            if piece.properties.exact:
                impulse[:, 3:] += h * piece.of_growth(sheet.x, slides)
        return AssembledSystem(unknowns, blocks, impulse)

    def masses(self, sheet: SheetMesh) -> Vec:
        """Return masses of vertices, a third of that of each face, (n,) [kg]."""
        masses = np.zeros(len(sheet.x))
        for properties, own in zip(self.sheet_properties, self._split_faces(sheet)):
            np.add.at(masses, sheet.faces[own], (properties.density / 3.0 * sheet.areas[own])[:, None])
        return masses

    def _add(self, one: ClothPiece, sheet: SheetMesh, unknowns: Unknowns, slots: Index, slides: Mask, F: Vec, h: float,
             blocks: Vec, impulse: Vec) -> None:
        """Add inertia, forces and stiffness of a sheet to blocks and impulse. slots: of its elements. F: of its faces.
        """
        properties, faces, areas = one.properties, one.faces, sheet.areas[one.own]
        mass_factor, momentum = 1.0 + h * properties.mass_damping, np.zeros_like(impulse)
        add_inertia(faces, slots, slides, F, mass_factor * properties.density * areas / 12.0, sheet.v, sheet.slide,
                    blocks, momentum)
        impulse += momentum / mass_factor
        add_turning(faces, slides, F, np.ascontiguousarray(one.cloth.gradients), properties.density * areas / 12.0,
                    sheet.v, sheet.slide, h, impulse)

        tets = one.elements.tets
        forces, stiffness = np.zeros((len(tets), 4, 3)), np.zeros((len(tets), 6, 9))
        one.elements.fill(sheet.x, True, forces, stiffness)
        forces[: len(faces), :3] += (properties.density / 3.0 * areas)[:, None, None] * self.gravity
        # a face slides with its own F: with an average over a fold, work of forces would be dissipated
        stiffness_factor, first, hinges = h * h + h * properties.stiffness_damping, len(faces), one.cloth.hinges
        add_faces(tets[:first], slots[:first], slides, F, forces[:first], stiffness[:first], stiffness_factor, h,
                  blocks, impulse)
        add_hinges(tets[first:], slots[first:], slides, F, hinges.sides, hinges.cotangents, forces[first:],
                   stiffness[first:], stiffness_factor, h, blocks, impulse)

    def _split_faces(self, sheet: SheetMesh) -> Sequence[slice | Index]:
        """Return the faces of each sheet."""
        if len(self.sheet_properties) == 1:
            return [slice(None)]
        of_face = self.sheet_offsets.sheet_of(sheet.material[sheet.faces[:, 0]])
        return [np.flatnonzero(of_face == k) for k in range(len(self.sheet_properties))]

    def _unknowns_of(self, faces: Index, slides: Mask, pieces: Sequence[ClothPiece]) -> Unknowns:
        cached = self._unknowns
        if cached is None or not np.array_equal(self._faces, faces) or not np.array_equal(cached.slides, slides):
            cached = self._unknowns = Unknowns(slides, np.concatenate([piece.elements.tets for piece in pieces]))
            self._faces = faces
        return cached
