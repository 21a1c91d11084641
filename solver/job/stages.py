"""Results that are computed once and stored in the job folder, each under the hash of its inputs."""

from __future__ import annotations

import io
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .arrays import read_npz
from .files import digest_of, make_folder, safe_name, unwritable, write_whole
from .folder import Job

Arrays = dict[str, NDArray[Any]]
CHECKSUM = "checksum"  #: of the other arrays of a file; those of older versions have none


def keep(job: Job, stage: str, body: str, hash: str, make: Callable[[], Mapping[str, NDArray[Any]]],
         usable: Callable[[Arrays], bool] = lambda arrays: True) -> Arrays:
    """Return the arrays of this stage of this body: read from JOB/stages where they were made from equal inputs, else
    made.

    stage: one of `hashes`, such as "tets"; hash: its own from there. make: called only when there is no usable file.
    usable: whether arrays that were read can be a result of `make`; a file may be damaged or somebody else's. Raises
    CacheUnwritable, and whatever `make` raises.
    """
    found = load_stage(job, stage, body, hash)
    if found is not None and usable(found):
        return found
    made = dict(make())
    write_arrays(stage_path(job, stage, body, hash), made, job.path)
    return made


def load_stage(job: Job, stage: str, body: str, hash: str) -> Arrays | None:
    """The arrays of this stage where they have been made from the same inputs and are whole, else None."""
    found = read_arrays(stage_path(job, stage, body, hash), job.path)
    if found is None:
        return None
    checksum = found.pop(CHECKSUM, None)
    return found if checksum is None or str(checksum) == _checksum(found) else None


def stage_path(job: Job, stage: str, body: str, hash: str) -> Path:
    """Return JOB/stages/<body>_<stage>_<hash>.npz, a safe name whatever the body is called.

    One that was made under another name is as good: the hash covers all its inputs.
    """
    path = job.stages / f"{safe_name(body)}_{stage}_{hash[:20]}.npz"
    if path.exists():
        return path
    return next(iter(sorted(job.stages.glob(f"*_{stage}_{hash[:20]}.npz"))), path)


def write_arrays(path: Path, arrays: Mapping[str, NDArray[Any]], root: Path) -> None:
    """Write named arrays and their checksum as one .npz that is whole or not there.

    root: the job folder, below which no link is followed. Raises CacheUnwritable.
    """
    try:
        make_folder(path.parent)
    except OSError as error:
        raise unwritable(path, error) from error
    write_whole(path, pack({**arrays, CHECKSUM: np.array(_checksum(arrays))}), root)


def pack(arrays: Mapping[str, NDArray[Any]]) -> memoryview:
    """Named arrays as the bytes of an .npz."""
    buffer = io.BytesIO()
    np.savez(buffer, **arrays)  # type: ignore[arg-type]
    return buffer.getbuffer()


def read_arrays(path: Path, root: Path) -> Arrays | None:
    """The arrays of such a file, or None where there is none or it cannot be read. root: as of `write_arrays`."""
    try:
        return read_npz(path, root)
    except (OSError, ValueError):
        return None


def _checksum(arrays: Mapping[str, NDArray[Any]]) -> str:
    lines = [f"{name} {array.dtype.str} {array.shape} {digest_of(np.ascontiguousarray(array).tobytes())}"
            for name, array in sorted(arrays.items())]
    return digest_of("\n".join(lines).encode())
