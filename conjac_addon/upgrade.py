"""Settings that other versions of ConJac saved: older ones are brought up to date when a file is read, newer refused.

Each object carries the version of its settings, so that it can be appended and linked. What was made since the file
was opened has version 0 until it is saved, as what was saved before there were versions.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from functools import cache

import bpy

from ..solver import errors
from . import changes, kinds
from .settings import VERSION, CONJAC_Settings, CONJAC_Solver


def upgrade(settings: CONJAC_Settings) -> None:
    """Bring the settings of one object up to date. Settings without a value, and newer ones, are left as they are."""
    if settings.version < VERSION and settings.keys():
        for step in _STEPS[settings.version:]:
            step(settings)
        settings.version = VERSION


def _name_kinds_and_solver(settings: CONJAC_Settings) -> None:
    """Convert `enabled` to a kind, and move the solver's settings to their group. Does nothing without old names."""
    # the names lie in the file as they were, under properties that now stand for others
    if settings.pop("enabled", False) and not settings.is_property_set("kind"):
        settings.kind = kinds.suiting(settings.id_data.type)
    for name in CONJAC_Solver.NAMES & set(settings.keys()):
        value = settings.pop(name)
        # a library override has its own value already, besides the library's
        if not settings.solver.is_property_set(name):
            if settings.solver.bl_rna.properties[name].type == "ENUM":
                settings.solver[name] = value  # the number, known or not
            else:
                setattr(settings.solver, name, value)


#: from each version to the next
_STEPS: tuple[Callable[[CONJAC_Settings], None], ...] = (_name_kinds_and_solver,)


def check(obj: bpy.types.Object) -> None:
    """Raises BadInput if a newer ConJac saved settings that this one cannot read: with the object, the setting, and a
    remedy."""
    if obj.conjac.version > VERSION:
        raise errors.BadInput("its settings were saved by a newer ConJac (version "
                              f"{obj.conjac.version} of the settings, this one supports {VERSION})", "Update ConJac",
                              obj.name)
    for group, prop, number in unknown_choices(obj):
        bone = next((f' of "{pose_bone.name}"' for pose_bone in _bones(obj) if pose_bone.conjac == group), "")
        raise errors.BadInput(f"its {prop.name}{bone} is number {number}, which this version of ConJac does not know",
                              f"Update ConJac if a newer one saved the file, or choose another {prop.name}", obj.name)


#: reasons of refusals by session_uid, and when they were found: panels ask many times a redraw
_refusals: dict[int, tuple[int, str]] = {}


def refusal(obj: bpy.types.Object) -> str:
    """Return the reason of a refusal as a sentence, empty without one; updated after a change."""
    when, reason = _refusals.get(obj.session_uid, (-1, ""))
    if when == changes.count():
        return reason
    try:
        check(obj)
        reason = ""
    except errors.BadInput as error:
        reason = str(error)
    _refusals[obj.session_uid] = changes.count(), reason
    return reason


def unknown_choices(obj: bpy.types.Object) -> Iterator[tuple[bpy.types.PropertyGroup, bpy.types.Property, int]]:
    """Yield menus of an object, or of a bone of it, whose stored number has no item."""
    settings = obj.conjac
    groups = (settings, settings.solver, settings.mechanism, settings.part, *(bone.conjac for bone in _bones(obj)))
    for group in groups:
        for name, known in _menus(type(group)).items():  # type: ignore[arg-type]
            number = group.get(name)
            if number is not None and number not in known:
                yield group, group.bl_rna.properties[name], number


def _bones(obj: bpy.types.Object) -> Iterable[bpy.types.PoseBone]:
    return obj.pose.bones if obj.type == "ARMATURE" and obj.pose is not None else ()


@cache
def _menus(group: type[bpy.types.PropertyGroup]) -> dict[str, frozenset[int]]:
    """Numbers of the menus that a class of settings keeps, by name."""
    return {prop.identifier: frozenset(item.value for item in prop.enum_items)
            for prop in group.bl_rna.properties if prop.type == "ENUM"}


def upgrade_all() -> None:
    """Every object with settings of ours: after a file was read or something was appended, and before it is saved."""
    for obj in bpy.data.objects:
        # not a look into the settings, which would make some
        if obj.is_property_set("conjac"):
            upgrade(obj.conjac)
    changes.note()


def forget() -> None:
    """Forget refusals of objects, as ConJac is switched off."""
    _refusals.clear()
