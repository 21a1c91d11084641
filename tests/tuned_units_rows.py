"""Small systems in which tuned constants of gaps and of hard constraints steer; see `tuned_units`."""

from types import SimpleNamespace

import numpy as np
import scipy.sparse as sp
from tuned_units import NONE, ONE, Problem, fails

from solver.contact.laws.interface import Gaps
from solver.nonlinear import on_rows
from solver.nonlinear.evaluation import Evaluation
from solver.nonlinear.gap_active_set import GapActiveSet, GapDirection
from solver.nonlinear.limits import StopRule


class Wall:
    """A gap of the first node along x, which is to stay positive."""

    def gaps(self, x):
        return Gaps(sp.csr_matrix(np.eye(1, x.size)), x[0, :1].copy(), np.zeros(1, np.int64))


def _gap_stage(problem=None):
    problem = problem or Problem()
    rule = SimpleNamespace(limits=StopRule(0.0, 10, 0.0, strain_left=1.0))
    return GapActiveSet(problem, [Wall()], rule, 1.0), problem


def violated_gaps_that_are_left():
    """Violations of a gap, of which the smaller ones are left."""
    stage, problem = _gap_stage()
    direction = GapDirection(problem, problem.evaluate(ONE), ONE, NONE, None)
    return [stage._is_solved(direction, problem.evaluate(-gap * ONE), 0.0, 0.0) for gap in (0.01, 0.2)]


def violations_without_a_penalty():
    """Violations of a gap, relative to an admissible one, of which the larger ones have a penalty."""
    stage, problem = _gap_stage()
    stage._penalty, wall = 1.0, Wall()

    def has_penalty(violation):
        at = problem.evaluate(-violation * stage._closed * ONE)
        found = stage._penalise(at, wall.gaps(at.unknowns.reshape(1, 3)), np.zeros(3))
        return found.merit > at.merit

    return [has_penalty(violation) for violation in (1e-8, 1e-3)]


def net_force_that_is_smaller_than_before():
    """Full steps to a higher merit, of which those that leave a small net force are accepted."""
    def refused(left):
        stage, problem = _gap_stage()
        problem.evaluate = lambda unknowns: Evaluation(unknowns, left * ONE, 1.0)
        return fails(stage._search_along, problem, Evaluation(ONE, ONE, 0.0), -0.1 * ONE, np.zeros(1),
                     Wall().gaps(ONE.reshape(1, 3)))

    return [refused(left) for left in (0.3, 0.8)]


def energy_that_closing_a_gap_may_cost():
    """Energies that opening a violated gap costs, relative to its multiplier, of which small ones are accepted."""
    def refused(ratio):
        stage, problem = _gap_stage()
        problem.evaluate = lambda unknowns: Evaluation(unknowns, ratio * ONE, ratio * float(unknowns[0] + 1.0))
        return fails(stage._search_along, problem, problem.evaluate(-ONE), ONE, np.ones(1),
                     Wall().gaps(-ONE.reshape(1, 3)))

    return [refused(ratio) for ratio in (1.5, 10.0)]


def increments_of_blocked_motion():
    """Fractions of prescribed motion that contact allows, of which the smaller ones are refused."""
    return [fails(stage._advance_prescribed, problem, ONE, ONE, ONE.reshape(1, 3))
            for free in (1e-5, 1e-10)
            for stage, problem in [_gap_stage(Problem(largest_step=lambda start, end, free=free: free))]]


class Lengths:
    """Distances of nodes from the origin, which are to be 1."""

    def __init__(self, count):
        self.count = count

    def is_hard(self, time):
        return True

    def rows(self, x, time):
        far = np.linalg.norm(x[:self.count], axis=1)
        jacobian = sp.block_diag([row[None] for row in x[:self.count] / far[:, None]], format="csr")
        return SimpleNamespace(value=far - 1.0, one_sided=np.zeros(self.count, dtype=bool),
                               jacobian=lambda nodes: sp.csr_array(jacobian, shape=(self.count, 3 * nodes)))


def _moved_onto_rows(x):
    """By how much the end of a stage at x, (n, 3), moves onto its rows."""
    problem = Problem(len(x))
    problem.system.matrix = sp.csc_array(problem.system.matrix)
    return float(np.abs(on_rows.on_rows(problem, x.ravel(), [Lengths(len(x))]) - x).max())


def number_of_rows_that_are_projected():
    """Whether 2 and 300 rows are projected."""
    return [_moved_onto_rows(np.tile([1.1, 0.0, 0.0], (count, 1)) + np.arange(count)[:, None] * [0, 1e-4, 0]) > 0.0
            for count in (2, 300)]


def rows_that_are_satisfied():
    """Whether rows are projected that are off by so much."""
    corners = np.array([[1.0, 0.0, 0.0], [0.0, 1.0, 0.0]])
    return [_moved_onto_rows((1.0 + off) * corners) > 0.0 for off in (1e-13, 1e-8)]


class Stretch(Lengths):
    """Squares of distances from the origin, which are to be 1: Newton's method halves a large error."""

    def rows(self, x, time):
        jacobian = sp.block_diag([2.0 * row[None] for row in x[:self.count]], format="csr")
        return SimpleNamespace(value=(x[:self.count]**2).sum(axis=1) - 1.0, one_sided=np.zeros(self.count, dtype=bool),
                               jacobian=lambda nodes: sp.csr_array(jacobian, shape=(self.count, 3 * nodes)))


def rounds_of_projection():
    """Distance that is left after rounds of Newton's method from ten times too far."""
    problem = Problem(2)
    problem.system.matrix = sp.csc_array(problem.system.matrix)
    x = 10.0 * np.array([[1.0, 0.0, 0.0], [0.0, 1.0, 0.0]])
    return float(on_rows.on_rows(problem, x.ravel(), [Stretch(2)])[0, 0])


UNITS = (
    violated_gaps_that_are_left, violations_without_a_penalty, net_force_that_is_smaller_than_before,
    energy_that_closing_a_gap_may_cost, increments_of_blocked_motion, number_of_rows_that_are_projected,
    rows_that_are_satisfied, rounds_of_projection)
