"""A free soft body with ConJac's velocity map falls onto the ground: only forces act on a landing body."""

from dataclasses import replace

import numpy as np
import pytest
from bodies import box, make, nearest, positions
from matrix import some

from solver.errors import StepFailed
from solver.parts.stage import Stage
from solver.simulate import advance
from solver.world.interface import StepInputs

NODES, TETS = box((4, 2, 2), (0.2, 0.1, 0.1))  # 96 tetrahedra
FALL = 0.3  #: [m]


def dropped(integrator, **more):
    nodes = NODES + [0.0, 0.0, FALL]
    choice = {"method": "conjac", "dynamic": [nearest(NODES, (0.1, 0.05, 0.1))], **more}
    return make(nodes, TETS, young=3e4, ground=(0.0, 1e3), integrator=integrator, **choice)


def height(world, state):
    return float(np.average(positions(world, state)[:, 2], weights=world.mass))


def path(world, per_second, seconds, state=None):
    """States after each step; steps are halved as a bake halves them."""
    states = [world.initial_state() if state is None else state]
    for i in range(round(seconds * per_second)):
        states.append(advance(world, replace(states[-1], time=i / per_second), 1.0 / per_second, i))
    return states


def falling(world):
    """Return the body shortly above the ground."""
    state, drop = world.initial_state(), FALL - 0.03
    q = state.q.reshape(-1, 3) - [0.0, 0.0, drop]
    u = state.u.reshape(-1, 3) - [0.0, 0.0, np.sqrt(2.0 * 9.81 * drop)]
    return replace(state, q=q.ravel(), u=u.ravel())


def test_where_nodes_begin_to_touch_momentum_changes_by_forces_alone():
    """m Δv of the centre is h Σ f at the end of each step, in flight, while the ground pushes and when it lets go."""
    world, h = dropped("backward_euler"), 1.0 / 120.0
    states = path(world, 120, 0.42)
    touched = [len(world.touching(state)) for state in states]
    assert max(touched) >= 15 and touched[-1] == 0  # landed and bounced
    weight = 9.81 * world.mass.sum()
    for before, after in zip(states, states[1:]):
        force, _ = world.evaluate(positions(world, after), after.time)
        gained = world.mass @ (after.u - before.u).reshape(-1, 3)
        assert np.abs(gained - h * force.sum(axis=0)).max() <= 1e-5 * h * weight


@pytest.mark.parametrize("integrator,per_second", some([("bdf2", 48), ("sdirk2", 48)], ("bdf2", 48)))
def test_a_body_lands_and_bounces_like_one_that_is_all_dynamic(integrator, per_second):
    ours, vanilla = (dropped(integrator, method=method) for method in ("conjac", "vanilla"))
    mine, reference = (path(world, per_second, 0.5) for world in (ours, vanilla))
    heights = np.array([[height(ours, state), height(vanilla, other)] for state, other in zip(mine, reference)])
    print(integrator, np.round(heights[10:], 3).tolist())
    first, lowest = np.flatnonzero(heights[:, 1] < 0.05)[0], heights.argmin(axis=0)
    assert abs(lowest[0] - lowest[1]) <= 1
    assert np.abs(heights[:first + 6] - heights[:first + 6, ::-1]).max() <= 0.02
    # what does not wobble loses less, and gains nothing
    assert heights[-1, 1] < heights[-1, 0] <= heights[0, 0]


@pytest.mark.long
@pytest.mark.parametrize("integrator,per_second", [
    ("backward_euler", 48), ("backward_euler", 60), ("backward_euler", 96), ("bdf2", 48), ("bdf2", 60), ("bdf2", 96),
    ("sdirk2", 48), ("sdirk2", 60), ("sdirk2", 120)])
