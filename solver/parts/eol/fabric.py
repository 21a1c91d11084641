"""What a sheet of cloth is made of, and what it weighs and does where its vertices slide through its material."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace

import numpy as np
import scipy.sparse as sp

from ...forces.cloth.elements import ClothElements
from ...forces.cloth.sheet import Sheet, SheetLaw
from ...sheet.sheet_mesh import SheetMesh
from ...state import Index, Mask, Vec
from .sliding_kernels import add_drag, add_elements, add_inertia, add_turning
from .unknowns import MOST, Unknowns

Law = Callable[[Sheet], SheetLaw]


@dataclass(frozen=True)
class Fabric:
    """What every piece of a cloth has alike."""

    membrane: Law
    bending: Law
    density: float  #: [kg/m²]
    stiffness_damping: float = 0.0  #: α in D = α K − β M, as Rayleigh has it [s]
    mass_damping: float = 0.0  #: β [1/s]
    #: forces on X take what the energy of a face changes by as it grows, so that they are its exact slope; else what
    #: the forces on its corners do as the material slides under them
    exact: bool = False


@dataclass(frozen=True)
class Breeze:
    """Air that drags a cloth along, as `Air` does: C is that of where a step begins."""

    density: float  #: ρ [kg/m³]
    drag: float  #: c_n, of what blows onto a face
    friction: float  #: c_t, of what blows along it
    way: Callable[[float], Vec]  #: how far the air has gone at a time [s], (3,) [m]

    def velocity(self, time: float, h: float) -> Vec:
        """Its mean over a step, (3,) [m/s]."""
        mean: Vec = (self.way(time + h) - self.way(time)) / h
        return mean


@dataclass
class Assembled:
    """A u = b of one linearly implicit step, A = M − h D − h² K. K is negative semi-definite. [Thesis 2.11]"""

    unknowns: Unknowns
    blocks: Vec  #: of A, by pairs of vertices, (p, 5, 5)
    impulse: Vec  #: b of each vertex, (n, 5)

    @property
    def matrix(self) -> sp.csc_matrix:
        """A, its lower triangle; written anew by the next step's."""
        return self.unknowns.lower(self.blocks)

    @property
    def right(self) -> Vec:
        """b, (m,)."""
        return self.unknowns.flat(self.impulse[:, :3], self.impulse[:, 3:])

    def with_resistance(self, vertices: Index, blocks: Vec, towards: Vec) -> Assembled:
        """The same where vertices (k,), each once, are dragged by blocks (k, 5, 5) [kg] towards rates (k, 5)."""
        more = self.blocks.copy()
        more[self.unknowns.diagonal[vertices]] += blocks
        return replace(self.with_impulse(vertices, np.einsum("kij,kj->ki", blocks, towards)), blocks=more)

    def with_impulse(self, vertices: Index, impulses: Vec) -> Assembled:
        """The same where vertices (k,), each once, are pushed by (k, 5)."""
        impulse = self.impulse.copy()
        impulse[vertices] += impulses
        return replace(self, impulse=impulse)


@dataclass
class Assembler:
    """Steps of one cloth. It keeps what belongs to a mesh for as long as the mesh keeps its faces."""

    fabric: Fabric
    gravity: Vec  #: [m/s²], (3,)
    air: Breeze | None = None
    _faces: Index = field(default_factory=lambda: np.zeros((0, 3), np.int32), init=False)
    _unknowns: Unknowns | None = field(default=None, init=False)

    @property
    def unknowns(self) -> Unknowns:
        """Of the sheet that was assembled last."""
        assert self._unknowns is not None
        return self._unknowns

    def assemble(self, sheet: SheetMesh, h: float, time: float = 0.0) -> Assembled:
        """The step of h seconds from there on, at `time` [s]."""
        slides, one, count = sheet.on >= 0, self.fabric, len(sheet.faces)
        cloth = Sheet(sheet.x, sheet.faces, sheet.material[sheet.faces])
        membrane, bending = one.membrane(cloth), one.bending(cloth)
        elements = ClothElements([membrane, bending])
        unknowns = self._unknowns_of(sheet.faces, slides, elements.tets)
        blocks, impulse = np.zeros((unknowns.blocks, MOST, MOST)), np.zeros((len(sheet.x), MOST))
        F = np.ascontiguousarray(sheet.gradients)

        mass_share = 1.0 + h * one.mass_damping
        add_inertia(sheet.faces, unknowns.slots, slides, F, mass_share * one.density * sheet.areas / 12.0, sheet.v,
                    sheet.slide, blocks, impulse)
        impulse /= mass_share
        add_turning(sheet.faces, slides, F, np.ascontiguousarray(cloth.gradients), one.density * sheet.areas / 12.0,
                    sheet.v, sheet.slide, h, impulse)

        forces, stiffness = np.zeros((len(elements.tets), 4, 3)), np.zeros((len(elements.tets), 6, 9))
        elements.fill(sheet.x, True, forces, stiffness)
        forces[:count, :3] += (one.density / 3.0 * sheet.areas)[:, None, None] * self.gravity
        # a face slides with its own F: averaged over a fold a force would do work that nobody gets
        add_elements(elements.tets, unknowns.slots, slides, np.concatenate([F, sheet.mean_gradients]),
                     count, forces, stiffness, h * h + h * one.stiffness_damping, h, blocks, impulse)
        if self.air is not None:
            add_drag(sheet.faces, unknowns.diagonal, slides, F, sheet.x, sheet.v, sheet.slide,
                     self.air.velocity(time, h), 0.5 * self.air.density * self.air.drag,
                     0.5 * self.air.density * self.air.friction, h, blocks, impulse)
        if one.exact:
            impulse[:, 3:] += h * _of_growth(sheet, slides, cloth, membrane)
        return Assembled(unknowns, blocks, impulse)

    def _unknowns_of(self, faces: Index, slides: Mask, elements: Index) -> Unknowns:
        kept = self._unknowns
        if kept is None or not np.array_equal(self._faces, faces) or not np.array_equal(kept.slides, slides):
            kept = self._unknowns = Unknowns(slides, elements)
            self._faces = faces
        return kept


def _of_growth(sheet: SheetMesh, slides: Mask, cloth: Sheet, membrane: SheetLaw) -> Vec:
    """−Σ A ψ ∇N of the membrane, (n, 2) [N]: what its energy takes for there being more of a face."""
    membrane.measure(sheet.x, np.empty((len(sheet.faces), 4, 3)))
    growth: Vec = np.zeros((len(sheet.x), 2))
    np.add.at(growth, sheet.faces, -membrane.energies[:, None, None] * cloth.gradients)
    growth[~slides] = 0.0
    return growth
