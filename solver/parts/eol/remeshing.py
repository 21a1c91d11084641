"""Remeshing of sliding cloth at the start of a step: onto sharp features, and as fine as it bends."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from ...sheet.adapt import adapt
from ...sheet.conform import Conformed, conform
from ...sheet.limits import RemeshLimits
from ...sheet.runs import Runs
from ...sheet.sheet_mesh import SheetMesh
from ...sheet.sizing import Sizing
from ...state import Index, Mask, Vec
from .barrier_contact import ContactSettings
from .cloth import Cloth
from .feature_contacts import FeatureContacts
from .obstacles import ObstacleMotion
from .step_log import StepLog, format_position
from .tunnelling import WITHIN, inside

CLOSE = 1.5  #: of the longest edges there: vertices so near to such a position stay as they are


@dataclass
class Remeshing:
    """Remeshing of one cloth at the starts of its steps."""

    #: of the thickness and a step's move: what is further through an edge is pushed out before it sits there
    leap = 1.0
    reported_steps = 8  #: steps in a row in which some vertices on an edge cannot be joined, before that is reported
    tries = 4  #: of triangles that fit better and do not lie in an obstacle

    gravity: Vec  #: [m/s²], (3,)
    limits: RemeshLimits
    sizing: Sizing | None  #: None: triangles change at sharp features alone
    contact: ContactSettings | None  #: barriers of itself and of smooth obstacles; None: there are none
    step_log: StepLog
    detect: Callable[[SheetMesh, ObstacleMotion, float], FeatureContacts]  #: near pairs of a step of so many seconds

    def __post_init__(self) -> None:
        self._runs: Runs | None = None
        self._unjoined_steps = 0  # steps in a row in which vertices on an edge could not be joined

    def remesh(self, cloth: Cloth, now: ObstacleMotion, h: float) -> tuple[Cloth, Index]:
        """Return the cloth with a mesh that conforms to the present features and is as fine as it bends, and the
        earlier number of each vertex, −1 of new ones, (n,). It does not conform where another layer is between: a
        vertex that is moved onto an edge takes the faces around it through that layer."""
        spared = np.zeros(len(cloth.mesh.x), dtype=bool)
        for left in range(self.tries, -1, -1):
            conformed = self._conform(cloth, now, h, spared)
            made, again = self._adapt(cloth.with_mesh(conformed.mesh, conformed.was), now, h)
            new_intersection = self._find_new_intersection(made.mesh, cloth.mesh, now)
            if new_intersection is None or not left:
                break
            spared = spared | _close(cloth.mesh, new_intersection[None]) | (left == 1)
        self._report(conformed)
        return made, np.where(again >= 0, conformed.was[again], -1)

    def _conform(self, cloth: Cloth, now: ObstacleMotion, h: float, spared: Mask) -> Conformed:
        """Return the mesh that conforms to the present features, except at spared vertices, (n,)."""
        limits = replace(self.limits, leap=self.leap, one_layer=self.contact is not None and any(self.contact.itself))
        return conform(cloth.mesh, now.features, limits, h, cloth.free, self.gravity, spared, self._runs_of(now))

    def _find_new_intersection(self, made: SheetMesh, before: SheetMesh, now: ObstacleMotion) -> Vec | None:
        """Return a point [m] where remeshing made surfaces intersect, (3,); None where there is none."""
        return None if self.contact is None else self.contact.find_new_intersection(made, before, now)

    def _report(self, conformed: Conformed) -> None:
        """Report vertices of one edge that stay apart for `reported_steps`; for a step or two some do wherever cloth
        comes onto edges."""
        self._unjoined_steps = self._unjoined_steps + 1 if conformed.unjoined else 0
        if self._unjoined_steps == self.reported_steps:
            position = conformed.mesh.x[list(conformed.unjoined[0])].mean(axis=0)
            self.step_log.once("unjoined",
                               f"{self.reported_steps} steps long some of its vertices on one edge could not be "
                               f"joined, the first near {format_position(position)}: it does not fold sharply there")

    def _runs_of(self, now: ObstacleMotion) -> Runs:
        """Return the runs of present features; made once while they are at rest."""
        if self._runs is None or self._runs.features is not now.features:
            self._runs = Runs(now.features)
        return self._runs

    def _adapt(self, cloth: Cloth, now: ObstacleMotion, h: float) -> tuple[Cloth, Index]:
        """Return the cloth with a mesh as fine as it bends, whose triangles lie in no obstacle and cross no other
        layer, and the earlier number of each vertex, −1 of new ones, (n,)."""
        same = np.arange(len(cloth.mesh.x))
        if self.sizing is None:
            return cloth, same
        runs, required, tolerance = self._runs_of(now), cloth.mesh.required, WITHIN * self.limits.thickness
        for _ in range(self.tries):
            adapted = adapt(cloth.mesh.replace(on=runs.from_edges(cloth.mesh.on), required=required), self.sizing,
                            runs.points, runs.ends)
            if not adapted.changed:
                break
            if adapted.message:
                self.step_log.once("sizing", adapted.message)
            made = adapted.mesh.replace(on=runs.to_edges(adapted.mesh.on, adapted.mesh.x))
            positions, deepest = inside(self.detect(made, now, h), tolerance)
            if not deepest or deepest <= inside(self.detect(cloth.mesh, now, h), tolerance)[1]:
                new_intersection = self._find_new_intersection(made, cloth.mesh, now)
                if new_intersection is None:
                    return cloth.with_mesh(made.replace(required=np.where(
                        adapted.was >= 0, cloth.mesh.required[adapted.was], False)), adapted.was), adapted.was
                positions = new_intersection[None]
            required = required | _close(cloth.mesh, positions)
        return cloth, same


def _close(mesh: SheetMesh, positions: Vec) -> Mask:
    """Return a mask of the vertices near positions (k, 3) [m], (n,)."""
    ends = mesh.edges
    longest = np.zeros(len(mesh.x))
    for a, b in ((0, 1), (1, 0)):
        np.maximum.at(longest, ends[:, a], np.linalg.norm(mesh.x[ends[:, b]] - mesh.x[ends[:, a]], axis=1))
    near = np.zeros(len(mesh.x), dtype=bool)
    for position in positions:
        near |= np.linalg.norm(mesh.x - position, axis=1) < CLOSE * longest
    return near
