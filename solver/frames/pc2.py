"""PC2, the point cache of Blender's Mesh Cache modifier; it plays while the bake still writes it. Needs only numpy.

A file is a header of 32 bytes (name, version, points, start, sampling, samples; little endian) and then
for each sample the positions of all points, float32. A sample is written and flushed first and counted
in the header after that: a header that promises more than there is shows the rest shape without an error.
"""

from __future__ import annotations

import struct
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from ..errors import BadMesh, CacheUnwritable
from ..job.files import create, open_regular, open_to_change, replace

HEADER = struct.Struct("<12siiffi")
SAMPLES = struct.Struct("<i")
SAMPLES_AT = HEADER.size - SAMPLES.size
MAGIC = b"POINTCACHE2\0"


class Writer:
    """Writer of frames to a PC2 file, which appears with its first frame, all at once."""

    def __init__(self, path: Path, first_frame: int) -> None:
        self.path, self.first_frame, self.count = path, first_frame, 0
        self._points = 0

    def append(self, positions: NDArray[np.float32]) -> None:
        """Append one frame. positions: (n, 3) [m] in object space. Raises CacheUnwritable, and BadMesh where n changes.
        """
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


def read_header(path: Path) -> tuple[int, int, int]:
    """Return number of points, first frame and number of samples of a PC2 file. Raises OSError, and ValueError where it
    is no PC2 file."""
    with open_regular(path) as file:
        head = file.read(HEADER.size)
    if len(head) < HEADER.size or not head.startswith(MAGIC):
        raise ValueError(f"{path} is no PC2 file")
    _, _, points, start, _, samples = HEADER.unpack(head)
    return points, int(start), samples
