"""Names of settings that scripts may still use: each reads and writes the setting that took its place.

Without bpy on purpose, see handles.py: Blender keeps these functions to its very end.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from . import kinds


def is_enabled(settings: Any) -> bool:
    """Whether the old switch is on: for every kind, also for unknown ones of a newer file."""
    return bool(settings.kind != kinds.NONE)


def set_enabled(settings: Any, on: bool) -> None:
    """Scripts that know of no kinds get the one that the object can be."""
    if on == is_enabled(settings):
        return
    settings.kind = kinds.suiting(settings.id_data.type) if on else kinds.NONE


def property_unset(settings: Any, name: str) -> None:
    """As every group's, and by old names too."""
    group = _holder(settings, name)
    _struct(group).property_unset(group, name)


def is_property_set(settings: Any, name: str, **options: bool) -> bool:
    """As every group's, and by old names too."""
    group = _holder(settings, name)
    return bool(_struct(group).is_property_set(group, name, **options))


def _holder(settings: Any, name: str) -> Any:
    """Return the group of settings that contains a property."""
    return settings.solver if name in type(settings.solver).NAMES else settings


def _struct(group: Any) -> Any:
    """Blender's own class below all groups."""
    return next(base for base in type(group).__mro__ if base.__name__ == "bpy_struct")


def moved(properties: dict[str, Any], group: str) -> dict[str, Any]:
    """Return properties, as in class annotations, that redirect to those of the same names in a group of settings."""
    return {name: prop.function(**_words(prop.keywords, group, name)) for name, prop in properties.items()}


def _words(keywords: dict[str, Any], group: str, name: str) -> dict[str, Any]:
    words = {key: value for key, value in keywords.items() if key not in _NOT_OF_ALIASES}
    read, write = _enum(group, name) if "items" in keywords else _plain(group, name)
    description = f"{keywords['description']}; the old name of {group}.{name}"
    return words | {"description": description, "get": read, "set": write}


#: keywords that only the property itself has
_NOT_OF_ALIASES = frozenset({"attr", "update", "get", "set"})


def _plain(group: str, name: str) -> tuple[Callable[[Any], Any], Callable[[Any, Any], None]]:
    def read(settings: Any) -> Any:
        return getattr(getattr(settings, group), name)

    def write(settings: Any, value: Any) -> None:
        setattr(getattr(settings, group), name, value)

    return read, write


def _enum(group: str, name: str) -> tuple[Callable[[Any], int], Callable[[Any, int], None]]:
    """Return getter and setter of a menu by number, as Blender requires."""
    def items(settings: Any) -> Iterable[Any]:
        known: Iterable[Any] = getattr(settings, group).bl_rna.properties[name].enum_items
        return known

    def read(settings: Any) -> int:
        chosen = getattr(getattr(settings, group), name)
        return next((item.value for item in items(settings) if item.identifier == chosen), -1)

    def write(settings: Any, number: int) -> None:
        setattr(getattr(settings, group), name,
                next(item.identifier for item in items(settings) if item.value == number))

    return read, write
