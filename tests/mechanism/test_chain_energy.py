"""Semi-implicit steps of joints without damping: bounds on gained energy, and conservation of momentum."""

import numpy as np
import pytest
from matrix import some
from mechanisms import HINGE_ALONG_Y, mechanism_world, random_free_tree

from solver.simulate import Halved, Timeline, advance_frame

LINK = 0.2  #: [m]
BEARING = {"mu": 0.3, "radius": 0.02, "length": 0.04}


def chain(count, kind="revolute", **joint):
    """Links of 1 kg that hang on the world's origin, held out level along X."""
    shape = {"kind": "box", "params": {"size_x": LINK, "size_y": 0.02, "size_z": 0.02}}
    bodies = [{"name": f"Link {i}", "position": [(i + 0.5) * LINK, 0, 0], "mass": 1.0, "shape": shape}
              for i in range(count)]
    joints = [{"name": f"Joint {i}", "kind": kind, "child": f"Link {i}", "position": [i * LINK, 0, 0],
               "rotation": HINGE_ALONG_Y, **({"parent": f"Link {i - 1}"} if i else {}), **joint} for i in range(count)]
    return bodies, joints


def drop(count):
    """Return the potential energy that links lose until they hang straight down [J]."""
    return 9.81 * LINK * count**2 / 2


def gains(world, h, seconds):
    """Energy above that of the start after each step [J]."""
    state = world.initial_state()
    before, found = world.energy(state), []
    for _ in range(round(seconds / h)):
        state = world.step(state, h)
        found.append(world.energy(state) - before)
    return np.array(found)


@pytest.mark.parametrize(("kind", "count", "share"), some(
    [(kind, *links) for kind in ("revolute", "spherical") for links in ((2, 0.0), (5, 0.0), (10, 0.01), (20, 0.02))],
    *(("revolute", *links) for links in ((2, 0.0), (5, 0.0), (10, 0.01), (20, 0.02))), ("spherical", 2, 0.0)))
def test_a_chain_that_whips_gains_hardly_any_energy(tmp_path, kind, count, share):
    """And half as much at half the step; the ends of twenty links turn by a radian in one of 1/120 s."""
    world = mechanism_world(tmp_path, *chain(count, kind))
    coarse, fine = gains(world, 1 / 120, 4.0), gains(world, 1 / 240, 4.0)
    assert coarse.max() <= share * drop(count) and fine.max() <= 0.5 * share * drop(count)
    # it does move: it was down, and most of that was speed
    assert coarse.min() < -0.1 * drop(count)


def test_a_step_loses_less_energy_the_shorter_it_is(tmp_path):
    world = mechanism_world(tmp_path, *chain(1))
    lost = [-gains(world, 1 / rate, 4.0)[-1] for rate in (240, 480, 960)]
    assert 1.4 < lost[0] / lost[1] < lost[1] / lost[2] < 2.0


@pytest.mark.parametrize("count", [5, 8, 10, 12])
def test_a_chain_bakes_at_a_frame_a_step(tmp_path, count):
    """Steps in which it turns too far are halved, so nothing blows up."""
    world = mechanism_world(tmp_path, *chain(count))
    state, timeline, halved, found = world.initial_state(), Timeline(1, 97, 24, 1 / 24, 10), Halved(), []
    before = world.energy(state)
    for frame in range(2, 98):
        state = advance_frame(world, state, timeline, frame, halved=halved)
        found.append(world.energy(state) - before)
    assert max(found) < 0.05 * drop(count) and min(found) < -0.5 * drop(count)
    assert halved and "its path turned by" in halved.describe(2)


def test_a_wheel_turns_as_fast_as_it_likes(tmp_path):
    """Its centre goes nowhere, so its steps stay as long as they are."""
    disc = {"name": "Wheel", "shape": {"kind": "box", "params": {"size_x": 0.3, "size_y": 0.3, "size_z": 0.05}}}
    hinge = {"name": "Axle", "child": "Wheel", "rotation": HINGE_ALONG_Y, "rate": [100.0]}
    world, halved = mechanism_world(tmp_path, [disc], [hinge], gravity=[0, 0, 0]), Halved()
    state = world.initial_state()
    for frame in range(2, 26):
        state = advance_frame(world, state, Timeline(1, 25, 24, 1 / 24, 10), frame, halved=halved)
    assert not halved and state.u[0] == pytest.approx(100.0, rel=1e-12)


def test_a_chain_whose_pins_rub_only_loses_energy(tmp_path):
    world = mechanism_world(tmp_path, *chain(5, friction=BEARING), joint_friction={"kind": "bisp"})
    smooth = mechanism_world(tmp_path / "smooth", *chain(5))
    rubbing, plain = gains(world, 0.01, 4.0), gains(smooth, 0.01, 1.0)
    assert rubbing.max() <= 0.0
    # on the first fall, on which both take the same way
    assert (rubbing[:50] <= plain[:50] + 1e-5).all() and rubbing[40] < plain[40] - 0.5


def seen_where_solved(world, state, h):
    """Energy of motion [J] and momentum (3,) [N s] of a step's rates where it was linearised, at q − h u."""
    at, inertia = world.tree.posture(state.q - h * state.u, state.u, state.memory), world.tree.inertia
    own = np.einsum("nab,nb->na", inertia, at.twist)
    return 0.5 * np.vdot(at.twist, own), np.einsum("nab,nb->a", at.E[:, :3, :3], own[:, 3:])


@pytest.mark.parametrize("rate", [24, 100])
def test_without_forces_no_step_gains_energy_and_all_keep_momentum(tmp_path, rate):
    """A free tree with a ball, a universal joint and a slider, thrown about wildly."""
    bodies, joints = random_free_tree()
    for joint in joints:
        joint["rate"] = [4.0 * value for value in joint["rate"]]
    world, h = mechanism_world(tmp_path, bodies, joints, gravity=[0, 0, 0]), 1 / rate
    state = world.initial_state()
    energy, momentum = seen_where_solved(world, state, h)
    first = energy
    for _ in range(5 * rate):
        state = world.step(state, h)
        after, conserved = seen_where_solved(world, state, h)
        assert after <= energy * (1 + 1e-12)
        assert conserved == pytest.approx(momentum, abs=1e-11 * np.abs(momentum).max())
        energy = after
    assert energy < 0.99 * first
