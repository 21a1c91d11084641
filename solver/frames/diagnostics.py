"""Records of a cache beyond the shown frames: contacts, stress, activity, halved steps. Needs only numpy."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from ..errors import BadInput, NoSuchThing
from ..job.arrays import read_npy, read_npz
from . import beside
from .halved import HalvedFrames, count_halved_frames
from .layout import GROUPED, HALVED, LIVELINESS, NEEDLES, STRESS, TOUCHED, file_of


def read_rows(path: Path, folder: Path, columns: int) -> NDArray[np.float32]:
    """Return the rows of a file, (k, columns) float32. Raises FileNotFoundError, OSError, and ValueError where the file
    has other content."""
    rows = read_npy(path, folder)
    if rows.dtype != np.float32 or rows.ndim != 2 or rows.shape[1] != columns:
        raise ValueError(f"it holds {rows.dtype} of shape {rows.shape}")
    return rows


class Recorded(Protocol):
    """Cache folder with records."""

    folder: Path

    @property
    def manifest(self) -> dict[str, Any] | None:
        """Return the manifest; None where nothing was baked."""

    @property
    def names(self) -> list[str]:
        """Return the names of all bodies."""

    def existing(self, kind: str) -> list[int]:
        """Return the frames, ascending, with a file of this kind in the size that was written."""

    def by_body(self, rows: NDArray[Any], frame: int) -> dict[str, NDArray[Any]]:
        """Return rows of all vertices at a frame, (V, k), by the names of their bodies."""


@dataclass(frozen=True)
class Diagnostics:
    """Records of forces and steps in a cache, for warnings and overlays."""

    cache: Recorded

    def contacts(self, frame: int) -> NDArray[np.float32]:
        """Return a row for each pair of surfaces in contact at a frame, (k, 7): its position in world [m], the force on
        one side, opposite to that on the other [N], and the distance of the surfaces [m].

        Raises NoSuchThing where the record is not on disk, BadInput where it cannot be read.
        """
        return self._rows(TOUCHED, frame, 7, "contacts of frame {} are")

    def stress(self, frame: int) -> dict[str, NDArray[np.float32]]:
        """Return von Mises stress [Pa], largest stretch, pressure [Pa] and speed [m/s] of each body's vertices at a
        frame, (n, 4), by its name; zeros where a body shows none.

        Raises NoSuchThing where the record is not on disk, BadInput where it cannot be read.
        """
        return self.cache.by_body(self._rows(STRESS, frame, 4, "stress of frame {} is"), frame)

    def groups(self, frame: int) -> dict[str, NDArray[Any]]:
        """Return the arrays of `GroupRecord` at a frame, by name. Raises NoSuchThing where there is no such record,
        BadInput where it cannot be read."""
        folder = self.cache.folder
        path = file_of(folder, GROUPED, frame)
        try:
            return read_npz(path, folder)
        except FileNotFoundError as error:
            raise NoSuchThing(f"no groups of frame {frame} are in {folder}", "Bake it first") from error
        except (OSError, ValueError) as error:
            raise BadInput(f"{path} is damaged", "Bake again to recreate it") from error

    def _rows(self, kind: str, frame: int, columns: int, missing: str) -> NDArray[np.float32]:
        """Return a frame's rows of one kind, (k, columns). missing: subject and verb of NoSuchThing's message. Raises
        NoSuchThing, BadInput."""
        folder = self.cache.folder
        path = file_of(folder, kind, frame)
        try:
            return read_rows(path, folder, columns)
        except FileNotFoundError as error:
            raise NoSuchThing(f"no {missing.format(frame)} in {folder}", "Bake it first") from error
        except (OSError, ValueError) as error:
            raise BadInput(f"{path} is damaged", "Bake again to recreate it") from error

    def needles(self) -> list[str]:
        """Return a message for each body whose edges were drawn out in existing frames."""
        return beside.needles(self.cache.folder, self.cache.existing(NEEDLES), self.cache.names)

    def count_halved_frames(self) -> HalvedFrames:
        """Return the number of existing frames in which steps were halved, and the body that caused it in most of them.
        """
        return count_halved_frames(self.cache.folder, self.cache.existing(HALVED), self.cache.names)

    def liveliness(self) -> dict[str, beside.Lively]:
        """Return the strain-rate activity of each body's dynamic nodes, by its name; empty where none may sleep. Lost
        frames are left out.

        Raises BadInput where a file cannot be read.
        """
        return beside.liveliness(self.cache.folder, self.cache.existing(LIVELINESS), self.cache.names)

    def frequencies(self) -> dict[str, float]:
        """Return the fundamental frequency of each body [Hz], by its name, where it is known."""
        manifest = self.cache.manifest
        return {body["name"]: body["hertz"] for body in manifest["bodies"] if "hertz" in body} if manifest else {}
