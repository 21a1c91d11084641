"""Moves bakes when a .blend gets a name: the first save takes them out of Blender's temporary folder, and a .blend that
is saved as another one plays them until it bakes its own.

What is written in the .blend has to be right before it is written, and files may be moved only when it was: paths
change in `before`, files in `after`, and what failed, or was only a copy of the .blend, is taken back.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

import bpy

from ...solver.errors import CacheUnwritable
from ...solver.frames.layout import LOG
from ...solver.job.files import refuse_links
from .. import identity, members
from ..playback.paths import relative
from ..playback.pc2 import PC2
from . import belongings, contents, home, place, players


@dataclass(frozen=True)
class _Move:
    """A bake on its way out of the temporary folder."""

    object: int  #: session_uid
    source: Path
    target: Path
    waits: bool  #: it is being baked: the files follow when that has ended
    made: bool  #: the target was not there before


#: what a save under way has begun
_moves: list[_Move] = []
_shared: list[int] = []

#: where running bakes go when they have ended, by session_uid
_due: dict[int, Path] = {}

#: folders that bakes left for another cache folder, and the .blend that plays them until it is saved again
_left: dict[Path, str] = {}


def before(path: str, is_running: Callable[[bpy.types.Object], bool], say: Callable[[str], None]) -> None:
    """Prepare to move bakes before the .blend is written to `path`. Never raises: `say` is called with failures."""
    _moves.clear()
    _shared.clear()
    if not os.path.isdir(os.path.dirname(path)):
        return  # Blender will say so
    old = bpy.data.filepath
    another = bool(old) and not _same_file(old, path) and os.path.exists(old)
    for obj in bpy.data.objects:
        if obj.library is not None:
            continue
        folder = _own_folder(obj)
        if folder is None:
            continue
        # undo may have taken it from the object, and it may have been renamed
        if obj.conjac.cache.folder and place.named_folder(obj) != folder:
            repoint(place.named_folder(obj), folder)
        place.keep(obj, folder)
        if _leaves(obj, folder, path):
            try:
                _begin(obj, folder, path, is_running(obj))
            except (OSError, CacheUnwritable) as error:
                say(f'The bake of "{obj.name}" stays in Blender\'s temporary folder and is deleted when Blender closes '
                    f"({error}). Choose another cache folder and save again")
        elif another:
            obj.conjac.cache.is_shared = True
            obj.conjac.cache.folder = _relative_to(folder, path)
            _shared.append(obj.session_uid)


def after(path: str) -> list[bpy.types.Object]:
    """It has been written. Returns the objects that now play the bake of the .blend that this one was before."""
    if not _same_file(bpy.data.filepath, path):  # a copy of it was saved: the artist goes on with this one
        _take_back()
        return []
    shared = [obj for obj in bpy.data.objects if obj.session_uid in _shared]
    if shared:
        place.forget()
    for move in _moves:
        obj = identity.still_there(bpy.data.objects, move.object)
        if move.waits:
            repoint(move.target, move.source)
            _due[move.object] = move.target
        elif obj is not None:
            place.keep(obj, move.target)
            repoint(move.target, move.target)  # relative, now that they can be
            contents.remove(move.source)
    for obj in bpy.data.objects:
        folder = place.given(obj)
        if folder is not None and folder.is_dir():
            with suppress(CacheUnwritable):  # a folder that may not be written is still played
                place.sign(obj, folder)
    _moves.clear()
    _shared.clear()
    for folder, blend in list(_left.items()):
        if _same_file(blend, path):  # saved as another one, the first still plays it
            del _left[folder]
            _clear(folder)
    return shared


def forget() -> None:
    """Forget the moves of a .blend that another one replaces: the saved bakes remain where they are."""
    _left.clear()


def failed() -> None:
    """Nothing was written."""
    for move in _moves:
        if move.made:
            contents.remove(move.target)
    _take_back()


def _take_back() -> None:
    """Point objects at the folders again that they named before."""
    for move in _moves:
        obj = identity.still_there(bpy.data.objects, move.object)
        repoint(move.target, move.source)
        if obj is not None:
            place.keep(obj, move.source)
    for uid in _shared:
        obj = identity.still_there(bpy.data.objects, uid)
        folder = place.given(obj) if obj is not None else None
        if obj is not None and folder is not None:
            obj.conjac.cache.is_shared = False
            place.keep(obj, folder)
    _moves.clear()
    _shared.clear()


def arrive(uid: int, folder: Path) -> Path:
    """Move a finished bake to the folder that was promised when the .blend was saved, and return the folder where it
    is. Raises CacheUnwritable if the files cannot be moved; they remain then."""
    target = _due.pop(uid, None)
    if target is None:
        return folder
    move(folder, target)
    obj = identity.still_there(bpy.data.objects, uid)
    if obj is not None:
        place.keep(obj, target)
        place.sign(obj, target)
    return target


def move(source: Path, target: Path) -> None:
    """Move a job folder, and redirect its players. Raises CacheUnwritable; then nothing has changed. Files that a saved
    .blend plays remain until it is saved again, since it may be closed without saving."""
    try:
        _copy(source, target)
    except OSError as error:
        raise CacheUnwritable(f"the bake in {source} cannot be moved to {target} ({error.strerror or error})",
                              "Make room there or choose another cache folder") from error
    repoint(source, target)
    if bpy.data.filepath and not source.is_relative_to(bpy.app.tempdir):
        _left[source] = bpy.data.filepath
    else:
        _clear(source)


def _clear(folder: Path) -> None:
    """Delete the files that were moved out of a folder, except those that other .blends play."""
    played = players.others(folder, bpy.data.filepath)
    retained = {*(path.name for path in played), players.FILE, home.FILE, belongings.LIST} if played else ()
    contents.remove(folder, retained)


def take(obj: bpy.types.Object) -> Path:
    """Return a folder of the object's own, in the cache folder that the artist has chosen. Raises CacheUnwritable."""
    folder = place.take(obj).folder
    if not _same_file(str(folder.parent), str(place.root_of(obj))):
        target = place.vacant(obj).folder
        if target != folder:
            move(folder, target)
            folder = target
    place.keep(obj, folder)
    place.sign(obj, folder)
    return folder


