"""Storage of the results of stages in the job folder, each under the hash of its inputs."""

from __future__ import annotations

import io
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .arrays import read_npz
from .files import digest_of, make_folder, make_safe_name, unwritable, write_whole
from .folder import Job

Arrays = dict[str, NDArray[Any]]
CHECKSUM = "checksum"  #: of the other arrays of a file; those of older versions have none


def keep(job: Job, stage: str, body: str, hash: str, make: Callable[[], Mapping[str, NDArray[Any]]],
         usable: Callable[[Arrays], bool] = lambda arrays: True) -> Arrays:
    """Return the arrays of a stage of a body: read from JOB/stages if they are stored there, else made and stored.

    stage: one of `hashes.STAGES`, such as "tets". hash: hash of its inputs. make: computes the arrays; called only
    where no usable file exists. usable: returns whether arrays from a file, which may be damaged or somebody else's,
    can be a result of `make`. Raises CacheUnwritable, and the exceptions of `make`.
    """
    stored = load_stage(job, stage, body, hash)
    if stored is not None and usable(stored):
        return stored
    made = dict(make())
    write_arrays(stage_path(job, stage, body, hash), made, job.path)
    return made


def load_stage(job: Job, stage: str, body: str, hash: str) -> Arrays | None:
    """Return the stored arrays of a stage of a body; None where the job has none with this hash, or damaged ones."""
    arrays = read_arrays(stage_path(job, stage, body, hash), job.path)
    if arrays is None:
        return None
    checksum = arrays.pop(CHECKSUM, None)
    return arrays if checksum is None or str(checksum) == _checksum(arrays) else None


def stage_path(job: Job, stage: str, body: str, hash: str) -> Path:
    """Return the path of a stage's file, JOB/stages/<body>_<stage>_<hash>.npz, with a safe name of the body.

    An existing file with another body's name and an equal hash takes precedence: the hash covers all inputs.
    """
    path = job.stages / f"{make_safe_name(body)}_{stage}_{hash[:20]}.npz"
    if path.exists():
        return path
    return next(iter(sorted(job.stages.glob(f"*_{stage}_{hash[:20]}.npz"))), path)


def write_arrays(path: Path, arrays: Mapping[str, NDArray[Any]], root: Path) -> None:
    """Write named arrays and their checksum atomically as one .npz file, and make its folder if necessary.

    root: the job folder, below which no link is followed. Raises CacheUnwritable.
    """
    try:
        make_folder(path.parent)
    except OSError as error:
        raise unwritable(path, error) from error
    write_whole(path, pack({**arrays, CHECKSUM: np.array(_checksum(arrays))}), root)


def pack(arrays: Mapping[str, NDArray[Any]]) -> memoryview:
    """Return the bytes of an uncompressed .npz file of named arrays."""
    buffer = io.BytesIO()
    np.savez(buffer, **arrays)  # type: ignore[arg-type]
    return buffer.getbuffer()


def read_arrays(path: Path, root: Path) -> Arrays | None:
    """Return the arrays of an .npz file by name; None where there is no file or it cannot be read.

    root: the job folder, below which no link is followed.
    """
    try:
        return read_npz(path, root)
    except (OSError, ValueError):
        return None


def _checksum(arrays: Mapping[str, NDArray[Any]]) -> str:
    lines = [f"{name} {array.dtype.str} {array.shape} {digest_of(np.ascontiguousarray(array).tobytes())}"
            for name, array in sorted(arrays.items())]
    return digest_of("\n".join(lines).encode())
