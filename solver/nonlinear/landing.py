"""Newton's method where surfaces touch, until nothing is left that shows."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from ..errors import StepFailed
from ..state import Vec
from .calm import GaveUp
from .limits import left
from .problem import Evaluation, StageProblem
from .start import landing_start

TRIES = 30  #: factors after which a stage is given up; iterations that find an impact's pairs are among these
MOST = 4  #: times as many iterations, after which it is as well
MORE_ROOM = "Give what touches there more room, move it more slowly, or use shorter steps"
FAR_LESS = 1.0e3  #: times less energy than after one that was may be left after an iteration on another's factor
LAGGED = 12  #: iterations after which friction keeps its loads
SETTLED_LOADS = 3  #: iterations on the last factor in which a stage that has settled takes the loads that it ends with
SLOW = 0.5  #: of the last move: after one that is more, another factor of projected stiffness would be as slow
SERVES = 8  #: iterations that a factor serves at most where they are slow
ASTRAY = 2.0  #: times the last move: where a kept factor leads farther it is made anew
#: of an edge's length, by which an iteration moves one: then a few are not at rest for long after all others are
VIOLENT = 0.35
USUAL = 0.1  #: of what may be left of the worst edge: what those of each body may move there, root mean square


def landing(problem_at: Callable[[Vec], StageProblem], begun: Vec, guess: Vec,
            strain_left: float, accepts: bool = False, by_strain: bool = False) -> tuple[StageProblem, Vec]:
    """The stage with the friction that it ended with, and its unknowns (3 p,) [m/s]. Raises GaveUp.

    An iteration factors projected stiffness anew: the last factor knows nothing of what touches since. Where cloth
    buckles projected stiffness is too stiff by far, a little way at a time leads down, and a new factor leads no
    farther than the last: that one serves for more. In an impact a few nodes slide from face to face for as many
    iterations as all that came before, where hardly any energy is left: there the usual edge of each body counts.
    Friction follows the loads from whole step to whole step, which are those of `begun` before; a step that is cut
    would take the loads of surfaces that have just not met.

    problem_at: the stage with friction's loads as they are at positions (n, 3) [m]. begun: where it stands, (n, 3).
    strain_left: the share of an edge's length that further iterations may change. accepts: whether what is not settled
    by then, or is lowered no further, is taken as it is: each iteration lowers the incremental potential. by_strain:
    whether that share alone says that it is settled, where positions balance and directions are no exact ones.
    """
    problem = problem_at(begun)
    at, last, factors, served = landing_start(problem, begun, guess), 0.0, 0, 0
    is_slow = is_fresh = is_violent = False
    direction = np.zeros_like(guess)
    for count in range(MOST * TRIES):
        try:
            kept = None
            if not by_strain and last > 0.0 and is_slow and served < SERVES:
                kept = _slowly(problem, at, last)
            is_fresh = kept is None
            if kept is None:
                if factors == TRIES:
                    break
                problem.factor_for_directions(at.unknowns)
                factors, served = factors + 1, 0
            direction = problem.direction(at.residual) if kept is None else kept
            served += 1
            after, share = problem.search(at, direction)
        except StepFailed as failure:
            if not is_fresh:
                last = 0.0
                continue
            if accepts and count:
                break
            raise GaveUp(str(failure), failure.object, failure.remedy or MORE_ROOM) from failure
        step = after.unknowns - at.unknowns
        moved = problem.strain(step)
        at, is_slow, is_violent = after, moved > SLOW * last > 0.0, is_violent or moved > VIOLENT
        # what balances may still slide a little from iteration to iteration: no energy is left in that
        ahead = left(moved, last)
        if not is_fresh and share == 1.0 and not is_slow:
            # what is left does not fall by itself from here on as Newton's method has it: it has to be far less
            direction = FAR_LESS * problem.direction(at.residual)
            ahead = problem.strain(direction) / FAR_LESS
        # what goes slowly on a factor of before says little about how far it still goes
        rest = ahead if by_strain else min(moved, ahead) if is_fresh or not is_slow else max(moved, ahead)
        if share == 1.0 and rest <= strain_left:
            if is_slow and not is_fresh:
                # how little such a one moves may be its own: the next one is fresh, or leads far less far
                served = SERVES
            elif accepts or problem.is_balanced(at, direction):
                return (problem, at.unknowns) if by_strain else _with_its_loads(problem_at, problem, at)
        elif share == 1.0 and is_violent and is_fresh and not by_strain and problem.is_balanced(at, direction) \
                and problem.usual_strain_of_bodies(step) <= USUAL * strain_left:
            return _with_its_loads(problem_at, problem, at)
        last = moved if share == 1.0 else 0.0
        if share == 1.0 and count < LAGGED:
            before, problem = problem, problem_at(problem.positions(problem.velocities(at.unknowns)))
            at = at if problem is before else problem.evaluate(at.unknowns)
    if accepts or last > 0.0 and problem.is_balanced(at, direction) and has_less_than_standing(problem, at):
        return problem, at.unknowns
    unsettled = problem.failed(f"surfaces did not settle in {TRIES} iterations", at)
    raise GaveUp(str(unsettled), unsettled.object, unsettled.remedy or MORE_ROOM)


def _with_its_loads(problem_at: Callable[[Vec], StageProblem], problem: StageProblem,
                    at: Evaluation) -> tuple[StageProblem, Vec]:
    """A settled stage with the friction of the loads that it ended with, by iterations on the last factor.

    What presses in one stage and rubs in the next is no friction of the same load where a body hops.
    """
    for _ in range(SETTLED_LOADS):
        before, problem = problem, problem_at(problem.positions(problem.velocities(at.unknowns)))
        if problem is before:
            break
        at = problem.evaluate(at.unknowns)
        try:
            at, _ = problem.search(at, problem.direction(at.residual))
        except StepFailed:
            break  # nothing lowers it
    return problem, at.unknowns


def _slowly(problem: StageProblem, at: Evaluation, last: float) -> Vec | None:
    """Where the last factor leads, (3 p,) [m/s], if that strains about as much as the last move; else None."""
    direction = problem.direction(at.residual)
    return direction if problem.strain(direction) <= ASTRAY * last else None


def has_less_than_standing(problem: StageProblem, at: Evaluation) -> bool:
    """Whether it has less potential than where nothing moves, by which a step of Euler gains no energy: whatever was
    linearised instead would be farther from the root than this is."""
    stands = problem.evaluate(np.zeros_like(at.unknowns))
    return problem.stage.a == problem.stage.b == 1.0 and at.merit is not None and stands.merit is not None \
        and at.merit <= stands.merit
