"""Comparison of a bake's inputs with those of the present job folder. Needs only numpy."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

from ..job.files import LARGEST_JSON, open_regular
from . import manifest
from .compared import different, is_same_file, is_same_so_far


class Baked(Protocol):
    """Cache folder with the inputs of its bake."""

    @property
    def manifest(self) -> dict[str, Any] | None:
        """Return the manifest; None where nothing was baked."""

    @property
    def frames(self) -> range:
        """Return every frame that the scene had; empty where nothing was baked."""


@dataclass(frozen=True)
class JobComparison:
    """Comparison of a cache with a job folder."""

    cache: Baked
    job: Path

    def list_changes(self) -> tuple[str, ...]:
        """Return differences between the job folder and the inputs of the bake, in plain names; empty where the job is
        gone.

        Compares scene.json as it was written, and the arrays by size and time, then by content, up to the last frame of
        both. A parameter that only one of them has is at its default in the other; other fields that are explicit only
        now count as a difference here, and the bake itself compares more closely.
        """
        baked = self.cache.manifest
        if baked is None:
            return ()
        try:
            names = different(baked["scene"], self._scene())
        except OSError:
            return ()
        except (ValueError, RecursionError):
            return ("scene.json",)
        frames = len(self.frames)
        names += [name for name, was in baked["sources"].items()
                  if not (is_same_file(self.job / name, was) or is_same_so_far(self.job / name, was, frames))]
        return tuple(dict.fromkeys(names))

    @property
    def frames(self) -> range:
        """Return every frame of the job's scene where it starts as the cache does, which may be longer or shorter; else
        those of the cache. Raises BadInput where the manifest cannot be read."""
        baked = self.cache.frames
        try:
            time = self._scene()["time"]
            start, end = int(time["start"]), int(time["end"])
        except (OSError, ValueError, KeyError, TypeError, RecursionError, OverflowError):
            return baked
        if max(abs(start), abs(end)) > manifest.LAST_FRAME:
            return baked
        return range(start, end + 1) if baked and start == baked[0] else baked

    def _scene(self) -> Any:
        """Return scene.json as it is written. Raises OSError, ValueError, RecursionError."""
        with open_regular(self.job / "scene.json") as stream:
            return json.loads(stream.read(LARGEST_JSON))
