"""What was done to the bodies at one frame, as arrays: enough to do it again, and to show it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .body import Separation
from .nails import Driven


@dataclass(frozen=True)
class Made:
    """Each with the number of its body."""

    separations: list[tuple[int, Separation]]
    driven: list[tuple[int, Driven]]
    drawn: list[tuple[int, int]]  #: and of the nail

    @property
    def count(self) -> int:
        """Of all changes."""
        return len(self.separations) + len(self.driven) + len(self.drawn)

    def record(self) -> dict[str, NDArray[Any]]:
        """Arrays by name: `bodies` of each separation, and "0.parents", … of the first one; `nailed` and "nail0.…"."""
        out: dict[str, NDArray[Any]] = {"bodies": _numbers([body for body, _ in self.separations])}
        for k, (_, separation) in enumerate(self.separations):
            out |= {f"{k}.{name}": array for name, array in separation.plain().items()}
        out["nailed"] = _numbers([(body, driven.nail) for body, driven in self.driven]).reshape(-1, 2)
        out["drawn"] = _numbers(self.drawn).reshape(-1, 2)
        for k, (_, driven) in enumerate(self.driven):
            out |= {f"nail{k}.nodes": driven.nodes, f"nail{k}.places": driven.places}
        return out

    @classmethod
    def of(cls, record: Mapping[str, NDArray[Any]]) -> Made:
        """What `record` kept."""
        names = Separation.__dataclass_fields__
        separations = [(int(body), Separation(**{name: record[f"{k}.{name}"] for name in names}))
                       for k, body in enumerate(record["bodies"])]
        driven = [(int(body), Driven(int(nail), record[f"nail{k}.nodes"], record[f"nail{k}.places"]))
                  for k, (body, nail) in enumerate(record["nailed"])]
        return cls(separations, driven, [(int(body), int(nail)) for body, nail in record["drawn"]])


def _numbers(values: list[Any]) -> NDArray[np.int32]:
    return np.array(values, dtype=np.int32)
