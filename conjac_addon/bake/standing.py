"""State of an object's bake for the panel: computed from the folder and the running process, stored nowhere."""

from __future__ import annotations

import time
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import bpy

from ...solver.errors import ConJacError
from ...solver.frames import lock, swept
from .. import gather, identity, members, playback
from ..timeline import frame_range
from . import home, place
from .progress import line
from .session import Bake, running_bake


@dataclass(frozen=True)
class Status:
    """State of one object's bake."""

    state: str  #: none, partial, complete, stale, broken or baking
    done: int = 0  #: frames on disk
    total: int = 0  #: frames that are to be there
    left_s: float | None = None  #: seconds until the last frame, where known
    text: str = ""  #: a sentence without a full stop
    fraction: float | None = None  #: of a running bake's present stage, 0..1, where known
    mine: bool = False  #: this Blender runs the bake, so it can be cancelled here
    other_baker: str = ""  #: the other program that bakes it, and when it was last heard of
    bodies: tuple[tuple[str, str, int], ...] = ()  #: name, UUID and vertices of each baked soft body
    first: int | None = None  #: frame where the bake begins, where something is baked
    frames: frozenset[int] = frozenset()  #: on disk
    wrong: str = ""  #: sentences without the last full stop on what was baked and does not look right
    by_hand: bool = False  #: something was moved since its bake, until another frame is shown


#: before the first look
LOOKING = Status("none", text="Looking for its bake")

#: seconds for which a folder's state is believed without a look at every file
FRESH = 1.0

#: what changes when a bake does
WATCHED = ("scene.json", "cache/manifest.json", "cache/written.log", "cache/lock", "cache/frames")

_seen: dict[Path, tuple[tuple, float, Status]] = {}


def status(obj: bpy.types.Object) -> Status:
    """Return the status of the object's bake. Reads every setting and file of it; panels use the cached result of
    `watch`."""
    bake = running_bake(obj)
    if bake is not None:
        return of_running(bake)
    at = place.of(obj)
    folder = at.folder
    found = _of_folder(folder)
    if found.state in ("partial", "complete"):
        seen, obj = obj, members.owner(obj)
        animated = gather.animated_refusal(obj, bpy.context.scene)
        if animated:
            # which value counts would depend on the frame that is looked at
            return replace(found, state="stale", text=animated)
        changed, others = _changed(obj, found, folder, at.own), list[str]()
        if changed and at.own and (beside := _beside(seen, obj, found, folder)) is not None:
            changed, others = _changed_beside(seen, found, beside), [f'"{name}"' for name in beside.others]
        if changed:
            return replace(found, state="stale", text=changed)
        by_hand, counts = playback.moved.sentence(playback.mechanism.playing(obj), bpy.context.scene)
        if counts:
            return replace(found, state="stale", text=by_hand, by_hand=True)
        player = seen if members.is_soft_body(obj) else obj
        if not playback.plays(player):
            return replace(found, state="stale", text="Frames are baked, but nothing plays them; bake again")
        other = _plays_otherwise(player, folder)
        if other:
            return replace(found, state="stale", text=other)
        found = _in_range(found, *frame_range(obj.conjac, bpy.context.scene))
        signature = home.read(folder)
        if not at.own and signature is not None:
            whose = _whose(folder, signature, obj)
            found = replace(found, text=f"{found.text}, of {whose}: its first bake makes its own")
        if found.state == "complete":
            for_others = f"; bake again for {_listed(others)}" if others else ""
            sentences = (by_hand, found.text + for_others, found.wrong)
            return replace(found, text=". ".join(filter(None, sentences)), by_hand=bool(by_hand))
    elif found.state == "none":
        other = _plays_otherwise(obj, folder)
        if other:
            return replace(found, state="stale", text=other)
    return found


