"""Properties of stages: Vanilla's and ConJac's agree, moving pins, restarts, values that go where they must not."""

import numpy as np
import pytest
from bodies import box, find_integrator, make, nearest, positions, run, settled
from matrix import some

from solver import catalogue
from solver.coordinates.prescribed import Motion
from solver.integrators.bdf2 import STEP
from solver.integrators.oscillator import Oscillator
from solver.integrators.sdirk import ALPHA
from solver.parts.stage import Stage
from solver.state import State

H = 1 / 120
ANY_METHOD = [entry.key for entry in catalogue.family("integrator").values() if not entry.why_not("quasistatic")]


def swinging(nodes):
    """Return where the left end is, gathered 48 times a second: it swings and turns."""
    pinned = np.flatnonzero(nodes[:, 0] < 1e-9)
    times = np.arange(97) / 48
    swing = 0.01 * np.sin(2 * np.pi * 1.5 * times)
    samples = nodes[pinned] + swing[:, None, None] * np.array([0.3, 0.0, 1.0])
    return pinned, Motion(samples, 1 / 48)


@pytest.mark.parametrize("moving", [False, True])
@pytest.mark.parametrize("key", ANY_METHOD)
def test_conjac_with_every_node_dynamic_is_vanilla(key, moving):
    nodes, tets = box((4, 1, 1), (0.12, 0.03, 0.03))
    pinned, motion = swinging(nodes)
    free = np.setdiff1d(np.arange(len(nodes)), pinned)
    kinds = {"vanilla": {}, "conjac": {"dynamic": free}}
    motion = motion if moving else None
    ends = [run(make(nodes, tets, pinned=pinned, motion=motion, method=method, integrator=key,
                     tolerance=1e-11, **how), 6, H)
            for method, how in kinds.items()]
    assert np.abs(ends[0].q - ends[1].q).max() <= 1e-10
    assert np.abs(ends[0].u - ends[1].u).max() <= 1e-9


@pytest.mark.parametrize("key", some(ANY_METHOD, *(key for key in ANY_METHOD if key not in ("bdf2", "sdirk2"))))
def test_conjac_comes_to_rest_where_vanilla_does(key):
    """The resting shape does not depend on integrator or method."""
    nodes, tets = box((6, 2, 2), (0.12, 0.04, 0.04))
    pinned = np.flatnonzero(nodes[:, 0] < 1e-9)
    vanilla = make(nodes, tets, pinned=pinned, method="vanilla", quasistatic_start=True).initial_state()
    world = make(nodes, tets, pinned=pinned, dynamic=[nearest(nodes, (0.12, 0.02, 0.02))], integrator=key, beta=1.0,
                 damping=("rayleigh", 0.0, 8.0))
    state = settled(world, 900, 1 / 24, moves=1e-10 * 0.12)
    assert np.abs(state.q - vanilla.q).max() <= 1e-6 * 0.12


@pytest.mark.parametrize("pinned_at", ["plane", "line", "hinge", "nowhere"])
@pytest.mark.parametrize("method", ["vanilla", "conjac"])
def test_another_stage_on_the_same_factor(method, pinned_at):
    """Prescribed nodes at other velocities, another base: as posed from nothing."""
    nodes, tets = box((4, 1, 1), (0.12, 0.03, 0.03))
    pinned, motion = swinging(nodes)
    if pinned_at != "plane":
        pinned = pinned[:0] if pinned_at == "nowhere" else pinned[:2]
        motion = None if pinned_at == "nowhere" else Motion(motion.samples[:, :len(pinned)], motion.interval)
    lively = [] if pinned_at == "hinge" else [nearest(nodes, (0.12, 0.0, 0.0))]
    world = make(nodes, tets, pinned=pinned, motion=motion, method=method, dynamic=lively)
    state = run(world, 3, H)
    rng = np.random.default_rng(0)
    stages = [Stage(H, a, a, state.time + c * H, state.q + 1e-4 * rng.normal(size=len(state.q)),
                    rng.normal(size=len(state.q))) for a, c in ((0.3, 0.3), (0.3, 1.0))]
    first = world.pose(state, stages[0])
    again = first.again(stages[1])
    got = [again.solve(), again.correction(again.solve())]
    anew = world.pose(state, stages[1])
    want = [anew.solve(), anew.correction(anew.solve())]
    assert (motion is None) or np.abs(first.stage.w - anew.stage.w).max() > 1e-3
    for ours, reference in zip(got, want):
        assert np.abs(ours - reference).max() <= 1e-9 * np.abs(want[0]).max()


@pytest.mark.parametrize("key,order", some(
    [("sbdf2", 2), ("str_bdf2", 2), ("bdf2", 2), ("tr_bdf2", 2), ("midpoint", 2), ("generalized_alpha", 2),
     ("backward_euler", 1)],
    ("sbdf2", 2), ("bdf2", 2), ("tr_bdf2", 2), ("backward_euler", 1)))
