"""Small systems in which tuned constants of rare rescues steer: functions of the solver on a few numbers, each of which
has another outcome at both ends of the constant's range. Those of iterations; the others are in `tuned_units_rows` and
`tuned_units_world`."""

from types import SimpleNamespace

import numpy as np
import scipy.sparse as sp

from solver.errors import StepFailed
from solver.linear.interface import NotPositiveDefinite
from solver.linear.secant_pairs import SecantPairs
from solver.nonlinear import (
    contact_iterations,
    contact_newton,
    ground_newton,
    mixed_fem,
    modal_step,
    prescribed_increments,
)
from solver.nonlinear.bounded import Bounded, BoundedQuasistatic
from solver.nonlinear.bounded_search import BoundedSearch
from solver.nonlinear.condensed_stage import solve_condensed
from solver.nonlinear.descent_protocol import Direction, Step
from solver.nonlinear.early_stopped_qn import EarlyDirections, EarlyStoppedQuasiNewton
from solver.nonlinear.evaluation import Evaluation
from solver.nonlinear.fallback_euler import FallbackEuler
from solver.nonlinear.joint_rates import solve_joints
from solver.nonlinear.limits import StopRule
from solver.nonlinear.residual_report import ResidualReport
from solver.state import State

NONE = np.zeros(0)
ONE = np.array([1.0, 0.0, 0.0])  #: velocity of one node


def fails(solve, *given):
    """Whether something raises StepFailed."""
    try:
        solve(*given)
    except StepFailed:
        return True
    return False


class Factors:
    """Factors whose solutions leave a ratio of the residual; their number is counted."""

    def __init__(self, ratio):
        self.ratio, self.count = ratio, 0

    def factor(self, problem, unknowns, tries_true, blends=()):
        self.count += 1
        return False

    def factor_for_directions(self, problem, unknowns):
        self.count += 1

    def approximate_solve(self, problem, right):
        return (1.0 - self.ratio) * right

    def direction(self, problem, residual):
        return self.approximate_solve(problem, -residual)


class Problem:
    """The equations of a stage of a few nodes, with the merit ½ |v − root|² and what a test sets otherwise.

    ratio: of the residual after a whole step of a factor's direction to that before.
    """

    def __init__(self, nodes=1, ratio=0.5, root=0.0, **physics):
        self.order, self.energy_noise, self.root = np.arange(nodes), 0.0, root
        self.stage = SimpleNamespace(a=1.0, b=1.0, h=1.0, inertia=1.0, time=0.0, v_hat=np.zeros((nodes, 3)))
        self.physics = SimpleNamespace(**{
            "mass": np.ones(nodes), "largest_steps": lambda start, end: np.ones(nodes),
            "largest_step": lambda start, end: 1.0, "body_of": lambda node: "box", **physics})
        self.linear = SimpleNamespace(solve=lambda right: (1.0 - ratio) * right)
        self.system = SimpleNamespace(
            linear=self.linear, matrix=sp.identity(3 * nodes, format="csc"),
            directions=SimpleNamespace(are_of=lambda *_: False),
            pattern=SimpleNamespace(position=np.arange(nodes)),
            edges=SimpleNamespace(largest_change=lambda moved: float(np.abs(moved).max()),
                                  usual_change_of_pieces=lambda moved: 1.0))
        self.forces = SimpleNamespace(in_stretches=lambda: None, friction=None)
        self.factors, self.evaluations = Factors(ratio), 0

    def displacement(self, direction):
        return direction.reshape(-1, 3)

    positions_at = positions = displacement

    def velocities(self, unknowns):
        return unknowns.reshape(-1, 3)

    def unknowns_at(self, x):
        return np.ravel(x)

    def strain(self, direction):
        return float(np.abs(direction).max())

    def moves(self, direction):
        return True

    def inertia_of(self, change):
        return 1.0

    def relative_energy_left(self, at, vector):
        return np.inf

    def evaluate(self, unknowns):
        self.evaluations += 1
        left = unknowns - self.root
        return Evaluation(unknowns, left, 0.5 * float(left @ left))

    evaluate_once = evaluate

    def fill(self, unknowns):
        return None

    def report_failure(self, what, at):
        return StepFailed(what)


