"""ConJac's positions with static friction: the law alone, and landings."""

from dataclasses import replace

import numpy as np
import pytest
from bodies import box, make, nearest

from solver.contact.find.ground import Ground
from solver.contact.laws.ground_penalty import GroundPenalty
from solver.contact.laws.static_friction import STUCK_NODES, StaticFriction
from solver.state import State

POINT = np.array([0.3, -0.2, 0.1])  # that the ground goes along with


def gripping(rng, count=12):
    """Some hold and some slide: how far each is from its anchor is up to twice what its load holds."""
    normal = rng.normal(size=(count, 3))
    normal /= np.linalg.norm(normal, axis=1)[:, None]
    stiffness, most = rng.uniform(1.0, 9.0, count), rng.uniform(0.5, 2.0, count)
    grip = StaticFriction(np.arange(count, dtype=np.int32), normal, rng.normal(size=(count, 3)), most, stiffness, POINT)
    way = rng.normal(size=(count, 3))
    across = way - np.einsum("ka,ka->k", way, normal)[:, None] * normal
    size = rng.uniform(0.0, 2.0, count) * most / stiffness / np.linalg.norm(across, axis=1)
    return grip, grip.anchors + size[:, None] * across + 0.3 * normal


def force_at(grip, x):
    force = np.zeros_like(x)
    return force, grip.add_force(x, force)


def test_its_force_is_the_slope_of_its_energy_within_coulomb_s_bound():
    grip, x = gripping(np.random.default_rng(2))
    force, _ = force_at(grip, x)
    slope = np.zeros_like(x)
    for i, a in np.ndindex(x.shape):
        step = np.zeros_like(x)
        step[i, a] = 1e-6
        slope[i, a] = (force_at(grip, x + step)[1] - force_at(grip, x - step)[1]) / 2e-6
    assert force == pytest.approx(-slope, abs=1e-7)
    size = np.linalg.norm(force, axis=1)
    assert (size <= grip.bound * (1 + 1e-12)).all()
    assert 3 <= (size < 0.999 * grip.bound).sum() <= 9
    assert np.abs(np.einsum("ka,ka->k", force, grip.normal)).max() <= 1e-12


def test_its_stiffness_is_that_of_a_parabola_above_the_energy():
    rng = np.random.default_rng(3)
    grip, x = gripping(rng)
    force, energy = force_at(grip, x)
    blocks = np.zeros((len(x), 3, 3))
    grip.add_stiffness(x, blocks)
    for size in (1e-3, 0.1, 3.0):
        moved = size * rng.normal(size=x.shape)
        parabola = energy - np.vdot(force, moved) - 0.5 * np.einsum("ka,kab,kb->", moved, blocks, moved)
        assert force_at(grip, x + moved)[1] <= parabola + 1e-12


def test_what_slides_drags_its_anchor_and_is_braked_as_before():
    grip, x = gripping(np.random.default_rng(4))
    memory = grip.record_anchors(x)
    law = GroundPenalty(Ground(POINT, np.ones(3)), grip.stiffness, np.ones(len(x), dtype=bool))
    anchored = law.anchors(memory, x, 0.0) + POINT
    force, again = force_at(grip, x)[0], force_at(replace(grip, anchors=anchored), x)
    assert again[0] == pytest.approx(force, abs=1e-12)
    across = x - anchored - np.einsum("ka,ka->k", x - anchored, grip.normal)[:, None] * grip.normal
    assert (np.linalg.norm(across, axis=1) <= grip.bound / grip.stiffness * (1 + 1e-12)).all()
    # who has none yet begins where it is, and an anchor goes with the ground
    assert np.array_equal(law.anchors({}, x, 0.0), x - POINT)


def uneven(**settings):
    """A block of uneven tetrahedra and its state as it lands."""
    nodes, tets = box((4, 3, 3), (0.4, 0.3, 0.3))
    rng = np.random.default_rng(6)
    inside = (nodes > 1e-9).all(axis=1) & (nodes < np.array([0.4, 0.3, 0.3]) - 1e-9).all(axis=1)
    bottom = (nodes[:, 2] < 1e-9) & (nodes[:, :2] > 1e-9).all(axis=1) & (nodes[:, :2] < [0.4 - 1e-9, 0.3 - 1e-9]).all(
        axis=1)
    nodes[inside] += rng.uniform(-0.03, 0.03, (int(inside.sum()), 3))
    nodes[bottom, :2] += rng.uniform(-0.03, 0.03, (int(bottom.sum()), 2))
    corners = [nearest(nodes, at) for at in [(0, 0, 0.3), (0.4, 0, 0.3), (0.4, 0.3, 0.0), (0, 0.3, 0.0)]]
    world = make(nodes, tets, young=3e4, dynamic=corners, ground=(0.0, 3000.0), friction=("coulomb", 0.5), **settings)
    q = nodes[world.coordinates.free] + [0.0, 0.0, 0.01]
    return world, State(0.0, q.ravel(), np.tile([0.0, 0.0, -2.0], (len(q), 1)).ravel())


@pytest.mark.parametrize("integrator, most, way", [("semi_implicit", 0.3, 0.05), ("backward_euler", 0.3, 2e-3)])
def test_what_balances_stays_where_a_body_lands_on_few_dynamic_nodes(integrator, most, way):
    """Touching nodes at their fastest step, load-weighted: 3.5 and 5.4 m/s where velocities alone feel friction, and
    the second one then goes 4 cm aside."""
    world, state = uneven(integrator=integrator)
    x = at_start = world.coordinates.positions(state.q, 0.0)
    for _ in range(14):
        state = world.step(state, 1 / 100)
        last, x = x, world.coordinates.positions(state.q, state.time)
        load = np.maximum(-x[:, 2], 0.0)
        if load.any():
            assert load @ np.linalg.norm((x - last)[:, :2], axis=1) / load.sum() * 100 <= most
    assert np.linalg.norm(world.mass @ (x - at_start)[:, :2]) / world.mass.sum() <= way


@pytest.mark.parametrize("integrator", ["semi_implicit", "backward_euler"])
def test_a_run_that_goes_on_in_mid_contact_has_the_same_bytes(integrator):
    world, state = uneven(integrator=integrator)
    for _ in range(5):
        state = world.step(state, 1 / 100)
    assert len(state.memory[STUCK_NODES]) > 4
    world.forget_past()
    other = uneven(integrator=integrator)[0]
    memory = {key: values.copy() for key, values in state.memory.items()}
    again = State(state.time, state.q.copy(), state.u.copy(), memory)
    for _ in range(3):
        state, again = world.step(state, 1 / 100), other.step(again, 1 / 100)
    assert np.array_equal(state.q, again.q) and np.array_equal(state.u, again.u)
    assert all(np.array_equal(values, again.memory[key]) for key, values in state.memory.items())
    # what is forgotten of the anchors is missed
    bare = State(again.time, again.q, again.u)
    assert not np.array_equal(world.step(state, 1 / 100).q, other.step(bare, 1 / 100).q)