def test_moving_pins_do_not_cost_an_order(key, order, once):
    """Half the step, a quarter of the error of a second-order method: prescribed nodes stand where the stage stands."""
    nodes, tets = box((3, 1, 1), (0.12, 0.04, 0.04))
    pinned, motion = swinging(nodes)
    params = {"spectral_radius": 0.5} if key == "generalized_alpha" else {}

    def end(kind, steps, **how):
        world = make(nodes, tets, young=2e3, pinned=pinned, motion=motion, method="vanilla", beta=1.0, project=False,
                     gravity=(0, 0, 0), integrator=kind, tolerance=1e-12, **how)
        h = 0.05 / steps
        state = world.initial_state()
        for i in range(steps):
            state = world.step(State(i * h, state.q, state.u, state.memory), h)
        return state.q

    exact = once("stages-moving-pins", lambda: end("tr_bdf2", 400))
    errors = [np.linalg.norm(end(key, steps, **params) - exact) for steps in (24, 48)]
    assert np.log2(errors[0] / errors[1]) == pytest.approx(order, abs=0.15)


def test_bdf2_starts_anew_where_its_past_is_no_guide():
    """A first step, another length, a contact: SDIRK2's step, from the same state."""
    nodes, tets = box((2, 1, 1), (0.06, 0.03, 0.03))
    world = make(nodes, tets, method="vanilla", integrator="bdf2", ground=(-0.012, 500.0))
    sdirk2 = find_integrator("sdirk2")
    state = world.initial_state()
    restarts = []
    for i in range(12):
        h = H if i < 3 else 0.5 * H
        after = world.step(state, h)
        one_step = sdirk2.step(world, state, h)
        restarts.append(bool(np.abs(after.q - one_step.q).max() == 0.0))
        assert after.memory[STEP] == [h]
        touched = len(world.touching(after)) != len(world.touching(state))
        state = after
        if touched:
            break
    assert touched and i > 4
    assert restarts[:5] == [True, False, False, True, False]
    after = world.step(state, 0.5 * H)
    assert np.abs(after.q - sdirk2.step(world, state, 0.5 * H).q).max() == 0.0


class Decay(Oscillator):
    """u' = −1000 u in the rates; positions do not push."""

    def solve_stage(self, stage, start):
        rate = 1000.0 * stage.a * stage.h
        u = stage.u_hat / (1.0 + rate)
        return State(stage.time, stage.base + stage.b * stage.h * u, u, start.memory)

    def acceleration(self, state):
        return -1000.0 * state.u


def stage_values(key, steps=1, h=0.1, memory=None):
    """Every u that a stage of the method takes on, from u = 1. [Ascher, Example 2]"""
    seen = []

    class Watched(Decay):
        def solve_stage(self, stage, start):
            after = super().solve_stage(stage, start)
            seen.append(after.u[0])
            return after

    state = State(0.0, np.zeros(3), np.ones(3), memory or {})
    for _ in range(steps):
        state = find_integrator(key).step(Watched(0.0), state, h)
    return seen


@pytest.mark.parametrize("key", ["tr_bdf2", "sdirk"])
def test_a_trapezoidal_stage_overshoots_a_fast_decay(key):
    """u goes to about −1 within the step, where log(u) has no value. [Ascher, Example 2]"""
    first = stage_values(key)[0]
    share = 0.25 if key == "tr_bdf2" else ALPHA
    assert first == pytest.approx((1 - 100 * share) / (1 + 100 * share), abs=1e-12)
    assert first < -0.9


def test_bdf2_stays_positive_where_its_past_does():
    past = {"bdf2.q": np.zeros(3), "bdf2.u": np.ones(3), "bdf2.h": np.array([0.1]),
            "bdf2.touching": np.zeros(0, dtype=np.int32)}
    assert stage_values("bdf2", memory=past)[0] == pytest.approx(1 / (1 + 200 / 3), abs=1e-12)
    # started by SDIRK2 its first step ends below zero, though no stage goes far
    assert stage_values("bdf2")[-1] == pytest.approx(-0.044, abs=5e-4)


def test_positions_of_a_stage_are_those_of_its_time():
    """A pinned node at the middle of a step stands where its motion is then."""
    nodes, tets = box((2, 1, 1), (0.06, 0.03, 0.03))
    pinned, motion = swinging(nodes)
    world = make(nodes, tets, pinned=pinned, motion=motion, method="vanilla", integrator="midpoint")
    evaluated, linearised = [], []
    evaluate, linearise = world.evaluate, world.linearise_at
    world.evaluate = lambda x, time: evaluated.append((x[pinned], time)) or evaluate(x, time)
    world.linearise_at = lambda x, v, *at: linearised.append((x[pinned], v[pinned], at[0])) or linearise(x, v, *at)
    state = world.step(world.initial_state(), H)
    assert evaluated and linearised
    for x, time in evaluated:
        assert time == pytest.approx(H / 2) and np.abs(x - motion.at(time)).max() <= 1e-15
    for x, v, time in linearised:
        assert time == pytest.approx(H / 2) and np.abs(x - motion.at(time)).max() <= 1e-15
        assert np.abs(v - motion.velocity(time)).max() == 0.0
    assert np.abs(positions(world, state)[pinned] - motion.at(H)).max() == 0.0