def _creeping(kind, speed, ratio=0.95, definite=True):
    """Iterations in contact whose changes shrink by a ratio. definite: whether true stiffness is."""
    tried = []

    def pose_at(q, u, project):
        tried.append(project)
        if not (project or definite):
            raise NotPositiveDefinite
        return SimpleNamespace(curvature=1.0, start_slope=0.0, tree_stage=None, solve=lambda: ratio * u)

    equations = SimpleNamespace(
        pose_at=pose_at, slope_at=lambda *_: 1.0, positions_at=lambda q: q.reshape(-1, 3),
        largest_step=lambda start, end: 1.0, update_friction=lambda x: None, contact_forces=lambda x: np.zeros((0, 7)),
        body_of=lambda node: "box", step_start=np.zeros((1, 3)), extent=1.0, edge=1.0)
    stage = SimpleNamespace(time=1.0, base=None, b=1.0, h=1.0)
    stages = kind(equations, stage, State(0.0, np.zeros(3), speed * ONE, {}),
                  StopRule(1e-12, 5, 0.0))
    return fails(stages.solve_stage), len(tried), tried.count(False)


def small_creep_is_accepted():
    """Changes that are left after slow iterations in contact, of which the smaller ones are accepted."""
    return [_creeping(Bounded, speed)[0] for speed in (1e-6, 1e-3)]


def creep_in_contact():
    """Number of slow iterations in contact."""
    return _creeping(Bounded, 1.0)[1]


def creep_of_quasistatic_nodes_in_contact():
    """Number of slow iterations of quasistatic nodes in contact."""
    return _creeping(BoundedQuasistatic, 1.0)[1]


def tries_of_a_diverging_stiffness():
    """Number of slow iterations in contact in which an indefinite true stiffness is tried."""
    return _creeping(Bounded, 1.0, 0.8, definite=False)[2]


def search_halves():
    """Directions that lead so many times too far, of which some are halved until they lower the merit."""
    problem = Problem()
    search = BoundedSearch(problem).search
    return [fails(search, problem.evaluate(ONE), -too_far * ONE, 0.0) for too_far in (1e6, 1e12)]


def node_in_contact_is_stopped_alone():
    """Two nodes, of which one meets something halfway, on directions that lead too far."""
    def ends(too_far):
        problem = Problem(2, largest_steps=lambda start, end: np.array([0.5, 1.0]),
                          largest_step=lambda start, end: 0.5)
        problem.system.edges.largest_change = problem.strain = lambda moved: 0.0
        start = np.ones(6)
        return BoundedSearch(problem).search(problem.evaluate(start), -too_far * start, 0.0)[0].unknowns.tolist()

    return [ends(too_far) for too_far in (5.0, 24.0)]


def _without_jumps(problem, too_far):
    problem.system.edges.largest_change = problem.strain = lambda moved: 0.0
    return BoundedSearch(problem).search_without_jumps(problem.evaluate(ONE), -too_far * ONE).unknowns.tolist()


def whole_steps_at_whose_end_the_merit_rises():
    """Ends of directions that lead a little too far."""
    return [_without_jumps(Problem(), too_far) for too_far in (1.05, 1.5)]


def secants_over_a_kink_of_the_merit():
    """End of a direction beyond a minimum, after which the merit rises a fifth as steeply as it fell before."""
    problem = Problem()
    problem.evaluate = lambda unknowns: Evaluation(
        unknowns, (1.0 if unknowns[0] > 0.0 else -0.2) * ONE, float(max(unknowns[0], -0.2 * unknowns[0])))
    return _without_jumps(problem, 3.0)


