"""Types of fields of scene.json."""

from __future__ import annotations

from typing import Annotated

from msgspec import Meta, Struct, field

Positive = Annotated[float, Meta(gt=0)]
Frame = Annotated[int, Meta(ge=-1_048_574, le=1_048_574)]  #: Blender's last one
Subframe = Annotated[float, Meta(ge=0, lt=1)]  #: how far after its frame it is, towards the next one
Vector = tuple[float, float, float]
Quaternion = tuple[float, float, float, float]
Array = Annotated[str, Meta(pattern=r"^[^/\\:][^\\:]*\.npy$")]  #: path of a .npy file inside the job folder


class Strict(Struct, forbid_unknown_fields=True, frozen=True, kw_only=True, omit_defaults=True):
    """Base of all: an unknown field is an error, so that a typing slip is never silently ignored."""


class Choice(Strict):
    """A key of one catalogue family and the values of its parameters; those left out take their defaults."""

    kind: str
    params: dict[str, float | bool] = field(default_factory=dict)