def _plays_otherwise(obj: bpy.types.Object, folder: Path) -> str:
    """A sentence where an object plays a file of another folder than this, or one that is gone; "" where it does not.
    """
    playing = playback.file_of(obj)
    if playing is None or playing.parent == folder and playing.exists():
        return ""
    signature = home.read(playing.parent)
    whose = f"another bake, from {playing.parent.name}"
    if signature is not None and signature.uuid == identity.of(obj):
        blend = Path(signature.blend).name
        # appended, it has the UUID that it has there
        whose = f'its bake of "{blend}"' if blend not in ("", Path(bpy.data.filepath).name) else (
            "an earlier bake of its own")
    elif signature is not None:
        whose = f"the bake of {_whose(playing.parent, signature, obj)}"
    other = f"It plays {whose}" if playing.exists() else "The file that it plays is missing"
    return f"{other}; bake again to see its own frames"


def _whose(folder: Path, signature: home.Home, obj: bpy.types.Object) -> str:
    """Return the owner of a folder that is not the object's own: the owner's present name, if it is in this .blend."""
    if place.is_of_this_file(folder, signature.uuid):
        name = identity.name_of(signature.uuid)
        return "an object that was deleted" if name is None else f'"{name}"'
    # of the same name it is the one of another file
    is_namesake = signature.blend and signature.object == obj.name
    return f'"{Path(signature.blend).name}"' if is_namesake else f'"{signature.object}"'


def _changed(obj: bpy.types.Object, found: Status, folder: Path, own: bool) -> str:
    """Return a sentence where anything has changed since the bake of an object; "" where nothing has. own: whether the
    folder is the object's."""
    scene = bpy.context.scene
    changed = gather.changed_settings(obj, scene, folder)
    if changed:
        return _stale(changed)
    soft = members.soft_bodies(obj, scene) if members.is_soft_body(obj) else []
    changed_mesh = next(filter(None, (_changed_mesh(body, found, len(soft) == 1) for body in soft)), "")
    if changed_mesh:
        return changed_mesh
    moved = gather.moved(obj, scene, folder) if own else []  # a copy may play it elsewhere
    return f"Baked before {' and '.join(moved)}; bake again" if moved else ""


def _beside(one: bpy.types.Object, owner: bpy.types.Object, found: Status, folder: Path) -> gather.Beside | None:
    """Return the relation of a soft body or a mechanism to a bake from which only single objects differ; None if more
    or nothing changed."""
    cache, frames = place.cache_of(folder), sorted(found.frames)
    scene = bpy.context.scene
    reshaped = [other for other in members.soft_bodies(owner, scene) if _changed_mesh(other, found, False)]
    try:
        first, last = (cache.diagnostics.groups(frame) for frame in (frames[0], frames[-1]))
        groups = gather.Groups(last["labels"], swept.Swept.through([first]), lambda: _through(folder, frames),
                               lambda: swept.corners_of(swept.obstacles_in(cache.manifest or {})))
        return gather.look_beside(one, owner, scene, folder, groups, reshaped)
    except (ConJacError, LookupError, TypeError, ValueError):
        return None  # of an older version, or cut


#: boxes around all places of the bodies of a bake, by its folder and frames
_swept: dict[tuple[Path, tuple[int, ...], tuple[int, ...]], swept.Swept] = {}


def _through(folder: Path, frames: list[int]) -> swept.Swept:
    """Return the boxes around all places of the bodies of a bake; read once. Raises ConJacError, LookupError,
    ValueError."""
    key = folder, _stamp(folder), tuple(frames)
    if key not in _swept:
        _swept.clear()
        groups = place.cache_of(folder).diagnostics.groups
        _swept[key] = swept.Swept.through([groups(frame) for frame in frames])
    return _swept[key]


def _changed_beside(one: bpy.types.Object, found: Status, beside: gather.Beside) -> str:
    """Return a sentence on an object that is no longer as in its bake, or not in it yet; "" where it is as it was."""
    if beside.is_new:
        return "Not baked yet: Bake adds it to the existing bake"
    if beside.own:
        return _stale(list(beside.own))
    if beside.why:
        return f"Baked before {beside.why}; bake again"
    return _changed_mesh(one, found, False) if members.is_soft_body(one) else ""