def secants_to_a_step_that_lowers_the_merit():
    """Ends of directions so far beyond such a minimum that five and seven secants find a lower merit."""
    problem = Problem()
    problem.evaluate = lambda unknowns: Evaluation(
        unknowns, (1.0 if unknowns[0] > 0.0 else -0.2) * ONE, float(max(unknowns[0], -0.2 * unknowns[0])))
    return [_without_jumps(problem, too_far) for too_far in (8.0, 10.0)]


def slow_stage_in_contact():
    """Numbers of evaluations and factors of a stage in contact that converges slowly."""
    problem = Problem(ratio=0.99)
    contact_newton.solve_in_contact(lambda x: problem, np.zeros((1, 3)), ONE, 1e-9, accepts=True)
    return problem.evaluations, problem.factors.count


def factor_that_leads_astray_in_contact():
    """Directions of a reused factor, so many times as long as the last step, of which the longer ones are refused."""
    problem = Problem(ratio=0.0)
    return [contact_iterations._find_reused_direction(problem, problem.evaluate(strain * ONE), 1.0) is None
            for strain in (1.5, 5.0)]


class Reused:
    """A factor, whose renewals are counted."""

    solve = staticmethod(lambda residual: residual)

    def renew_projected(self, problem, unknowns):
        pass


def _renewed(corotated, *steps):
    """Whether early-stopped iterations get a new factor after the last of some steps: the fraction of the direction
    that was taken and the change of an edge by it, of each."""
    problem, pairs = Problem(), SecantPairs(8)
    pairs.clear(3)
    directions = EarlyDirections(Reused(), corotated, pairs, False)
    at, last = problem.evaluate(ONE), None
    for fraction, moved in steps:
        directions.find(problem, at, last)
        last = Step(problem, at, problem.evaluate(0.5 * ONE), Direction(-ONE, moved / fraction), fraction)
    return directions.find(problem, at, last).is_renewed


def cut_on_corotated_factor():
    """Fractions of a direction of the corotated factor, of which the shorter ones renew it."""
    return [_renewed(Reused(), (fraction, 0.1)) for fraction in (0.1, 0.5)]


def large_move_after_a_cut_one():
    """Moves after a cut one, of which the larger ones renew the factor."""
    return [_renewed(None, (0.5, 1.0), (1.0, moved)) for moved in (0.05, 0.5)]


def condensed_tolerance():
    """Number of iterations on condensed velocities under the rule of early stopping."""
    posed = []

    def pose_at(q, u, project):
        posed.append(u)
        return SimpleNamespace(solve=lambda: 0.3 * u, relax=lambda moved, *_: moved, tree_stage=None)

    limits = EarlyStoppedQuasiNewton({"tries": 50, "strain_left": 0.01}).limits
    stage = SimpleNamespace(time=1.0, base=None, b=1.0, h=1.0)
    solve_condensed(pose_at, None, stage, State(0.0, np.zeros(3), ONE, {}), limits, 0.0)
    return len(posed)


def fallback_that_takes_no_full_step():
    """Number of factors of a fallback step whose iterations are all cut."""
    problem = Problem(root=100.0)
    FallbackEuler().solve(problem, ONE)
    return problem.factors.count


def slow_stage_on_the_ground():
    """Number of factors of a stage on the ground in which contact cuts each step."""
    problem = Problem(largest_steps=lambda start, end: np.array([0.01]), largest_step=lambda start, end: 0.01)
    return (fails(ground_newton.solve_on_ground, lambda x: problem, np.zeros((1, 3)), ONE, 1e-12),
            problem.factors.count)


def factor_that_leads_astray_on_the_ground():
    """Directions of a reused factor, so many times as long as the last step, of which the longer ones renew it."""
    def factors(strain):
        problem, directions = Problem(ratio=0.0), ground_newton.GroundDirections()
        at, after = problem.evaluate(strain * ONE), problem.evaluate((strain - 1.0) * ONE)
        directions.find(problem, at, None)
        directions.find(problem, problem.evaluate(strain * ONE), Step(problem, at, after, Direction(-ONE, 1.0), 1.0))
        return problem.factors.count

    return [factors(strain) for strain in (2.0, 10.0)]


