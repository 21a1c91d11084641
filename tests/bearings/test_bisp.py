"""Friction inside joints: what joints carry, Coulomb's bounds, a pendulum that stops, and the maximal reference."""

import numpy as np
import pytest
from jointed import Dense, bearings, chain
from matrix import some
from scipy.integrate import solve_ivp
from trees import bias, random_state, random_tree

from solver.bearings.bearings import Bearing, BearingContacts, Bearings
from solver.bearings.bisp import Bisp
from solver.bearings.interface import Frictionless
from solver.bearings.shapes import JOINTS
from solver.bearings.staggered import Staggered
from solver.rows.names import NO_MULTIPLIERS, RowMultipliers

EXACT = {"passes": 100, "agreement": 1e-9}
G = 9.81
HANGING = np.array([[0, 1.0, 0], [0, 0, -1], [-1, 0, 0]])  # links along −Z, hinges along −Y


def carried(posed, table, u, along):
    at = BearingContacts(table, posed.parent, posed.dof, posed.E, posed.X, posed.S)
    return at, Bisp.compute_reactions(posed, posed.at_rates(u), at, along)


def kinds_of(tree, kinds):
    """In the tree's order."""
    return [kinds[int(name[1:])] for name in tree.joints]


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("springs", [False, True], ids=["plain", "springs_and_motors"])
def test_what_joints_carry_does_no_work(seed, springs):
    """Jᵀ f_α = 0, joint by joint and summed over bodies; with the springs' and motors' share left in it is not."""
    rng = np.random.default_rng(seed)
    kinds = list(rng.permutation([*JOINTS, *JOINTS, "fixed", "free"])[:9])
    tree = random_tree(rng, kinds)
    q, u, centres = random_state(rng, tree)
    half = rng.normal(size=(tree.rates, tree.rates)) * (np.arange(tree.rates)[:, None] == np.arange(tree.rates))
    posed = Dense(tree, q, u, 0.01, centres=centres, stiff=half**2 if springs else None,
                  push=rng.normal(size=tree.rates) if springs else None)
    table = bearings(tree, kinds_of(tree, kinds), 0.3)
    solution = Bisp(EXACT).solve(posed, table)
    assert solution.friction.value.any()
    at, transmitted = carried(posed, table, solution.u, solution.friction.value)
    size = np.abs(transmitted).max()
    owner = np.repeat(np.arange(tree.count), np.diff(tree.dof))
    assert np.abs(np.einsum("ma,ma->m", posed.S, transmitted[owner])).max() < 1e-10 * size
    assert np.abs(tree.gather(posed.at, at.add_opposites(transmitted))).max() < 1e-10 * size
    # and with all that is taken out it is the whole reaction
    along, _ = at.wrenches(solution.friction.value)
    whole = posed.at_rates(solution.u).reaction
    missing = tree.gather(posed.at, whole - at.add_opposites(transmitted + along))
    assert np.allclose(missing, posed.at_rates(solution.u).effort, atol=1e-10 * size)
    assert springs == bool(np.abs(missing).max() > 1e-3 * size)


def test_rod_tension_of_the_double_pendulum():
    """Against Newton's law on the lower rod with accelerations from the text-book's two equations."""
    rod, width, h = 1.0, 0.1, 1e-5
    tree = chain(2, rod, width, 100.0, turn=HANGING)
    m = tree.inertia[0, 5, 5]
    I = tree.inertia[0, 2, 2]
    one, two, w1, w2 = 0.4, -0.7, 2.0, -3.0  # angles from hanging down, and rates
    # L = ½(I + m/4 l²) (w1² + w2²) + ½ m l² w1² + ½ m l² w1 w2 cos(one − two) + m g l (3/2 cos one + ½ cos two)
    c, s = np.cos(one - two), np.sin(one - two)
    mass = np.array([[I + 1.25 * m * rod**2, 0.5 * m * rod**2 * c], [0.5 * m * rod**2 * c, I + 0.25 * m * rod**2]])
    force = np.array([-0.5 * m * rod**2 * w2**2 * s - 1.5 * m * G * rod * np.sin(one),
                      0.5 * m * rod**2 * w1**2 * s - 0.5 * m * G * rod * np.sin(two)])
    a1, a2 = np.linalg.solve(mass, force)
    along = np.array([np.sin(two), -np.cos(two)])
    x = lambda angle, rate, more: more * np.array([np.cos(angle), np.sin(angle)]) + rate**2 * np.array(  # noqa: E731
        [-np.sin(angle), np.cos(angle)])
    accelerated = rod * x(one, w1, a1) + 0.5 * rod * x(two, w2, a2)
    tension = -(m * (accelerated + [0.0, G])) @ along
    posed, finer = (Dense(tree, np.array([one, two - one]), np.array([w1, w2 - w1]), step, (0.0, 0.0, -G))
                    for step in (h, h / 2))
    assert posed.E[1, :3, 0] == pytest.approx([along[0], 0, along[1]])  # the tree hangs as the formulas say
    table = bearings(tree, ["revolute"] * 2, 0.0)
    found = []
    for each in (posed, finer):
        _, transmitted = carried(each, table, each.solve(np.zeros(2)).rates, np.zeros(2))
        found.append(-transmitted[1, 3] / each.h)
    # right to first order in the step; what is left of that is taken out
    assert found[0] == pytest.approx(tension, rel=1e-4) and 2 * found[1] - found[0] == pytest.approx(tension, rel=1e-8)
    assert tension > 3.0
    # as printed, without the quadratic velocities, it is another number
    posed.momentum = (np.einsum("nab,nb->na", tree.inertia, posed.at.twist)
                      + h * bias(tree, posed.at, (0.0, 0.0, -G)))
    _, printed = carried(posed, table, posed.solve(np.zeros(2)).rates, np.zeros(2))
    assert abs(-printed[1, 3] / h - tension) > 0.5 * tension


