"""Kinds of soft bodies: solids, cloth, cloth with Sharp Edges and ropes, each with its settings, checks and size.

No code outside of a kind's files asks which kind a body is; it asks the kind what it needs to know. The file of a kind
imports nothing of solver/build and names the function that prepares its bodies.
"""

from __future__ import annotations

from .. import schema
from .cloth import ClothKind
from .eol_cloth import EolClothKind
from .interface import BodyKind
from .rope import RopeKind
from .volume import VolumeKind

KINDS: tuple[type[BodyKind], ...] = (RopeKind, EolClothKind, ClothKind, VolumeKind)  #: the first that matches is taken


def kind_of(body: schema.Body) -> BodyKind:
    """Return the kind of a body, with its settings."""
    return next(kind for kind in KINDS if kind.matches(body))(body)