def test_a_body_falls_and_comes_to_rest(integrator, per_second):
    """Damped, it rests where the fully dynamic body rests: on the ground's springs, as deep as its weight requires."""
    world = dropped(integrator, damping=("rayleigh", 0.01, 3.0))
    state = path(world, per_second, 2.25)[-1]
    x = positions(world, state)
    force, _ = world.evaluate(x, state.time)
    print(integrator, per_second, height(world, state), np.abs(state.u).max(), force.sum(axis=0))
    assert np.ptp(x[:, 2]) < 0.115  # flat on a long side
    assert height(world, state) == pytest.approx(0.0475, abs=2e-3)
    assert np.abs(state.u).max() <= 0.2


@pytest.mark.long
@pytest.mark.parametrize("integrator", ["bdf2", "sdirk2"])
def test_with_the_shortest_of_steps_it_lands_and_bounces_without_gaining_height(integrator):
    """Undamped, at 1/960 s: it comes to its end and rises by no more than a fiftieth above its start."""
    world = dropped(integrator)
    heights = np.array([height(world, state) for state in path(world, 960, 1.0)])
    print(integrator, heights.max(), heights[-1])
    assert heights.max() <= 1.02 * heights[0] and heights[-1] < heights[0]


def test_where_no_stage_is_solved_the_shortest_steps_are_linearised_and_reported():
    """A solver that may not iterate stands for a balance that snaps: every step is a rescue, and the box lands."""
    world, semi = dropped("bdf2"), dropped("semi_implicit", solve_impacts=False)
    world.stage_solver.limits = replace(world.stage_solver.limits, iterations=1)
    ours, reference = (path(stepped, rate, 0.125, falling(stepped)) for stepped, rate in ((world, 24), (semi, 24 * 16)))
    # as if the steps were the shortest from the start
    assert height(world, ours[-1]) == pytest.approx(height(semi, reference[-1]), abs=1e-9)
    assert not any(key.startswith("bdf2") and key != "bdf2.touching" for key in ours[-1].memory)
    assert "linearised" in world.summary[0] and world.summary[0].startswith(str(3 * 16))
    assert any(len(world.touching(state)) for state in ours)


