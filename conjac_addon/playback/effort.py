"""How hard motors and drives pushed, as graphs of the bones and objects that they move."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

import bpy
import numpy as np
from numpy.typing import NDArray

from ...solver import catalogue
from . import graphs

#: units by what a rate of a joint is in the catalogue
UNITS = {"angle": "N m", "length": "N"}
IS_NAME = re.compile(r"Effort( \d)? \((N m|N)\)")


@dataclass(frozen=True)
class Pushed:
    """Effort of the motor of one joint."""

    name: str  #: of the bone or object that it moves
    kind: str  #: of the joint, a key of the catalogue
    frames: NDArray[np.int32]  #: (f,), rising
    effort: NDArray[np.float64]  #: [N m, N], (f, rates of the joint)
    lets_go: bool = False  #: it only follows the animation, for a while

    @property
    def units(self) -> list[str]:
        """Return the unit of each rate."""
        return [UNITS[rate] for rate in catalogue.find("joint", self.kind).rates]

    def graphs(self) -> dict[str, NDArray[np.float64]]:
        """Return its efforts by the name of their property, counted where the joint has several of a unit."""
        units, found = self.units, {}
        for k, unit in enumerate(units):
            count = f" {units[:k].count(unit) + 1}" if units.count(unit) > 1 else ""
            found[f"Effort{count} ({unit})"] = self.effort[:, k]
        return found


def show(owner: bpy.types.Object, pushed: Sequence[Pushed]) -> list[str]:
    """Draw a mechanism's effort curves; those of an earlier bake must be removed before. Returns a sentence for each
    object whose animation cannot be written."""
    refused = {}
    for joint in pushed:
        bone = joint.name if owner.type == "ARMATURE" else ""
        obj = owner if bone else bpy.data.objects.get(joint.name)
        # poses were played before: bones and objects that have gone were reported then
        if obj is not None and len(joint.frames):
            why = graphs.draw(obj, bone, joint.frames, joint.graphs(), "Effort")
            if why is not None:
                refused[obj] = f'"{obj.name}": the effort of its motors is not drawn, {why}'
    for obj in refused:
        hide(obj)
    return list(refused.values())


def hide(obj: bpy.types.Object) -> None:
    """Remove the extension's curves and properties."""
    graphs.remove(obj, IS_NAME)
