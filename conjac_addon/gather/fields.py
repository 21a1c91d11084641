"""Fields of scene.json that follow from one declaration each."""

from __future__ import annotations

from typing import Any

import bpy

from ...solver import catalogue
from .. import declared, job_fields
from .. import settings as properties
from . import animated


def choice(settings: bpy.types.PropertyGroup, family: str, scene: bpy.types.Scene,
           kind: str = "") -> dict[str, Any]:
    """Return the chosen entry of a family and its parameters, in SI. kind: another entry in its place."""
    entry = catalogue.find(family, kind or getattr(properties.holder(settings, family), family))
    return {"kind": entry.key, "params": {
        param.key: properties.si(settings, properties.property_name(entry, param), scene) for param in entry.params}}


class Reading:
    """The object, scene and group of settings that the value of a field follows from."""

    def __init__(self, obj: bpy.types.Object, scene: bpy.types.Scene, holder: Any, plan: Any = None,
                 frames: tuple[int, int] | None = None) -> None:
        """plan: of a bone or rigid body object. frames: first and last one of the bake, where fields follow from
        them."""
        self.obj, self.scene, self.holder, self.plan, self._frames = obj, scene, holder, plan, frames

    @property
    def frames(self) -> tuple[int, int]:
        """First and last frame of the bake."""
        assert self._frames is not None
        return self._frames

    @property
    def unit_scale(self) -> float:
        """Metres per Blender unit."""
        return properties.unit_scale(self.scene)

    @property
    def may_be_animated(self) -> bool:
        """Whether anything of the object has keyframes or drivers."""
        return animated.may_be_animated(self.obj)

    def of(self, obj: bpy.types.Object, holder: Any) -> Reading:
        """Return the reading of another object and group of settings in the same bake."""
        return Reading(obj, self.scene, holder, self.plan, self._frames)

    def number(self, name: str) -> Any:
        """Return a property of the holder in SI."""
        return properties.si(self.holder, name, self.scene)

    def choice(self, family: str, kind: str = "") -> dict[str, Any]:
        """Return the chosen entry of a family, or another one, with its parameters in SI."""
        return choice(self.obj.conjac, family, self.scene, kind)

    def shortest(self, value: float) -> float:
        """Return the shortest decimal that is a number of single precision."""
        return properties.shortest(value)


def gathered(of: str, obj: bpy.types.Object, scene: bpy.types.Scene, when: str = "", item: Any = None, plan: Any = None,
             frames: tuple[int, int] | None = None) -> dict[str, Any]:
    """Return the fields of a struct of scene.json, in SI, those that are left out at their defaults left out.

    item: the entry of a list, or the settings of a bone or rigid body object, of a struct that is one's. plan, frames:
    as of a Reading.
    """
    found: dict[str, Any] = {}
    for job_field in job_fields.FIELDS:
        if job_field.of == of and job_field.when == when and job_field.suits(obj):
            value = _value(job_field, Reading(obj, scene, _holder(job_field, obj, item), plan, frames))
            if value is not declared.UNWRITTEN:
                put(found, job_field.field, value)
    return found


def put(document: dict[str, Any], path: str, value: Any) -> None:
    """Set the value at a dotted path of a document, creating the levels on the way."""
    *way, last = path.split(".")
    for key in way:
        document = document.setdefault(key, {})
    document[last] = value


def add(document: dict[str, Any], more: dict[str, Any]) -> None:
    """Add fields to a document; groups that both have are merged."""
    for key, value in more.items():
        if isinstance(value, dict) and isinstance(document.get(key), dict):
            add(document[key], value)
        else:
            document[key] = value


def _holder(one: declared.JobField, obj: bpy.types.Object, item: Any) -> Any:
    """Return the group of settings that has the property of a field: of the object, or the item where it is of one."""
    if one.group in declared.OF_OBJECTS:
        return getattr(obj.conjac, one.group) if one.group else obj.conjac
    return item


def _value(one: declared.JobField, reading: Reading) -> Any:
    """Return the value of a field, UNWRITTEN where it is not written."""
    if one.needs and not getattr(reading.holder, one.needs):
        return declared.UNWRITTEN
    found = one.value(reading) if one.value is not None else _plain(one, reading)
    # keyframes are looked for last: there may be many
    if one.keyed and found is not declared.UNWRITTEN and animated.is_animated(reading.obj, f"conjac.{one.name}"):
        return declared.UNWRITTEN
    return found


def _plain(one: declared.JobField, reading: Reading) -> Any:
    """Return the choice or the number of a field; UNWRITTEN for a menu without a choice, and for most defaults."""
    if one.family:
        is_none = getattr(properties.holder(reading.obj.conjac, one.family), one.family) == declared.NONE
        return declared.UNWRITTEN if is_none else reading.choice(one.family)
    is_default = getattr(reading.holder, one.name) == reading.holder.bl_rna.properties[one.name].default
    return declared.UNWRITTEN if is_default and not one.always else reading.number(one.name)
