"""Bake as Played, the button: by one click a bake repeats what was recorded, by the next one it is as before.

`Object.conjac.as_played` keeps JSON. "engine", of the object that has the bake: what moved the performance, a key of
the catalogue's family `live_engine`. "before", of each object: path below `Object.conjac` → label of the button that
had chosen a setting, its value, and whether it was set.
"""

from __future__ import annotations

import json
from typing import Any

import bpy

from ...solver import catalogue
from .. import by_button, members
from ..operators.light import Behaviour
from ..operators.poll import baked, unless
from ..redraw import redraw_panels
from . import job as jobs

LABEL = "Bake as Played"


def _draft(kind: str) -> dict[str, Any]:
    """Return the settings with which a draft is played."""
    entry = catalogue.find("method", kind)
    return {"method": kind, "integrator": "bdf2", **{param.key: param.default for param in entry.params}}


#: by engine: settings of the solver by which a bake moves soft bodies as it does
SETTINGS: dict[str, dict[str, Any]] = {
    "modes": _draft("live"), "projective": _draft("projective"),
    "world": {family: jobs.METHOD[family]["kind"] for family in ("method", "integrator", "stage_solver")}
    | jobs.METHOD["method"]["params"],
}


def remember(obj: bpy.types.Object, engine: str) -> None:
    """Record the engine of the performance that becomes an object's bake."""
    settings = members.shared_settings(obj)
    settings.as_played = json.dumps(_read(settings) | {"engine": engine})


def is_recorded(obj: bpy.types.Object) -> bool:
    """Whether the engine of the performance of an object's bake is known."""
    return _read(members.shared_settings(obj)).get("engine") in SETTINGS


def is_chosen(obj: bpy.types.Object, scene: bpy.types.Scene) -> bool:
    """Whether all that is baked with an object has the settings that the button chose."""
    return all(_has_chosen(moved) for moved in _moved(members.owner(obj), scene))


def choose(obj: bpy.types.Object, scene: bpy.types.Scene) -> None:
    """Set how all that is baked with an object moves to how it was played."""
    owner = members.owner(obj)
    engine, bodies = _read(owner.conjac)["engine"], members.soft_bodies(owner, scene)
    for moved in _moved(owner, scene):
        if _has_chosen(moved):
            continue  # the settings of before are known
        solver, values = moved.conjac.solver, dict(SETTINGS[engine]) | {"step": jobs.STEP}
        if not bodies:
            values = {"step": min(solver.step, jobs.RIGID_STEP)}
        before = {f"solver.{name}": (by_button.label_of(solver, name), getattr(solver, name),
                                     solver.is_property_set(name)) for name in values}
        with by_button.noted(moved, LABEL, before):
            for name, value in values.items():
                setattr(solver, name, value)
        moved.conjac.as_played = json.dumps(_read(moved.conjac) | {"before": before})


def put_back(obj: bpy.types.Object, scene: bpy.types.Scene) -> None:
    """Set how all that is baked with an object moves to how it was before `choose`."""
    for moved in _moved(members.owner(obj), scene):
        known = _read(moved.conjac)
        for path, (label, value, was_set) in known.pop("before", {}).items():
            solver, name = moved.conjac.solver, path.rpartition(".")[2]
            if was_set:
                setattr(solver, name, value)
            else:
                solver.property_unset(name)
            by_button.note(moved, path, label)
        moved.conjac.as_played = json.dumps(known) if known else ""


def _has_chosen(obj: bpy.types.Object) -> bool:
    """Whether an object has the settings that the button chose."""
    before = _read(obj.conjac).get("before")
    return bool(before) and by_button.is_unchanged(obj, before)


def _moved(owner: bpy.types.Object, scene: bpy.types.Scene) -> list[bpy.types.Object]:
    """Return the editable objects whose settings determine the motion of a whole bake."""
    return [moved for moved in dict.fromkeys((owner, *members.soft_bodies(owner, scene))) if moved.is_editable]


def _read(settings: bpy.types.PropertyGroup) -> dict[str, Any]:
    """Return the performance stored in a setting; empty for an invalid text."""
    try:
        found = json.loads(settings.as_played or "{}")
        return {key: value for key, value in found.items()
                if (_is_before(value) if key == "before" else isinstance(value, str))}
    except (ValueError, AttributeError, RecursionError):
        return {}


def _is_before(value: Any) -> bool:
    """Whether a value has the form that `choose` writes: label, value and whether it was set, of the solver's settings
    only."""
    names = {f"solver.{name}" for settings in SETTINGS.values() for name in settings} | {"solver.step"}
    return isinstance(value, dict) and value.keys() <= names and all(
        isinstance(entry, list) and len(entry) == 3 and isinstance(entry[0], str)
        and isinstance(entry[1], (str, int, float))
        for entry in value.values())


class CONJAC_OT_as_played(Behaviour):
    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        from ..bake.operators import is_baking

        obj = unless(cls, baked(cls, context), is_baking, "Cancel the running bake first")
        return unless(cls, obj, lambda one: not is_recorded(one), "Play it live and press Record first") is not None

    def execute(self, context: bpy.types.Context) -> set[str]:
        obj, scene = context.object, context.scene
        if is_chosen(obj, scene):
            put_back(obj, scene)
        else:
            choose(obj, scene)
        redraw_panels()
        return {"FINISHED"}
