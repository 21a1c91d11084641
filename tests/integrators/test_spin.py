"""Keep Spin: what flies freely keeps its angular momentum, and nothing else changes."""

import numpy as np
import pytest
from bodies import NONE, box, make, nearest, positions, run

from solver.coordinates.prescribed import Motion
from solver.integrators.spin import spin

SPOTS = [(0.0, 0.0, 0.0), (0.16, 0.04, 0.0)]


def world_of(method, keep=True, nodes=None, tets=None, **settings):
    if nodes is None:
        nodes, tets = box()
    dynamic = [nearest(nodes, spot) for spot in SPOTS] if method == "conjac" else NONE
    return nodes, make(nodes, tets, **{"young": 1e7, "gravity": (0, 0, 0), "beta": 1.0, "dynamic": dynamic,
                                       "method": method, "keep_spin": keep, **settings})


def turning(world, nodes, omega, drift=(0.0, 0.0, 0.0)):
    state = world.initial_state()
    v = np.cross(omega, nodes - nodes.mean(axis=0)) + drift
    return type(state)(0.0, state.q, v[world.coordinates.free].ravel(), state.memory)


def momentum(world, state, part=slice(None)):
    return spin(world.mass[part], positions(world, state)[part], world.velocity(state)[part])


def kinetic(world, state):
    return 0.5 * world.mass @ np.square(world.velocity(state)).sum(axis=1)


@pytest.mark.parametrize("method", ["vanilla", "conjac"])
@pytest.mark.parametrize("young", [3e4, 1e7])
def test_a_tumbling_body_keeps_its_spin_and_its_energy_for_a_second(method, young):
    for keep in (False, True):
        nodes, world = world_of(method, keep, young=young, gravity=(0, 0, -9.81))
        state = turning(world, nodes, [0.8, 1.6, 2.4], (1.0, 0.0, 2.0))
        before = momentum(world, state)
        at_first = kinetic(world, state) - 0.5 * world.mass.sum() * 5.0
        after = run(world, 24, 1 / 24, state)
        drift = world.mass @ world.velocity(after) / world.mass.sum()
        turned = kinetic(world, after) - 0.5 * world.mass.sum() * drift @ drift
        assert np.abs(drift - [1.0, 0.0, 2.0 - 9.81]).max() <= 1e-7
        if keep:
            assert np.abs(momentum(world, after) - before).max() <= 1e-9 * np.abs(before).max()
            assert abs(turned / at_first - 1.0) <= 0.03
        else:
            assert np.linalg.norm(momentum(world, after)) <= 0.5 * np.linalg.norm(before)


@pytest.mark.parametrize("method", ["vanilla", "conjac"])
def test_it_turns_as_far_as_it_should(method):
    """About its long axis, by 3 rad in a second; and it stays in shape."""
    nodes, world = world_of(method)
    state = run(world, 24, 1 / 24, turning(world, nodes, [3.0, 0.0, 0.0]))
    x = positions(world, state)
    arm = nodes - nodes.mean(axis=0)
    left, _, right = np.linalg.svd((x - x.mean(axis=0)).T @ arm)
    rotation = left @ right
    angle = np.arctan2(rotation[2, 1], rotation[1, 1])
    assert abs(angle - 3.0) <= 0.03
    assert np.abs(x - x.mean(axis=0) - arm @ rotation.T).max() <= 1e-3 * 0.16


def test_tumbling_is_that_of_a_rigid_body():
    """Against Euler's equations in small steps; a stiff body's orientation."""
    nodes, world = world_of("conjac")
    arm = nodes - nodes.mean(axis=0)
    inertia = (world.mass[:, None] * arm).T @ arm
    inertia = np.trace(inertia) * np.eye(3) - inertia
    wanted = inertia @ np.array([2.0, 4.0, 6.0])

    def rate(turned):
        return np.cross(np.linalg.solve(turned @ inertia @ turned.T, wanted), turned.T).T

    turned, h = np.eye(3), 1e-3
    for _ in range(500):
        k1 = rate(turned)
        k2 = rate(turned + 0.5 * h * k1)
        k3 = rate(turned + 0.5 * h * k2)
        turned = turned + h / 6.0 * (k1 + 2.0 * k2 + 2.0 * k3 + rate(turned + h * k3))
    for steps, keep, most in ((24, True, 0.02), (48, True, 0.02), (48, False, None)):
        nodes, world = world_of("conjac", keep)
        x = positions(world, run(world, steps, 0.5 / steps, turning(world, nodes, [2.0, 4.0, 6.0])))
        off = np.abs(x - x.mean(axis=0) - arm @ turned.T).max() / 0.16
        assert off <= most if keep else off > 0.2


@pytest.mark.parametrize("method", ["vanilla", "conjac"])
def test_nothing_else_changes(method):
    """A body that falls does not start to turn; pinned, moved or touching ones give equal bytes."""
    nodes, tets = box()
    pinned_nodes = np.flatnonzero(nodes[:, 0] < 1e-9)
    shaken = Motion(nodes[pinned_nodes] + 0.02 * np.sin(np.linspace(0, 3, 41))[:, None, None] * [0, 1, 0], 1 / 120)
    scenes = {"falling": {}, "pinned": {"pinned": pinned_nodes}, "shaken": {"pinned": pinned_nodes, "motion": shaken},
              "hinged": {"pinned": [0]}, "touching": {"ground": (1e-4, 1e3)}}
    for name, settings in scenes.items():
        ends = []
        for keep in (False, True):
            _, world = world_of(method, keep, **{"young": 3e4, "gravity": (0, 0, -9.81), **settings})
            ends.append(run(world, 12))
        if name == "falling":
            assert np.abs(ends[1].q - ends[0].q).max() <= 1e-9 and np.abs(ends[1].u - ends[0].u).max() <= 1e-8
            _, world = world_of(method, True)
            assert len(world.condensation.floating.unconstrained) == 1
        else:
            assert ends[0].q.tobytes() == ends[1].q.tobytes() and ends[0].u.tobytes() == ends[1].u.tobytes(), name


def test_each_of_two_bodies_has_its_own():
    nodes, tets = box()
    both = np.concatenate([nodes, nodes + [0.0, 0.3, 0.0]])
    _, world = world_of("vanilla", True, both, np.concatenate([tets, tets + len(nodes)]))
    first, second = slice(0, len(nodes)), slice(len(nodes), None)
    state = world.initial_state()
    v = np.concatenate([np.cross([0, 0, 3.0], nodes - nodes.mean(axis=0)),
                        np.cross([2.0, 0, 0], nodes - nodes.mean(axis=0)) + [0.0, 1.0, 0.0]])
    state = type(state)(0.0, state.q, v.ravel(), state.memory)
    before = [momentum(world, state, part) for part in (first, second)]
    state = run(world, 24, 1 / 24, state)
    for part, initial in zip((first, second), before):
        assert np.abs(momentum(world, state, part) - initial).max() <= 1e-9 * np.abs(initial).max()


def test_mass_damping_brakes_it_as_it_brakes_all_motion():
    nodes, world = world_of("conjac", damping=("rayleigh", 0.0, 1.0))
    state = turning(world, nodes, [0.0, 0.0, 3.0])
    before = momentum(world, state)
    after = momentum(world, run(world, 24, 1 / 24, state))
    assert np.abs(after - before / (1.0 + 1 / 24) ** 24).max() <= 1e-9 * np.abs(before).max()
