"""Record of a frame's groups: the bodies that were solved together, and the space that they filled meanwhile."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..job.stages import Arrays
from ..reshape.boxes import Boxes
from ..state import Index, Vec


def _none() -> Index:
    return np.zeros(0, dtype=np.int32)


@dataclass(frozen=True)
class GroupRecord:
    """Groups at the end of a frame. A token is the number of a soft body; the last token is all mechanisms."""

    labels: Index  #: of each token the first one of its group, (t,)
    spans: int  #: number of parts of the frame, after each of which groups were compared
    steps: Index  #: in a frame, of each token's group, (t,)
    boxes: Boxes  #: around the space of each token since the frame before
    size: Vec  #: of each token, (t,) [m]; 0 of mechanisms
    thickness: Vec  #: distance from the surface of each at which it is touched, (t,) [m]
    nameless: Index  #: halved steps because of no soft body, of each group at its first token, (t,)
    unknowns: Index  #: of each part of the world, (p,)
    contacts: Index = field(default_factory=_none)  #: pairs in contact of each part, (p,); -1 where contact is off
    longest: NDArray[np.float32] = field(  #: longest edge of each body over its length at rest, (b,)
        default_factory=lambda: np.zeros(0, dtype=np.float32))

    def arrays(self) -> Arrays:
        """Return the arrays of the record's file, by name."""
        return {"labels": self.labels, "spans": np.array(self.spans), "steps": self.steps, "token": self.boxes.token,
                "low": self.boxes.low, "high": self.boxes.high, "size": self.size, "thickness": self.thickness,
                "nameless": self.nameless, "unknowns": self.unknowns, "contacts": self.contacts,
                "longest": self.longest}

    @classmethod
    def of(cls, arrays: Mapping[str, NDArray[Any]]) -> GroupRecord:
        """Return the record of a file from its arrays. Raises KeyError, TypeError, ValueError where they do not fit
        each other."""
        record = cls(arrays["labels"], int(arrays["spans"]), arrays["steps"],
                    Boxes(arrays["token"], arrays["low"], arrays["high"]), arrays["size"], arrays["thickness"],
                    arrays["nameless"], arrays["unknowns"], arrays["contacts"], arrays["longest"])
        count = len(record.labels)
        fits = (all(len(array) == count for array in (record.steps, record.size, record.thickness, record.nameless))
                and record.boxes.low.shape == record.boxes.high.shape == (len(record.boxes.token), 3)
                and len(record.contacts) == len(record.unknowns)
                and all(((array >= 0) & (array < count)).all() for array in (record.labels, record.boxes.token)))
        if not fits:
            raise ValueError("its arrays do not fit each other")
        return record

    def groups(self) -> list[tuple[int, ...]]:
        """Return the tokens of each group, in the order of their first tokens."""
        return [tuple(np.flatnonzero(self.labels == label).tolist()) for label in np.unique(self.labels)]
