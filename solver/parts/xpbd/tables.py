"""Constraints of XPBD sorted by colour, made of the elements that projective dynamics has."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Protocol

import numpy as np

from ...forces.cloth.sheet import Sheet, over_elements
from ...meshing.volume import shape_gradients
from ...state import Index, Vec
from ..projective.building import DIRECTIONS, bends, membrane_moduli
from ..projective.constraints import Lengths
from .kernels import colour, solve_rows, solve_shear, solve_tets

COLOURS = 64  #: that are tried at first


class CompliantTable(Protocol):
    """Protocol of the constraints of one kind."""

    def restart(self) -> None:
        """Set all multipliers to 0, at the start of each step."""

    def sweep(self, x: Vec, x_start: Vec, inverse_mass: Vec, h: float, damping: float) -> None:
        """Project each constraint once, updating positions x (n, 3) [m] in place. x_start: positions at the start of
        the step of h seconds, (n, 3) [m]. inverse_mass: (n,) [1/kg]. damping: τ [s]."""


class Coloured:
    """Order of elements by colour, in which elements of one colour share no node."""

    def __init__(self, nodes: Index, width: Index) -> None:
        """nodes: (k, a). width: number of each element's nodes that count, (k,)."""
        nodes, count = np.array(nodes, dtype=np.int32), int(nodes.max(initial=-1)) + 1
        colours, most = np.full(len(nodes), -1, dtype=np.int32), COLOURS
        while len(nodes) and colours.min() < 0:
            colour(nodes, np.ascontiguousarray(width, dtype=np.int32), np.zeros((count, most), np.int32), colours)
            most *= 2
        self.order = np.argsort(colours, kind="stable")
        self._ends = np.searchsorted(colours[self.order], np.arange(1, int(colours.max(initial=-1)) + 2)).tolist()

    @property
    def count(self) -> int:
        """Return the number of colours."""
        return len(self._ends)

    def sweep(self, kernel: Callable[..., None], tables: list[Any], *arguments: Any) -> None:
        """Run kernel(start, stop, …) colour by colour, each in parallel. tables: the rows of each colour, from `cut`.
        arguments: those of the kernel before and after the rows."""
        for own in tables:
            over_elements(kernel, len(own[0]), *arguments[0], *own, *arguments[1])

    def cut(self, *tables: Vec | Index) -> list[tuple[Vec, ...]]:
        """Return for each colour its rows of tables (k, …), as views of sorted copies."""
        ordered = [np.array(table[self.order]) for table in tables]
        begins = [0, *self._ends[:-1]]
        return [tuple(table[first:end] for table in ordered) for first, end in zip(begins, self._ends)]


class CompliantRows:
    """Lengths, ropes, bends and welds as compliant constraints: ½ φ²/α of each row."""

    def __init__(self, lengths: Lengths) -> None:
        counts = (lengths.coefficients != 0.0).astype(np.int32)
        width = np.maximum(4 - np.argmax(counts[:, ::-1], axis=1), 1)  # unused nodes are last
        coloured = Coloured(lengths.nodes, width)
        self._multipliers = np.zeros((len(lengths.nodes), 3))
        self._own = coloured.cut(lengths.nodes, lengths.coefficients, 1.0 / lengths.weights, lengths.least,
                                 lengths.most, lengths.centres, self._multipliers)
        self._coloured = coloured

    def restart(self) -> None:
        """Set all multipliers to 0, at the start of each step."""
        for own in self._own:
            own[-1][:] = 0.0

    def sweep(self, x: Vec, x_start: Vec, inverse_mass: Vec, h: float, damping: float) -> None:
        """Project each row once, colour by colour, updating positions x (n, 3) [m] in place. x_start: positions at the
        start of the step of h seconds, (n, 3) [m]. inverse_mass: (n,) [1/kg]. damping: τ [s]."""
        self._coloured.sweep(solve_rows, self._own, (x, x_start, inverse_mass), (1.0 / h**2, damping / h))


