"""Fields of scene.json by their paths, as in messages: `$.bodies[0].material.params.youngs_modulus`.

An item of a list is addressed by its number or by its name: `bodies[Ear].density`.
"""

from __future__ import annotations

import json
import re
from typing import Any

from ..errors import BadInput, NoSuchThing

_STEP = re.compile(r"(?:\A\$?\.?|\.)([A-Za-z_]\w*)|\[([^\[\]]+)\]")

Keys = tuple[str | int, ...]


def split(path: str) -> Keys:
    """Return the keys of a path: str for a field or for an item by name, int for an item by number.

    Raises BadInput where `path` is not a path.
    """
    keys: list[str | int] = []
    at = 0
    while at < len(path) or not keys:
        match = _STEP.match(path, at)
        if match is None:
            raise BadInput(f'"{path}" is no path of a field', "Write it as messages do: bodies[0].density")
        field, item = match.groups()
        keys.append(field if item is None else _number(item))
        at = match.end()
    return tuple(keys)


def _number(item: str) -> str | int:
    return int(item) if item.isdigit() else item.strip("\"'")


def read_value(text: str) -> Any:
    """Return the value of a cell: a number, true, false, null or a list as in JSON; any other text as a string."""
    try:
        return json.loads(text, parse_constant=_no_number)
    except (ValueError, RecursionError):
        return text


def _no_number(text: str) -> Any:
    raise ValueError(text)


def with_field(scene: dict[str, Any], path: str, value: Any) -> dict[str, Any]:
    """Return a copy of the scene with one field set; unchanged parts are shared with `scene`, which does not change.

    scene: plain values of scene.json. Missing fields on the path are created. Raises NoSuchThing where the path leads
    through a value that does not exist, BadInput where `path` is not a path.
    """
    return _with(scene, split(path), value, path)  # type: ignore[no-any-return]


def _with(at: Any, keys: Keys, value: Any, path: str) -> Any:
    """Return plain values with a value at a path of keys below `at`. path: for messages. Raises NoSuchThing."""
    if not keys:
        return value
    key, rest = keys[0], keys[1:]
    if isinstance(at, list):
        index = _index(at, key, path)
        return [*at[:index], _with(at[index], rest, value, path), *at[index + 1:]]
    if not isinstance(at, dict) or isinstance(key, int):
        raise NoSuchThing(f'"{path}" leads nowhere: {_format_key(key)} is not in the scene',
                          "Look at the job's scene.json")
    return {**at, key: _with(at.get(key, {}) if rest else None, rest, value, path)}


def _index(items: list[Any], key: str | int, path: str) -> int:
    """Return the index of the list item that a key addresses. Raises NoSuchThing where there is none."""
    if isinstance(key, int):
        if key < len(items):
            return key
    else:
        for index, item in enumerate(items):
            if isinstance(item, dict) and item.get("name") == key:
                return index
    raise NoSuchThing(f'"{path}" leads nowhere: the list has {len(items)} and {_format_key(key)} is none of them',
                      "Count from 0, or give the name of one")


def _format_key(key: str | int) -> str:
    return f"number {key}" if isinstance(key, int) else f'"{key}"'
