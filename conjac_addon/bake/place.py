"""Job folders and results of objects: where they lie, and whose they are.

A folder is made at an object's first bake and kept on the object from then on, so that the object, its .blend and the
folder may get other names. `home.json` in it says whose it is: an object that only plays it, as it is a copy, an
override or in a .blend that was saved as another one, gets a folder of its own at its first bake. So does one that
names a folder that we did not sign: a .blend may come from a stranger.
"""

from __future__ import annotations

import hashlib
import itertools
import os
import re
import time
import unicodedata
import uuid
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

import bpy

from ...solver.frames.read import Cache
from .. import identity, members
from ..playback.paths import relative
from . import contents, home


@dataclass(frozen=True)
class Place:
    """The job folder that an object plays, or would bake into."""

    folder: Path
    uuid: str  #: of the object that it belongs to; "" where nobody has it yet
    own: bool  #: this object may write there


#: tells a .blend that was never saved from the next one
_session = uuid.uuid4().hex

#: folders by session_uid of the object, as given in this session: undo does not take files back
_given: dict[int, Path] = {}

#: folders that are missing, by the cache folder where they should be: when they were looked for, and what was found
_renamings: dict[tuple[Path, Path], tuple[float, Path | None]] = {}

#: seconds for which a folder that is nowhere is not looked for again
FRESH = 2.0


def job_folder(obj: bpy.types.Object) -> Path:
    """Return the folder that an object plays, or that its first bake will make: <cache
    folder>/<.blend>_<object>-<digest>.

    What is baked together has one folder, that of the one whose bake it is: see `members.owner`. A .blend that was
    never saved has no "//": a folder that lives as long as this Blender stands in for it.
    """
    return of(obj).folder


def of(obj: bpy.types.Object) -> Place:
    """Return the place of the object's bake, and whether it is its own. Cheap enough for every redraw."""
    return alone(members.owner(obj))


def alone(obj: bpy.types.Object) -> Place:
    """Return the place of a bake of the object without the objects that it is baked together with."""
    given = _given.get(obj.session_uid)
    if given is not None:
        return Place(_as_it_is_called(obj, given, identity.of(obj)), identity.of(obj), True)
    cache = obj.conjac.cache
    if cache.uuid and cache.folder:
        folder = _as_it_is_called(obj, named_folder(obj), cache.uuid)
        own = not identity.is_shared(obj) and (_is_ours(folder, cache.uuid) or _may_come_back(obj, folder))
        return Place(folder, cache.uuid, own)
    return vacant(obj)


def named_folder(obj: bpy.types.Object) -> Path:
    """Return the folder that is written on an object."""
    return Path(os.path.normpath(bpy.path.abspath(obj.conjac.cache.folder, library=identity.library_of(obj))))


def _as_it_is_called(obj: bpy.types.Object, folder: Path, written: str) -> Path:
    """Return the folder; if it does not exist, the one with this UUID in the cache folder of the settings, since one of
    the two was renamed."""
    if folder.is_dir():
        return folder
    root = root_of(obj)
    when, found = _renamings.get((root, folder), (-FRESH, None))
    if found is not None and found.is_dir() or time.monotonic() - when < FRESH:
        return found or folder
    found = None
    with suppress(OSError):  # the cache folder is gone too
        for candidate in (root / folder.name, *sorted(root.iterdir())):
            signature = home.read(candidate)
            if signature is not None and signature.uuid == written:
                found = candidate
                break
    _renamings[root, folder] = time.monotonic(), found
    return found or folder


def own_folder(obj: bpy.types.Object) -> Path:
    """Return the folder that the object bakes into, or would."""
    obj = members.owner(obj)
    found = of(obj)
    return found.folder if found.own else vacant(obj, own="").folder


def vacant(obj: bpy.types.Object, blend: str | None = None, own: str | None = None) -> Place:
    """Return the folder for the object's first bake. An existing folder that names the object as its owner is reused:
    its .blend was not saved after the bake, or it is older than the signatures of folders. blend: path of the .blend,
    by default the present one. own: the object's UUID, by default its present one.
    """
    own, blend = identity.of(obj) if own is None else own, bpy.data.filepath if blend is None else blend
    for folder in _candidates(obj, blend):
        signature = home.read(folder)
        if signature is None:
            # with a UUID it has baked before, and what lies here is of an object that had the name in older versions
            if contents.is_vacant(folder) and (not own or _is_free(folder)):
                return Place(folder, own, True)
        elif signature.uuid == own or (not own and signature.object == obj.name
                                       and not _is_anothers(obj, signature.uuid)):
            if home.is_of(folder, signature, blend, _session):
                return Place(folder, signature.uuid, True)
    raise AssertionError("there is no end of candidates")


def take(obj: bpy.types.Object) -> Place:
    """Create the object's own folder if it has none, or only played another object's, and return it."""
    obj = members.owner(obj)
    found = of(obj)
    if not found.own:
        found = vacant(obj, own="")
        found = Place(found.folder, found.uuid or uuid.uuid4().hex, True)
    own = identity.give(obj, found.uuid)
    keep(obj, found.folder)
    return Place(found.folder, own, True)


def keep(obj: bpy.types.Object, folder: Path) -> None:
    """Write on the object that this folder is its own."""
    identity.give(obj)
    _given[obj.session_uid] = folder
    written = relative(folder)
    if obj.conjac.cache.folder != written:
        obj.conjac.cache.folder = written