def increments_in_vain():
    """Number of increments of prescribed motion that leave nearly all of it before they are in vain."""
    shares = [1.0]
    while not prescribed_increments.have_stalled(shares):
        shares.append(0.9999 * shares[-1])
    return len(shares)


def _iterations_of_joints(found):
    """Number of iterations on rates that never settle. found: next rates from the present ones."""
    solved = []

    def solve_at(q, u):
        solved.append(u)
        return SimpleNamespace(rates=found(u), correction=lambda u: 0.0 * u, rounding=lambda u: 0.0, tree_stage=None)

    has_failed = fails(solve_joints, solve_at, SimpleNamespace(time=1.0, base=None, b=1.0, h=1.0),
                       State(0.0, np.zeros(3), ONE, {}), StopRule(1e-9, 300, 0.0), "joints")
    return has_failed, len(solved)


def iterations_that_do_not_shrink():
    """Number of iterations on rates whose changes stay as they are."""
    return _iterations_of_joints(lambda u: u + ONE)


def rates_that_diverge():
    """Number of iterations on rates that grow tenfold in each."""
    return _iterations_of_joints(lambda u: 10.0 * u)


def step_that_no_halving_lowers():
    """Fraction of a step of mixed elements that is taken although the Lagrangian rises."""
    forces = SimpleNamespace(follow=lambda moved: 0.0, set_fraction=lambda step: None, keep=lambda: None)
    problem = Problem()
    problem.evaluate = lambda unknowns: Evaluation(unknowns, ONE, float(np.abs(unknowns - ONE).max()))
    direction = mixed_fem.SaddleDirection(-ONE, 0.5, 1.0)
    return mixed_fem.LagrangianSearch(forces).step_along(problem, ONE, direction).fraction


def stage_without_stretches():
    """Number of evaluations of Newton's method where mixed elements have no stretches."""
    problem = Problem()
    problem.relative_energy_left = lambda at, vector: 0.0
    mixed_fem.MixedFEM({"iterations": 50, "mixed_iterations": 3, "decrement_left": 0.1, "strain_left": 0.05}).solve(
        problem, ONE)
    return problem.evaluations


def tries_of_an_indefinite_stiffness():
    """Number of 200 steps in which an indefinite true stiffness is tried."""
    step, tries = modal_step.ModalStep(None, None, None, None), []

    def sweeps_at(x, v, time, project):
        if not project:
            tries.append(time)
            raise NotPositiveDefinite

    for time in range(200):
        step._factor_sweeps(sweeps_at, NONE, NONE, float(time))
    return len(tries)


def residuals_of_rounding():
    """Residuals, relative to that of the last digit of a position, of which the smaller ones are called rounding."""
    problem = Problem()
    digit = float(np.spacing(1.0))
    return [bool(ResidualReport(problem).failure("it failed", Evaluation(ONE, left * digit * ONE, 0.0)).remedy)
            for left in (3.0, 30.0)]


UNITS = (
    small_creep_is_accepted, creep_in_contact, creep_of_quasistatic_nodes_in_contact, tries_of_a_diverging_stiffness,
    search_halves, node_in_contact_is_stopped_alone, whole_steps_at_whose_end_the_merit_rises,
    secants_over_a_kink_of_the_merit, secants_to_a_step_that_lowers_the_merit, slow_stage_in_contact,
    factor_that_leads_astray_in_contact, cut_on_corotated_factor, large_move_after_a_cut_one, condensed_tolerance,
    fallback_that_takes_no_full_step, slow_stage_on_the_ground, factor_that_leads_astray_on_the_ground,
    increments_in_vain, iterations_that_do_not_shrink, rates_that_diverge, step_that_no_halving_lowers,
    stage_without_stretches, tries_of_an_indefinite_stiffness, residuals_of_rounding)
