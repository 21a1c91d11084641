"""How lively each dynamic node was, as graphs of the object."""

from __future__ import annotations

import re

import bpy

from ...solver.frames.beside import Lively
from . import graphs

NAME = "Liveliness {}"  #: of the custom property of a dynamic node, counted from 1
IS_NAME = re.compile(r"Liveliness \d+")


def show(obj: bpy.types.Object, activity: Lively | None) -> str | None:
    """Draw a curve for each dynamic node, in place of those of an earlier bake; none where no node may sleep.

    Returns a sentence where the object's animation cannot be written, else None.
    """
    hide(obj)
    if activity is None or not len(activity.frames):
        return None
    of_nodes = {NAME.format(k + 1): activity.levels[:, k] for k in range(activity.levels.shape[1])}
    refused = graphs.draw(obj, "", activity.frames, of_nodes, "Liveliness")
    if refused is None:
        return None
    hide(obj)
    return f'"{obj.name}": its liveliness is not drawn, {refused}'


def hide(obj: bpy.types.Object) -> None:
    """Remove the extension's curves and properties."""
    graphs.remove(obj, IS_NAME)
