"""Sources of a mechanism's bodies: the bones of an armature, or rigid body objects."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import ExitStack
from typing import Any

import bpy

from . import bones, rigid
from .armature import Armature
from .evaluation import Evaluation

PartOf = Callable[[str], bpy.types.PropertyGroup]


def make(evaluation: Evaluation, stack: ExitStack) -> Armature | rigid.Objects:
    """Return the bodies of an evaluation's object. stack: exits that restore the scene after the bake has been read."""
    if evaluation.object.type == "ARMATURE":
        return Armature(evaluation)
    return stack.enter_context(rigid.Objects(evaluation))


def plan(owner: bpy.types.Object) -> tuple[Any, PartOf]:
    """Return the bodies and joints from settings alone, and the settings of each body."""
    if owner.type == "ARMATURE":
        return bones.plan(owner), lambda name: owner.pose.bones[name].conjac
    found = rigid.plan(owner)
    return found, lambda name: found.part(name)
