"""Finds places for dynamic nodes from how a body vibrates, and puts handles there for the artist to drag."""

import bpy
from mathutils import Vector

from .. import identity
from . import previews, still
from .light import Behaviour
from .on_worker import Doing, OnWorker
from .poll import DynamicOnly
from .setup import add_handle_at


class CONJAC_OT_suggest_handles(DynamicOnly, OnWorker, Behaviour):
    def work(self, obj: bpy.types.Object, scene: bpy.types.Scene, wait: float) -> Doing[list[str]]:
        return suggest(obj, scene, self.count, wait)


def suggest(obj: bpy.types.Object, scene: bpy.types.Scene, count: int, wait: float) -> Doing[list[str]]:
    """Add `count` handles: `OnWorker.work`."""
    uid, name = obj.session_uid, obj.name
    with still.still_job(obj) as job:
        found = yield from still.run(obj, scene, job, ["suggest", "--count", str(count)], wait)
        places = previews.transformed(found["points"], still.to_object(job))
    owner = identity.still_there(bpy.data.objects, uid)
    if owner is not None:
        for place in places:  # the body may stand elsewhere now than at the start frame
            add_handle_at(owner, owner.matrix_world @ Vector(place))  # type: ignore[arg-type]
    return [f'"{name}": {count} dynamic handle{"s" if count > 1 else ""} added']
