"""Finds the object that makes reading the animation slow: the one whose modifiers take longest at a frame."""

from __future__ import annotations

import bpy

SLOW = 0.2  #: seconds a frame from which on it is worth a word


def slowest(depsgraph: bpy.types.Depsgraph) -> tuple[str, float]:
    """Return the name of the evaluated object whose modifiers took longest, and their seconds; "" where none did."""
    best, longest = "", 0.0
    for block in depsgraph.ids:
        if isinstance(block, bpy.types.Object):
            seconds = sum(modifier.execution_time for modifier in block.modifiers)
            if seconds > longest:
                best, longest = block.name, seconds
    return best, longest


def sentence(depsgraph: bpy.types.Depsgraph, seconds: float) -> str:
    """For the status line, after a frame that took so long to read."""
    text = "Reading the animation"
    if seconds < SLOW:
        return text
    name, of_it = slowest(depsgraph)
    if of_it < 0.3 * seconds:
        return f"{text} ({seconds:.1f} s a frame)"
    return f"{text} ({seconds:.1f} s a frame, {of_it:.1f} s of it the modifiers of {name})"
