"""Settings of an object that a button has chosen, until someone changes them. `Object.conjac.by_button` stores them as
JSON: path below `Object.conjac` → label of the button and the value."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack, contextmanager
from functools import lru_cache, wraps
from typing import Any

import bpy

from . import dials, kinds, members

#: groups of settings below Object.conjac that buttons choose from, "" is Object.conjac itself
GROUPS = ("", "solver", "contact")

#: settings that are no choice of an artist's
INTERNAL = frozenset({"version", "kind", "enabled", "quality", "simulate_after_uid", "active_spring"})

Execute = Callable[[Any, bpy.types.Context], set[str]]
Chosen = dict[str, tuple[str, Any]]  #: path → label of the button, value


@contextmanager
def noted(obj: bpy.types.Object, label: str, always: Iterable[str] = ()) -> Iterator[None]:
    """Note each setting of an object that changes within this block as chosen by the button of this label.

    always: paths to note even where they do not change.
    """
    before = _values(obj)
    yield
    found = dict(_read(obj.conjac.by_button))
    found |= {path: (label, value) for path, value in _values(obj).items()
              if path in always or value != before.get(path)}
    if found:
        obj.conjac.by_button = json.dumps(found)


@contextmanager
def as_made() -> Iterator[None]:
    """Context in which the settings of new objects are not marked as chosen by a button, since the author of an example
    chose them."""
    before = {obj.session_uid for obj in bpy.data.objects}
    yield
    for obj in bpy.data.objects:
        if obj.session_uid not in before:
            obj.conjac.property_unset("by_button")
            obj.conjac.property_unset("quality")


def noting(label: str) -> Callable[[Execute], Execute]:
    """Return a decorator for an operator's `execute` that records changed settings of the selected objects and of the
    object that leads the active one's bake."""
    def decorate(execute: Execute) -> Execute:
        @wraps(execute)
        def noted_execute(self: Any, context: bpy.types.Context) -> set[str]:
            active = context.object
            found = [active, *([] if active is None else [members.owner(active)]), *context.selected_objects]
            with ExitStack() as stack:
                for obj in dict.fromkeys(found):
                    if obj is not None and obj.is_editable:
                        stack.enter_context(noted(obj, label))
                return execute(self, context)
        return noted_execute
    return decorate


def label_of(settings: bpy.types.PropertyGroup, name: str) -> str:
    """Return the label of the button that has chosen the present value of a setting, "" where an artist has set it."""
    obj = settings.id_data
    chosen = getattr(getattr(obj, "conjac", None), "by_button", "")
    if not chosen:
        return ""
    label, value = _read(chosen).get(path_of(settings, name), ("", None))
    return label if label and _plain(getattr(settings, _own_name(name))) == value else ""


def path_of(settings: bpy.types.PropertyGroup, name: str) -> str:
    """Return the path of a setting below `Object.conjac`."""
    group = settings.path_from_id().partition(".")[2]
    return f"{group}.{_own_name(name)}" if group else _own_name(name)


def forget(obj: bpy.types.Object, path: str) -> None:
    """Make a setting the artist's own, which keeps its value."""
    found = dict(_read(obj.conjac.by_button))
    found.pop(path, None)
    obj.conjac.by_button = json.dumps(found) if found else ""


def note(obj: bpy.types.Object, path: str, label: str) -> None:
    """Note the present value of a setting as chosen by the button of this label, "" for the artist's own."""
    forget(obj, path)
    if label:
        chosen = (label, _plain(obj.conjac.path_resolve(path)))
        obj.conjac.by_button = json.dumps(dict(_read(obj.conjac.by_button)) | {path: chosen})


def is_unchanged(obj: bpy.types.Object, paths: Iterable[str]) -> bool:
    """Whether settings have the values that a button chose, at each of these paths."""
    chosen = _read(obj.conjac.by_button)
    return all(path in chosen and chosen[path][1] == _plain(obj.conjac.path_resolve(path)) for path in paths)


def _own_name(name: str) -> str:
    return name.removeprefix(dials.PREFIX)


@lru_cache(maxsize=256)
def _read(text: str) -> Chosen:
    """Return the marks that are stored in a setting; none for an invalid text."""
    try:
        found = json.loads(text or "{}")
        return {str(path): (str(label), value) for path, (label, value) in found.items()}
    except (ValueError, TypeError, AttributeError, RecursionError):
        return {}


def _values(obj: bpy.types.Object) -> dict[str, Any]:
    """Return every number, checkbox and menu of an object by its path."""
    found = {}
    # a look at a group leaves an empty one in the file
    for group in (*GROUPS, "mechanism") if obj.type in kinds.OF_MECHANISMS else GROUPS:
        settings = getattr(obj.conjac, group) if group else obj.conjac
        moved = type(obj.conjac.solver).NAMES if not group else ()
        for prop in settings.bl_rna.properties:
            name = prop.identifier
            if prop.type in ("FLOAT", "INT", "BOOLEAN", "ENUM") and not name.startswith(dials.PREFIX) and (
                    name not in INTERNAL and name not in moved):
                found[f"{group}.{name}" if group else name] = _plain(getattr(settings, name))
    return found


def _plain(value: Any) -> Any:
    """Return a value as JSON gives it back: a float in the digits of single precision."""
    return float(f"{value:.7g}") if isinstance(value, float) else value
