"""Dynamic nodes that sleep and wake: the same step as without them, off-on-off, no impulse, the same bytes again."""

from dataclasses import replace

import numpy as np
import pytest
from bodies import box, make, nearest, positions, rows, run, stiffness
from matrix import some
from test_floating import BETA, CASES, GAMMA, Drag

from solver.coordinates.prescribed import Motion
from solver.parts.conjac.liveliness import AWAKE, LEVEL, regions
from solver.state import State

H = 1 / 100
NEVER = 1e6  #: threshold that no motion reaches


def awake(state):
    return state.memory[AWAKE] > 0.0


@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("moving", [False, True])
def test_a_step_with_sleepers_is_the_step_without_them(case, moving):
    """Rates equal those of a world in which only the other nodes are dynamic; so do positions, up to rigid motions of
    floating bodies, which cost no energy and depend on the constraints."""
    (nodes, tets), choose_pinned, spots, _ = CASES[case]
    pinned = np.zeros(0, dtype=int) if choose_pinned is None else choose_pinned(nodes)
    if moving and not len(pinned):
        pytest.skip("nothing is pinned")
    more = [nearest(nodes, spot) for spot in [*spots, nodes.mean(axis=0), nodes.max(axis=0)]]
    dynamic = [node for node in dict.fromkeys(more) if node not in set(pinned.tolist())]
    rng = np.random.default_rng(4)
    motion = Drag(nodes[pinned], 0.3 * rng.normal(size=(len(pinned), 3))) if moving else None
    choice = {"pinned": pinned, "motion": motion, "beta": BETA, "gamma": GAMMA, "gravity": (1.0, 2.0, -9.81)}
    world = make(nodes, tets, dynamic=dynamic, adaptive=True, **choice)
    start, (K, _) = world.initial_state(), stiffness(world, nodes)
    for up in (0, 1, len(dynamic)):
        mask = np.arange(len(dynamic)) < up
        u = 0.2 * rng.normal(size=start.q.shape)
        state = State(0.0, start.q, u, {AWAKE: mask.astype(float)})
        after = world.integrator.step(world, state, H)
        plain = make(nodes, tets, dynamic=np.array(dynamic)[mask], **choice)
        want = plain.step(State(0.0, start.q, u), H)
        assert np.abs(after.u - want.u).max() <= 1e-8 * np.abs(want.u).max(initial=1e-3)
        between = positions(world, after) - positions(plain, want)
        quasistatic = np.setdiff1d(rows(world.coordinates.free), rows(np.array(dynamic)[mask]))
        moved = np.abs(want.q - start.q).max()
        assert np.abs((K @ between.ravel())[quasistatic]).max() <= 1e-8 * np.abs(K).max() * moved
        if not plain.condensation.floating.groups and not plain.condensation.anchors.floating.groups:
            assert np.abs(between).max() <= 1e-8 * moved


@pytest.mark.parametrize("integrator", ["semi_implicit", "sbdf2", "str_bdf2", "ssdirk2"])
def test_all_awake_is_the_run_without_adaptivity(integrator):
    nodes, tets = box((8, 2, 2), (0.16, 0.04, 0.04))
    choice = {"pinned": np.flatnonzero(nodes[:, 0] < 1e-9), "beta": 0.7, "integrator": integrator,
              "dynamic": [nearest(nodes, (0.16, 0.02, 0.02)), nearest(nodes, (0.08, 0.02, 0.02))]}
    plain = run(make(nodes, tets, **choice), 20, H)
    state = run(make(nodes, tets, adaptive=True, threshold=0.0, **choice), 20, H)
    assert awake(state).all()
    assert np.abs(state.q - plain.q).max() <= 1e-12 and np.abs(state.u - plain.u).max() <= 1e-11