@pytest.mark.parametrize("seed", range(3))
def test_without_friction_it_is_the_plain_step(seed):
    rng = np.random.default_rng(seed)
    kinds = list(rng.permutation([*JOINTS, "fixed"]))
    tree = random_tree(rng, kinds)
    q, u, centres = random_state(rng, tree)
    posed = Dense(tree, q, u, 0.01, centres=centres)
    plain = Frictionless({}).solve(posed, bearings(tree, kinds_of(tree, kinds), 0.3)).u
    assert np.allclose(plain, np.linalg.solve(posed.A, posed.b))
    frictionless = Bisp(EXACT).solve(posed, bearings(tree, kinds_of(tree, kinds), 0.0))
    assert np.abs(frictionless.u - plain).max() < 1e-12 * np.abs(plain).max()
    rough = Bisp(EXACT).solve(posed, bearings(tree, kinds_of(tree, kinds), 0.3))
    assert np.abs(rough.u - plain).max() > 1e-4 * np.abs(plain).max()


@pytest.mark.parametrize("seed", range(3))
def test_friction_is_within_its_bound_and_against_the_slip(seed):
    """Coulomb: no impulse exceeds μ |α|, a line that slips has all of it, against its slip; one that has less sticks.

    For one tangent this is the circular cone; the excess over it where a joint has two is printed.
    """
    rng = np.random.default_rng(seed)
    kinds = list(rng.permutation([*JOINTS, *JOINTS]))
    tree = random_tree(rng, kinds)
    q, u, centres = random_state(rng, tree)
    posed = Dense(tree, q, 0.05 * u, 0.01, centres=centres)
    table = bearings(tree, kinds_of(tree, kinds), 0.3, radius=0.1)
    solution = Bisp({"passes": 300, "agreement": 1e-10}).solve(posed, table)
    assert solution.converged
    at, transmitted = carried(posed, table, solution.u, solution.friction.value)
    loads = at.loads(transmitted, None)
    most, slip = at.bounds(loads), at.rows.G @ solution.u
    assert (np.abs(solution.friction.value) - most).max() < 1e-8 * most.max()
    slides = np.abs(slip) > 1e-5
    assert np.allclose(solution.friction.value[slides], -np.sign(slip[slides]) * most[slides], rtol=1e-6)
    assert slides.any() and (~slides).any()
    worst = 0.0
    for group, load, along in zip(table.groups, loads, table.split(solution.friction.value)):
        if group.lead.shape[1] == len(group.line) > 1:
            both = np.linalg.norm(along.reshape(len(along), -1, 2), axis=2)
            worst = max(worst, float((both / np.maximum(group.bounds(load)[0][:, ::2], 1e-300)).max()))
    print(f"two tangents: {worst:.3f} of the circular cone")
    assert worst <= np.sqrt(2.0) + 1e-6


@pytest.mark.parametrize("passes", [1, 2, 3, 5])
def test_friction_is_within_its_bound_also_where_passes_run_out(passes):
    rng = np.random.default_rng(1)
    kinds = list(rng.permutation([*JOINTS, *JOINTS]))
    tree = random_tree(rng, kinds)
    q, u, centres = random_state(rng, tree)
    posed = Dense(tree, q, 0.05 * u, 0.01, centres=centres)
    table = bearings(tree, kinds_of(tree, kinds), 0.6, radius=0.2)
    solution = Bisp({"passes": passes, "agreement": 1e-10}).solve(posed, table)
    assert not solution.converged and solution.sweeps == passes
    most = carried(posed, table, solution.u, solution.friction.value)[0].bounds(solution.loads)
    assert (np.abs(solution.friction.value) <= most * (1.0 + 1e-12)).all()


