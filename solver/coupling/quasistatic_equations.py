"""Stages of mostly quasistatic nodes and of the joints that carry some of them, as equations in the rates of both."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from ..assembly.damping import Damped
from ..assembly.linearised import Linearised
from ..parts.interface import Balancing
from ..parts.nodes.full import Full
from ..parts.stage import NodeStage, Stage
from ..state import State, Vec
from ..world.nodes_part import NodesPart
from .coupled_equations import EquationsOfBoth
from .coupled_quasistatic import BodyPositions, CoupledQuasistatic
from .skeleton import Skeleton


class QuasistaticEquations(EquationsOfBoth):
    """Equations of a stage in the rates of all positions, from which velocities follow."""

    def __init__(self, soft: NodesPart, skeleton: Skeleton, stages: tuple[NodeStage, Stage], states: Sequence[State],
                 damped: Damped | None, whole: Full, reduced: Balancing) -> None:
        """whole: matrix and factor of all free nodes. reduced: the condensation of the quasistatic nodes. The other
        arguments are as in `EquationsOfBoth`."""
        super().__init__(soft, skeleton, stages, states, damped)
        at, coordinates = skeleton.bodies(self.joints), soft.coordinates
        attached_columns = coordinates.with_attached(coordinates.attached.columns(at.E, at.twists))
        lin = replace(soft.linearise_without_contact(self.step_start, soft.velocity(self.flesh), self.of_flesh.time),
                      damped=damped, memory=self.flesh.memory)
        self._whole, self._inertia = whole, reduced.inertia(lin, self.of_flesh, bool(soft.between), attached_columns)

    def pose_at(self, q: Vec, u: Vec, project: bool = True) -> CoupledQuasistatic:
        """Linearise and factor the stage at coordinates q (m_q,) and rates u (m,) of its end. project: whether K is
        projected to negative semi-definite. Raises NotPositiveDefinite, StepFailed."""
        iterate, x = self._positions_and_forces(q, u)

        def lin_at(project: bool) -> Linearised:
            lin = self.soft.linearise_at(x, iterate.positions, self.of_flesh.time, project, self.frictions)
            return replace(lin, damped=self.damped)

        return CoupledQuasistatic(self._whole, self._inertia, self.skeleton, iterate, lin_at, project, self.of_flesh,
                                  self.of_joints)

    def slope_at(self, posed: CoupledQuasistatic, q: Vec, u: Vec) -> float:
        """Return the slope of the soft bodies' potential at coordinates q (m_q,) and rates u (m,), along the step that
        the iteration `posed` found [J]."""
        return posed.slope(self._positions_and_forces(q, u)[0])

    def with_velocities(self, after: State) -> State:
        """Return the stage's end with rates of the free nodes that are their velocities, instead of rates of their
        positions."""
        u, end = after.u.copy(), self._positions_and_forces(after.q, after.u)[0]
        velocities = self._inertia.velocities(end.positions, end.rates)
        u[: self.soft.unknowns] = velocities[self.coordinates.free].ravel()
        return replace(after, u=u)

    def _positions_and_forces(self, q: Vec, u: Vec) -> tuple[BodyPositions, Vec]:
        """Return positions, rates and forces of both parts at coordinates and rates of the stage's end, and positions
        of all nodes, (n, 3) [m]."""
        joints, at, _, x, y = self.at_coordinates(q, u)
        force = self.soft.evaluate(x, self.of_flesh.time, self.frictions)[0]
        return BodyPositions(joints, at, at.carrying(joints.u), y, force), x