def cantilever(**choice):
    nodes, tets = box((10, 2, 2), (0.2, 0.04, 0.04))
    spots = [(0.2, 0.02, 0.02), (0.1, 0.02, 0.02)]
    return make(nodes, tets, young=1e5, pinned=np.flatnonzero(nodes[:, 0] < 1e-9),
                **{"beta": 0.7, "dynamic": [nearest(nodes, spot) for spot in spots], **choice})


def test_all_asleep_is_quasistatic_and_seldom_factors():
    """Step for step what no dynamic node gives; on kept factors the same shape at the end."""
    plain, sleeping, saving = cantilever(dynamic=[]), *(cantilever(adaptive=True, threshold=NEVER) for _ in range(2))
    want, state, saved = (world.initial_state() for world in (plain, sleeping, saving))
    for step in range(90):
        want, state, saved = plain.step(want, H), sleeping.step(state, H), saving.step(saved, H)
        sleeping.forget_past()
        if step < 10:
            assert np.abs(state.q - want.q).max() <= 1e-9
    assert not awake(saved).any() and not saved.u.any()
    assert np.abs(saved.q - want.q).max() <= 1e-6 * 0.2
    assert sleeping.linear.factored == plain.linear.factored == 90
    assert saving.linear.factored <= 15


def test_a_sleeping_body_falls_as_a_whole():
    nodes, tets = box()
    spots = [(0.0, 0.0, 0.0), (0.16, 0.04, 0.0), (0.08, 0.04, 0.04), (0.16, 0.0, 0.04)]
    world = make(nodes, tets, young=1e4, dynamic=[nearest(nodes, p) for p in spots], adaptive=True)
    state = run(world, 20, H)
    fall = positions(world, state) - nodes
    assert not awake(state).any() and state.memory[LEVEL].max() <= 1e-9
    assert np.abs(fall - fall.mean(axis=0)).max() <= 1e-6 * 0.16
    assert np.abs(state.u.reshape(-1, 3) - [0, 0, -9.81 * 20 * H]).max() <= 1e-9


def star(threshold=0.02, **more):
    """Four arms around a pinned middle; the tips of three are shaken one after another, of the fourth never."""
    nodes, tets = box((18, 18, 2), (0.36, 0.36, 0.04))
    middle = nodes[tets].mean(axis=1) - [0.18, 0.18, 0.0]
    tets = tets[np.abs(middle[:, :2]).min(axis=1) < 0.04]
    used, tets = np.unique(tets, return_inverse=True)
    nodes, tets = nodes[used], tets.reshape(-1, 4).astype(np.int32)
    away = nodes[:, :2] - 0.18
    core = np.abs(away).max(axis=1) < 0.041
    tips = [np.flatnonzero(side > 0.179) for side in (away[:, 0], -away[:, 0], away[:, 1])]
    pinned = np.concatenate([np.flatnonzero(core), *tips])
    times = np.arange(0.0, 8.0, H)
    samples = np.repeat(nodes[pinned][None], len(times), axis=0)
    for k, tip in enumerate(tips):
        shaking = (times > 0.5 + 2.0 * k) & (times < 1.0 + 2.0 * k)
        up = np.where(shaking, 0.02 * (1.0 - np.cos(8.0 * np.pi * (times - 0.5))), 0.0)
        samples[:, np.isin(pinned, tip), 2] += up[:, None]
    spots = [(0.3, 0.18, 0.02), (0.06, 0.18, 0.02), (0.18, 0.3, 0.02), (0.18, 0.06, 0.02)]
    return make(nodes, tets, young=1e5, pinned=pinned, motion=Motion(samples, H), gravity=(0, 0, 0), beta=1.0,
                dynamic=[nearest(nodes, spot) for spot in spots], adaptive=True, threshold=threshold, **more)


