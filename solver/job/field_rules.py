"""Tables of the marks that fields of scene.json have in the schema, by dotted path.

Paths are those of a bake's settings: "time.step" of the scene, "pin.motion" of a body. Only the schema declares fields
and their marks.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cache
from types import UnionType
from typing import Annotated, Any, TypeVar, Union, get_args, get_origin, get_type_hints

from msgspec import Struct

from .schema_values import BY_FRAME, BY_SAMPLE, SEPARATE, Array, Called, Choice, Family, Rule, Stage

Mark = TypeVar("Mark")


def stages(struct: type[Struct]) -> dict[str, str]:
    """Return the name of the stage that reads each field, by path; a field that is not listed has that of its parent.

    struct: Scene, Body or Mechanism. Raises TypeError where one of its own fields has no stage.
    """
    stage_of = {path: of.name for path, of in _find_marked(struct, Stage)}
    missing = [name for name in struct.__struct_fields__ if name not in stage_of | dict.fromkeys(separate(struct))]
    if missing:
        raise TypeError(f"{struct.__name__}.{missing[0]} needs the stage that reads it in its annotation")
    return stage_of


def names(struct: type[Struct]) -> dict[str, str]:
    """Return the artist's name of each field that has one, by path; the name of a choice is listed under its "kind"."""
    return {path: called.words for path, called in _find_marked(struct, Called)}


def with_rule(struct: type[Struct], rule: Rule) -> frozenset[str]:
    """Return the paths of all fields of a struct, nested ones included, that have a given rule of comparison."""
    return frozenset(path for path, marked in _find_marked(struct, Rule) if marked == rule)


@cache
def separate(struct: type[Struct]) -> frozenset[str]:
    """Return the names of a struct's fields whose items have separate settings, such as the bodies of a scene."""
    return frozenset(name for name, rule in _own(struct, Rule) if rule == SEPARATE)


@cache
def families(struct: type[Struct]) -> Mapping[str, str]:
    """Return the catalogue family of each of a struct's own fields that is marked with one, by field name."""
    return {name: mark.name for name, mark in _own(struct, Family)}


@cache
def arrays(struct: type[Struct]) -> frozenset[str]:
    """Return the names of a struct's fields that may contain the path of an array file."""
    of_path = get_args(Array)[1]
    return frozenset(name for name, kinds, marks in _fields(struct) if Array in kinds or of_path in marks)


def rows_per_frame(struct: type[Struct], field: str, samples_per_frame: int) -> int:
    """Return the number of rows per frame of the array in a struct's own field; 0 where it does not vary with time."""
    rule = _over_time(struct).get(field)
    return 0 if rule is None else samples_per_frame if rule == BY_SAMPLE else 1


@cache
def _over_time(struct: type[Struct]) -> Mapping[str, Rule]:
    return {name: rule for name, rule in _own(struct, Rule) if rule in (BY_SAMPLE, BY_FRAME)}


def _find_marked(struct: type[Struct], mark: type[Mark], above: str = "") -> Iterator[tuple[str, Mark]]:
    """Yield (path, mark) of the fields of a struct and of structs in its fields.

    A list is one field: the paths of its items contain numbers."""
    for name, kinds, marks in _fields(struct):
        path = above + name
        # a choice is listed by the path of its kind
        own = f"{path}.kind" if mark is Called and Choice in kinds else path
        yield from ((own, value) for value in marks if isinstance(value, mark))
        for kind in kinds:
            if isinstance(kind, type) and issubclass(kind, Struct) and kind is not Choice:
                yield from _find_marked(kind, mark, f"{path}.")


def _own(struct: type[Struct], mark: type[Mark]) -> Iterator[tuple[str, Mark]]:
    for name, _, marks in _fields(struct):
        yield from ((name, value) for value in marks if isinstance(value, mark))


@cache
def _fields(struct: type[Struct]) -> tuple[tuple[str, tuple[Any, ...], tuple[Any, ...]], ...]:
    """Return (name, types that a value may have, marks) of each field."""
    hints = get_type_hints(struct, include_extras=True)
    return tuple((name, *_split_hint(hints[name])) for name in struct.__struct_fields__)


def _split_hint(hint: Any) -> tuple[tuple[Any, ...], tuple[Any, ...]]:
    """Return the types of a union, or the single type, and the marks of an annotation."""
    marks: tuple[Any, ...] = ()
    if get_origin(hint) is Annotated:
        hint, *marks = get_args(hint)  # type: ignore[assignment]
    return (get_args(hint) if get_origin(hint) in (Union, UnionType) else (hint,)), tuple(marks)
