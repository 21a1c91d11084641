"""A step of Vanilla and of ConJac against dense algebra. [ConJac 6-13]"""

from dataclasses import replace

import numpy as np
import pytest
import scipy.linalg
from bodies import box, make, nearest, positions, rows, run, stiffness

from solver.coordinates.floating import evaluate_rigid_field
from solver.nonlinear.equilibrium import equilibrium
from solver.parts.stage import NodeStage
from solver.state import State

H = 1 / 120


def left_end(nodes):
    return np.flatnonzero(nodes[:, 0] < 1e-9)


def shaken(world, seed=0, size=1e-3):
    """A state away from balance, with velocities."""
    state = world.initial_state()
    rng = np.random.default_rng(seed)
    q = state.q + size * rng.normal(size=state.q.shape)
    return State(0.0, q, 0.1 * rng.normal(size=state.q.shape))


def stage_of(world, lin, time, h):
    """Semi-implicit Euler's stage."""
    w = world.coordinates.compute_prescribed_velocity(time, h)
    return NodeStage(h, 1.0, 1.0, time + h, None, lin.v, w, beta=world.condensation.beta)


def posed(world, state, h=H):
    lin = world.linearise(state)
    return lin, world.condensation.pose(lin, stage_of(world, lin, state.time, h))


def test_vanilla_step_is_the_dense_step():
    nodes, tets = box()
    world = make(nodes, tets, pinned=left_end(nodes), method="vanilla", beta=0.7)
    state = shaken(world)
    after = world.step(state, H)
    K, f = stiffness(world, positions(world, state))
    free = rows(world.coordinates.free)
    M = np.diag(np.repeat(world.mass, 3))[np.ix_(free, free)]
    v = np.linalg.solve(M - 0.7 * H**2 * K[np.ix_(free, free)], M @ state.u + H * f[free])
    assert np.abs(after.u - v).max() <= 1e-10 * np.abs(v).max()
    assert np.abs(after.q - (state.q + H * after.u)).max() == 0.0


@pytest.mark.parametrize("linear", ["cholmod", "cvxopt", "superlu"])
@pytest.mark.parametrize("support", ["pinned", "free"])
def test_conjac_step_is_the_dense_step(linear, support):
    nodes, tets = box((5, 2, 2), (0.1, 0.04, 0.04))
    pinned = left_end(nodes) if support == "pinned" else np.zeros(0, int)
    dynamic = [nearest(nodes, p) for p in [(0.1, 0, 0), (0.06, 0.04, 0.04), (0.02, 0.04, 0)]]
    world = make(nodes, tets, pinned=pinned, dynamic=dynamic, beta=0.6, gamma=0.4, linear=linear)
    state = shaken(world)
    after = world.step(state, H)

    x = positions(world, state)
    K, f = stiffness(world, x)
    d = rows(dynamic)
    q = np.setdiff1d(rows(world.coordinates.free), d)
    J = np.zeros((len(K), len(d)))
    J[d] = np.eye(len(d))
    J[q] = -np.linalg.solve(K[np.ix_(q, q)], K[np.ix_(q, d)])
    M = np.repeat(world.mass, 3)
    v0 = world.coordinates.spread(state.u, None).ravel()
    v = J @ np.linalg.solve(J.T @ (np.diag(M) - 0.6 * H**2 * K) @ J, J.T @ (M * v0 + H * f))
    # a, the rigid part of the step's acceleration: least squares over six motions, weighted by mass
    rigid = np.zeros(len(K))
    if support == "free":
        field = evaluate_rigid_field(x, x.mean(axis=0), 1.0).reshape(-1, 6)
        rigid = field @ np.linalg.solve(field.T @ (M[:, None] * field), field.T @ (M * (v - v0) / H))
    b = np.zeros(len(K))
    b[q] = -np.linalg.solve(K[np.ix_(q, q)], (f - M * rigid)[q]) / H
    assert (np.abs(rigid).max() > 0) == (support == "free")
    free = rows(world.coordinates.free)
    assert np.abs(after.u - v[free]).max() <= 1e-9 * np.abs(v).max()
    moved = H * (v + 0.4 * b)[free]
    assert np.abs(after.q - state.q - moved).max() <= 1e-9 * np.abs(moved).max()


def test_with_every_node_dynamic_conjac_is_vanilla():
    nodes, tets = box((4, 2, 2), (0.08, 0.04, 0.04))
    pinned = left_end(nodes)
    free = np.setdiff1d(np.arange(len(nodes)), pinned)
    conjac = make(nodes, tets, pinned=pinned, dynamic=free, beta=0.8)
    vanilla = make(nodes, tets, pinned=pinned, method="vanilla", beta=0.8)
    state = shaken(vanilla)
    a, b = conjac.step(state, H), vanilla.step(state, H)
    assert np.abs(a.u - b.u).max() <= 1e-10 * np.abs(b.u).max()
    assert np.abs(a.q - b.q).max() <= 1e-10 * np.abs(b.q - state.q).max()


def test_all_but_one_node_dynamic():
    nodes, tets = box((4, 2, 2), (0.08, 0.04, 0.04))
    pinned, quiet = left_end(nodes), nearest(nodes, (0.04, 0.02, 0.02))
    dynamic = np.setdiff1d(np.arange(len(nodes)), np.append(pinned, quiet))
    world = make(nodes, tets, pinned=pinned, dynamic=dynamic)
    state = shaken(world)
    K, _ = stiffness(world, positions(world, state))
    step = posed(world, state)[1]
    J = -np.linalg.solve(K[np.ix_(rows([quiet]), rows([quiet]))], K[np.ix_(rows([quiet]), rows(dynamic))])
    assert np.abs(step.motion.jacobian - J).max() <= 1e-10


