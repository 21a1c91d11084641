"""What stages of one pattern share: the matrix, its factor, and what that was made of."""

from __future__ import annotations

from dataclasses import dataclass, field

import scipy.sparse as sp

from ..assembly.edges import Edges
from ..assembly.pattern import Pattern
from ..contact.find.ground import Contacts
from ..linear.interface import Factoring
from .directions import Directions
from .held import HeldStiffness


@dataclass
class LastFactor:
    """What a linear solver's factor of projected stiffness was made of last."""

    stamp: int = -1  #: how many factors there were then
    contacts: Contacts | None = None  #: with the ground


@dataclass(frozen=True)
class StageMatrix:
    """The unknowns' side of a problem, kept from stage to stage."""

    pattern: Pattern  #: its order is the unknowns'
    matrix: sp.csc_matrix  #: lower triangle, its values are the pattern's
    linear: Factoring  #: analysed on that pattern
    edges: Edges
    factored: LastFactor = field(default_factory=LastFactor)
    directions: Directions = field(default_factory=Directions)
    held: HeldStiffness = field(default_factory=HeldStiffness)  #: of the tets, in the last factor for directions
