"""PC2, the point cache of Blender's Mesh Cache modifier; it plays while the bake still writes it.

A file is a header of 32 bytes (name, version, points, start, sampling, samples; little endian) and then
for each sample the positions of all points, float32. A sample is written and flushed first and counted
in the header after that: a header that promises more than there is shows the rest shape without an error.
"""

from __future__ import annotations

import os
import struct
import time
from contextlib import suppress
from pathlib import Path

import bpy
import numpy as np
from numpy.typing import NDArray

from ...solver.errors import BadMesh, CacheUnwritable
from ...solver.job.files import create, open_regular, open_to_change, unwritable
from .. import compat
from . import modifier
from .frames import Frames
from .paths import relative

HEADER = struct.Struct("<12siiffi")
SAMPLES = struct.Struct("<i")
SAMPLES_AT = HEADER.size - SAMPLES.size
MAGIC = b"POINTCACHE2\0"

#: seconds for which a file that another program holds is tried again
PATIENCE = 2.0


class Writer:
    """Appends frames to a PC2 file. The file appears with its first frame, all at once."""

    def __init__(self, path: Path, first_frame: int) -> None:
        self.path, self.first_frame, self.count = path, first_frame, 0
        self._points = 0

    def append(self, positions: NDArray[np.float32]) -> None:
        """Add one frame. positions: (n, 3) in object space. Raises CacheUnwritable, BadMesh where n changes."""
        block = np.ascontiguousarray(positions, "<f4").tobytes()
        try:
            if self.count == 0:
                self._begin(len(positions), block)
            else:
                if len(positions) != self._points:
                    raise BadMesh(f"a frame has {len(positions)} vertices and the one before has {self._points}")
                self._add(block)
        except OSError as error:
            raise CacheUnwritable(f"{self.path} cannot be written ({error.strerror or error})",
                                  "Free some disk space or choose another cache folder") from error
        self.count += 1

    def _begin(self, points: int, block: bytes) -> None:
        self._points = points
        fresh = self.path.with_name(self.path.name + ".new")
        with create(fresh) as file:
            file.write(HEADER.pack(MAGIC, 1, points, float(self.first_frame), 1.0, 1) + block)
        replace(fresh, self.path)

    def _add(self, block: bytes) -> None:
        with open_to_change(self.path) as file:
            # a half written sample of an earlier try is overwritten
            file.seek(HEADER.size + self.count * len(block))
            file.write(block)
            file.flush()
            file.seek(SAMPLES_AT)
            file.write(SAMPLES.pack(self.count + 1))


def _write(path: Path, frames: Frames) -> None:
    """All frames in a file beside, which then takes the place of the last good one. Raises CacheUnwritable, BadMesh."""
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


def replace(fresh: Path, path: Path) -> None:
    """Rename over `path`; on Windows another program may hold it for a moment, so this is tried for a while."""
    until, wait = time.monotonic() + PATIENCE, 0.01
    while True:
        try:
            os.replace(fresh, path)
            return
        except PermissionError:
            if time.monotonic() > until:
                raise
            time.sleep(wait)
            wait *= 2


def read_header(path: Path) -> tuple[int, int, int]:
    """Points, first frame and samples of a PC2 file. Raises ValueError where it is none."""
    with open_regular(path) as file:
        head = file.read(HEADER.size)
    if len(head) < HEADER.size or not head.startswith(MAGIC):
        raise ValueError(f"{path} is no PC2 file")
    _, _, points, start, _, samples = HEADER.unpack(head)
    return points, int(start), samples


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
        held = np.memmap(path, "<f4", "r", HEADER.size, (samples, points, 3))
        return all(np.array_equal(held[index], positions) for index, positions in enumerate(frames))

    def hide(self, obj: bpy.types.Object) -> None:
        """Stop playing. The modifier goes; the file stays until the bake is freed."""
        modifier.remove_of(obj, "MESH_CACHE", self.suffix)