class Shear:
    """½ k (f₁ · f₂)² of triangles, f₁ and f₂ the columns of F."""

    def __init__(self, triangles: Index, gradients: Vec, weights: Vec) -> None:
        """triangles: (t, 3). gradients: (t, 3, 2) [1/m]. weights: k, (t,) [N m]."""
        self._coloured = Coloured(triangles, np.full(len(triangles), 3))
        self._own = self._coloured.cut(triangles.astype(np.int32), gradients, 1.0 / weights, np.zeros(len(triangles)))

    def restart(self) -> None:
        """Set all multipliers to 0, at the start of each step."""
        for own in self._own:
            own[-1][:] = 0.0

    def sweep(self, x: Vec, x_start: Vec, inverse_mass: Vec, h: float, damping: float) -> None:
        """Project each right angle once, colour by colour, updating positions x (n, 3) [m] in place. inverse_mass: (n,)
        [1/kg]. h: length of the step [s]. x_start, damping: not used."""
        self._coloured.sweep(solve_shear, self._own, (x, inverse_mass), (1.0 / h**2,))


class NeoHookean:
    """½ Λ V (J − 1 − μ/Λ)² + ½ μ V |F|² of tetrahedra, Λ = λ + μ: `neo_hookean_plain` up to a constant.
    [Macklin 2021]"""

    def __init__(self, rest: Vec, tets: Index, lame_mu: Vec, lame_lambda: Vec) -> None:
        """rest: (n, 3) [m]. tets: (e, 4). lame_mu, lame_lambda: (e,) [Pa]."""
        gradients, six_volumes = shape_gradients(rest, tets)
        swelling = lame_lambda + lame_mu
        compliance = 6.0 / (np.stack([swelling, lame_mu], axis=1) * six_volumes[:, None])
        self._coloured = Coloured(tets, np.full(len(tets), 4))
        self._own = self._coloured.cut(tets.astype(np.int32), gradients, compliance, 1.0 + lame_mu / swelling,
                                       np.zeros((len(tets), 2)))

    def restart(self) -> None:
        """Set all multipliers to 0, at the start of each step."""
        for own in self._own:
            own[-1][:] = 0.0

    def sweep(self, x: Vec, x_start: Vec, inverse_mass: Vec, h: float, damping: float) -> None:
        """Project each tetrahedron once, colour by colour, updating positions x (n, 3) [m] in place. inverse_mass: (n,)
        [1/kg]. h: length of the step [s]. x_start, damping: not used."""
        self._coloured.sweep(solve_tets, self._own, (x, inverse_mass), (1.0 / h**2,))


def compliant_cloth(sheet: Sheet, membrane: Mapping[str, float], bending: Mapping[str, float],
                    flat: bool = True) -> list[CompliantTable]:
    """Return the constraints of a sheet: directions across each triangle, its right angle, and bends, equivalent to the
    woven membrane for small strains. Arguments are those of `cloth_constraints` of projective dynamics."""
    moduli, corotated, _ = membrane_moduli(membrane)
    # for small strains g |F − R|² equals two directions of 2 g and ½ g (f₁ · f₂)²
    moduli = moduli + np.array([2.0 * corotated, 2.0 * corotated, 0.0, 0.0])
    rows, areas = [], sheet.areas
    for (e0, e1, _), stiffness in zip(DIRECTIONS, moduli):
        if stiffness > 0.0:
            along = sheet.gradients[:, :, 0] * e0 + sheet.gradients[:, :, 1] * e1
            rows.append(Lengths.of(sheet.triangles, along, stiffness * areas, 1.0))
    rows += bends(sheet, bending["bending_stiffness"], flat)
    tables: list[CompliantTable] = [CompliantRows(Lengths.join(rows))] if rows else []
    if corotated > 0.0:
        tables.append(Shear(sheet.triangles, sheet.gradients, corotated * areas))
    return tables