@pytest.mark.parametrize("integrator", some(["semi_implicit", "sbdf2"], "sbdf2"))
def test_each_limb_wakes_and_sleeps_once_in_its_turn(integrator):
    world = star(integrator=integrator)
    state, seen, factors = world.initial_state(), [], []
    for _ in range(700):
        state = world.step(state, H)
        seen.append(awake(state))
        factors.append(world.linear.factored)
    seen = np.array(seen)
    woke = np.diff(seen.astype(int), axis=0, prepend=0) == 1
    assert woke.sum(axis=0).tolist() == [1, 1, 1, 0]
    for limb in range(3):
        on = np.flatnonzero(seen[:, limb]) * H
        assert 0.45 + 2.0 * limb <= on[0] <= 0.6 + 2.0 * limb and 0.9 + 2.0 * limb <= on[-1] <= 2.3 + 2.0 * limb
    # asleep again a step is a solve; what is awake factors each step
    assert factors[-1] == factors[-20]
    assert factors[-1] <= seen.any(axis=1).sum() + 40


def kinetic(world, before, after):
    moved = (positions(world, after) - positions(world, before)) / H
    return 0.5 * float((world.mass[:, None] * moved**2).sum())


def test_waking_is_no_impulse():
    """One end of a sleeping bar drives off smoothly: it wakes on the way, and neither it nor its energy jumps."""
    nodes, tets = box((10, 2, 2), (0.2, 0.04, 0.04))
    pinned = np.flatnonzero((nodes[:, 0] < 1e-9) | (nodes[:, 0] > 0.2 - 1e-9))
    times = np.arange(0.0, 3.0, H)
    samples = nodes[pinned] + 0.0 * times[:, None, None]
    samples[:, nodes[pinned, 0] > 0.1] += (times**3)[:, None, None] * [0.02, 0.0, 0.03]
    world = make(nodes, tets, young=1e5, pinned=pinned, motion=Motion(samples, H), gravity=(0, 0, 0), beta=0.7,
                 dynamic=[nearest(nodes, (0.1, 0.02, 0.02))], adaptive=True, threshold=0.01)
    state, energy, woke, speed = world.initial_state(), [], None, []
    for step in range(150):
        before, state = state, world.step(state, H)
        energy.append(kinetic(world, before, state))
        speed.append((positions(world, state) - positions(world, before))[world.condensation.mesh.dynamic[0]] / H)
        if awake(state).any() and woke is None:
            woke = step
    assert woke is not None and woke > 30
    around, change = np.array(energy[woke - 3:woke + 4]), np.diff(speed[woke - 3:woke + 4], axis=0)
    assert np.abs(np.diff(np.log(around))).max() <= 0.2
    assert np.linalg.norm(change, axis=1).max() <= 0.1 * np.linalg.norm(speed[woke])


def test_who_wakes_on_the_way_to_balance_keeps_the_speed():
    """Half way into balance the sleeping bar is woken: its tip goes on as fast as it was."""
    h, world = 1 / 1000, cantilever(adaptive=True, threshold=NEVER, settle_time=0.02)
    tip, state, speed = world.condensation.mesh.dynamic[0], world.initial_state(), []
    for step in range(20):
        if step == 15:
            world.condensation.sleep.liveliness.threshold = 0.0
        before, state = state, world.step(state, h)
        speed.append((positions(world, state) - positions(world, before))[tip] / h)
    assert awake(state).all()
    assert np.linalg.norm(speed[14]) > 0.1
    assert np.linalg.norm(np.diff(speed[13:18], axis=0), axis=1).max() <= 0.1 * np.linalg.norm(speed[14])


def test_who_swings_falls_asleep_once():
    """Let go, it swings until the swing is below the threshold, and does not flicker."""
    world, seen = cantilever(adaptive=True, beta=1.0), []
    state = world.initial_state()
    for _ in range(500):
        state = world.step(state, H)
        seen.append(awake(state))
    switches = (np.diff(np.array(seen).astype(int), axis=0, prepend=0) != 0).sum(axis=0)
    assert switches.tolist() == [2, 2]


