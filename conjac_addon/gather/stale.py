"""Changes since a job folder was written, in the artist's words."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from functools import cache
from pathlib import Path
from typing import Any

import bpy

from ...solver import catalogue
from ...solver.errors import BadInput
from ...solver.frames.compared import nameless, read
from ...solver.job.files import open_regular
from .. import declared, job_fields, members
from .. import settings as properties
from ..declared import BODY, OWN_SOLVER, TOUCHING
from . import wind
from .body import map_end
from .job import scene_settings


def changed_settings(obj: bpy.types.Object, scene: bpy.types.Scene, folder: Path) -> list[str]:
    """Labels of the settings that differ from those in the folder's scene.json. Painting and shape are not compared.

    Empty where there is no scene.json. Cheap: one small file is read, nothing is evaluated.
    """
    documents = then_and_now(obj, scene, folder)
    return [] if documents is None else labels(changed_paths(*documents, obj, scene))


def then_and_now(obj: bpy.types.Object, scene: bpy.types.Scene, folder: Path
                 ) -> tuple[dict[str, Any], dict[str, Any]] | None:
    """Return scene.json of a folder and the settings now; None where there is none, or where a bake refuses them."""
    try:
        with open_regular(Path(folder) / "scene.json") as stream:
            old = json.loads(stream.read())
        return (old, scene_settings(obj, scene)) if isinstance(old, dict) else None
    except (OSError, ValueError, RecursionError, BadInput):
        return None  # the bake says what is wrong


def changed_paths(old: dict[str, Any], now: dict[str, Any], obj: bpy.types.Object, scene: bpy.types.Scene) -> set[str]:
    """Return paths in scene.json of the differences, and words for entries that were added or removed. Changes both
    documents."""
    changed = set()
    for family, label in (("bodies", "soft_bodies"), ("mechanisms", "mechanism")):
        paired = _paired(old.get(family, []), now.get(family, []))
        if paired is None:
            changed.add(label)
            old[family], now[family] = [], []
        else:
            now[family] = paired
    for was, current in zip(old.get("mechanisms", []), now.get("mechanisms", [])):
        if "bodies" not in current:  # obstacles, which are read from the scene
            was.clear()
            was.update(current)
            continue
        if _bodies(was, current) != _bodies(current, was):
            changed.add("bones" if obj.type == "ARMATURE" else "rigid_bodies")
            old["mechanisms"], now["mechanisms"] = [], []
            break
    if ("contact" in old) != ("contact" in now):
        changed.add("contact")
        for document in (old, now):
            without_contact(document)
    for was, current in zip(old.get("bodies", []), now["bodies"]):
        if ("eulerian" in was.get("cloth", {})) != ("eulerian" in current.get("cloth", {})):
            changed.add("cloth.eulerian")
            for document in (was, current):
                document.get("cloth", {}).pop("eulerian", None)
    if len(old.get("obstacles", [])) != len(now.get("obstacles", [])):
        changed.add("obstacles")
        old["obstacles"], now["obstacles"] = [], []
    if not wind.same(old, now):
        changed.add("wind")
    if ("ground" in old) != ("ground" in now):
        changed.add("ground")
        old.pop("ground", None)
        now.pop("ground", None)
    if "ground" in old and "ground" in now and obj.conjac.ground_object is None:
        # where an object says it, it takes an evaluation
        if old["ground"].get("point") != [0.0, 0.0, properties.si(obj.conjac, "ground_height", scene)]:
            changed.add("ground.height")
    for was, current in zip(old.get("bodies", []), now["bodies"]):
        # not compared, but determines whether painted maps are carried inside
        current["painted"] = was.get("painted", {})
    before, after = _flat(read(nameless(old))), _flat(read(nameless(now)))
    before = _defaults(after) | before  # fields unknown to an older ConJac had their defaults
    for path in before.keys() | after.keys():
        if not _NOT_COMPARED.match(path) and before.get(path) != after.get(path):
            # masses from the skin and keyframes are not known without an evaluation
            is_specified = path in after and not (path.endswith(".compliance") and _keyframed(path, before))
            if is_specified or not (_MASS.fullmatch(path) or _keyframed(path, before)):
                changed.add(path)
    owners = {body.name: body for body in members.soft_bodies(obj, scene)}
    for k, (same, body) in enumerate(zip(now["bodies"], old.get("bodies", []))):
        owner = owners[same["name"]]
        for key, blend in body.get("painted", {}).items():
            for end, name in (("low", key), ("high", f"{key}_high")):
                if blend.get(end) != map_end(owner, scene, name):
                    changed.add(f"bodies.{k}.{name}")
    return changed


def without_contact(document: dict[str, Any]) -> None:
    """Remove fields that exist only if something touches."""
    document.pop("contact", None)
    document.pop("obstacles", None)
    for body in document["bodies"]:
        for job_field in job_fields.FIELDS:
            if job_field.of == BODY and job_field.when in (TOUCHING, OWN_SOLVER):
                body.pop(job_field.field, None)
        body.pop("touches", None)


def is_read_later(path: str) -> bool:
    """Whether a path of scene.json is read from the scene, so that settings do not determine it."""
    return _NOT_COMPARED.match(path) is not None


def labels(paths: Iterable[str]) -> list[str]:
    """Return an artist's names of the settings behind paths of scene.json, in order: "time.step" → "Time Step".

    What only follows from another of them is left out: all numbers where bodies come or go, vertices in the world
    where an object has moved.
    """
    found = set(paths)
    if found & {"bodies", "soft_bodies"}:
        found = {path for path in found if not path.endswith(".npy") and path not in ("contact", "obstacles")}
    if any(_TO_OBJECT.search(path) for path in found):
        found = {path for path in found if not _IN_WORLD.search(path)}
    return sorted({_label(path) for path in found})


#: where an object is, and what is another one in the world wherever it is, by array file and by field
_TO_OBJECT = re.compile(r"^arrays/(body\d+_)?to_object\.npy$|(^|\.)surface\.to_object\b")
_IN_WORLD = re.compile(r"^arrays/(body\d+_)?vertices\.npy$|(^|\.)surface\.object_vertices\b")


#: what scene_settings does not know: it is read from the scene
_NOT_COMPARED = re.compile(
    r"time\.end$|(bodies\.\d+\.|mechanisms\.\d+\.)?(name|uuid)$"
    r"|bodies\.\d+\.(surface|painted|dynamic|pin(?!\.stiffness)|fibers|fiber_vectors|fiber_curves|fiber_activation|friction_weights)\b"
    r"|bodies\.\d+\.(cloth\.(uv|warp|seams|quads)|rope\.edges)\b"
    r"|bodies\.\d+\.attach\.\d+\.weights|bodies\.\d+\.(cuts|nails|pulls)\.\d+\.(?!frame|subframe|kind|until|radius|stiffness)"
    r"|bodies\.\d+\.follow\.motion|ground\.(point|normal|motion)|wind\.|obstacles\.\d+\.(name|vertices|triangles|motion|sharp_edges|wires|nails|friction_weights)"
    r"|mechanisms\.\d+\.bodies\.\d+\.(position|rotation|shape|vertices|triangles|motion)"
    r"|mechanisms\.\d+\.(joints|loops)\.\d+\.(position|rotation|start|rest|motor\.target)"
    r"|constraints\.\d+\.(name|axis|length|strength|ends\.\d+\.(point|vertices|edges|triangles|motion))"
    r"|forces\.\d+\.weights"
    r"|mechanisms\.\d+\.springs\.\d+\.point_[ab]")
_MASS = re.compile(r"mechanisms\.\d+\.bodies\.\d+\.mass")


def _keyframed(path: str, flat: dict[str, Any]) -> bool:
    """Whether a field was read over time: one that may have keyframes, or the compliance of a constraint."""
    keyed = tuple(f".{job_field.field}" for job_field in job_fields.FIELDS if job_field.keyed)
    return path.endswith((*keyed, ".compliance")) and isinstance(flat.get(path), str)


def _paired(old: list[dict[str, Any]], now: list[dict[str, Any]]) -> list[dict[str, Any]] | None:
    """Return the present entries in the order of the old ones, which may have had other names; None where they are
    others."""
    if len(old) != len(now):
        return None
    if len(now) == 1:  # a copy may look at the bake of what it was copied from
        return now
    by_uuid = {entry["uuid"]: entry for entry in now if entry.get("uuid")}
    by_name = {entry["name"]: entry for entry in now}
    paired = [by_uuid.get(entry.get("uuid")) or by_name.get(entry.get("name")) for entry in old]
    found = [entry for entry in paired if entry is not None]
    return found if len({id(entry) for entry in found}) == len(old) else None


def _bodies(document: dict[str, Any], other: dict[str, Any]) -> list[str]:
    """Return identities of the bodies of a mechanism in `document`: UUIDs where both documents have them, else names.
    """
    key = "uuid" if all(body.get("uuid") for body in (*document.get("bodies", []), *other["bodies"])) else "name"
    return [body.get(key, "") for body in document.get("bodies", [])]


def _flat(value: Any, path: str = "") -> dict[str, Any]:
    """Return every leaf of nested dicts and lists by its dotted path."""
    if isinstance(value, dict | list):
        items = value.items() if isinstance(value, dict) else enumerate(value)
        return {leaf: found for key, child in items for leaf, found in _flat(child, f"{path}.{key}".strip(".")).items()}
    return {path: value}


def _defaults(flat: dict[str, Any]) -> dict[str, Any]:
    """Return the defaults of the parameters of these choices, by path."""
    found = {}
    for path in flat:
        choice, params, key = path.rpartition(".params.")
        if params:
            family = choice.rpartition(".")[2]
            found[path] = catalogue.default({"mode": "motor"}.get(family, family), flat[f"{choice}.kind"], key)
    return found


#: what is not a setting: which bodies there are, their meshes and where they are
_OF_BODIES = {"bodies": "Soft Bodies", "soft_bodies": "Soft Bodies", "vertices": "Shape", "object_vertices": "Shape",
              "triangles": "Shape", "to_object": "Place"}

#: lists of scene.json, and what follows from several objects, by path without numbers: what is in it has the same name
_WITH_ALL = {"forces": "Welds", "constraints": "Constraints", "mechanisms.springs": "Springs",
             "bodies.follow": "Follow"}
#: likewise, but for what is in it and has a name of its own
_ELSE = {"mechanisms.joints": "Joints", "mechanisms.loops": "Joints"}
#: labels of fields that depend on several properties
_OF_SEVERAL = {"bodies.touches": "Collides With", "obstacles": "Colliders", "ground.height": "Height"}

#: lists that settings of the cache are in, which says the name of the item in place of the list's
_PLACES = ("", "bodies.", "mechanisms.")


def _label(path: str) -> str:
    """Return the label of a changed path. The cache names arrays by their file, and settings of a body as `density of
    "Cube"`."""
    if path == "scene.json":  # it cannot be read
        return path
    if path.endswith(".npy"):
        name = re.sub(r"^body\d+_", "", path.rpartition("/")[2].removesuffix(".npy"))
        return _OF_BODIES.get(name, name.replace("_", " ").title())
    keys = [key for key in path.partition(' of "')[0].split(".") if key != "kind" and not key.isdigit()]
    if keys[0] == "surface" or keys in (["bodies"], ["soft_bodies"]):
        return _OF_BODIES.get(keys[-1], "Shape")
    paths = [place + ".".join(keys) for place in _PLACES]
    called = (_begun(_WITH_ALL, paths) or next(filter(None, map(_labels_by_path().get, paths)), "")
              or _begun(_ELSE, paths))
    if called:
        return called
    if "eulerian" in keys:
        keys[-1] = catalogue.SHARP.key if keys[-1] == "eulerian" else f"sharp_{keys[-1]}"
    own = bpy.types.Object.bl_rna.properties["conjac"].fixed_type.properties
    return own[keys[-1]].name if keys[-1] in own else keys[-1].replace("_", " ").title()


def _begun(names: dict[str, str], paths: list[str]) -> str:
    """Return the name of the setting that has or contains one of these paths; "" without one."""
    return next((name for begin, name in names.items() for path in paths if f"{path}.".startswith(f"{begin}.")), "")


@cache
def _labels_by_path() -> dict[str, str]:
    """Return the label of each declared setting, by path without numbers and kinds."""
    return _OF_SEVERAL | {".".join(key for key in path.split(".") if key != "kind"): label
                          for path, label in declared.labels(job_fields.FIELDS).items()}
