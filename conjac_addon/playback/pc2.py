"""PC2 on an object: Blender's Mesh Cache modifier plays the file, also while the bake still writes it."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path

import bpy
import numpy as np

from ...solver.errors import BadMesh
from ...solver.frames.pc2 import HEADER, MAGIC, Writer, read_header
from ...solver.job.files import create, replace, unwritable
from .. import compat
from . import modifier
from .frames import Frames
from .paths import relative

__all__ = ["PC2", "Writer", "attach", "read_header"]


def _write(path: Path, frames: Frames) -> None:
    """Write all frames to a temporary file, which then replaces the last good one. Raises CacheUnwritable, BadMesh."""
    fresh = path.with_name(path.name + ".new")
    try:
        with create(fresh) as file:
            file.write(HEADER.pack(MAGIC, 1, frames.vertices, float(frames.first), 1.0, len(frames)))
            for positions in frames:
                if len(positions) != frames.vertices:
                    raise BadMesh(f"a frame has {len(positions)} vertices and the one before has {frames.vertices}")
                file.write(np.ascontiguousarray(positions, "<f4").tobytes())
        replace(fresh, path)
    except OSError as error:
        raise unwritable(path, error) from error
    finally:
        with suppress(OSError):
            fresh.unlink(missing_ok=True)


def attach(obj: bpy.types.Object, path: Path, first_frame: int) -> bpy.types.Modifier:
    """Play a PC2 file on the object: frame k of the scene shows frame k of the bake, and between frames a blend."""
    mark = modifier.put(obj, "MESH_CACHE")
    mark.cache_format = "PC2"
    mark.interpolation = "LINEAR"
    mark.time_mode, mark.play_mode, mark.deform_mode = "FRAME", "SCENE", "OVERWRITE"
    mark.forward_axis, mark.up_axis, mark.flip_axis = "POS_Y", "POS_Z", compat.NO_FLIP
    mark.frame_start, mark.frame_scale, mark.factor = float(first_frame), 1.0, 1.0
    mark.filepath = relative(path)
    mark.show_viewport = mark.show_render = True
    return mark


class PC2:
    """Blender's Mesh Cache modifier."""

    suffix = ".pc2"

    def show(self, obj: bpy.types.Object, scene: bpy.types.Scene, frames: Frames, path: Path) -> None:
        """Write the frames to `path` and play them on the object. Raises BadMesh, CacheUnwritable."""
        modifier.check_count(obj, frames.vertices)
        if not self._holds(path, frames):
            _write(path, frames)
        attach(obj, path, frames.first)

    def _holds(self, path: Path, frames: Frames) -> bool:
        """Whether the file has these very frames already: the bake wrote it while they came."""
        try:
            points, first, samples = read_header(path)
        except (OSError, ValueError):
            return False
        if (points, first, samples) != (frames.vertices, frames.first, len(frames)):
            return False
        if path.stat().st_size < HEADER.size + 12 * samples * points:
            return False  # its end was lost: what a header promises and is not there shows the rest shape
        stored = np.memmap(path, "<f4", "r", HEADER.size, (samples, points, 3))
        return all(np.array_equal(stored[index], positions) for index, positions in enumerate(frames))

    def hide(self, obj: bpy.types.Object) -> None:
        """Stop playback: remove the modifier. The file remains until the bake is freed."""
        modifier.remove_of(obj, "MESH_CACHE", self.suffix)