def swayed(threshold):
    """Return the nodes awake, and the level, (400,) each, of a bar whose clamp goes up and down once a second."""
    nodes, tets = box((10, 2, 2), (0.2, 0.04, 0.04))
    pinned = np.flatnonzero(nodes[:, 0] < 1e-9)
    times = np.arange(0.0, 6.0, H)
    up = 0.004 * np.minimum(times, 1.0) * np.sin(2.0 * np.pi * times)
    motion = Motion(nodes[pinned] + up[:, None, None] * [0.0, 0.0, 1.0], H)
    world = make(nodes, tets, young=1e5, pinned=pinned, motion=motion, gravity=(0, 0, 0), beta=1.0, adaptive=True,
                 dynamic=[nearest(nodes, (0.2, 0.02, 0.02))], threshold=threshold)
    state, seen, levels = world.initial_state(), [], []
    for _ in range(400):
        state = world.step(state, H)
        seen.append(awake(state).any())
        levels.append(state.memory[LEVEL].max())
    return np.array(seen), np.array(levels)


def test_who_sways_about_the_threshold_does_not_flicker():
    """Its activity oscillates about the threshold; waking takes twice the level of falling asleep."""
    always, levels = swayed(0.0)
    middle = levels[250:].mean()
    assert always.all() and levels[250:].min() < 0.8 * middle and levels[250:].max() > 1.3 * middle
    for threshold in (1.0 * middle, 1.2 * middle):
        assert np.count_nonzero(np.diff(swayed(threshold)[0])) <= 1


def test_what_turns_as_a_whole_is_not_lively():
    """Half a radian of rotation per step is not strain; strain besides the rotation is detected."""
    nodes, tets = box((3, 2, 2), (0.06, 0.04, 0.04))
    world = make(nodes, tets, dynamic=[nearest(nodes, (0.06, 0.02, 0.02))], adaptive=True)
    liveliness, angle = world.condensation.sleep.liveliness, 0.5
    turn = np.array([[np.cos(angle), -np.sin(angle), 0.0], [np.sin(angle), np.cos(angle), 0.0], [0.0, 0.0, 1.0]])
    before = nodes + [0.3, 0.1, 0.0]
    assert liveliness.now(before, before @ turn.T, H, world.stretching).max() < 1e-9
    longer = liveliness.now(before, (before * [1.0, 1.0, 1.01]) @ turn.T, H, world.stretching)
    assert longer == pytest.approx(liveliness.now(before, before * [1.0, 1.0, 1.01], H, world.stretching), rel=1e-9)


@pytest.mark.parametrize("shake,wakes", [(0.01, True), (0.0, False)])
def test_who_is_carried_wakes_when_it_is_shaken(shake, wakes):
    """Asleep it follows its clamp rigidly and has no strain; the residual wakes it."""
    nodes, tets = box((10, 2, 2), (0.2, 0.04, 0.04))
    pinned = np.flatnonzero(nodes[:, 0] < 1e-9)
    times = np.arange(0.0, 2.0, H)
    # a start too gentle to wake it, then as fast as that and on
    path = np.cumsum(np.minimum(times, 1.0) ** 3) * H * 0.1
    samples = nodes[pinned] + path[:, None, None] * [1.0, 0.0, 1.0]
    samples[:, :, 2] += np.where(times > 1.2, shake * (1.0 - np.cos(20.0 * (times - 1.2))), 0.0)[:, None]
    world = make(nodes, tets, young=1e5, pinned=pinned, motion=Motion(samples, H), gravity=(0, 0, 0), beta=0.7,
                 dynamic=[nearest(nodes, (0.2, 0.02, 0.02))], adaptive=True, threshold=0.004)
    state, seen = world.initial_state(), []
    for _ in range(180):
        state = world.step(state, H)
        seen.append(awake(state).any())
    assert not any(seen[:118]) and any(seen[118:]) == wakes


