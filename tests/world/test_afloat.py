"""A floating body under stress is supported by its inertia alone, whichever nodes its anchors are."""

import numpy as np
import pytest
from bodies import NONE, box, make, nearest, positions, stiffness

from benchmarks import impacts
from solver.coordinates.floating import evaluate_rigid_field
from solver.coordinates.patches import Patch, mean, mean_and_rotation
from solver.parts.stage import NodeStage
from solver.state import State

H, BETA, GAMMA = 1 / 96, 0.6, 0.4
NODES, TETS = box((4, 2, 2), (0.08, 0.04, 0.04))


def floating(ways, **more):
    spots = [np.flatnonzero(np.linalg.norm(NODES - at, axis=1) <= 0.021).astype(np.int32)
             for at in [(0.08, 0.02, 0.04), (0.0, 0.0, 0.0)]]
    patches = [Patch(spot, ways) for spot in spots] if ways else []
    return make(NODES, TETS, pinned=NONE, young=5e3, patches=patches, **more)


def stressed(world, seed=0):
    rng = np.random.default_rng(seed)
    x = NODES * [0.8, 1.1, 1.1] + 5e-4 * rng.normal(size=NODES.shape)
    return State(0.0, x.ravel(), 0.1 * rng.normal(size=x.size))


@pytest.mark.parametrize("ways", [None, mean, mean_and_rotation])
def test_a_step_of_what_floats_under_stress_is_the_dense_step(ways):
    """With multipliers of momentum, and none on any node."""
    world = floating(ways, beta=BETA, gamma=GAMMA)
    state = stressed(world)
    after = world.step(state, H)

    x = positions(world, state)
    K, f = stiffness(world, x)
    M = np.repeat(world.mass, 3)
    centre = world.mass @ x / world.mass.sum()
    R = evaluate_rigid_field(x, centre, 0.08).reshape(-1, 6)
    MR = M[:, None] * R
    C = world.condensation.patches.rows(x).reshape(-1, x.size).T
    C = C - MR @ np.linalg.solve(R.T @ MR, R.T @ C)
    balance = np.linalg.inv(np.block([[K, MR], [MR.T, np.zeros((6, 6))]]))[: x.size]
    V = np.concatenate([balance[:, x.size:], balance[:, : x.size] @ C], axis=1)
    v = V @ np.linalg.solve(V.T @ (np.diag(M) - BETA * H**2 * K) @ V, V.T @ (M * state.u + H * f))
    assert np.abs(after.u - v).max() <= 1e-9 * np.abs(v).max()

    # b balances f with the amplitudes held, and moves neither the middle nor the turn
    b = -balance[:, : x.size] @ f
    if C.shape[1]:
        ways_of = balance[:, : x.size] @ C
        b -= ways_of @ np.linalg.solve(C.T @ ways_of, C.T @ b)
    moved = after.q - state.q - H * v
    assert np.abs(moved).max() > 1e-5
    assert np.abs(moved - (moved @ b) / (b @ b) * b).max() <= 1e-7 * np.abs(moved).max()


def test_what_mirrors_itself_follows_alike_on_both_sides():
    """Anchors stand on one side: held by them, velocities differed by a hundredth and more."""
    nodes, tets = impacts.mirrored((4, 4, 4), (0.2, 0.2, 0.2))
    places = [[x, y, z] for x in (-0.1, 0.1) for y in (-0.1, 0.1) for z in (-0.1, 0.1)]
    patches = [Patch(np.flatnonzero(np.linalg.norm(nodes - at, axis=1) <= 0.06).astype(np.int32), mean_and_rotation)
               for at in places]
    world = make(nodes, tets, pinned=NONE, young=3e4, patches=patches)
    pressed = nodes * [1.2, 1.2, 0.5] + 0.1 * np.abs(nodes[:, :1]) * nodes
    other = np.array([nearest(nodes, at * [-1.0, 1.0, 1.0]) for at in nodes])
    lin = world.linearise(State(0.0, pressed.ravel(), np.zeros(pressed.size)))
    stage = NodeStage(H, 1.0, 1.0, H, None, lin.v, None, beta=1.0)
    inertia = world.condensation.inertia(lin, stage, False)

    v = np.random.default_rng(3).normal(size=nodes.shape)
    here, there = inertia.velocities(v), inertia.velocities(v[other] * [-1.0, 1.0, 1.0])
    assert np.abs(there - here[other] * [-1.0, 1.0, 1.0]).max() <= 1e-10 * np.abs(here).max()
    # and what of the curvature conjugate gradients are given is all of it
    W = inertia.columns.reshape(-1, inertia.columns.shape[2])
    whole = inertia.times(v).ravel()
    assert np.abs(W @ (W.T @ v.ravel()) - whole).max() <= 1e-10 * np.abs(whole).max()
