"""Reasons why a running bake is slow, and remedies."""

from __future__ import annotations

import bpy

from .. import members
from ..bake import session
from ..bake.progress import Progress, duration

SLOW = 2.0  #: seconds a frame: what takes longer is worth a word
FEW = 3  #: frames after which that is known


def sentence(progress: Progress, bodies: int, volumes: int) -> str:
    """Return a sentence about a slow bake, without a full stop; "" where it is not slow.

    bodies: how many are baked together. volumes: how many of these are filled with tetrahedra.
    """
    if progress.timed < FEW or progress.spent_s < SLOW * progress.timed:
        return ""
    sentences = [f"A frame takes {duration(progress.spent_s / progress.timed)}"]
    if progress.shorter:
        sentences.append("Fast impacts take shorter steps than Time Step")
    if bodies > 1:
        sentences.append(f"{bodies} bodies that may touch are solved together: set Collides With to Nothing for "
                         "those that never meet the others")
    if volumes:
        sentences.append("A larger Edge Length in Volume makes fewer tetrahedra, and Play Live or the method Subspace "
                         "shows a draft")
    return ". ".join(sentences)


def of(obj: bpy.types.Object, scene: bpy.types.Scene) -> str:
    """That of the bake that runs for an object; "" where none does or it is fast. Cheap."""
    running = session.running_bake(members.owner(obj)) or session.running_bake(obj)
    if running is None:
        return ""
    soft = members.soft_bodies(members.owner(obj), scene)
    return sentence(running.progress, len(soft), sum(members.is_volume(body) for body in soft))
