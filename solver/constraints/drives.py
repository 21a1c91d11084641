"""Joints whose motion is prescribed, and the effort that it takes: inverse dynamics."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ..coordinates.joints.interface import Charted
from ..coordinates.prescribed import OverTime, has_ended
from ..coordinates.tree import Tree
from ..state import Index, Vec
from .rows import Rows, on_rates


@dataclass(frozen=True)
class DrivenJoint:
    """A joint whose motion is prescribed."""

    body: int  #: the body below the joint
    target: OverTime  #: its coordinates over time, (k,) [rad, m]
    until: float = np.inf  #: time at which the drive ends [s]
    limit: float = np.inf  #: largest effort [N m, N]
    name: str = ""


class Drives:
    """Drives of joints of a tree. A drive with an effort limit may lag behind its target, one without a limit never
    does."""

    def __init__(self, tree: Tree, drives: Sequence[DrivenJoint]) -> None:
        """tree: of the joints. drives: of some of its joints, in the order of all results."""
        self._tree, self._drives = tree, list(drives)
        self._charts: list[tuple[Charted, Index] | None] = []
        self._evaluated_at, self._targets = (np.nan, np.nan), [(np.zeros(0), np.zeros(0))] * len(self._drives)
        #: the last results of `rows`, by `limited`, if all joints have fixed charts
        self._known: dict[bool, tuple[Rows, Vec, Vec]] = {}
        for drive in self._drives:
            batch, row = next((batch, int(np.flatnonzero(batch.bodies == drive.body)[0]))
                              for batch in tree.batches if drive.body in batch.bodies)
            self._charts.append(None if batch.chart is None else (batch.chart, batch.centres[row]))

    def __len__(self) -> int:
        return len(self._drives)

    @property
    def names(self) -> list[str]:
        """Return the name of each drive, in their order."""
        return [drive.name for drive in self._drives]

    def at_work(self, time: float) -> list[bool]:
        """Return for each drive whether it is active from `time` [s] on."""
        return [not has_ended(time, drive.until) for drive in self._drives]

    def rows(self, time: float, active_time: float, centres: Vec, limited: bool) -> tuple[Rows, Vec, Vec]:
        """Return the rows at `time` [s] of the drives with an effort limit, or of those without, their target
        coordinates (r,) [rad, m], and their largest efforts (r,) [N m, N].

        active_time: time at which a drive has to be active [s]; a moment before the end of a stage, at which drives may
        end. centres: of the charts, (s,). The rows' targets are the prescribed rates.
        """
        if (time, active_time) != self._evaluated_at:
            self._evaluated_at = time, active_time
            self._targets = [(drive.target.at(time), drive.target.velocity(time)) for drive in self._drives]
            self._known = {}
        if limited in self._known:
            return self._known[limited]
        rates, positions, speeds, most, owner = [], [], [], [], []
        for i, (drive, chart) in enumerate(zip(self._drives, self._charts)):
            if has_ended(active_time, drive.until) or (drive.limit < np.inf) != limited:
                continue
            position, speed = self._targets[i]
            if chart is not None:
                kind, at = chart
                moved = kind.carry(position[None], speed[None], self._tree.fresh[at][None], centres[at][None])
                position, speed = moved[0][0], moved[1][0]
            first = int(self._tree.dof[drive.body])
            rates += list(range(first, first + len(position)))
            positions.append(position)
            speeds.append(speed)
            most += [drive.limit] * len(position)
            owner += [i] * len(position)
        count = len(rates)
        rows = on_rates(np.array(rates, np.int32), np.ones(count), np.concatenate([*speeds, np.zeros(0)]),
                        np.array(owner, np.int32))
        known = rows, np.concatenate([*positions, np.zeros(0)]), np.array(most)
        if not any(self._charts):
            self._known[limited] = known
        return known