def test_what_is_let_go_while_asleep_starts_from_rest():
    """The load vanishes at once: the bar swings like one that never slept, instead of jumping to equilibrium."""
    middle = cantilever().condensation.mesh.dynamic[1:]
    sleeping, always = cantilever(adaptive=True, dynamic=middle), cantilever(dynamic=middle)
    state = run(cantilever(dynamic=[]), 200, H)
    loaded = run(cantilever(dynamic=[], gravity=(0, 0, -40.0)), 200, H, state)
    state = replace(loaded, u=np.zeros_like(loaded.u), memory=sleeping.initial_state().memory)
    one, other = sleeping.step(state, H), always.step(state, H)
    assert awake(one).all()
    assert np.abs(one.q - other.q).max() <= 1e-12


@pytest.mark.long
@pytest.mark.parametrize("integrator", some(["semi_implicit", "sbdf2"], "semi_implicit"))
def test_a_resumed_run_gives_the_same_bytes(integrator):
    """From several snapshots, in quiet and in motion, in a world that knows no past."""
    world, state, states = star(integrator=integrator), None, []
    state = world.initial_state()
    for step in range(260):
        state = world.step(state, H)
        if step in (30, 60, 90, 200):
            world.forget_past()
            states.append((step, state))
    assert {bool(awake(state).any()) for _, state in states} == {False, True}
    for (step, again), (end, wanted) in zip(states, [*states[1:], (259, state)]):
        other = star(integrator=integrator)
        for _ in range(step, end):
            again = other.step(again, H)
        assert again.q.tobytes() == wanted.q.tobytes() and again.u.tobytes() == wanted.u.tobytes()
        assert {key: value.tobytes() for key, value in again.memory.items()} == {
            key: value.tobytes() for key, value in wanted.memory.items()}


def stretch(F):
    values, vectors = np.linalg.eigh(F.T @ F)
    return vectors @ np.diag(np.sqrt(values)) @ vectors.T


def test_stretching_is_the_rate_of_the_polar_decomposition():
    nodes, tets = box((2, 2, 2), (0.04, 0.04, 0.04))
    world, rng = make(nodes, tets), np.random.default_rng(1)
    x, v = nodes @ np.array([[0, 1, 0], [-1, 0, 0], [0, 0, 1.0]]) + 2e-3 * rng.normal(size=nodes.shape), \
        rng.normal(size=nodes.shape)
    rates, small = world.stretching(x, v), 1e-7
    for e in range(len(tets)):
        inverse = np.linalg.inv((nodes[tets[e, 1:]] - nodes[tets[e, 0]]).T)
        S = [stretch((y[tets[e, 1:]] - y[tets[e, 0]]).T @ inverse) for y in (x - small * v, x + small * v)]
        volume = abs(np.linalg.det(inverse)) ** -1 / 6
        want = volume * np.abs(S[1] - S[0]).mean() / (2 * small)
        assert abs(rates[e] - want) <= 1e-5 * want
    spin = np.cross([1.0, 2.0, 3.0], x) + [4.0, 5.0, 6.0]
    assert np.abs(world.stretching(x, spin)).max() <= 1e-12 * np.abs(rates).max() + 1e-18


def test_regions_go_along_the_body():
    """A U: the end of the other leg is nearest in space and farthest along the body."""
    nodes, tets = box((5, 1, 8), (0.05, 0.01, 0.08))
    middle = nodes[tets].mean(axis=1)
    tets = tets[(middle[:, 2] < 0.01) | (middle[:, 0] < 0.02) | (middle[:, 0] > 0.03)]
    ends = np.array([nearest(nodes, (0.02, 0, 0.08)), nearest(nodes, (0.05, 0, 0.0))])
    of = regions(tets, nodes, ends)
    middle = nodes[tets].mean(axis=1)
    assert set(of[(middle[:, 0] < 0.02) & (middle[:, 2] > 0.06)].tolist()) == {0}
    assert set(of[(middle[:, 0] > 0.03) & (middle[:, 2] < 0.05)].tolist()) == {1}
    # the end of the right leg is 3 cm from one and 8 cm from the other along edges
    assert set(of[(middle[:, 0] > 0.03) & (middle[:, 2] > 0.07)].tolist()) == {1}
