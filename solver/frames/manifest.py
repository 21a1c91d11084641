"""Validation of a manifest: the file may be damaged, or come from a stranger. Standard library only."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

LAST_FRAME = 1_048_574  #: Blender's


def wrong(manifest: dict[str, Any]) -> str:
    """Return the first key that a manifest lacks or whose value is not valid; "" where all that is read is valid."""
    for key, fits in NEEDED.items():
        if key not in manifest or not fits(manifest[key]):
            return key
    if manifest["end"] < manifest["start"]:
        return "end"
    if not _list_of(_text)(manifest.get("sheets", [])):
        return "sheets"
    return "" if "mechanisms" not in manifest or _list_of(_mechanism)(manifest["mechanisms"]) else "mechanisms"


def _frame(value: Any) -> bool:
    return isinstance(value, int) and abs(value) <= LAST_FRAME


def _count(value: Any) -> bool:
    return isinstance(value, int) and 0 <= value < 2**40


def _text(value: Any) -> bool:
    return isinstance(value, str)


def _dict(value: Any) -> bool:
    return isinstance(value, dict)


def _has(**fields: Callable[[Any], bool]) -> Callable[[Any], bool]:
    """Return a test of whether a value is an object with these fields, each of them valid."""
    def fits(value: Any) -> bool:
        return isinstance(value, dict) and all(name in value and good(value[name]) for name, good in fields.items())
    return fits


def _list_of(good: Callable[[Any], bool]) -> Callable[[Any], bool]:
    def fits(value: Any) -> bool:
        return isinstance(value, list) and all(map(good, value))
    return fits


def _by_name(good: Callable[[Any], bool]) -> Callable[[Any], bool]:
    def fits(value: Any) -> bool:
        return isinstance(value, dict) and all(map(good, value.values()))
    return fits


def _origin(value: Any) -> bool:
    return isinstance(value, list) and len(value) == 3 and all(isinstance(number, int | float) for number in value)


_of_body = _has(name=_text, first=_count, count=_count)
_run = _has(**{"from": _frame}, at=_text, host=_text, backend=_text)
_joint = _has(name=_text, kind=_text, first=_count, count=_count)
_mechanism = _has(name=_text, first=_count, bodies=_list_of(_text), joints=_list_of(_joint))

NEEDED: dict[str, Callable[[Any], bool]] = {
    "name": _text, "start": _frame, "end": _frame,
    "fps": lambda value: isinstance(value, int | float) and 0 < value < float("inf"),
    "bodies": _list_of(lambda body: _of_body(body) and _origin(body.get("origin", [0, 0, 0]))),
    "hashes": _has(solve=_text), "settings": _has(scene=_dict, bodies=_by_name(_dict)), "scene": _dict,
    "sources": _by_name(_has(size=_count, mtime_ns=lambda value: isinstance(value, int), digest=_text)),
    "runs": _list_of(_run),
}
