"""Free: delete a bake from the disk and from its object, except what another object plays."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path

import bpy

from .. import identity, members, playback
from . import belongings, contents, earlier_frames, home, place, players, taken


def free(obj: bpy.types.Object, scene: bpy.types.Scene, together: bool = False) -> str:
    """Free the bake of the object. Returns a sentence with the result. Raises ConJacError. If soft bodies that were
    baked together still play it, only the object loses its bake, unless `together`."""
    holder, at = members.owner(obj), place.of(obj)
    others = [] if together else still_playing(obj, scene)
    if others:
        return _free_one(obj, at.folder, others)
    if not at.own:
        signature = home.read(at.folder)
        _hide(holder, scene)
        name = (identity.name_of(signature.uuid) or signature.object) if signature else ""
        whose = f'"{name}"' if name else "another object"
        return f'"{holder.name}" plays no bake; the frames of {whose} stay'
    taken.sweep(at.folder)
    freed = size_on_disk(at.folder)
    place.cache_of(at.folder).free()
    earlier_frames.delete(at.folder)
    _hide(holder, scene)
    played = still_played(at.folder)
    belongings.free(at.folder, {path.name for path in played})
    if not played:
        players.forget(at.folder)
        if contents.takes(at.folder):  # which are played again only from a folder of its own
            return f'"{holder.name}": {freed} freed; its takes stay'
        home.forget(at.folder)
        return f'"{holder.name}": {freed} freed'
    names = ", ".join(sorted({name for others in played.values() for name in others}))
    files = ", ".join(sorted(path.name for path in played))
    return f'"{holder.name}": {freed} freed, except {files}, which {names} still play{"s" if "," not in names else ""}'


def still_playing(obj: bpy.types.Object, scene: bpy.types.Scene) -> list[str]:
    """Return names of the soft bodies that were baked together with this one and play that bake."""
    if members.is_mechanism(members.owner(obj)):
        return []
    return [body.name for body in members.soft_bodies(obj, scene) if body != obj and playback.plays(body)]


def _free_one(obj: bpy.types.Object, folder: Path, others: list[str]) -> str:
    playback.hide_cut(obj)
    playback.hide(obj)
    base = place.playback_path(obj, folder).name
    own = {f"{base}{cut}{kind.suffix}" for cut in ("", "_cut") for kind in playback.formats().values()}
    played = {path.name for path in still_played(folder)}
    belongings.free(folder, {path.name for path in belongings.listed(folder) if path.name not in own} | played)
    names = ", ".join(f'"{name}"' for name in others)
    return f'"{obj.name}" plays no bake; the frames stay for {names}, baked together with it'


def still_played(folder: Path) -> dict[Path, list[str]]:
    """Return the files of a job folder that objects or other .blends play, and the names of those."""
    found = players.others(folder, bpy.data.filepath)
    for obj in bpy.data.objects:
        file = playback.file_of(obj)
        if file is not None and file.parent == folder:
            found.setdefault(file, []).append(f'"{obj.name}"')
    return found


def size_on_disk(folder: Path) -> str:
    """Return the size of a bake on the disk as text, "72 frames, 12.3 MB". Looks at every file."""
    cache = place.cache_of(folder)
    count, size = len(cache.frames_done()), 0
    for path in (*cache.files(), *belongings.listed(folder)):
        with suppress(OSError):
            size += path.stat().st_size
    return f"{count} frame{'' if count == 1 else 's'}, {size_in_words(size)}"


def size_in_words(size: int) -> str:
    """Bytes for people, as file managers count them: 0 kB, 850 kB, 12.3 MB, 1.2 GB."""
    for unit, of in (("GB", 1e9), ("MB", 1e6)):
        if size >= of:
            return f"{size / of:.1f} {unit}"
    return f"{size / 1e3:.0f} kB"


def _hide(holder: bpy.types.Object, scene: bpy.types.Scene) -> None:
    playback.moved.adopt_all(playback.mechanism.playing(holder), scene)
    for member in members.members(holder, scene):
        if members.is_soft_body(member):
            playback.hide_cut(member)
        playback.hide(member)
