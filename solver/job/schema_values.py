"""Types of fields of scene.json, and the marks that a field has in addition to its type: the stage of a bake that reads
it, what an artist calls it, and how two bakes are compared by it. `field_rules` makes tables of them.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from msgspec import Meta, Struct, field

Positive = Annotated[float, Meta(gt=0)]
NotNegative = Annotated[float, Meta(ge=0)]
Frame = Annotated[int, Meta(ge=-1_048_574, le=1_048_574)]  #: Blender's last one
Subframe = Annotated[float, Meta(ge=0, lt=1)]  #: how far after its frame it is, towards the next one
Vector = tuple[float, float, float]
Quaternion = tuple[float, float, float, float]
Array = Annotated[str, Meta(pattern=r"^[^/\\:][^\\:]*\.npy$")]  #: path of a .npy file inside the job folder


@dataclass(frozen=True)
class Stage:
    """The stage whose result depends on a field, with all that the field has in it unless that says otherwise."""

    name: str  #: "mesh", "tets", "fields" or "solve"; "" of what nothing depends on


MESH, TETS, FIELDS, SOLVE, UNREAD = map(Stage, ("mesh", "tets", "fields", "solve", ""))


@dataclass(frozen=True)
class Called:
    """The name of a field in sentences for the artist, in place of its path. Of a choice: what it chooses."""

    words: str


@dataclass(frozen=True)
class Family:
    """The catalogue's family of a choice inside of something else; choices of a whole body need none."""

    name: str


@dataclass(frozen=True)
class Rule:
    """How two bakes are compared by a field."""

    name: str


#: the field is there only where there are several bodies: no difference of its own where bodies come or go
AMONG_BODIES = Rule("among bodies")
#: its array has a row for each sample, or for each frame, the start frame's first: compared as far as both scenes last
BY_SAMPLE, BY_FRAME = Rule("by sample"), Rule("by frame")
SEPARATE = Rule("separately")  #: each item of the list has settings of its own, which are compared by its name


class Strict(Struct, forbid_unknown_fields=True, frozen=True, kw_only=True, omit_defaults=True):
    """Base of all: an unknown field is an error, so that a typing slip is never silently ignored."""


class Choice(Strict):
    """A key of one catalogue family and the values of its parameters; those left out take their defaults."""

    kind: str
    params: dict[str, float | bool] = field(default_factory=dict)


def chosen(kind: str) -> Choice:
    """Return the default of a field that is a choice: this key of its family, with the parameters' defaults."""
    return field(default_factory=lambda: Choice(kind=kind))
