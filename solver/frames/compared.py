"""Comparison of a job with the inputs of a cache: its array files, and scene.json without names. Needs only numpy."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from .. import catalogue
from ..job import over_time
from ..job.arrays import header_of
from ..job.files import digest


def source(path: Path, content: str, so_far: list[str] | None = None) -> dict[str, Any]:
    """Return the manifest's entry of an array file: its size, its time and the digest of its content. Raises OSError.

    so_far: of an array over time, digests of each frame by `over_time.digests`.
    """
    status = path.stat()
    return {"size": status.st_size, "mtime_ns": status.st_mtime_ns, "digest": content,
            **({"so_far": so_far} if so_far else {})}


def is_same_file(path: Path, was: dict[str, Any]) -> bool:
    """Return whether a file is the one of an entry of `source`. Its content is read only where its size is equal and
    its time is not."""
    try:
        status = path.stat()
        if status.st_size != was["size"]:
            return False
        return bool(status.st_mtime_ns == was["mtime_ns"] or digest(path) == was["digest"])
    except OSError:
        return False


#: fields of scene.json that choose from a family of another name
_FAMILIES = {"mode": "motor"}


def with_defaults(choice: dict[str, Any], other: dict[str, Any], path: str) -> dict[str, Any]:
    """Return a choice with the parameters that only another choice has, where their defaults are known.

    choice, other: {"kind", "params"} of one kind. path: dotted path of both in scene.json.
    """
    field = path.rpartition(".")[2]
    family, params = _FAMILIES.get(field, field), dict(choice.get("params") or {})
    for key in (other.get("params") or {}).keys() - params.keys():
        default = catalogue.default(family, choice["kind"], key)
        if default is not None:
            params[key] = default
    return {**choice, "params": params} if params else choice


#: digests of arrays over time, by path, time, size and number of frames: panels request them again and again
_digests: dict[tuple[Path, int, int, int], list[str]] = {}


def is_same_so_far(path: Path, was: dict[str, Any], frames: int) -> bool:
    """Return whether an array over time is the one of an entry of `source`, up to the last frame of both.

    frames: number of frames of the scene now.
    """
    before = was.get("so_far")
    if not before:
        return False
    try:
        status = path.stat()
        key = path, status.st_mtime_ns, status.st_size, frames
        if key not in _digests:
            rows = header_of(path).shape[0]
            _digests[key] = over_time.digests(path, max(1, (rows - 1) // max(1, frames - 1)))[1]
    except (OSError, ValueError, IndexError):
        return False
    both = min(len(before), len(_digests[key]))
    return bool(both) and before[both - 1] == _digests[key][both - 1]


def different(old: Any, new: Any) -> list[str]:
    """Return dotted paths of the differences between two scenes as plain JSON; bodies of a list are identified by their
    names.

    The last frame does not count, since a longer or shorter scene continues with equal frames; nor do names.
    """
    if isinstance(old, dict) and isinstance(new, dict):
        old, new = read(nameless(old)), read(nameless(new))
    return _different(old, new, "")


def _different(old: Any, new: Any, path: str) -> list[str]:
    """Return the paths at which plain values of two scenes differ, below `path`."""
    if path == "time.end":
        return []
    if isinstance(old, dict) and isinstance(new, dict):
        if "kind" in old and old["kind"] == new.get("kind"):
            old, new = with_defaults(old, new, path), with_defaults(new, old, path)
        names = [*new, *(key for key in old if key not in new)]
        return [difference for key in names if key not in ("name", "uuid", "version")
                for difference in _different(old.get(key), new.get(key), f"{path}.{key}" if path else key)]
    if path in ("bodies", "mechanisms") and isinstance(old, list) and isinstance(new, list) and all(
            isinstance(item, dict) for item in (*old, *new)):
        # a body is the same under another name by its UUID, or under another UUID by its name, as in a scene that was
        # rebuilt: its frames may be equal. A single body is always the same
        if len(old) != len(new) or (len(new) > 1 and not all(map(_is_same, old, new))):
            return [path]
        return [f'{difference} of "{body.get("name")}"' for was, body in zip(old, new)
                for difference in _different(was, body, "")]
    return [] if old == new else [path]


def _is_same(old: dict[str, Any], new: dict[str, Any]) -> bool:
    return bool(old.get("uuid") and old.get("uuid") == new.get("uuid")) or old.get("name") == new.get("name")


#: fields of joints, loops and springs that name a body of their mechanism
_ENDS = ("child", "parent", "body_a", "body_b")


def nameless(scene: dict[str, Any]) -> dict[str, Any]:
    """Return scene.json with numbers in place of names that refer to other entries, and without unused names.

    Names of soft bodies and of mechanisms remain: they identify whose setting it is.
    """
    soft = _indices(_dicts(scene.get("bodies")))
    mechanisms = {mechanism.get("name"): (k, _indices(_dicts(mechanism.get("bodies"))))
                  for k, mechanism in enumerate(_dicts(scene.get("mechanisms")))
                  if isinstance(mechanism.get("name"), str)}

    def attachment(one: dict[str, Any]) -> dict[str, Any]:
        index, bodies = mechanisms.get(_text(one, "mechanism"), (None, {}))
        return one if index is None else one | {"mechanism": index, "body": bodies.get(_text(one, "body"))}

    copy = dict(scene)
    labels = soft | {obstacle.get("name"): f"obstacle {k}" for k, obstacle in enumerate(_dicts(scene.get("obstacles")))
                  if isinstance(obstacle.get("name"), str)}
    if "bodies" in scene:
        copy["bodies"] = _each(scene["bodies"], lambda body: body | (
            {"attach": _each(body["attach"], attachment)} if "attach" in body else {}) | (
            {"touches": sorted(str(labels.get(name, name)) if isinstance(name, str) else ""
                               for name in body["touches"])}
            if isinstance(body.get("touches"), list) else {}))
    if "obstacles" in scene:
        copy["obstacles"] = _each(scene["obstacles"], lambda one: {
            key: value for key, value in one.items() if key != "name"})
    if "mechanisms" in scene:
        copy["mechanisms"] = _each(scene["mechanisms"], _without_names)
    if "forces" in scene:
        copy["forces"] = _each(scene["forces"], lambda one: one | (
            {"bodies": [soft.get(name, name) if isinstance(name, str) else name for name in one["bodies"]]}
            if isinstance(one.get("bodies"), list) else {}))
    if "constraints" in scene:
        copy["constraints"] = _each(scene["constraints"], lambda one: one | (
            {"ends": _each(one["ends"], lambda end: attachment(end) if _text(end, "mechanism") else (
                end | {"body": soft.get(_text(end, "body"), _text(end, "body"))} if "body" in end else end))}
            if isinstance(one.get("ends"), list) else {}))
    return copy


def read(scene: dict[str, Any]) -> dict[str, Any]:
    """Return scene.json without settings of its bodies that nothing reads: "spot" where the method does not follow
    spots, "carry" where nothing is painted."""
    method = scene.get("method")

    def body(one: dict[str, Any]) -> dict[str, Any]:
        own = one.get("method", method)
        known = catalogue.family("method").get(own.get("kind", "")) if isinstance(own, dict) else None
        unread = {*(() if known is None or known.follows else ("spot",)), *(() if one.get("painted") else ("carry",))}
        return {key: value for key, value in one.items() if key not in unread}

    return scene | ({"bodies": _each(scene["bodies"], body)} if "bodies" in scene else {})


def _without_names(mechanism: dict[str, Any]) -> dict[str, Any]:
    indices = _indices(_dicts(mechanism.get("bodies")))

    def part(one: dict[str, Any]) -> dict[str, Any]:
        return {key: indices.get(value, value) if key in _ENDS and isinstance(value, str) else value
                for key, value in one.items() if key not in ("name", "uuid")}

    return mechanism | {family: _each(mechanism[family], part) for family in ("bodies", "joints", "loops", "springs")
                        if family in mechanism}


def _dicts(value: Any) -> list[dict[str, Any]]:
    """Return the objects of a list; empty for anything else, since the file may be damaged or no scene at all."""
    return [item for item in value if isinstance(item, dict)] if isinstance(value, list) else []


def _each(value: Any, change: Callable[[dict[str, Any]], dict[str, Any]]) -> Any:
    return [change(item) if isinstance(item, dict) else item for item in value] if isinstance(value, list) else value


def _indices(named: list[dict[str, Any]]) -> dict[str, int]:
    return {item["name"]: index for index, item in enumerate(named) if isinstance(item.get("name"), str)}


def _text(one: dict[str, Any], key: str) -> str:
    return str(one.get(key, ""))
