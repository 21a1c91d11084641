"""A stage of positions that balance on the ground, on few factors, until nothing is left that shows."""

from __future__ import annotations

from collections.abc import Callable

from ..errors import StepFailed
from ..state import Vec
from .calm import CONDENSED, Calm, GaveUp
from .landing import LAGGED, MORE_ROOM, has_less_than_standing
from .limits import StopRule, left
from .pairs import SecantPairs
from .problem import StageProblem
from .start import back_on_the_way

TRIES = 40  #: iterations after which a stage is taken as it is, or given up
PATIENCE = 15  #: of them on one factor
ASTRAY = 4.0  #: times the last move: where a kept factor leads farther it is made anew
MEMORY = 8
STRAIN_LEFT = 0.03  #: of an edge's length: less does not show


class HitGround(Calm):
    """Of a linearised stage that hits the ground: taken as it is by the end, where it has gained nothing."""

    def __init__(self) -> None:
        self.limits = StopRule(CONDENSED, TRIES, 0.0, STRAIN_LEFT, accepts=True, patience=PATIENCE)


def grounded(problem_at: Callable[[Vec], StageProblem], begun: Vec, guess: Vec,
             strain_left: float) -> tuple[StageProblem, Vec]:
    """The stage with the friction that it ended with, and its unknowns (3 p,) [m/s]. Raises GaveUp.

    A factor of projected stiffness, with what lies on the ground where it is made, serves for iterations bent by what
    they see, until one leads far astray or cannot be taken whole: what comes to the ground in between is few nodes, and
    friction that follows its loads is settled by as many iterations as without. What is not settled by then is taken
    where it gains no energy. Arguments are those of `landing`.
    """
    problem = problem_at(begun)
    at, last, served, renews = back_on_the_way(problem, problem.evaluate(guess), begun), 0.0, 0, True
    direction = guess
    pairs = SecantPairs(MEMORY)
    pairs.clear(len(guess))
    for count in range(TRIES):
        if not renews and served < PATIENCE:
            direction = pairs.direction(at.residual, problem.nearly)
            renews = problem.strain(direction) > ASTRAY * last
        if renews or served == PATIENCE:
            problem.factor(at.unknowns, False)
            pairs.clear(len(guess))
            direction, served, renews = problem.direction(at.residual), 0, True
        served += 1
        try:
            after, share = problem.search(at, direction)
        except StepFailed as failure:
            if not renews:
                renews = True
                continue
            if has_less_than_standing(problem, at):
                return problem, at.unknowns
            raise GaveUp(str(failure), failure.object, failure.remedy or MORE_ROOM) from failure
        step = after.unknowns - at.unknowns
        pairs.add(step, after.residual - at.residual)
        moved, at, renews = problem.strain(step), after, share < 1.0
        if share == 1.0 and left(moved, last) <= strain_left:
            return problem, at.unknowns
        last = moved if share == 1.0 else 0.0
        if share == 1.0 and count < LAGGED:
            before, problem = problem, problem_at(problem.positions(problem.velocities(at.unknowns)))
            at = at if problem is before else problem.evaluate(at.unknowns)
    if has_less_than_standing(problem, at):
        return problem, at.unknowns
    unsettled = problem.failed(f"what lies on the ground did not settle in {TRIES} iterations", at)
    raise GaveUp(str(unsettled), unsettled.object, unsettled.remedy or MORE_ROOM)
