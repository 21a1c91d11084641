"""Frozen records of the catalogue. Standard library only."""

from __future__ import annotations

from typing import Any, ClassVar, dataclass_transform


@dataclass_transform(frozen_default=True)
class Record:
    """A record with the fields that its class annotates, like a frozen dataclass, for which Python would compile code
    whenever Blender starts. Raises TypeError for a field that is missing or unknown."""

    _fields: ClassVar[tuple[str, ...]]
    _needed: ClassVar[frozenset[str]]  #: those without a default

    def __init_subclass__(cls) -> None:
        cls._fields = tuple(cls.__annotations__)
        cls._needed = frozenset(cls._fields) - vars(cls).keys()

    def __init__(self, *values: Any, **named: Any) -> None:
        own = vars(self)
        own.update(zip(self._fields, values, strict=False))
        if len(values) > len(self._fields) or not own.keys().isdisjoint(named):
            raise TypeError(f"{type(self).__name__} has the fields {', '.join(self._fields)}, each once")
        own.update(named)
        if not self._needed <= own.keys() or not own.keys() <= set(self._fields):
            raise TypeError(f"{type(self).__name__} has the fields {', '.join(self._fields)}, and needs "
                            f"{', '.join(sorted(self._needed))}")

    def __setattr__(self, name: str, value: Any) -> None:
        raise AttributeError(f"{type(self).__name__} is not to be changed")

    def __eq__(self, other: object) -> bool:
        return type(other) is type(self) and self._values() == other._values()  # type: ignore[attr-defined]

    def __hash__(self) -> int:
        return hash(self._values())

    def __repr__(self) -> str:
        fields = ", ".join(f"{name}={value!r}" for name, value in vars(self).items())
        return f"{type(self).__name__}({fields})"

    def _values(self) -> tuple[Any, ...]:
        return tuple(getattr(self, name) for name in self._fields)
