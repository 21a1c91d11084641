"""A linear stage with constraint rows, and the protocol of the methods that enforce them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Protocol

import numpy as np
import scipy.sparse as sp

from ...state import Index, Vec


@dataclass(frozen=True)
class RowSystem:
    """A linear stage with constraint rows: A v = b + Jᵀ μ for velocities v of m/3 nodes, x = x₀ + s v, and rows φ(x) ≈
    φ + s J v, s = `seconds`."""

    matrix: sp.csc_array  #: A = M − a h D − a b h² K, symmetric positive definite [kg], (m, m)
    rhs: Vec  #: b [N s], (m,)
    respond: Callable[[Vec], Vec]  #: A⁻¹ of impulses (m, c)
    jacobian: sp.csr_array  #: J, (r, m)
    value: Vec  #: φ at v = 0 [m], (r,)
    seconds: float  #: s = b h [s]
    impulse: float  #: a h, the impulse per unit of force [s]
    #: Σ λ_i φ_i″ with forces Jᵀ λ [N/m], (m, m): what tension stiffens; none where left out
    geometric: sp.csc_array | None = None
    velocity: Vec = field(default_factory=lambda: np.zeros(0))  #: at the start [m/s], (m,); for `Symplectic` alone


@dataclass(frozen=True)
class Enforced:
    """Velocities at the end of a stage under constraint rows, and the impulses of the rows."""

    v: Vec  #: [m/s], (m,)
    impulse: Vec  #: μ of each row [N s], (r,)
    redundant: Index = field(default_factory=lambda: np.zeros(0, np.int32))  #: rows that others imply


class Enforcement(Protocol):
    """Method that enforces constraint rows between nodes in a step: an entry of the catalogue's family "enforcement".
    """

    def solve(self, system: RowSystem, compliance: Vec) -> Enforced:
        """Return velocities and impulses under all rows. compliance: α of each row [m/N], (r,).

        Raises ValueError where rows contradict each other or are of a kind that the method cannot enforce.
        """
