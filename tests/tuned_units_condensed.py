"""Small systems in which tuned constants of condensed bodies, joints and projections steer; see `tuned_units`."""

from types import SimpleNamespace

import numpy as np
from tuned_units_contact import Interpreted
from tuned_units_sliding import stand_in

from solver.coupling.coupled_quasistatic import CoupledQuasistatic
from solver.materials import lanes
from solver.materials.lanes import LANES
from solver.parts.conjac.inertia import _together
from solver.parts.conjac.posed import PosedConJac
from solver.parts.conjac.sleep import Sleep
from solver.parts.conjac.sweeps import ReusedFactorSweeps
from solver.parts.joints import tree_step
from solver.parts.joints.jointed import PosedTree, SolvedTree
from solver.parts.joints.tumbling import restore_invariants
from solver.parts.projective import projection_kernels, triangle_kernels


def dynamic_directions_that_depend():
    """Directions of nodes that are dynamic together, two of which nearly depend on each other, to the last bit."""
    rng = np.random.default_rng(0)
    columns = rng.normal(size=(4, 3, 3))
    columns[:, :, 2] = columns[:, :, 1] + 1e-5 * columns[:, :, 2]
    made = _together(np.arange(4), columns, [], np.ones(4), np.array([0, 1]), np.zeros((0, 4, 3)))
    return made.read.tobytes(), made.velocities.tobytes()


def iterations_with_exact_inertia():
    """Numbers of products of conjugate gradients with well and badly conditioned matrices."""
    found = []
    for condition in (1e3, 1e9):
        values, products = np.geomspace(1.0, condition, 300), []
        owner = stand_in(
            CoupledQuasistatic, _whole=SimpleNamespace(linear=SimpleNamespace(solve=lambda rhs: rhs.copy())),
            _times=lambda y, values=values, products=products: products.append(1) or values[:, None] * y)
        CoupledQuasistatic._solve(owner, np.ones((300, 1)))
        found.append(len(products))
    return found


def _relaxed(energy_of, force_of, start=1.0):
    """Position of a node after a correction, along one axis."""
    coordinates = SimpleNamespace(positions=lambda q, time, motion: q.reshape(-1, 3), free=np.arange(1))
    owner = SimpleNamespace(
        corrections=1, mesh=SimpleNamespace(coordinates=coordinates), in_single=lambda: None,
        response=lambda posed, rest, solve: rest[:, :, 0], pattern=SimpleNamespace(order=np.arange(1)),
        limit_fraction=lambda fraction, moved: fraction)
    posed = stand_in(PosedConJac, owner=owner, stage=SimpleNamespace(time=0.0), frames=None, extra_forces=None,
                     motion=SimpleNamespace(patches=None), _remove_balanced=lambda rest: rest.ravel())

    def evaluate(x, time):
        return np.array([[force_of(x[0, 0]), 0.0, 0.0]]), energy_of(x[0, 0])

    return float(PosedConJac.relax(posed, np.array([start, 0.0, 0.0]), np.zeros(3), evaluate)[0])


def corrections_that_are_too_long():
    """Positions after corrections that are 6 and 50 times too long."""
    return [_relaxed(lambda x, times=times: 0.5 * times * x * x, lambda x, times=times: -times * x)
            for times in (12.0, 100.0)]


def corrections_within_rounding():
    """Whether corrections are accepted that raise the merit by so much of it."""
    return [_relaxed(lambda x, off=off: 1.0 + (off if x != 1.0 else 0.0),
                     lambda x: -1e-9 if x == 1.0 else 0.0) != 1.0 for off in (1e-14, 1e-10)]


def changes_of_sleeping_bodies():
    """Whether a factor serves sleeping nodes of which an edge has changed by so much."""
    last = SimpleNamespace(reduced=[], hold=None, lin=SimpleNamespace(x=0.0))
    return [Sleep.rests_near(stand_in(Sleep, _last=last, hold=lambda memory: None,
                                      _edges=SimpleNamespace(largest_change=abs)), change, None)
            for change in (0.02, 0.15)]


