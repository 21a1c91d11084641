"""Stop rules of descent: iterations of a stage of nodes."""

from __future__ import annotations

from ..iteration.protocol import Stop
from .descent_protocol import Step
from .limits import WORK_LEFT, Progress, remaining
from .problem import StageProblem


class ResidualStop(Stop[Step]):
    """Stop rule that is met where the largest entry of the residual is below a goal [N s]."""

    def __init__(self, goal: float) -> None:
        self._goal = goal

    def is_done(self, step: Step) -> bool:
        """Whether the residual after a step is small enough."""
        return step.after.size <= self._goal


class SlowStop(Stop[Step]):
    """Stop rule that is met where the residual is below a goal [N s], or would need more iterations than a new factor
    costs."""

    def __init__(self, goal: float, patience: float) -> None:
        """patience: iterations that a new factor costs."""
        self._goal, self._progress = goal, Progress(goal, patience)

    def is_done(self, step: Step) -> bool:
        """Whether the residual after a step is small enough or decreases too slowly."""
        return step.after.size <= self._goal or self._progress.is_slow(step.after.size)


class StrainStop(Stop[Step]):
    """Stop rule that is met after a full step where all further changes, extrapolated from the last two, change no edge
    visibly."""

    def __init__(self, strain_left: float) -> None:
        """strain_left: admissible relative change of an edge."""
        self._strain_left, self._last = strain_left, 0.0

    def is_done(self, step: Step) -> bool:
        """Whether the strain that remains after a step is small enough."""
        done = step.is_full and remaining(step.moved, self._last) <= self._strain_left
        self._last = step.moved if step.is_full else 0.0
        return done


class VisibleStop(Stop[Step]):
    """Stop rule that is met after a full step where neither the remaining strain nor the remaining energy is visible.
    """

    def __init__(self, strain_left: float) -> None:
        """strain_left: admissible relative change of an edge."""
        self._strain_left, self._last = strain_left, 0.0

    def is_done(self, step: Step) -> bool:
        """Whether strain and energy that remain after a step are small enough."""
        moved, problem = step.moved, step.problem
        # the true matrix squares the change, a projected one leaves a fraction of it
        left = moved * moved if step.direction.is_true else remaining(moved, self._last)
        if problem.stage.inertia:
            settled = (min(moved, left) <= self._strain_left
                       and problem.relative_energy_left(step.after, step.direction.vector) <= 1.0)
        else:
            # quasistatic positions may converge slowly in small steps
            settled = left <= self._strain_left
        self._last = moved if step.is_full else 0.0
        return step.is_full and settled


class EarlyStop(Stop[Step]):
    """Stop rule that is met after a full step where all further changes, extrapolated from the last two, are not
    visible: those of the most strained edge, or of a violent body's edges on average, and on the ground those of
    energy."""

    usual = 0.3  #: root mean square strain of a violently moving body, relative to the tolerance of its largest strain

    def __init__(self, problem: StageProblem, strain_left: float, is_violent: bool) -> None:
        """strain_left: admissible relative change of an edge."""
        self._strain_left, self._is_violent = strain_left, is_violent
        self._work_left = WORK_LEFT * problem.stage.energy_at_stake(problem.mass, problem.order)
        self._last = self._usual = self._work = 0.0

    def is_done(self, step: Step) -> bool:
        """Whether strain and energy that remain after a step are small enough."""
        if step.direction.is_renewed:
            self._last = self._usual = self._work = 0.0
        problem, moved = step.problem, step.moved
        usual = problem.system.edges.usual_change(problem.displacement(step.change)) if self._is_violent else moved
        work = abs(problem.stage.work(problem.mass, problem.order, step.change)) if problem.touches_ground else 0.0
        done = step.is_full and remaining(work, self._work) <= self._work_left and (
            remaining(moved, self._last) <= self._strain_left
            or remaining(usual, self._usual) <= self.usual * self._strain_left)
        self._last, self._usual, self._work = moved, usual if step.is_full else 0.0, work if step.is_full else 0.0
        return done


class FullStepStop(Stop[Step]):
    """Stop rule that is met after the first step that is taken in full."""

    def is_done(self, step: Step) -> bool:
        """Whether a step was taken in full."""
        return step.is_full
