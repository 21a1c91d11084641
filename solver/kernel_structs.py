"""Structs of kernels: named tuples of arrays and numbers, by which a kernel passes many values on as one argument.

numba types one as a tuple of values with names, so a struct that a kernel makes costs nothing when it runs. One that
Python passes costs more than its fields as arguments of their own: kernels that Python calls in every step of a few
joints take stacked arrays and unpack them.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any, TypeVar

C = TypeVar("C", bound=type)

_declared: dict[str, tuple[type, str]] = {}  #: class of each struct and the types of its fields, by name
_types: dict[str, Any] = {}  #: what numba types each struct as
fields: set[str] = set()  #: names of all fields


def struct(types: str) -> Callable[[C], C]:
    """Return a decorator that makes a NamedTuple known to signatures of kernels by its name.

    types: of its fields, as in a signature, separated by commas. Raises ValueError where another struct has that name.
    """

    def declare(cls: C) -> C:
        if cls.__name__ in _declared:
            raise ValueError(f"there are two structs {cls.__name__}")
        _declared[cls.__name__] = cls, types
        fields.update(cls._fields)  # type: ignore[attr-defined]
        return cls

    return declare


def resolve(signature: Any) -> Any:
    """Return a signature in which names of structs are replaced by their numba types; one without any is returned as
    it is."""
    if not isinstance(signature, str) or not _find_names(signature):
        return signature
    from numba import types

    return eval(signature, {}, {**vars(types), **{name: _type_of(name) for name in _find_names(signature)}})


def layouts(signature: Any) -> list[str]:
    """Return the fields and their types, in their order, of each struct that a signature names and of the structs in
    their fields: they decide the machine code of a kernel."""
    found: dict[str, str] = {}
    left = _find_names(signature) if isinstance(signature, str) else []
    while left:
        name = left.pop()
        cls, types = _declared[name]
        found[name] = f"{name} {cls._fields} {types}"  # type: ignore[attr-defined]
        left += [inner for inner in _find_names(types) if inner not in found]
    return [found[name] for name in sorted(found)]


def is_struct(value: object) -> bool:
    """Whether an object is the class of a struct."""
    return isinstance(value, type) and _declared.get(value.__name__, (None,))[0] is value


def _find_names(text: str) -> list[str]:
    """Return the names of the structs in a signature or in the types of fields."""
    return sorted({*re.findall(r"\w+", text)} & _declared.keys())


def _type_of(name: str) -> Any:
    if name not in _types:
        from numba import types
        from numba.core.sigutils import normalize_signature

        cls, text = _declared[name]
        _types[name] = types.BaseTuple.from_types(normalize_signature(resolve(f"void({text})"))[0], cls)
    return _types[name]
