"""A live shape on the object itself: a Mesh Cache modifier that reads a single frame from a file, which is rewritten.

The mesh is not changed; the modifier overrides those above it, and those below are applied to it, as with a bake.
Renders do not show it. A number in an otherwise unused field identifies it, and it is removed wherever Blender would
keep it: before a file is saved, and in what undo restores.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import bpy
import numpy as np
from numpy.typing import NDArray

from ...solver.errors import BadMesh
from ...solver.frames.pc2 import HEADER, MAGIC
from ...solver.job.files import create, unwritable
from .. import compat, playback

NAME = "ConJac Live"
FIELD, SIGN = "eval_time", 61.328125  #: a time that is read where time_mode is "TIME" alone

NO_FRAME = 0.0


class Shape:
    """The file of one object's shape, and the modifier that shows it."""

    def __init__(self, path: Path, vertices: int) -> None:
        """path: of the file, which is made. Raises CacheUnwritable."""
        self.path, self.vertices = path, vertices
        try:
            with create(path) as file:
                file.write(HEADER.pack(MAGIC, 1, vertices, NO_FRAME, 1.0, 1))
                file.truncate(HEADER.size + 12 * vertices)
        except OSError as error:
            raise unwritable(path, error) from error
        self._places = np.memmap(path, "<f4", "r+", HEADER.size, (vertices, 3))

    def put(self, places: NDArray[np.float32], matrix: NDArray[np.float64]) -> None:
        """The shape is another one from now on. places: (n, 3); matrix: brings them to object space, (4, 4)."""
        turn = matrix[:3, :3].T.astype(np.float32)
        np.dot(places, turn, out=self._places)
        self._places += matrix[:3, 3].astype(np.float32)

    def attach(self, obj: bpy.types.Object) -> None:
        """Show it on the object, where a bake is played. Raises BadMesh where Blender adds no modifier."""
        mark = find(obj)
        if mark is None:
            baked = playback.find(obj)
            at = playback.place(obj) + (baked is not None)
            mark = obj.modifiers.new(NAME, "MESH_CACHE")
            if mark is None:
                raise BadMesh("Blender adds no modifier to it", "Make it local or add a library override", obj.name)
            mark.use_pin_to_last = at > 0 and obj.modifiers[at - 1].use_pin_to_last
            obj.modifiers.move(list(obj.modifiers).index(mark), at)
        setattr(mark, FIELD, SIGN)
        mark.show_render, mark.show_viewport, mark.show_expanded = False, True, False
        mark.cache_format, mark.interpolation, mark.deform_mode = "PC2", "NONE", "OVERWRITE"
        mark.time_mode, mark.play_mode, mark.eval_frame, mark.factor = "FRAME", "CUSTOM", NO_FRAME, 1.0
        mark.forward_axis, mark.up_axis, mark.flip_axis = "POS_Y", "POS_Z", compat.NO_FLIP
        mark.filepath = str(self.path)

    def close(self) -> None:
        """Release the file, which may be deleted then."""
        del self._places


def find(obj: bpy.types.Object) -> bpy.types.Modifier | None:
    """Return the modifier that shows a live shape on the object."""
    return next((modifier for modifier in obj.modifiers
                 if modifier.type == "MESH_CACHE" and getattr(modifier, FIELD) == SIGN), None)


@contextmanager
def hidden(obj: bpy.types.Object) -> Iterator[None]:
    """Context in which the viewport shows the object without the live shape."""
    mark = find(obj)
    if mark is not None:
        mark.show_viewport = False
    try:
        yield
    finally:
        if mark is not None:
            mark.show_viewport = True


def remove(obj: bpy.types.Object) -> None:
    """Show the object without live motion."""
    while (mark := find(obj)) is not None:
        obj.modifiers.remove(mark)


def remove_all(but: set[int] | frozenset[int] = frozenset()) -> None:
    """Remove live shapes from all objects, including copies. but: session_uids of the objects that keep theirs."""
    for obj in bpy.data.objects:
        if obj.session_uid not in but and obj.is_editable and find(obj) is not None:
            remove(obj)
