"""Declarations of settings that a bake reads: the property that an artist sets, its field in scene.json, the part of a
panel that draws it, the switch that it needs, the objects that have it and its name in sentences.

A declaration becomes a property of its group (`properties`), is written into the job in SI (`gather/fields.py`), drawn
(`ui/fields.py`), grey with a reason in its tooltip (`grey_while`), and named where it has changed (`labels`). The
solver's half is one field of solver/job/schema.py. Numbers and menus of the catalogue become properties there, and are
declared here by their parameter or family. Blender's start reads this file, and nothing here looks at an object.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any, Protocol

import bpy

from ..solver.catalogue import Param

#: properties as classes are annotated with them, which Blender's stubs take for None
BOOL: Any = bpy.props.BoolProperty
FLOAT: Any = bpy.props.FloatProperty
INT: Any = bpy.props.IntProperty
ENUM: Any = bpy.props.EnumProperty
STRING: Any = bpy.props.StringProperty

#: structs of scene.json by the lists that they stand in, without numbers
SCENE, BODY, OBSTACLE, MECHANISM = "", "bodies", "obstacles", "mechanisms"
RIGID_BODY, JOINT, LOOP, SPRING = (f"mechanisms.{name}" for name in ("bodies", "joints", "loops", "springs"))
CUT, NAIL, PULL = (f"bodies.{name}" for name in ("cuts", "nails", "pulls"))
WELD, CONSTRAINT = "forces", "constraints"

#: when fields are in scene.json that are not always there: where surfaces touch, of bodies with solvers of their own,
#: of each of several bodies
TOUCHING, OWN_SOLVER, SEVERAL = "touching", "own solver", "several"

#: groups of settings of an object, below Object.conjac; others are of bones, rigid body objects and entries of lists
OF_OBJECTS = ("", "solver", "contact", "mechanism")

NONE = "none"  #: item of the menu of a family of which an artist may choose none

UNWRITTEN = object()  #: value of a field that is not written


class Reading(Protocol):
    """The object, settings and scene that the value of a field follows from: `gather/fields.py` makes them."""

    obj: bpy.types.Object  #: whose job it is, or whose body, mechanism or list it is in
    scene: bpy.types.Scene
    holder: Any  #: the group of settings that has the property
    plan: Any  #: of a bone or rigid body object, where it is one's

    @property
    def frames(self) -> tuple[int, int]:
        """First and last frame of the bake."""

    @property
    def unit_scale(self) -> float:
        """Metres per Blender unit."""

    @property
    def may_be_animated(self) -> bool:
        """Whether anything of the object has keyframes or drivers."""

    def of(self, obj: bpy.types.Object, holder: Any) -> Any:
        """Return the reading of another object and group of settings in the same bake."""

    def shortest(self, value: float) -> float:
        """Return the shortest decimal that is a number of single precision."""

    def number(self, name: str) -> Any:
        """Return a property of the holder in SI."""

    def choice(self, family: str, kind: str = "") -> dict[str, Any]:
        """Return the chosen entry of a family, or another one, with its parameters in SI."""


def _own(obj: bpy.types.Object) -> Any:
    return obj.conjac


@dataclass(frozen=True)
class JobField:
    """One field of scene.json that follows from settings. It is written where its property is not at its default."""

    field: str  #: its path in its struct: "ground.stiffness"
    definition: Any = None  #: the property, as a class is annotated with it; None where another declaration has it
    fold: str = ""  #: part of a panel in which it is drawn; "" where its panel draws it by itself
    group: str = ""  #: group of settings that has the property; "" for Object.conjac itself
    property_name: str = ""  #: name of the property, where it is not the last part of the field's path
    of: str = BODY  #: struct that contains it
    when: str = ""  #: TOUCHING or OWN_SOLVER; "" of what is always there
    param: Param | None = None  #: of the catalogue, that is its property
    family: str = ""  #: of the catalogue, whose menu and parameters are its properties
    needs: str = ""  #: switch of the same group without which it is grey and not written
    grey_without: str = ""  #: switch of the same group without which it is grey
    grey: str = ""  #: reason in its tooltip for which it is grey in other cases
    counts: Callable[[bpy.types.Object], bool] = lambda obj: True  #: else it is grey
    suits: Callable[[bpy.types.Object], bool] = lambda obj: True  #: objects that have it
    shows: Callable[[bpy.types.Object], bool] | None = None  #: objects whose panel has it, where others do than have it
    whose: Callable[[bpy.types.Object], Any] = _own  #: settings that the panel of an object shows
    always: bool = False  #: written at its default, too
    keyed: bool = False  #: it may have keyframes, and is not written then: samples over time stand for it
    value: Callable[[Reading], Any] | None = None  #: what is written, where that is not the number; may be UNWRITTEN
    reads: tuple[str, ...] = ()  #: other properties of the same group that its value follows from
    called: str = ""  #: its name in sentences, where that is not the property's

    @property
    def path(self) -> str:
        """Return its path in scene.json, without numbers of lists."""
        return f"{self.of}.{self.field}" if self.of else self.field

    @property
    def name(self) -> str:
        """Return the name of the property."""
        return self.property_name or (self.param.key if self.param else self.family or self.field.rpartition(".")[2])

    @property
    def label(self) -> str:
        """Return the label; "" where another declaration has it."""
        if self.called or self.param:
            return self.called or self.param.label  # type: ignore[union-attr]
        return "" if self.definition is None else str(self.definition.keywords["name"])

    def is_shown(self, obj: bpy.types.Object) -> bool:
        """Whether the panel of an object has it."""
        return (self.shows or self.suits)(obj)

    def holder(self, obj: bpy.types.Object) -> Any:
        """Return the group of settings that a panel of an object shows."""
        settings = self.whose(obj)
        return getattr(settings, self.group) if self.group else settings


def group_key(class_name: str) -> str:
    """Return the word by which declarations name a class of settings: "contact" of CONJAC_Contact."""
    return class_name.removeprefix("CONJAC_").lower().replace("settings", "")


def properties(fields: Iterable[JobField], group: str) -> dict[str, Any]:
    """Return the properties of a group, by name, as its class is annotated with them."""
    return {job_field.name: job_field.definition
            for job_field in fields if job_field.group == group and job_field.definition is not None}


def labels(fields: Iterable[JobField]) -> dict[str, str]:
    """Return the label of each field, by its path in scene.json."""
    return {job_field.path: job_field.label for job_field in fields if job_field.label}


def grey_while(fields: Iterable[JobField], group: str, name: str, made: dict[str, Any]) -> str:
    """Return the reason for which a property of a group is grey, "" where it never is. made: its properties by name."""
    for job_field in fields:
        switch = job_field.needs or job_field.grey_without
        if job_field.group == group and job_field.name == name and (switch or job_field.grey):
            return job_field.grey or f"{made[switch].keywords['name']} is off"
    return ""
