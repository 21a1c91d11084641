"""Changes of bodies within a frame, as arrays from which they can be repeated and shown."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from operator import itemgetter
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from .body import Separation
from .nails import Driven

Change = TypeVar("Change")

#: names of the arrays of a record, with an array `<name>.moment` for each
SEPARATED, NAILED, DRAWN, RELEASED = "bodies", "nailed", "drawn", "let_go"


@dataclass(frozen=True)
class Made:
    """Changes of bodies and of their pins at one moment, each with the number of its body.

    Pins are released and nails drawn before bodies are cut, and nails are driven in after that.
    """

    separations: list[tuple[int, Separation]] = field(default_factory=list)
    driven: list[tuple[int, Driven]] = field(default_factory=list)
    drawn: list[tuple[int, int]] = field(default_factory=list)  #: body and nail
    released: list[tuple[int, int]] = field(default_factory=list)  #: body, and the frame at which its pins are released

    @property
    def count(self) -> int:
        """Return the number of all changes."""
        return len(self.separations) + self.holds

    @property
    def in_order(self) -> Made:
        """Return the changes in the order of their bodies."""
        body = itemgetter(0)
        return Made(sorted(self.separations, key=body), sorted(self.driven, key=body), sorted(self.drawn, key=body),
                    sorted(self.released, key=body))

    def of_bodies(self, numbers: Mapping[int, int]) -> Made:
        """Return the changes of some bodies with new body numbers. numbers: new number by present number."""
        def own(changes: list[tuple[int, Change]]) -> list[tuple[int, Change]]:
            return [(numbers[body], change) for body, change in changes if body in numbers]

        return Made(own(self.separations), own(self.driven), own(self.drawn), own(self.released))

    def and_those(self, other: Made) -> Made:
        """Return all changes of both operands."""
        return Made(self.separations + other.separations, self.driven + other.driven, self.drawn + other.drawn,
                    self.released + other.released)

    @property
    def holds(self) -> int:
        """Return the number of changes of pinned nodes: driven and drawn nails, and releases."""
        return len(self.driven) + len(self.drawn) + len(self.released)


def record_changes(moments: Sequence[Made]) -> dict[str, NDArray[Any]]:
    """Return the record of the changes of several moments, as arrays by name.

    `bodies`, (s,): body of each separation, with arrays "0.parents", …; `nailed`, `drawn`, (k, 2): body and nail, the
    former with arrays "nail0.nodes", …; `let_go`, (k, 2): body and frame; "<name>.moment": index of the moment.
    """
    separations = [(k, *separation) for k, made in enumerate(moments) for separation in made.separations]
    driven = [(k, *nail) for k, made in enumerate(moments) for nail in made.driven]
    drawn = [(k, *drawn_nail) for k, made in enumerate(moments) for drawn_nail in made.drawn]
    released = [(k, *release) for k, made in enumerate(moments) for release in made.released]
    out: dict[str, NDArray[Any]] = {
        SEPARATED: _numbers([body for _, body, _ in separations]),
        NAILED: _numbers([(body, nail.nail) for _, body, nail in driven]).reshape(-1, 2),
        DRAWN: _numbers([(body, nail) for _, body, nail in drawn]).reshape(-1, 2),
        RELEASED: _numbers([(body, frame) for _, body, frame in released]).reshape(-1, 2)}
    for name, changes in ((SEPARATED, separations), (NAILED, driven), (DRAWN, drawn), (RELEASED, released)):
        out[f"{name}.moment"] = _numbers([change[0] for change in changes])
    for k, (_, _, separation) in enumerate(separations):
        out |= {f"{k}.{name}": array for name, array in separation.plain().items()}
    for k, (_, _, nail) in enumerate(driven):
        out |= {f"nail{k}.nodes": nail.nodes, f"nail{k}.places": nail.positions}
    return out


def read_record(record: Mapping[str, NDArray[Any]]) -> list[Made]:
    """Return the changes of a record, one entry for each moment. Raises KeyError where an array is missing."""
    # records of versions that changed bodies only at whole frames have one moment, without a number; older records have
    # no releases of pins
    record = {RELEASED: np.zeros((0, 2), np.int32), **record}
    of = {name: record.get(f"{name}.moment", np.zeros(len(record[name]), np.int32)).tolist()
          for name in (SEPARATED, NAILED, DRAWN, RELEASED)}
    changes = [Made() for _ in range(1 + max((k for some in of.values() for k in some), default=-1))]
    names = Separation.__dataclass_fields__
    for k, body in enumerate(record[SEPARATED].tolist()):
        separation = Separation(**{name: record[f"{k}.{name}"] for name in names})
        changes[of[SEPARATED][k]].separations.append((body, separation))
    for k, (body, nail) in enumerate(record[NAILED].tolist()):
        changes[of[NAILED][k]].driven.append((body, Driven(nail, record[f"nail{k}.nodes"], record[f"nail{k}.places"])))
    for k, (body, nail) in enumerate(record[DRAWN].tolist()):
        changes[of[DRAWN][k]].drawn.append((body, nail))
    for k, (body, frame) in enumerate(record[RELEASED].tolist()):
        changes[of[RELEASED][k]].released.append((body, frame))
    return changes


def _numbers(values: list[Any]) -> NDArray[np.int32]:
    return np.array(values, dtype=np.int32)
