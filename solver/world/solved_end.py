"""End of a stage that was solved without friction on the ground, and its correction for friction."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

from ..assembly.damping import Damped
from ..assembly.linearised import Linearised
from ..parts.interface import PosedNodes
from ..parts.stage import NodeStage
from ..state import State, Vec
from .ground_friction import with_ground_friction, with_repeated_friction
from .soft_bodies import SoftBodies


@dataclass(frozen=True)
class SolvedEnd:
    """Stage of soft bodies that was solved without friction on the ground, linearised at states of its end."""

    soft: SoftBodies
    pose: Callable[[Linearised, NodeStage], PosedNodes]  #: factors a linearised stage; raises StepFailed
    project: bool  #: whether stiffness is negative semi-definite
    stage: NodeStage
    damped: Damped | None  #: D through the whole stage

    def with_friction(self, after: State, posed_at_end: Callable[[Linearised, NodeStage], PosedNodes | None],
                      is_repeated: bool) -> State:
        """Return the end of the stage with friction on the ground. Raises StepFailed.

        after: end without friction. posed_at_end: returns the stage on the factor of its last iteration, None without
        such a factor. is_repeated: whether friction is evaluated again at the new positions, since friction that
        deforms a body beyond its linear response would gain energy.
        """
        lin = self._linearise_end(after)
        posed = posed_at_end(lin, self.stage) or self.pose(lin, self.stage)
        if not is_repeated:
            return with_ground_friction(self.soft, posed, after)
        return with_repeated_friction(self.soft, self.stage, after, lin, posed, self._pose_end, self._net_impulse)

    def _pose_end(self, end: State) -> tuple[Linearised, PosedNodes]:
        lin = self._linearise_end(end)
        return lin, self.pose(lin, self.stage)

    def _linearise_end(self, end: State) -> Linearised:
        x, v = self._at(end)
        lin = self.soft.linearise_at(x, v, self.stage.time, self.project)
        return replace(lin, damped=self.damped, memory=end.memory)

    def _net_impulse(self, end: State) -> Vec:
        x, v = self._at(end)
        return self.stage.net_impulse_of(self.soft.mass, self.soft.evaluate(x, self.stage.time)[0], v, self.damped)

    def _at(self, end: State) -> tuple[Vec, Vec]:
        """Return positions [m] and velocities [m/s] of all nodes at a state, (n, 3)."""
        coordinates = self.soft.coordinates
        return coordinates.positions(end.q, self.stage.time), coordinates.spread(end.u, self.stage.w)
