"""Types and marks of the fields of scene.json.

Marks are the stage of a bake that reads a field, its name for the artist, and the rule for comparing two bakes by it.
`field_rules` makes tables of them.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from msgspec import Meta, Struct, field

Positive = Annotated[float, Meta(gt=0)]
NotNegative = Annotated[float, Meta(ge=0)]
Frame = Annotated[int, Meta(ge=-1_048_574, le=1_048_574)]  #: within Blender's limits
Subframe = Annotated[float, Meta(ge=0, lt=1)]  #: fraction of the time from a frame to the next one
Vector = tuple[float, float, float]
Quaternion = tuple[float, float, float, float]
Array = Annotated[str, Meta(pattern=r"^[^/\\:][^\\:]*\.npy$")]  #: path of a .npy file inside the job folder


@dataclass(frozen=True)
class Stage:
    """Mark: the stage whose result depends on a field, and on fields inside of it that have no mark of a stage."""

    name: str  #: "mesh", "tets", "fields" or "solve"; "" for a field that no result depends on


MESH, TETS, FIELDS, SOLVE, UNREAD = map(Stage, ("mesh", "tets", "fields", "solve", ""))


@dataclass(frozen=True)
class Called:
    """Mark: the name of a field in messages for the artist, instead of its path; for a choice, the name of its kind."""

    words: str


@dataclass(frozen=True)
class Family:
    """Mark: the catalogue family of a choice in a nested struct; choices of a whole body need none."""

    name: str


@dataclass(frozen=True)
class Rule:
    """Mark: the rule for comparing two bakes by a field."""

    name: str


#: the field exists only where there are several bodies: not compared where bodies come or go
AMONG_BODIES = Rule("among bodies")
#: its array has a row for each sample, or for each frame, from the start on: compared up to the end of the shorter one
BY_SAMPLE, BY_FRAME = Rule("by sample"), Rule("by frame")
SEPARATE = Rule("separately")  #: each item of the list has settings of its own, which are compared by its name


class Strict(Struct, forbid_unknown_fields=True, frozen=True, kw_only=True, omit_defaults=True):
    """Base class of all structs of scene.json, in which unknown fields are errors, so no misspelt field is ignored."""


class Choice(Strict):
    """A key of a catalogue family and values of its parameters; parameters that are left out have their defaults."""

    kind: str
    params: dict[str, float | bool] = field(default_factory=dict)


def choose(kind: str) -> Choice:
    """Return the default of a field that is a choice: a key of its catalogue family, with default parameters."""
    return field(default_factory=lambda: Choice(kind=kind))
