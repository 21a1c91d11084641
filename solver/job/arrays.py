"""Safe reading of .npy and .npz files, whose headers are compared with the size of the file first. Needs only numpy.

Reading any file raises OSError or Unreadable and no other exception, runs no code from the file, and takes no more
memory than the size of the file.
"""

from __future__ import annotations

import math
import zipfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
from numpy.typing import NDArray

from .files import open_regular

LONGEST = 2**31  # of an axis; ConJac writes no longer array
MEMBERS = 10_000  #: arrays of an archive


class Unreadable(ValueError):
    """Error for a file that is no array, or no archive of arrays, of plain numbers or text."""


@dataclass(frozen=True)
class Header:
    """Header of a .npy file."""

    shape: tuple[int, ...]
    dtype: np.dtype[Any]
    fortran: bool
    offset: int  #: of the first number [bytes]

    @property
    def bytes(self) -> int:
        """Return the size of the array without the header [bytes]."""
        return self.dtype.itemsize * math.prod(self.shape)


def read_header(stream: BinaryIO, size: int) -> Header:
    """Return the header of a .npy file of `size` bytes; `stream` is then at the first number.

    Raises Unreadable where the header cannot be parsed, promises more than `size`, or is not of numbers or text.
    """
    try:
        version = np.lib.format.read_magic(stream)
        read = {(1, 0): np.lib.format.read_array_header_1_0, (2, 0): np.lib.format.read_array_header_2_0}[version]
        shape, fortran, dtype = read(stream)
        header = Header(tuple(shape), np.dtype(dtype), bool(fortran), stream.tell())
    except Exception as error:  # numpy parses it as Python literals, which fails with many kinds of exception
        raise Unreadable(f"its header cannot be read ({type(error).__name__})") from error
    if header.dtype.kind not in "fiubcU" or not header.dtype.itemsize or not _sane(header.shape):
        raise Unreadable("it does not hold plain numbers")
    if header.offset + header.bytes > size:
        raise Unreadable(f"it says that it holds {header.bytes} bytes and it is shorter")
    return header


def _sane(shape: tuple[Any, ...]) -> bool:
    """Return whether numpy can represent an array of this shape, including an empty one."""
    whole = all(isinstance(length, int) and 0 <= length < LONGEST for length in shape)
    return whole and len(shape) < 16 and math.prod(max(1, length) for length in shape) < 2**48


def header_of(path: Path, root: Path | None = None) -> Header:
    """Return the header of a .npy file. root: see `open_regular`. Raises OSError, Unreadable."""
    with open_regular(path, root) as stream:
        return read_header(stream, _size(stream))


def read_npy(path: Path, root: Path | None = None, large: int | None = None) -> NDArray[Any]:
    """Return the array of a .npy file.

    root: see `open_regular`. large: size [bytes] above which the array is memory-mapped, read-only, instead of read.
    Raises OSError, Unreadable.
    """
    with open_regular(path, root) as stream:
        header = read_header(stream, _size(stream))
        if large is not None and header.bytes > large:
            return np.memmap(stream, header.dtype, "r", header.offset, header.shape, "F" if header.fortran else "C")
        return _content(stream.read(header.bytes), header)


def read_npz(path: Path, root: Path | None = None) -> dict[str, NDArray[Any]]:
    """Return the arrays of an uncompressed .npz file by name; ConJac writes no compressed ones.

    root: see `open_regular`. Raises OSError; Unreadable also for a compressed archive.
    """
    with open_regular(path, root) as stream:
        size = _size(stream)
        try:
            with zipfile.ZipFile(stream) as archive:
                members = archive.infolist()
                if len(members) > MEMBERS or sum(
                        max(member.file_size, member.compress_size) for member in members) > size:
                    raise Unreadable("it says that it holds more than it does")
                return dict(_member(archive, member) for member in members)
        except (Unreadable, OSError):
            raise
        except Exception as error:  # a torn archive: BadZipFile, struct.error, NotImplementedError, zlib.error, ...
            raise Unreadable(f"it is no archive of arrays ({type(error).__name__})") from error


def _member(archive: zipfile.ZipFile, one: zipfile.ZipInfo) -> tuple[str, NDArray[Any]]:
    if one.compress_type != zipfile.ZIP_STORED:
        raise Unreadable("it is compressed, which ConJac's own files are not")
    with archive.open(one) as stream:
        header = read_header(stream, one.file_size)  # type: ignore[arg-type]
        return one.filename.removesuffix(".npy"), _content(stream.read(), header)


def _content(content: bytes, header: Header) -> NDArray[Any]:
    if len(content) < header.bytes:
        raise Unreadable("it is shorter than it says")
    flat = np.frombuffer(content, header.dtype, math.prod(header.shape)) if header.bytes else np.empty(0, header.dtype)
    # copied: an array of its own is aligned and may be written to
    return flat.copy().reshape(header.shape, order="F" if header.fortran else "C")


def _size(stream: BinaryIO) -> int:
    size = stream.seek(0, 2)
    stream.seek(0)
    return size