def stopping_time(mu, radius, angle, rod=1.0, width=0.1):
    """Return when a rod on a pin with torque μ R |F_r| stops, F_r its exact radial load, by DOP853 in half swings."""
    inertia = (rod**2 + width**2) / 12.0 + 0.25 * rod**2  # about the pin, of one kilogram

    def motion(t, y):
        theta, rate = y
        turn = 0.0
        for _ in range(60):  # the load holds the acceleration
            a = (-0.5 * rod * G * np.sin(theta) - turn) / inertia
            radial = np.hypot(0.5 * rod * rate**2 + G * np.cos(theta), 0.5 * rod * a + G * np.sin(theta))
            turn = mu * radius * radial * way
        return rate, a

    def turns(t, y):
        return y[1]

    turns.terminal = True
    time = 0.0
    while True:
        at_rest = np.hypot(G * np.cos(angle), G * np.sin(angle))
        if 0.5 * rod * G * abs(np.sin(angle)) <= mu * radius * at_rest:
            return time, angle
        way = -np.sign(angle)
        first = (angle + 1e-9 * way, 1e-9 * way)
        turns.direction = -way
        swing = solve_ivp(motion, (0.0, 5.0), first, "DOP853", events=turns, rtol=1e-10, atol=1e-12)
        time, angle = time + swing.t_events[0][0], swing.y_events[0][0][0]


@pytest.mark.parametrize("radius", some([0.06, 0.1], 0.1))
def test_pendulum_with_a_rough_pin_stops_when_its_equation_says(radius):
    mu, angle, h = 0.3, 0.45, 4e-3
    tree = chain(1, 1.0, 0.1, 100.0, turn=HANGING)
    table = bearings(tree, ["revolute"], mu, radius)
    law = Bisp({"passes": 50, "agreement": 1e-8})
    q, u, guess, moving = np.array([angle]), np.zeros(1), NO_MULTIPLIERS, 0.0
    for step in range(int(12.0 / h)):
        solution = law.solve(Dense(tree, q, u, h), table, guess)
        u, guess = solution.u, solution.friction
        q = q + h * u
        if abs(u[0]) > 1e-9:
            moving = (step + 1) * h
        elif step * h > moving + 0.1:
            break
    expected, rest = stopping_time(mu, radius, angle)
    assert 2.0 < expected < 8.0
    assert moving == pytest.approx(expected, rel=0.02)
    assert q[0] == pytest.approx(rest, abs=0.02 * angle)


def test_staggered_projections_give_the_same_chain():
    """With equal points and regularisation the maximal reference agrees along a chain that falls."""
    n, h = 4, 5e-3
    turn = np.array([[1.0, 0, 0], [0, 1, -1], [0, 1, 1]]) / np.array([[1], [np.sqrt(2)], [np.sqrt(2)]])
    tree = chain(n, 0.3, 0.05, turn=turn)
    table = bearings(tree, ["revolute"] * n, 0.3, 0.03, 0.06)
    q, u, guess, warm, away, passes = np.zeros(n), np.zeros(n), NO_MULTIPLIERS, NO_MULTIPLIERS, [], []
    for step in range(30):
        posed = Dense(tree, q, u, h)
        solution = Bisp({"passes": 100, "agreement": 1e-10}).solve(posed, table, guess)
        if step % 5 == 4:
            beside = Staggered({"passes": 400, "agreement": 1e-7}).solve(posed, table, warm)
            warm = beside.friction
            away.append(np.abs(beside.u - solution.u).max() / np.abs(solution.u).max())
            passes.append((solution.sweeps, beside.sweeps))
            braked = np.abs(posed.solve(np.zeros(n)).rates - solution.u).max() / np.abs(solution.u).max()
            assert braked > 50.0 * away[-1]
        u, guess = solution.u, solution.friction
        q = q + h * u
    print("apart by", away, "passes", passes)
    assert max(away) < 2e-4


def test_staggered_projections_start_warm_where_the_last_step_ended():
    """From the friction of all points, not of one in each bearing, the same step takes a few passes."""
    n, h = 3, 5e-3
    tree = chain(n, 0.3, 0.05)
    posed = Dense(tree, np.array([0.3, -0.4, 0.2]), np.array([3.0, -5.0, 2.0]), h)
    table = bearings(tree, ["revolute"] * n, 0.3, 0.03, 0.06)
    law = Staggered({"passes": 400, "agreement": 1e-7})
    cold = law.solve(posed, table)
    warm = law.solve(posed, table, cold.friction)
    assert len(cold.friction.value) == table.tangents > table.lines
    assert cold.converged and warm.converged and 2 * warm.sweeps < cold.sweeps
    assert np.abs(warm.u - cold.u).max() <= 1e-6 * np.abs(cold.u).max()


