"""Difference between the frames of a bake and those of a take, as an attribute of the mesh: a draft compared with the
full bake."""

from __future__ import annotations

from typing import NamedTuple

import bpy
import numpy as np

from ...solver.errors import BadInput, NoSuchThing
from ...solver.frames.read import Cache
from .. import members
from .. import settings as properties
from ..playback import pushed
from . import contents, place, shown, takes

DIFFERENCE = "take_difference"  #: [mm], the largest over all frames that both have
MILLIMETRES = 1.0e3


class Apart(NamedTuple):
    """How far two bakes are from each other."""

    number: int  #: of the take
    largest: float  #: of any vertex at any frame [mm]
    frame: int  #: at which that is
    mean: float  #: of all vertices and frames [mm]
    frames: int  #: that both have


def write(obj: bpy.types.Object, scene: bpy.types.Scene, number: int) -> Apart:
    """Compare the object's bake with a take, 0 for the newest, and write the largest distance of each vertex [mm].
    Raises NoSuchThing without such a take or a common frame, BadInput if the meshes differ."""
    own = place.of(obj).folder
    take = takes.find(own, number)
    now, then = place.cache_of(own), Cache(take.folder / contents.CACHE)
    frames = sorted(set(now.frames_done()) & set(then.frames_done()))
    if not frames:
        raise NoSuchThing(f"no frame of this bake is in take {take.number}, whose frames are {take.first} to "
                          f"{take.last}", "Bake these frames too", obj.name)
    holder = members.owner(obj)
    name = next((name for player, name in shown.players(holder, scene, now) if player == obj), None)
    before = next((name for player, name in shown.players(holder, scene, then) if player == obj), None)
    if name is None or before is None:
        raise NoSuchThing(f"it is not a body of both this bake and take {take.number}", "Choose one that is", obj.name)
    scale = MILLIMETRES * properties.unit_scale(scene) * np.array(obj.matrix_world.to_3x3())
    count = len(obj.data.vertices)
    largest, total, worst, where = np.zeros(count), 0.0, 0.0, frames[0]
    for frame in frames:
        here, there = now.frame(frame)[name], then.frame(frame)[before]
        if len(here) != count or len(there) != count:
            raise BadInput(f"it has {count} vertices, but {len(here)} in this bake and {len(there)} in take "
                           f"{take.number} at frame {frame}", "Compare bakes of the same mesh", obj.name)
        away = np.linalg.norm((here.astype(float) - there) @ scale.T, axis=1)
        np.maximum(largest, away, out=largest)
        total += float(away.mean())
        if away.max() > worst:
            worst, where = float(away.max()), frame
    pushed.write(obj, DIFFERENCE, largest)
    return Apart(take.number, worst, where, total / len(frames), len(frames))