@pytest.mark.parametrize("per_second, seconds", some([(24, 2.5), (48, 2.5), (96, 2.5), (384, 5.0)], (48, 2.5)))
def test_a_linearised_step_takes_no_kick_from_the_ground(per_second, seconds):
    """A cube on four spots that falls by five times its height bounces lower each time, and lies in the end; by the
    shortest steps, which take least, it comes about as high as full FEM, .54 and .58 m, and goes on for longer."""
    nodes, tets = box((3, 3, 3), (0.2, 0.2, 0.2))
    corners = [nearest(nodes, at) for at in [(0, 0, 0), (0.2, 0.2, 0), (0.2, 0, 0.2), (0, 0.2, 0.2)]]
    world = make(nodes + [0.0, 0.0, 1.0], tets, young=3.3e4, poisson=0.45, ground=(0.0, 3e4), dynamic=corners,
                 integrator="semi_implicit", beta=0.5)
    states = path(world, per_second, seconds)
    heights = np.array([height(world, state) for state in states])
    landed = int(np.argmin(heights[: per_second]))
    assert heights[landed:].max() < 0.8 * heights[0]
    assert np.abs(heights[-per_second // 8:] - 0.1).max() < 0.01


def test_a_linearised_step_that_hits_is_solved_on_few_factors_to_what_shows():
    """With friction, from above the ground until it rests: compared with each step's root, with the number of
    factors."""
    worlds = [dropped("semi_implicit", friction=("coulomb", 0.3), tolerance=1e-8) for _ in range(2)]
    ours, exact = worlds
    full, state, h, off, factors = ours.stage_method._whole.linear, falling(ours), 1.0 / 96.0, [], []
    for i in range(36):
        state, before = replace(state, time=i * h), full.factored
        after = ours.step(state, h)
        if full.factored > before:
            root = exact.solve_stage(Stage(h, 1.0, 1.0, state.time + h, None, state.u, beta=1.0), state)
            moved = np.abs(root.q - state.q - h * (np.array([0.0, 0.0, -9.81 * h]) + state.u.reshape(-1, 3)).ravel())
            off.append((np.abs(after.q - root.q).max(), moved.max()))
            factors.append(full.factored - before)
        state = after
    worst, most = np.max(off, axis=0)
    print(len(off), worst, most, factors)
    assert len(off) >= 10 and most >= 0.01  # it is braked hard
    assert worst <= 2e-3 and np.median([distance for distance, _ in off]) <= 2e-4  # of a body of 0.2 m
    assert np.mean(factors) <= 3.0


def test_without_impacts_solved_a_step_that_hits_is_one_linear_solve():
    world = dropped("semi_implicit", solve_impacts=False)
    state = falling(world)
    touched = 0
    for i in range(8):
        state = world.step(replace(state, time=i / 96), 1.0 / 96.0)
        touched += len(world.touching(state)) > 0
    assert touched and "_whole" not in vars(world.stage_method)  # no energy of all positions was asked for


def test_what_a_linearised_step_cannot_solve_still_fails():
    world = dropped("semi_implicit", method="vanilla", dynamic=[])
    with pytest.raises(StepFailed, match="lost"):
        world.rescue(world.initial_state(), 0.01, StepFailed("lost"))


def test_a_step_that_is_linearised_instead_has_its_external_forces():
    """Also where the linearised stage is solved, as where bodies touch."""
    nodes, tets = box((3, 3, 3), (0.1, 0.1, 0.1))
    world, h = make(nodes, tets, dynamic=[0, 21, 42, 63], integrator="bdf2"), 0.01
    world.couples_methods = True
    forces = 30.0 * world.mass[:, None] * [0.2, 0.0, 1.0]
    for inputs in (StepInputs(), StepInputs({0: forces})):
        after = world.rescue(world.initial_state(), h, StepFailed("lost"), inputs)
        external = forces / world.mass[:, None] if inputs.external_forces else 0.0
        gained = world.mass[:, None] * (world.gravity + external)
        assert world.mass @ world.velocity(after) == pytest.approx(h * gained.sum(axis=0), rel=1e-4, abs=1e-9)


def cube(method):
    """2 m, soft, with four dynamic nodes that are not symmetric, as an artist's first."""
    nodes, tets = box((6, 6, 6), (2.0, 2.0, 2.0))
    places = [(0.47, -0.47, -0.47), (-0.47, 0.47, -0.47), (0.92, 0.05, 0.78), (-0.92, -0.06, -0.78)]
    dynamic = [nearest(nodes, np.array(place) + 1.0) for place in places] if method == "conjac" else []
    return make(nodes + [0.0, 0.0, 2.0], tets, young=3e4, poisson=0.45, ground=(0.0, 1.5e3), method=method,
                dynamic=dynamic), tets


def test_what_lands_by_default_is_slowed_down_by_the_ground_as_what_is_all_dynamic():
    """Neither needles nor a collapse within a frame: contacts are no part of what follows dynamic nodes."""
    seen = {}
    for method in ("conjac", "vanilla"):
        world, tets = cube(method)
        pairs = np.concatenate([tets[:, [a, b]] for a in range(4) for b in range(a)])
        edges = np.unique(np.sort(pairs, axis=1), axis=0)
        states = path(world, 80, 1.5)
        lengths = [np.linalg.norm(np.diff(positions(world, state)[edges], axis=1)[:, 0], axis=1) for state in states]
        heights = np.array([height(world, state) for state in states])
        seen[method] = max((length / lengths[0]).max() for length in lengths), -np.diff(heights[::5]).min(), heights
    print({key: value[:2] for key, value in seen.items()}, np.round([seen[key][2][::10] for key in seen], 2).tolist())
    assert seen["conjac"][0] <= 1.2 * seen["vanilla"][0]
    assert seen["conjac"][1] <= 1.3 * seen["vanilla"][1]
    lowest = [seen[key][2].argmin() for key in seen]
    assert abs(lowest[0] - lowest[1]) <= 6
    # and it bounces, as high as it came from at most
    assert 1.0 < seen["conjac"][2][lowest[0]:].max() <= 3.0