def test_one_sided_points_shift_the_load_by_the_friction_angle():
    """With α ≥ 0, as printed, a bearing rubs on its loaded side alone and brakes a little less or more."""
    tree = chain(2, 0.3, 0.05)
    posed = Dense(tree, np.array([0.3, -0.4]), np.array([3.0, -5.0]), 5e-3)
    table = bearings(tree, ["revolute"] * 2, 0.3, 0.03, 0.06)
    law = Staggered({"passes": 100, "agreement": 1e-7})
    both = law.solve(posed, table)
    law.one_sided = True
    one = law.solve(posed, table)
    braked = np.abs(posed.solve(np.zeros(2)).rates - both.u).max()
    assert one.converged and 1e-4 * braked < np.abs(one.u - both.u).max() < 0.1 * braked
    assert all((load[:, :12] >= 0.0).all() for load in one.loads)


def energy(tree, q, u):
    at = tree.posture(q, u, tree.fresh)
    return 0.5 * np.einsum("na,nab,nb->", at.twist, tree.inertia, at.twist) + G * tree.inertia[:, 5, 5] @ at.E[:, 2, 3]


def test_friction_takes_energy_and_warm_starts_save_passes():
    n, h = 5, 4e-3
    tree = chain(n, 0.3, 0.05, turn=np.array([[1.0, 0, 0], [0, 0, -1], [0, 1, 0]]))
    table = bearings(tree, ["revolute"] * n, 0.4, 0.02)
    law = Bisp({"passes": 50, "agreement": 1e-8})
    q, u, guess = np.zeros(n), np.zeros(n), NO_MULTIPLIERS
    smooth, rate = q.copy(), u.copy()
    first = energy(tree, q, u)
    rises, drifts, warm, cold = [], [], 0, 0
    for _ in range(150):
        posed = Dense(tree, q, u, h)
        solution = law.solve(posed, table, guess)
        again = law.solve(posed, table)
        assert np.abs(again.u - solution.u).max() < 1e-6 * (1.0 + np.abs(solution.u).max())
        warm, cold = warm + solution.sweeps, cold + again.sweeps
        u, guess = solution.u, solution.friction
        q = q + h * u
        rises.append(energy(tree, q, u) - first)
        rate = Dense(tree, smooth, rate, h).solve(np.zeros(n)).rates
        smooth = smooth + h * rate
        drifts.append(energy(tree, smooth, rate) - first)
    assert max(rises) <= max(max(drifts), 0.0)
    assert rises[-1] < drifts[-1] - 0.1
    assert warm < 0.95 * cold


@pytest.mark.parametrize("law", [Bisp, Staggered])
def test_a_step_starts_from_the_friction_of_the_same_bearings(law):
    """By name: of bearings that are listed in another order, and without what others had."""
    n = 3
    tree = chain(n, 0.3, 0.05)
    posed = Dense(tree, np.array([0.3, -0.4, 0.2]), np.array([3.0, -5.0, 2.0]), 5e-3)
    solve, table = law({"passes": 400, "agreement": 1e-6}).solve, bearings(tree, ["revolute"] * n, 0.3, 0.03, 0.06)
    cold = solve(posed, table)
    friction = cold.friction
    assert len(np.unique(friction.name)) == len(friction.name) and not friction.at(friction.name[:2] + 1000).any()
    seats = [Bearing(JOINTS["revolute"][0], 0.3, 0.03, 0.06, 12, i, i, int(tree.parent[i]), tree.in_child[i])
             for i in (2, 0, 1)]
    turned = Bearings(seats, tree.inertia, tree.in_child)
    assert solve(posed, turned, friction).sweeps == solve(posed, table, friction).sweeps < cold.sweeps
    assert (friction.at(turned.name) == friction.at(table.name)[[2, 0, 1]]).all()
    foreign = RowMultipliers(friction.name + 1000, 10.0 * friction.value)
    assert solve(posed, table, foreign).u.tobytes() == cold.u.tobytes()


def test_nothing_to_rub_is_the_plain_step():
    tree = chain(2)
    posed = Dense(tree, np.zeros(2), np.ones(2), 0.01)
    solution = Bisp(EXACT).solve(posed, bearings(tree, ["fixed"] * 2, 0.3))
    assert np.allclose(solution.u, posed.solve(np.zeros(2)).rates) and solution.friction.value.shape == (0,)