def _changed_mesh(one: bpy.types.Object, found: Status, is_single: bool) -> str:
    """Return a sentence where the mesh of a soft body has another number of vertices than the one that was baked; ""
    where it has not. is_single: whether it is baked alone."""
    baked = next((vertices for name, uuid, vertices in found.bodies
                  if is_single and len(found.bodies) == 1 or (uuid == identity.of(one) if uuid else name == one.name)),
                 None)
    count = gather.count_at_mark(one)
    if baked and count not in (None, baked):
        whose = "the mesh" if is_single else f'"{one.name}"'
        return f"Baked with {baked} vertices, {whose} has {count} now; bake again"
    return ""


def _in_range(found: Status, first: int, last: int) -> Status:
    """Return the status for the frame range of the settings: a longer range continues the bake, a shorter one keeps
    it."""
    if last < first:
        return replace(found, state="stale", text=f"The last frame, {last}, is before the first, {first}")
    if found.first != first:
        return found
    total, done = last - first + 1, sum(first <= frame <= last for frame in found.frames)
    if done < total:
        return replace(found, state="partial", done=done, total=total, text=f"{done} of {total} frames are baked")
    text = f"All {total} frames are baked" if total > 1 else "Its one frame is baked"
    return replace(found, state="complete", done=done, total=total, text=text)


def _listed(names: list[str], most: int = 3) -> str:
    """Return the first names of a list, for a line or two."""
    return ", ".join(names[:most]) + (f" and {len(names) - most} more" if len(names) > most else "")


def of_running(bake: Bake) -> Status:
    """Return how far a bake of this Blender is."""
    progress = bake.progress
    if progress.first is None or progress.last is None:
        return Status("baking", text=line(progress), fraction=progress.fraction, mine=True)
    done = 0 if progress.frame is None else progress.frame - progress.first + 1
    return Status("baking", done, progress.last - progress.first + 1, progress.left_s, progress.text, progress.fraction,
                  mine=True)


def stamp_of(obj: bpy.types.Object) -> tuple[Any, ...]:
    """Another value whenever a file of the object's bake has changed."""
    folder = place.job_folder(obj)
    return folder, *_stamp(folder)


def _stamp(folder: Path) -> tuple[int, ...]:
    return tuple(_changed_at(folder / name) for name in WATCHED)


def _stale(changed: list[str]) -> str:
    return f"Baked before {_listed(changed, 5)} changed; bake again"


def _of_folder(folder: Path) -> Status:
    """Return the state of the folder itself; read again after a file of it changed, or after a moment."""
    stamp = _stamp(folder)
    known = _seen.get(folder)
    if known is not None and known[0] == stamp and time.monotonic() - known[1] < FRESH:
        return known[2]
    try:
        cache = place.cache_of(folder)
        recorded = cache.status()
        text = _stale(gather.labels(recorded.changed)) if recorded.changed else recorded.text
        uuids = cache.body_uuids()
        bodies = tuple((name, uuids[name], count) for name, _, count in cache.bodies())
        other = f"It is {lock.description(cache.folder)}" if recorded.state == "baking" else ""
        found = Status(recorded.state, recorded.done, recorded.total, text=text, other_baker=other, bodies=bodies,
                       first=cache.frames[0] if cache.frames else None, frames=frozenset(cache.frames_done()),
                       wrong=". ".join(cache.diagnostics.needles()))
    except (ConJacError, OSError) as error:
        found = Status("broken", text=str(error).rstrip("."))
    _seen[folder] = stamp, time.monotonic(), found
    return found


def _changed_at(path: Path) -> int:
    try:
        return path.stat().st_mtime_ns
    except OSError:
        return 0
