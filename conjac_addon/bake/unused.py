"""Caches of this .blend whose objects were deleted: undo and closing without saving bring objects back, so these stay
on the disk until the artist asks for them."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

import bpy

from .. import settings
from . import contents, freeing, home, place, taken


@dataclass(frozen=True)
class Unused:
    """A job folder that no object of this .blend bakes into or plays, and no bake writes to."""

    folder: Path
    name: str  #: of its object, when that was baked
    frames: int
    size: int  #: of all files of ours in it, takes among them [bytes]

    def in_words(self) -> str:
        """Return one line on it: name, frames and size."""
        frames = f"{self.frames} frame{'' if self.frames == 1 else 's'}"
        return f'"{self.name}": {frames}, {freeing.size_in_words(self.size)}'


def found() -> list[Unused]:
    """Return the unused caches in the cache folders of this .blend, by name. Reads every file."""
    known = {obj.conjac.cache.uuid for obj in bpy.data.objects}
    folders = [(folder, signature) for root in _roots() for folder in _inside(root)
               if (signature := home.read(folder)) is not None and signature.uuid not in known
               and place.is_signed_here(folder) and not (taken.by(folder) or freeing.still_played(folder))]
    return sorted((_looked_at(folder, signature.object) for folder, signature in folders), key=lambda one: one.name)


def remove(unused: list[Unused]) -> int:
    """Delete caches and return the number of bytes freed; files that another program has open remain."""
    for unused_bake in unused:
        contents.remove(unused_bake.folder)
    return sum(unused_bake.size - _size(unused_bake.folder) for unused_bake in unused)


def _roots() -> set[Path]:
    """Return the cache folders that objects of this .blend have, and the one that new ones would have."""
    own = {place.root_of(obj) for obj in bpy.data.objects if obj.library is None}
    first = str(settings.CONJAC_Settings.bl_rna.properties["cache_folder"].default)
    own.add(Path(bpy.path.abspath(first)) if bpy.data.filepath else Path(bpy.app.tempdir, "conjac_cache"))
    return {Path(os.path.normpath(path)) for path in own}


def _inside(root: Path) -> Iterator[Path]:
    with suppress(OSError):
        yield from sorted(root.iterdir())


def _looked_at(folder: Path, name: str) -> Unused:
    return Unused(folder, name, len(place.cache_of(folder).frames_done()), _size(folder))


def _size(folder: Path) -> int:
    size = 0
    for path in contents.files(folder):
        with suppress(OSError):
            size += path.lstat().st_size
    return size
