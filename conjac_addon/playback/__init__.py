"""Playback of baked frames by Blender's own modifiers and animation, so that rendering needs no extension."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import bpy

from ...solver import catalogue
from .. import members
from . import action, carry, effort, liveliness, mechanism, modifier, moved, sheet
from .cut_object import find as find_cut
from .cut_object import make as make_cut
from .cut_object import remove as hide_cut
from .cut_object import shows_cut
from .frames import Frames, run_from
from .mechanism import Places
from .modifier import NAME, adopt, check_count, find, only_above, place
from .pc2 import PC2
from .shape_keys import is_ours as plays_shape_keys
from .shape_keys import set_aside as set_shape_keys_aside
from .sheet import SheetFrames

__all__ = [
    "NAME", "PC2", "SHEET_FORMAT", "Frames", "Places", "SheetFrames", "adopt", "check_count", "effort", "file_of",
    "find", "find_cut", "formats", "hide", "hide_cut", "liveliness", "make_cut", "mechanism", "moved", "only_above",
    "place", "plays", "run_from", "set_aside", "show", "show_sheet", "shows_cut",
]

SHEET_FORMAT = "abc"  #: the format that shows cloth with the faces of its frames; others keep the mesh's own vertices

#: the add-on's own package: paths of export formats in the catalogue start here
ADDON = __package__.rpartition(".")[0]


def formats() -> dict[str, type]:
    """Return the export formats by their key in the catalogue."""
    return {key: entry.load(ADDON) for key, entry in catalogue.family("export").items()}


def show(obj: bpy.types.Object, scene: bpy.types.Scene, frames: Frames, path: Path, key: str) -> Path | None:
    """Play baked frames on the object in the export format `key`; another one that plays is taken away.

    path: file to write, without its suffix. Returns the file, None where the format needs none.
    Raises NoSuchThing, BadMesh, CacheUnwritable, Environment.
    """
    chosen = catalogue.find("export", key).load(ADDON)()
    file = path.with_name(path.name + chosen.suffix) if chosen.suffix else None
    chosen.show(obj, scene, frames, file)
    carry.remove(obj)
    # a cache modifier was replaced in its place; formats without one are taken away here
    for other in formats().values():
        if other is not type(chosen):
            other().hide(obj)
    return file


def show_sheet(obj: bpy.types.Object, scene: bpy.types.Scene, frames: SheetFrames, path: Path, rest: bpy.types.Mesh,
               mirrored: bool) -> list[str]:
    """Play frames with faces of their own by `sheet.show`, replacing earlier playback. path: file to write, without its
    suffix."""
    notes = sheet.show(obj, scene, frames, path.with_name(path.name + sheet.SUFFIX), rest, mirrored)
    for key, other in formats().items():
        if key != SHEET_FORMAT:
            other().hide(obj)
    return notes


def hide(obj: bpy.types.Object) -> None:
    """Show the object without any bake."""
    if members.is_mechanism(obj):
        mechanism.hide(obj)
        return
    liveliness.hide(obj)
    carry.remove(obj)
    for kind in formats().values():
        kind().hide(obj)
    modifier.remove(obj)  # what plays a format that there is no more


def file_of(obj: bpy.types.Object) -> Path | None:
    """Return the file that the object plays, of a soft body; None where it plays from the .blend alone, or nothing."""
    mark = find(obj) if obj.type == "MESH" else None
    if mark is None:
        return None
    named = modifier.file_of(mark)
    library = obj.library
    return Path(os.path.normpath(bpy.path.abspath(named, library=library))) if named else None


def plays(obj: bpy.types.Object) -> bool:
    """Whether the object, or a part of its mechanism, plays keyframes, shape keys or a cache of the extension."""
    if members.is_mechanism(obj):
        return bool(mechanism.playing(obj))
    return find(obj) is not None or plays_shape_keys(obj)


@contextmanager
def set_aside(obj: bpy.types.Object) -> Iterator[None]:
    """Context in which the object has the artist's own shape, modifiers and animation while a bake plays."""
    with ExitStack() as stack:
        if members.is_mechanism(obj):
            for played in mechanism.playing(obj):
                stack.enter_context(action.set_aside(played))
        else:
            stack.enter_context(set_shape_keys_aside(obj))
        yield
