"""Data that stages of one sparsity pattern share: the matrix, its factor, and the provenance of that factor."""

from __future__ import annotations

from dataclasses import dataclass, field

import scipy.sparse as sp

from ..assembly.edges import Edges
from ..assembly.pattern import Pattern
from ..contact.find.ground import Contacts
from ..linear.interface import Factoring
from .directions import Directions
from .reused_blocks import ReusedBlocks


@dataclass
class LastFactor:
    """Provenance of a linear solver's last factor of projected stiffness."""

    stamp: int = -1  #: number of factorizations at that time
    contacts: Contacts | None = None  #: with the ground


@dataclass(frozen=True)
class StageMatrix:
    """Matrix and factors of the unknowns, reused from stage to stage."""

    pattern: Pattern  #: its order is that of the unknowns
    matrix: sp.csc_matrix  #: lower triangle, its values are those of the pattern
    linear: Factoring  #: analysed for that pattern
    edges: Edges
    factored: LastFactor = field(default_factory=LastFactor)
    directions: Directions = field(default_factory=Directions)
    #: of the tetrahedra, in the last factor for directions
    reused_blocks: ReusedBlocks = field(default_factory=ReusedBlocks)
