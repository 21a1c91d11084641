"""Operators that are registered at Blender's start, while their modules are imported at first use.

An entry has what menus, F3 and scripts need: name, label, tooltip, properties. The class of the same name in its module
is the operator's behaviour; Blender calls it as if it had been registered itself.
"""

from __future__ import annotations

from collections.abc import Iterable
from types import ModuleType
from typing import TYPE_CHECKING, Any

import bpy

if TYPE_CHECKING:
    Behaviour = bpy.types.Operator
else:
    class Behaviour:
        """Base of operator behaviours. It is not Blender's: the registered class derives from a behaviour first, then
        from Blender's."""

        @classmethod
        def poll(cls, _context):
            return True

UNDOABLE: set[Any] = {"REGISTER", "UNDO"}


def operator(name: str, module: ModuleType, label: str, tooltip: str, options: set[Any] = UNDOABLE,
             asks: Iterable[str] = (), opens: str = "", **properties: Any) -> type[bpy.types.Operator]:
    """Return the class of `bpy.ops.conjac.<name>`, whose behaviour is `CONJAC_OT_<name>` of a module that is imported
    at first use. asks: those of METHODS that it has besides `poll` and `execute`. opens: property of the search popup
    or menu.
    """
    made: dict[str, Any] = {
        "__module__": module.__name__, "__annotations__": properties, "bl_idname": f"conjac.{name}", "bl_label": label,
        "bl_description": tooltip, "bl_options": options, "poll": classmethod(poll), "execute": execute,
        "_behaves_as": module}
    for method in asks:
        made[method] = METHODS[method]
    if opens:
        made["bl_property"] = opens
    return type(f"CONJAC_OT_{name}", (bpy.types.Operator,), made)


def _filled(cls: Any) -> None:
    """Insert the behaviour before Blender's own base, and remove the placeholders."""
    behaviour = getattr(cls._behaves_as, cls.__name__)
    for method in ("poll", "execute", *METHODS):
        if method in vars(cls):
            delattr(cls, method)
    cls.__bases__ = (behaviour, bpy.types.Operator)


# Blender looks at how many arguments each has


def poll(cls: Any, context: bpy.types.Context) -> Any:
    _filled(cls)
    return cls.poll(context)


def description(cls: Any, context: bpy.types.Context, properties: bpy.types.OperatorProperties) -> Any:
    _filled(cls)
    return cls.description(context, properties)


def execute(self: Any, context: bpy.types.Context) -> Any:
    _filled(type(self))
    return self.execute(context)


def invoke(self: Any, context: bpy.types.Context, event: bpy.types.Event) -> Any:
    _filled(type(self))
    return self.invoke(context, event)


def modal(self: Any, context: bpy.types.Context, event: bpy.types.Event) -> Any:
    _filled(type(self))
    return self.modal(context, event)


def cancel(self: Any, context: bpy.types.Context) -> Any:
    _filled(type(self))
    return self.cancel(context)


def draw(self: Any, context: bpy.types.Context) -> Any:
    _filled(type(self))
    return self.draw(context)


METHODS: dict[str, Any] = {"invoke": invoke, "modal": modal, "cancel": cancel, "draw": draw,
                           "description": classmethod(description)}
