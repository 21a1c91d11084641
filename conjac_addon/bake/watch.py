"""The status that panels show: looked up by a timer after something has changed, never while a panel is drawn."""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import Any

import bpy
from bpy.app.handlers import persistent

from .. import changes, redraw
from . import session, standing

#: seconds after which the files of a bake are looked at again while panels are drawn: another program may write them
FRESH = 1.0

#: a look waits so many times what the last one took, so that dragging something large stays smooth
TIMES = 10.0

#: seconds until a look where there is something new
SOON = 0.02


class Seen:
    """Result of the last look at an object. Not a dataclass, whose code is compiled at each start of Blender."""

    def __init__(self, status: standing.Status, change: tuple[Any, ...], files: tuple[Any, ...], at: float) -> None:
        """change: state of Blender's data, see `_change`; files: state of the files; both at the time of `status`."""
        self.status, self.change, self.files, self.at = status, change, files, at


_seen: dict[int, Seen] = {}  #: by session_uid
_asked: set[int] = set()  #: objects that panels have shown since the last look
_due = 0.0  #: when the timer will look
_rest_until = 0.0


def shown(obj: bpy.types.Object) -> standing.Status:
    """Return the status of an object's bake from the last time it was read; a timer reads it again after a change."""
    bake = session.running_bake(obj)
    _asked.add(obj.session_uid)
    if bake is not None:
        _seen.pop(obj.session_uid, None)
        return standing.of_running(bake)
    if bpy.app.background:  # no timers, and nobody waits
        bpy.context.view_layer.update()
        look()
    else:
        known = _seen.get(obj.session_uid)
        is_new = known is None or known.change != _change()
        _look_in(max(SOON, _rest_until - time.monotonic()) if is_new else FRESH)
    known = _seen.get(obj.session_uid)
    return known.status if known is not None else standing.LOOKING


def _look_in(seconds: float) -> None:
    """Schedule the timer in so many seconds, unless it fires sooner."""
    global _due
    waits = bpy.app.timers.is_registered(look)
    due = time.monotonic() + seconds
    if waits and _due <= due:
        return
    if waits:
        bpy.app.timers.unregister(look)
    bpy.app.timers.register(look, first_interval=seconds)
    _due = due


def look() -> None:
    """Update the status of the objects that panels have shown, and redraw the panels if one has changed. The end of a
    bake calls it too, so that panels always have a status."""
    global _rest_until
    objects = {obj.session_uid: obj for obj in bpy.data.objects if obj.session_uid in _asked}
    _asked.clear()
    began, change, is_new = time.monotonic(), _change(), False
    for uid, obj in objects.items():
        known, files = _seen.get(uid), standing.stamp_of(obj)
        # what another program writes may end without a sign in the files, and another frame is none
        if (known is not None and (known.change, known.files) == (change, files)
                and not (known.status.state == "baking" or known.status.by_hand)):
            known.at = began
            continue
        found = standing.status(obj)
        is_new |= known is None or found != known.status
        _seen[uid] = Seen(found, change, files, began)
    _rest_until = time.monotonic() + TIMES * (time.monotonic() - began)
    if is_new:
        redraw.redraw_panels()


def _change() -> tuple[Any, ...]:
    """Another value whenever anything may have changed that a status depends on."""
    return changes.count(), bpy.context.scene.session_uid, bpy.data.filepath


#: when Blender's data changes. Frames are none of it: nothing that a status depends on may be animated
_MOMENTS = ("depsgraph_update_post", "undo_post", "redo_post", "load_post", "save_post")


@persistent
def _note(*_: Any) -> None:
    changes.note()


def _handlers() -> Iterator[list[Any]]:
    return (getattr(bpy.app.handlers, name) for name in _MOMENTS)


def register() -> None:
    for handlers in _handlers():
        if _note not in handlers:
            handlers.append(_note)


def unregister() -> None:
    for handlers in _handlers():
        if _note in handlers:
            handlers.remove(_note)
    if bpy.app.timers.is_registered(look):
        bpy.app.timers.unregister(look)
    _seen.clear()
    _asked.clear()