def test_reduced_stiffness_is_the_schur_complement():
    nodes, tets = box()
    dynamic = [nearest(nodes, p) for p in [(0.16, 0, 0), (0.1, 0.04, 0.04)]]
    world = make(nodes, tets, pinned=left_end(nodes), dynamic=dynamic)
    state = shaken(world)
    K, _ = stiffness(world, positions(world, state))
    d = rows(dynamic)
    q = np.setdiff1d(rows(world.coordinates.free), d)
    schur = K[np.ix_(d, d)] - K[np.ix_(d, q)] @ np.linalg.solve(K[np.ix_(q, q)], K[np.ix_(q, d)])
    lin, step = posed(world, state)
    got = world.condensation._multiply_retained_rows(lin, step.motion.jacobian, np.eye(step.motion.jacobian.shape[1]))
    assert np.abs(got - got.T).max() <= 1e-9 * np.abs(got).max()
    assert np.abs(got - schur).max() <= 1e-9 * np.abs(schur).max()
    assert np.linalg.eigvalsh(got).max() < 0.0  # K = ∂f/∂x keeps its sign


def test_jacobian_is_the_slope_of_the_quasistatic_solution():
    """Projection off, at equilibrium: move a dynamic node, let the rest find balance again."""
    nodes, tets = box((6, 2, 2), (0.12, 0.04, 0.04))
    tip = nearest(nodes, (0.12, 0.02, 0.04))
    world = make(nodes, tets, pinned=left_end(nodes), dynamic=[tip], project=False, young=2e4)
    start = nodes.copy()
    start[tip] += [0.0, 0.0, -0.008]
    quiet = np.setdiff1d(world.coordinates.free, [tip]).astype(np.int32)

    def balanced(x):
        return equilibrium(world, x, 0.0, quiet, world.tets, type(world.linear)(), tolerance=1e-12)

    x = balanced(start)
    state = State(0.0, x[world.coordinates.free].ravel(), np.zeros(3 * len(world.coordinates.free)))
    step = posed(world, state)[1]
    inner = world.condensation.pattern.order[:-1]
    for axis in range(3):
        moved = []
        for sign in (1, -1):
            trial = x.copy()
            trial[tip, axis] += sign * 1e-5
            moved.append(balanced(trial))
        slope = (moved[0] - moved[1])[inner].ravel() / 2e-5
        assert np.abs(step.motion.jacobian[:, axis] - slope).max() <= 1e-5


@pytest.mark.parametrize("beta", [0.5, 1.0, 3.7])
def test_update_matrix_has_the_scalar_step_s_eigenvalues(beta):
    """q̈ + ω²q = 0 under v = (v⁰ − hω²x⁰)/(1 + βh²ω²), x = x⁰ + hv, for each ω² of (−JᵀKJ, JᵀMJ).

    J, M and K are dense; the world's posed step is asked for its answer to each unit of (x_d, v_d), forces linear.
    """
    nodes, tets = box()
    dynamic = [nearest(nodes, p) for p in [(0.16, 0, 0), (0.1, 0.04, 0.04)]]
    world = make(nodes, tets, pinned=left_end(nodes), dynamic=dynamic, beta=beta, gravity=(0, 0, 0))
    K, _ = stiffness(world, nodes)
    d, free = rows(dynamic), rows(world.coordinates.free)
    q = np.setdiff1d(free, d)
    J = np.zeros((len(K), len(d)))
    J[d, np.arange(len(d))] = 1.0
    J[q] = -np.linalg.solve(K[np.ix_(q, q)], K[np.ix_(q, d)])
    omega2 = scipy.linalg.eigh(-J.T @ K @ J, J.T @ (np.repeat(world.mass, 3)[:, None] * J), eigvals_only=True)

    lin, update = world.linearise(world.initial_state()), np.zeros((2 * len(d), 2 * len(d)))
    for k in range(2 * len(d)):
        move = J[:, k % len(d)].reshape(-1, 3)
        x, v = (move, 0.0 * move) if k < len(d) else (0.0 * move, move)
        moved = replace(lin, force=(K @ x.ravel()).reshape(-1, 3))
        step = world.condensation.pose(moved, NodeStage(H, 1.0, 1.0, H, None, v, None, beta=world.condensation.beta))
        u, gained = np.zeros(len(K)), np.zeros(len(K))
        u[free] = step.solve()
        gained[free] = step.correction(u[free])
        assert np.abs(H * gained).max() <= 1e-9  # a shape in balance is owed nothing
        update[:, k] = np.concatenate([(x.ravel() + H * u)[d], u[d]])
    got = np.linalg.eigvals(update)

    for w in omega2:
        a = 1.0 / (1.0 + beta * H**2 * w)
        for value in np.linalg.eigvals(np.array([[1 - H**2 * w * a, H * a], [-H * w * a, a]])):
            assert np.abs(got - value).min() <= 1e-8


def test_step_halves_nothing_of_the_old_state():
    nodes, tets = box()
    world = make(nodes, tets, pinned=left_end(nodes), dynamic=[nearest(nodes, (0.16, 0, 0))])
    state = shaken(world)
    q, u = state.q.copy(), state.u.copy()
    world.step(state, H)
    assert np.array_equal(state.q, q) and np.array_equal(state.u, u)


def test_two_runs_give_the_same_bytes():
    nodes, tets = box()
    first, second = (make(nodes, tets, pinned=left_end(nodes), dynamic=[nearest(nodes, (0.16, 0, 0))])
                     for _ in range(2))
    a, b = run(first, 20), run(second, 20)
    assert a.q.tobytes() == b.q.tobytes() and a.u.tobytes() == b.u.tobytes()