def copy(obj: bpy.types.Object) -> None:
    """Give the object a copy of the bake that it plays. Raises CacheUnwritable."""
    source = place.of(obj).folder
    target = place.take(obj).folder
    try:
        _copy(source, target)
    except OSError as error:
        raise CacheUnwritable(f"the bake in {source} cannot be copied to {target} ({error.strerror or error})",
                              "Make room there or choose another cache folder", obj.name) from error
    place.sign(obj, target)
    repoint(source, target)


def follow() -> None:
    """Update the players of a cache folder that was renamed, after a .blend was loaded."""
    for obj in bpy.data.objects:
        cache = obj.conjac.cache
        if obj.library is None and cache.uuid and cache.folder:
            named = place.named_folder(obj)
            found = place.of(obj).folder
            if found != named:
                repoint(named, found)
                cache.folder = relative(found)


def repoint(source: Path, target: Path) -> None:
    """Redirect everything that plays files of one folder to the same files of another."""
    for obj in bpy.data.objects:
        if obj.library is not None:
            continue
        for modifier in obj.modifiers:
            if modifier.type == "MESH_CACHE":
                _set_path(modifier, source, target)
        cache = obj.conjac.cache
        if cache.folder and Path(bpy.path.abspath(cache.folder)) == source != target:
            cache.folder = relative(target)
    for cache_file in bpy.data.cache_files:
        if cache_file.library is None:
            _set_path(cache_file, source, target)


def _set_path(owner: bpy.types.Modifier | bpy.types.CacheFile, source: Path, target: Path) -> None:
    path = Path(os.path.normpath(bpy.path.abspath(owner.filepath)))
    if path.is_relative_to(source):
        new = relative(target / path.relative_to(source))
        if owner.filepath != new:
            owner.filepath = new


def _begin(obj: bpy.types.Object, source: Path, path: str, waits: bool) -> None:
    """Prepare the way out of the temporary folder: the files are copied, as the .blend may not be written."""
    target = place.vacant(obj, path).folder
    made = not target.exists()
    if not waits:
        try:
            _copy(source, target)
        except OSError:
            if made:
                contents.remove(target)
            raise
    place.sign(obj, target, path)
    repoint(source, target)
    obj.conjac.cache.folder = _relative_to(target, path)
    _moves.append(_Move(obj.session_uid, source, target, waits, made))


def _copy(source: Path, target: Path) -> None:
    """Copy our files of a folder; on the same disk they are linked, which takes no time and no room. Raises OSError."""
    without = {home.FILE, players.FILE, *contents.LOCKS}
    for path in contents.files(source):
        if path.name not in without and path.is_file() and not path.is_symlink():
            made = target / path.relative_to(source)
            refuse_links(target.parent, made.parent)
            made.parent.mkdir(parents=True, exist_ok=True)
            link(str(path), str(made))


def link(source: str, target: str) -> None:
    """Let a file be in a second place too, or a copy of it where that cannot be. Raises OSError."""
    with suppress(FileNotFoundError):
        os.unlink(target)
    # these files are appended in place; all others are written to a new file that replaces the old one
    if not source.endswith((LOG, PC2.suffix)):
        with suppress(OSError):  # another disk, or one without links
            os.link(source, target)
            return
    shutil.copy2(source, target)


def _own_folder(obj: bpy.types.Object) -> Path | None:
    """Return the object's own folder; None without one. Its name is written on the object again if undo removed it."""
    cache = obj.conjac.cache
    if place.given(obj) is None and cache.uuid and not cache.is_shared and obj.override_library is None and any(
            other != obj and other.conjac.cache.uuid == cache.uuid for other in bpy.data.objects):
        # a file does not tell which one is the copy; where the other has gone, it is the heir
        cache.is_shared = identity.is_shared(obj)
    if members.owner(obj) != obj:
        if identity.of(obj):
            identity.give(obj)
        if place.given(obj) is None and not cache.folder:
            return None  # it was never baked alone
    found = place.alone(obj)
    return found.folder if found.own and found.uuid else None


def _leaves(obj: bpy.types.Object, folder: Path, path: str) -> bool:
    """Whether a bake is in Blender's temporary folder and will move once the .blend is written to `path`."""
    return (folder.is_relative_to(bpy.app.tempdir) and not place.is_temporary(obj, path)
            and not _same_file(str(folder), str(place.vacant(obj, path).folder)))


def _relative_to(folder: Path, path: str) -> str:
    try:
        return bpy.path.relpath(str(folder), start=os.path.dirname(path))
    except ValueError:  # Windows: no path leads from one drive to another
        return str(folder)


def _same_file(one: str, other: str) -> bool:
    try:
        return os.path.samefile(one, other)
    except OSError:
        return os.path.normpath(one) == os.path.normpath(other)
