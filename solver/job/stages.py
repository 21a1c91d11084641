"""Results that are made once and kept in the job folder, each under the hash of what it was made from."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .files import safe_name, write_whole
from .folder import Job

Arrays = dict[str, NDArray[Any]]


def keep(job: Job, stage: str, body: str, hash: str, make: Callable[[], Mapping[str, NDArray[Any]]]) -> Arrays:
    """The arrays of this stage of this body: read from JOB/stages where they were made from the same inputs, else made.

    stage: one of `hashes`, such as "tets"; hash: its own from there. make: called only when there is no usable file.
    Raises CacheUnwritable, and whatever `make` raises.
    """
    path = stage_path(job, stage, body, hash)
    kept = read_arrays(path)
    if kept is not None:
        return kept
    made = dict(make())
    write_arrays(path, made)
    return made


def kept(job: Job, stage: str, body: str, hash: str) -> Arrays | None:
    """The arrays of this stage where they have been made from the same inputs, else None."""
    return read_arrays(stage_path(job, stage, body, hash))


def stage_path(job: Job, stage: str, body: str, hash: str) -> Path:
    """JOB/stages/<body>_<stage>_<hash>.npz, a safe name whatever the body is called.

    One that was made under another name is as good: the hash tells all that it was made from.
    """
    path = job.stages / f"{safe_name(body)}_{stage}_{hash[:20]}.npz"
    if path.exists():
        return path
    return next(iter(sorted(job.stages.glob(f"*_{stage}_{hash[:20]}.npz"))), path)


def write_arrays(path: Path, arrays: Mapping[str, NDArray[Any]]) -> None:
    """Write named arrays as one .npz that is whole or not there. Raises CacheUnwritable."""
    write_whole(path, pack(arrays))


def pack(arrays: Mapping[str, NDArray[Any]]) -> memoryview:
    """Named arrays as the bytes of an .npz."""
    buffer = io.BytesIO()
    np.savez(buffer, **arrays)  # type: ignore[arg-type]
    return buffer.getbuffer()


def read_arrays(path: Path) -> Arrays | None:
    """The arrays of such a file, or None where there is none or it cannot be read."""
    try:
        with np.load(path, allow_pickle=False) as stored:
            return {key: stored[key] for key in stored.files}
    except (OSError, ValueError, EOFError, zipfile.BadZipFile):
        return None
