"""Baked frames in which a soft body without Self Collision intersects itself, as drawn.

Each call examines frames only for a moment, so that no panel waits, and continues where the last call ended until the
bake changes.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import dataclass

import bpy
import numpy as np
from mathutils.bvhtree import BVHTree
from numpy.typing import NDArray

from ...solver.errors import BadInput, NoSuchThing
from ...solver.frames.read import Cache
from ...solver.job.arrays import read_npy
from .. import kinds, members
from ..bake import place

MOMENT = 0.03  #: seconds of a look
MOST = 20_000  #: triangles, above which a single frame takes longer than a panel may wait

Pairs = NDArray[np.int64]


@dataclass
class Examined:
    """Frames of a bake that were examined so far."""

    bake: tuple[str, int, int]  #: folder, number of files and when the last was written
    todo: Iterator[bool]  #: whether the body goes through itself in each frame that is left
    count: int = 0
    crossing: int = 0
    is_done: bool = False


_examined: dict[int, Examined] = {}  #: by session_uid


def frames(obj: bpy.types.Object) -> tuple[int, int]:
    """Return the number of baked frames in which a body intersects itself, and of those examined; zeros if it collides
    with itself, has no bake or too many triangles. Examines more frames for a moment."""
    contact = obj.conjac.contact
    if not members.is_volume(obj) or contact.itself or contact.collides_with == kinds.NOTHING:
        _examined.pop(obj.session_uid, None)
        return 0, 0
    cache = place.cache_of(place.of(obj).folder)
    bake = str(cache.folder), len(cache.log), max((entry.mtime_ns or 0 for entry in cache.log.values()), default=0)
    found = _examined.get(obj.session_uid)
    if found is None or found.bake != bake:
        found = _examined[obj.session_uid] = Examined(bake, _through_itself(cache, obj.name))
    ends = time.perf_counter() + MOMENT
    while not found.is_done and time.perf_counter() < ends:
        crosses = next(found.todo, None)
        found.is_done = crosses is None
        found.count, found.crossing = found.count + (crosses is not None), found.crossing + bool(crosses)
    return found.crossing, found.count


def _through_itself(cache: Cache, name: str) -> Iterator[bool]:
    """Yield for each baked frame whether triangles of a body cross that do not at the first frame."""
    try:
        scene = cache.manifest["scene"] if cache.manifest else {"bodies": []}
        surface = next((body.get("surface") for body in scene["bodies"] if body["name"] == name), None)
        if surface is None or name in cache.cuts or name in cache.sheet_names():
            return
        job = cache.folder.parent
        triangles = read_npy(job / surface["triangles"], job).astype(np.int64)
    except (OSError, ValueError, KeyError, BadInput):
        return
    at_start: Pairs | None = None
    for frame in cache.frames_done() if len(triangles) <= MOST else ():
        try:
            x = cache.frame(frame)[name]
        except (NoSuchThing, BadInput):
            continue
        if len(x) <= triangles.max(initial=-1):
            return
        crossing = crossing_pairs(x, triangles)
        at_start = crossing if at_start is None else at_start
        yield len(np.setdiff1d(crossing, at_start)) > 0


def crossing_pairs(x: NDArray[np.float32], triangles: NDArray[np.int64]) -> Pairs:
    """Return a number for each pair of triangles (t, 3) that share no vertex and cross at x, (n, 3); the same at any
    other x."""
    tree = BVHTree.FromPolygons(x.tolist(), triangles.tolist())
    pairs = np.array(tree.overlap(tree), dtype=np.int64).reshape(-1, 2)
    first, second = pairs[pairs[:, 0] < pairs[:, 1]].T
    apart = (triangles[first][:, :, None] != triangles[second][:, None, :]).all(axis=(1, 2))
    numbers: Pairs = (first * len(triangles) + second)[apart]
    return numbers