def sign(obj: bpy.types.Object, folder: Path, blend: str | None = None) -> None:
    """Write into the folder that it is the object's. Raises CacheUnwritable."""
    home.write(folder, identity.of(obj), obj.name, bpy.data.filepath if blend is None else blend, _session)


def given(obj: bpy.types.Object) -> Path | None:
    """Return the folder that is known to belong to the object, without reading the disk."""
    return _given.get(obj.session_uid)


def forget() -> None:
    """Forget the folders of a .blend that another one replaces, whose objects name their own."""
    global _session
    _given.clear()
    identity.forget()
    _session = uuid.uuid4().hex


def is_of_another_file(obj: bpy.types.Object) -> bool:
    """Whether the object plays a bake of another .blend."""
    found = of(obj)
    return not found.own and home.read(found.folder) is not None and not _is_ours(found.folder, found.uuid)


def is_of_this_file(folder: Path, written: str) -> bool:
    """Whether a folder is signed for an object of this .blend, which may have been deleted since."""
    return _is_ours(folder, written)


def is_signed_here(folder: Path) -> bool:
    """Whether a folder names this .blend as its owner; a named .blend that does not exist may have been renamed."""
    signature = home.read(folder)
    if signature is None:
        return False
    if not signature.blend or not bpy.data.filepath:
        return not signature.blend and not bpy.data.filepath and signature.session == _session
    with suppress(OSError):
        return os.path.samefile(os.path.normpath(folder / signature.blend), bpy.data.filepath)
    return False


def is_temporary(obj: bpy.types.Object, blend: str | None = None) -> bool:
    """Whether the results will be deleted when Blender closes, as the .blend was never saved."""
    blend = bpy.data.filepath if blend is None else blend
    return not blend and (members.owner(obj).conjac.cache_folder or "//").startswith("//")


def playback_path(obj: bpy.types.Object, folder: Path | None = None) -> Path:
    """Path, without a suffix, of the files that play the bake. folder: of the bake, where it is known."""
    name = safe_name(obj.name)
    others = (other for other in members.soft_bodies(members.owner(obj), bpy.context.scene) if other != obj)
    if any(safe_name(other.name).casefold() == name.casefold() for other in others):
        name = f"{name}-{_digest(obj.name)}"  # what is baked together lies in one folder
    return (folder or job_folder(obj)) / name


def cache_of(folder: Path) -> Cache:
    """Return the frames of a job folder, as they are now."""
    return Cache(folder / "cache")


def root_of(obj: bpy.types.Object, blend: str | None = None) -> Path:
    """Return the cache folder that the artist has chosen; one in Blender's temporary folder for a .blend never
    saved."""
    blend = bpy.data.filepath if blend is None else blend
    if is_temporary(obj, blend):
        return Path(bpy.app.tempdir, "conjac_cache")
    return Path(bpy.path.abspath(obj.conjac.cache_folder or "//", start=os.path.dirname(blend)))


def _is_ours(folder: Path, written: str) -> bool:
    """Whether a folder that an object of this .blend names is signed as this .blend's, and not of one it was saved
    from."""
    signature = home.read(folder)
    return (signature is not None and signature.uuid == written
            and home.is_of(folder, signature, bpy.data.filepath, _session))


def _may_come_back(obj: bpy.types.Object, folder: Path) -> bool:
    """Whether a folder that was deleted, and is in the cache folder of the settings, may be created again."""
    return folder.parent == Path(os.path.normpath(root_of(obj))) and contents.is_vacant(folder)


def _is_anothers(obj: bpy.types.Object, written: str) -> bool:
    return identity.was_seen(written) or any(other.conjac.cache.uuid == written
                                             for other in bpy.data.objects if other != obj)


def _is_free(folder: Path) -> bool:
    return not (folder / "cache" / "manifest.json").exists()


def _candidates(obj: bpy.types.Object, blend: str) -> Iterator[Path]:
    """Folders that the object may have, best first: two files may have one name, and two objects in time."""
    root = root_of(obj, blend)
    library = obj.library.filepath if obj.library else ""
    readable = f"{safe_name(Path(blend).stem or 'untitled')}_{safe_name(obj.name)}"
    first = root / f"{readable}-{_digest(Path(blend).name, library, obj.name)}"
    override = obj.override_library
    # Blender saves of an override only what reads otherwise than in the library, and //name may read alike there
    if override is None or override.reference is None or override.reference.conjac.cache.folder != relative(first):
        yield first
    for count in itertools.count(2):
        yield root / f"{readable}-{_digest(os.path.normpath(blend), library, obj.name)}-{count}"


def safe_name(name: str) -> str:
    """Return a readable file name for any name: letters and digits of all alphabets are unchanged, other characters
    become `_`."""
    readable = re.sub(r"[^\w.-]+", "_", unicodedata.normalize("NFC", name)).strip("._-")
    # bytes, not letters: file systems count those
    while len(readable.encode()) > 80:
        readable = readable[:-1]
    return f"_{readable}" if not readable or readable.partition(".")[0].upper() in DEVICES else readable


#: names that Windows gives to devices
DEVICES = frozenset({"CON", "PRN", "AUX", "NUL", *(f"{port}{n}" for port in ("COM", "LPT") for n in range(1, 10))})


def _digest(*names: str) -> str:
    """Return a digest that distinguishes names with the same safe form, also on disks that ignore case."""
    return hashlib.blake2b("\0".join(names).encode("utf-8", "surrogatepass"), digest_size=3).hexdigest()
