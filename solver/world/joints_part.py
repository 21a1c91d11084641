"""Mechanisms as a part of a world: their postures and constraints, the end of their steps, and their output."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace

import numpy as np

from ..coordinates.tree import CENTRES, Tree
from ..errors import Diverged, StepFailed
from ..forces.springs import Springs
from ..nonlinear.limits import StopRule
from ..parts.joints.interface import LinearizationPoint
from ..parts.joints.jointed import Constraints, Jointed, SolvedTree
from ..parts.joints.last_twist import LAST_TWIST
from ..parts.joints.leapfrog_steps import LeapfrogSteps
from ..parts.stage import Momentum, Stage
from ..state import Index, State, Vec
from .friction_record import FrictionRecord
from .impact_steps import ACTIVE_CONTACTS, ImpactSteps
from .interface import Part
from .joint_bounds import JointBounds
from .mechanisms import MechanismInWorld, OwnFrames

EFFORT = "mechanism.effort"  #: memory of the drives' efforts in the last step [N m, N], (m,)
REFLECTING = "mechanism.reflecting"  #: memory of half of their efforts that reflect momentum at a step's end, (m,)


@dataclass
class JointsPart(Part):
    """Part of the world with all mechanisms of a scene, as one tree of joints."""

    mechanisms_in_world: Sequence[MechanismInWorld]
    shown: OwnFrames
    tree: Tree
    condensation: Jointed
    limits: StopRule  #: of stages that are solved iteratively
    q: Vec  #: initial coordinates, (m,)
    u: Vec  #: initial rates, (m,)
    start_frame: int
    #: whether charts are recentred after every step: otherwise an integrator that evaluates forces at the step's start
    #: would add energy to tumbling bodies on a curved chart; and the step is a line on its final chart, too
    recentres: bool = False
    #: whether momentum may be reflected: not with a friction law that separates all bodies
    reflects: bool = True
    notes: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        self._postures = (self.tree.blank(), self.tree.blank())
        self._external_force: Vec | None = None  #: of the present step
        self._drive_lead: Vec | None = None  #: of the present try of the step
        self._bounds = JointBounds(self.tree)
        self.impacts = ImpactSteps()
        self.exchange_springs(self.condensation.springs)
        self._friction = FrictionRecord(self.tree.bodies)

    def exchange_springs(self, springs: Springs) -> None:
        """Replace the springs between bodies."""
        self.condensation.exchange_springs(springs)
        self._leapfrog = LeapfrogSteps(self.condensation)

    @property
    def constraints(self) -> Constraints | None:
        """Return the constraints of the mechanisms; None without any."""
        return self.condensation.constraints

    @property
    def unknowns(self) -> int:
        """Return the number of rates of all joints."""
        return self.tree.rates

    def owns(self, name: str) -> bool:
        """Return whether a body of this name is in the tree."""
        return name in self.tree.bodies

    @property
    def summary(self) -> list[str]:
        """Return sentences about friction that did not converge in the steps up to now."""
        return self._friction.sentences

    @property
    def mechanisms(self) -> list[dict[str, object]]:
        """Return the manifest's entry of each mechanism."""
        entries, first = [], 0
        for mechanism in self.mechanisms_in_world:
            entries.append(mechanism.plain(first))
            first += len(mechanism.bodies)
        return entries

    @property
    def backend(self) -> str:
        """Return the name of the factorization of the mass matrix, for the log."""
        return type(self.condensation.factor).__name__

    def initial_state(self) -> State:
        """Return the state at the start frame, with rates that satisfy loops and drives."""
        state = self.tree.recentre(State(0.0, self.q.copy(), self.u.copy(), {}))
        if self.constraints is None:
            return state
        try:
            respond = self.condensation.by_inertia(self.linearise(state), 0.0)
            return self.constraints.project_initial_rates(state, respond)
        except StepFailed:
            return state  # the first step reports the cause

    def touching(self, state: State) -> Index:
        """Return the indices of motors and drives that are active at a state, (k,).

        Forces are discontinuous where this set changes, so an integrator's history is not valid across such a time.
        """
        jointed = self.condensation
        working = [active for joints in jointed.joint_forces for active in joints.at_work(state.time)]
        working += [] if self.constraints is None else self.constraints.at_work(state.time)
        return np.flatnonzero(working).astype(np.int32)

    def linearise(self, state: State) -> LinearizationPoint:
        """Return the posture and loads at a state, for linearisation; overwritten by the next call."""
        posture = self.tree.posture(state.q, state.u, state.memory, self._postures[0])
        return LinearizationPoint(posture, state.q, state.u, state.memory, self._external_force, self._drive_lead)

    @contextmanager
    def with_external_force(self, external_force: Vec | None, drive_lead: Vec | None = None) -> Iterator[None]:
        """Return a context in which stages are linearised with an external force and excess rates of drives.

        external_force: on points of bodies, (k, 7). drive_lead: rates in excess of the targets, (m,). See `StepInputs`.
        """
        self._external_force, self._drive_lead = external_force, drive_lead
        try:
            yield
        finally:
            self._external_force = self._drive_lead = None

    def finish(self, after: State, remembered_motion: Sequence[tuple[str, str]], isolated: bool = True) -> State:
        """Return the end of a step with loops and drives projected and charts recentred. Raises StepFailed.

        after: end of the step, with the stage that solved it. remembered_motion: of the integrator that took it.
        isolated: whether no soft bodies are attached; momentum of attached bodies is that of the new positions.
        """
        self._bounds.check_motion(after)
        posed: SolvedTree | None = after.tree_stage
        constraints, solved = self.constraints, after.u
        solution = None if posed is None else posed.constraint_solution
        if posed is not None and solution is not None and constraints is not None:
            self._friction.note(solution, after.time)
            memory = {**after.memory, **solution.memory}
            if not self.recentres:
                memory[ACTIVE_CONTACTS] = solution.active.astype(float)
            after = replace(after, memory=memory)
            closed = constraints.close(after, posed)
            memory.pop(LAST_TWIST, None)
            if posed.stage.base is None and isolated and (closed is not after
                                                          or solution.position_correction is not None):
                # projection and separation of overlaps move bodies without changing their momentum
                memory[LAST_TWIST] = posed.leaving_twists()
            after = replace(closed, memory=memory)
        after = self.tree.centre_charts(after) if self.recentres else self.tree.recentre(after, remembered_motion)
        if posed is not None and posed.stage.momentum in (Momentum.REFLECTED, Momentum.CENTRED):
            after = self._leapfrog.finish(posed, solved, after)
        return replace(after, tree_stage=None)

    def check_step_size(self, after: State, h: float) -> None:
        """Check the rotation in a semi-implicit step of h seconds. Raises StepFailed where it is too large."""
        if self.recentres:
            self._bounds.check_rotation(after, h)

    def suggest_remedy(self, state: State) -> str:
        """Return a remedy for the artist if a loop in a singular posture blocks motion at a state; "" otherwise."""
        if self.constraints is None:
            return ""
        stage = Stage(1.0e-3, 1.0, 1.0, state.time, None, state.u)
        try:
            name = self.constraints.find_singular_loop(state, self.condensation.pose(self.linearise(state), stage))
        except (StepFailed, ValueError):
            return ""  # the failure itself is more specific
        return name and (f'The ring of joints that "{name}" closes is stretched straight or folded flat and cannot '
                         "move from there: leave it some slack at the first frame, as a bridge that sags a little")

    def explain(self, failure: StepFailed, state: State, frame: int) -> Diverged:
        """Return the error for the artist, with the body, the frame and a remedy."""
        name = failure.object
        if name is None and len(state.u):
            name = self._bounds.body_of(int(np.argmax(np.abs(state.u))))
        remedy = failure.remedy or (
            "Lower the step, raise the damping of its joint or give thin bodies more mass"
            if self.condensation.explicit is None else
            "Lower the step, or make explicit springs, joints and motors implicit")
        return Diverged(f"the motion could not be solved: {failure}", f"{remedy}; earlier frames are kept", name, frame)

    def poses(self, state: State) -> dict[str, Vec]:
        """Return the output of a frame as arrays by name.

        "pose": own frames of the bodies in world, (b, 4, 4). "rates": (m,) [rad/s, m/s]. "effort": of drives and
        motors, (m,) [N m, N]. "loops": violations of loops as in `Constraints.loop_gaps`, (l,)
        [m or rad].
        """
        at = self.tree.posture(state.q, state.u, state.memory, self._postures[1])
        jointed, constraints = self.condensation, self.constraints
        effort = state.memory.get(EFFORT, np.zeros(len(state.u)))
        for joints in jointed.joint_forces:
            effort = effort + joints.efforts(at, state.q, state.u, state.memory.get(CENTRES, self.tree.fresh),
                                             state.time)
        loops = np.zeros(0) if constraints is None else constraints.loop_gaps(at)
        return {"pose": self.shown.poses(at.E, state.time), "rates": state.u, "effort": effort, "loops": loops}

    def energy(self, state: State) -> float:
        """Return the kinetic, gravitational and elastic energy of bodies and joints [J].

        Heights are relative to the origin of the world.
        """
        at = self.tree.posture(state.q, state.u, state.memory, self._postures[1])
        jointed, mass = self.condensation, self.tree.inertia[:, 5, 5]
        centres = state.memory.get(CENTRES, self.tree.fresh)
        moving = 0.5 * float(np.einsum("na,nab,nb->", at.twist, self.tree.inertia, at.twist))
        height = -float(np.einsum("n,na,a->", mass, at.E[:, :3, 3], jointed.gravity))
        explicit = 0.0 if jointed.explicit is None else jointed.explicit.energy(at.E, state.q, centres)
        return (moving + height + jointed.springs.energy(at.E)
                + jointed.on_rates.energy(state.q, state.u, centres, state.time) + explicit)