def changes_of_bodies_in_sweeps():
    """Whether a factor serves sweeps over a body of which an edge has changed by so much."""
    own = SimpleNamespace(inertia=1.0, stiffness_factor=1.0)
    owner = SimpleNamespace(linear=SimpleNamespace(factored=1), hold_of=lambda memory: None,
                            edges=SimpleNamespace(largest_change=abs))
    posed = SimpleNamespace(owner=owner, stage=own, hold=None, lin=SimpleNamespace(x=0.0))
    sweeps = stand_in(ReusedFactorSweeps, posed=posed, _stamp=1, _rotations=None)
    return [ReusedFactorSweeps.serves(sweeps, change, own, SimpleNamespace(memory=None), True)
            for change in (0.1, 0.5)]


def rounding_of_rates():
    """Whether the smallest significant change of rates is more than 10⁻¹⁴ and less than 10⁻⁹ of them."""
    least = SolvedTree.rounding(stand_in(SolvedTree, constraint_solution=None), np.ones(2))
    return least > 1e-14, least < 1e-9


def inverses_of_trees():
    """Whether the inverses of 20 and of 200 rates are cached."""
    found = []
    for count in (20, 200):
        owner = SimpleNamespace(factor=SimpleNamespace(solve=lambda rhs: rhs))
        tree = stand_in(PosedTree, owner=owner, inverse=None)
        PosedTree.respond(tree, np.zeros((count, count)))
        found.append(tree.inverse is not None)
    return found


def rates_that_are_fast():
    """Whether steps with these rates [rad/s] are taken in one kernel."""
    with Interpreted(tree_step):
        return [tree_step.move_on(np.zeros(1, np.int32), np.full(1, -1, np.int32), np.zeros(1), 0.01,
                                  np.array([[rate]]), np.zeros((1, 1))) == tree_step.SLOW for rate in (1e3, 1e5)]


def rotations_near_an_axis():
    """Rates of bodies that rotate nearly about an axis, to the last bit."""
    inertia, found = np.diag([1.0, 2.0, 3.0])[None], []
    for off in (1e-8, 1e-4):
        before = np.array([[off, 0.0, 1.0]])
        found.append(restore_invariants(inertia, before, before * 1.001 + [[0.0, off, 0.0]]).tobytes())
    return found


def stretches_far_from_volume_one():
    """Stretches of product 1 nearest to far ones, to the last bit."""
    with Interpreted(projection_kernels):
        return [projection_kernels._nearest_of_volume_one(*stretches)
                for stretches in ((3.0, 0.2, 0.1), (1.33, 0.97, 0.18), (1e7, 1e-3, -1e3), (0.1, 0.1, 0.1))]


def thin_triangles_and_short_directions():
    """Which triangles with such squared areas have a rotation, and which directions of such lengths a stiffness."""
    work = np.zeros(triangle_kernels.WORK)
    table = work[:14 * LANES].reshape(14, LANES)
    squares = slice(triangle_kernels.SQUARES, triangle_kernels.SQUARES + 3)
    with Interpreted(triangle_kernels, lanes):
        table[squares, 0], table[squares, 1] = (1.0, np.sqrt(1.0 - 1e-10), 1.0), (1.0, np.sqrt(1.0 - 1e-5), 1.0)
        triangle_kernels._add_corotated(1.0, work)
        found = table[triangle_kernels.REGULAR, :2].tolist()
        table[:] = 0.0
        table[triangle_kernels.SQUARES, :2] = 1e-18, 1e-10
        triangle_kernels._add_direction(1.0, 0.0, 1.0, 0.0, np.inf, work)
        return found, (table[triangle_kernels.STIFF, :2] != 0.0).tolist()


UNITS = (
    dynamic_directions_that_depend, iterations_with_exact_inertia, corrections_that_are_too_long,
    corrections_within_rounding, changes_of_sleeping_bodies, changes_of_bodies_in_sweeps, rounding_of_rates,
    inverses_of_trees, rates_that_are_fast, rotations_near_an_axis, stretches_far_from_volume_one,
    thin_triangles_and_short_directions)
