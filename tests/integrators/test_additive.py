"""Additive methods: their limits, dense formulas, modes that turn, free bodies, moving pins, a saved state."""

from dataclasses import replace

import numpy as np
import pytest
from bodies import box, find_integrator, make, positions, run, stiffness
from matrix import crossed, some
from scipy.linalg import expm

from solver import catalogue
from solver.coordinates.prescribed import Motion
from solver.integrators import additive
from solver.integrators.additive import AGE, BASIS
from solver.integrators.modes import lowest
from solver.integrators.oscillator import damping, update_matrix
from solver.parts.stage import Stage
from solver.state import State

H = 1 / 120
ALL = 100_000
ADDITIVE = [key for key, entry in catalogue.family("integrator").items() if "redecompose" in
            {param.key for param in entry.params}]
CORRECTED = [key for key in ADDITIVE if not key.endswith("printed")]


def bar(key, *, modes=4, every=1, pinned=True, motion=None, cells=(4, 1, 1), **how):
    """A pinned (or free) bar. Bars without modes do not compute any."""
    nodes, tets = box(cells, (0.16, 0.04, 0.03))
    pinned_nodes = np.flatnonzero(nodes[:, 0] < 1e-9) if pinned else []
    params = {"modes": modes, "redecompose": every} if key in ADDITIVE else {}
    if key == "ere":
        params = {"exponential_tolerance": 1e-12}
    how = {"young": 2e4, "beta": 1.0, "project": False, "tolerance": 1e-12, **how}
    return make(nodes, tets, pinned=pinned_nodes, motion=motion, method="vanilla", integrator=key, **how, **params)


def thrown(world, seed=1, speed=0.3):
    """The rest shape, a little bent, at smooth random speeds."""
    free = world.rest[world.coordinates.free]
    rng = np.random.default_rng(seed)
    u = (free - free[0]) @ rng.normal(size=(3, 3)) / 0.16 * speed
    q = free + 0.003 * np.sin(20.0 * free[:, [1, 2, 0]])
    return State(0.0, q.ravel(), u.ravel())


def close(a, b, tolerance):
    moved = max(np.abs(a.u).max(), 1e-3)
    assert np.abs(a.q - b.q).max() <= tolerance * H * moved
    assert np.abs(a.u - b.u).max() <= tolerance * moved


def swinging(nodes, samples=48):
    pinned = np.flatnonzero(nodes[:, 0] < 1e-9)
    swing = 0.01 * np.sin(2 * np.pi * 1.5 * np.arange(2 * samples + 1) / samples)
    return Motion(nodes[pinned] + swing[:, None, None] * np.array([0.3, 0.0, 1.0]), 1 / samples)


# ---- limits

@pytest.mark.parametrize("moving", [False, True])
@pytest.mark.parametrize("key,limit", [("siere", "semi_implicit"), ("beere", "backward_euler"), ("sbdf2ere", "sbdf2"),
                                       ("str_sbdf2ere", "str_bdf2"), ("bdf2ere", "bdf2"), ("tr_bdf2ere", "tr_bdf2")])
def test_without_modes_it_is_the_other_method(key, limit, moving):
    """From the second step on, where the two-step methods have the same past."""
    motion = swinging(box((4, 1, 1), (0.16, 0.04, 0.03))[0]) if moving else None
    with_modes, without = bar(key, modes=0, motion=motion), bar(limit, motion=motion)
    state = run(without, 1, H, thrown(without))
    close(with_modes.step(state, H) if "bdf2.q" not in state.memory else
          with_modes.integrator.step(with_modes, state, H), without.step(state, H), 1e-9)


def test_siere_without_modes_counts_stiffness_in_full_whatever_the_method_s_damping():
    world, plain = bar("siere", modes=0, beta=0.6), bar("semi_implicit", beta=1.0)
    close(world.step(thrown(world), H), plain.step(thrown(plain), H), 1e-12)


@pytest.mark.parametrize("moving", [False, True])
@pytest.mark.parametrize("key", ["siere", "beere"])
def test_with_all_modes_it_is_ere(key, moving):
    motion = swinging(box((4, 1, 1), (0.16, 0.04, 0.03))[0]) if moving else None
    additive, ere = bar(key, modes=ALL, motion=motion), bar("ere", motion=motion)
    state = thrown(ere)
    close(additive.step(state, H), ere.step(state, H), 1e-9)


# ---- against dense algebra

def dense(world, state):
    """K, M, X of the lowest modes, f: of the free nodes at a state."""
    free = (3 * world.coordinates.free[:, None] + np.arange(3)).ravel()
    k, f = stiffness(world, positions(world, state), state.time)
    return k[np.ix_(free, free)], np.repeat(world.mass, 3)[free], f[free]


@pytest.mark.parametrize("key,c,history", [("siere", 1.0, 0.0), ("sbdf2ere", 2 / 3, 1 / 3)])
def test_a_step_is_its_formula_done_densely(key, c, history):
    """u₁ = u₀ + (I − c h J_H)⁻¹ (history (I − P)(u₀ − u₋₁) + c h H + h φ₁(h J_G) G), J_H = J − J_G, all of it dense."""
    world = bar(key, modes=4, every=1)
    before = run(world, 3, H, thrown(world))
    state = world.step(before, H)
    after = world.step(state, H)
    k, m, f = dense(world, state)
    x = after.memory[BASIS][:, :4]
    p = x @ (m[:, None] * x).T
    n, zero, one = len(m), np.zeros((len(m), len(m))), np.eye(len(m))
    assert np.abs(x.T @ (m[:, None] * x) - np.eye(4)).max() <= 1e-12
    j = np.block([[zero, one], [k / m[:, None], zero]])
    jg = np.block([[zero, p], [x @ (x.T @ k @ x) @ (m[:, None] * x).T, zero]])
    both = np.block([[p, zero], [zero, p]])
    whole = np.concatenate([state.u, f / m])
    past = np.concatenate([state.q - before.q, state.u - before.u])
    big = np.zeros((2 * n + 1, 2 * n + 1))
    big[: 2 * n, : 2 * n], big[: 2 * n, -1] = H * jg, H * both @ whole
    right = (whole - both @ whole) * c * H + expm(big)[: 2 * n, -1] + history * (past - both @ past)
    change = np.linalg.solve(np.eye(2 * n) - c * H * (j - jg), right)
    close(after, replace(after, q=state.q + change[:n], u=state.u + change[n:]), 1e-7)


def test_modes_that_are_not_exact_keep_the_order():
    """Steps of a stiffer body: the rest's displacement pulls at them, on average half of it. [Ascher 26, changed]"""
    def end(steps):
        world = bar("sbdf2ere", modes=4, young=2e3, gravity=(0, 0, 0))
        other = bar("siere", modes=4, young=2e3, gravity=(0, 0, 0))
        state = thrown(world)
        wrong = other.step(replace(state, q=state.q + 0.002 * np.cos(30.0 * state.q)), H).memory[BASIS]
        additive.lowest = lambda *_: wrong
        for _ in range(steps):
            state = world.step(state, 0.1 / steps)
        return np.concatenate([state.q, 0.02 * state.u])

    found = additive.lowest
    try:
        ends = [end(steps) for steps in (40, 80, 160, 320)]
    finally:
        additive.lowest = found
    gaps = [np.linalg.norm(a - b) for a, b in zip(ends, ends[1:])]
    assert np.log2(gaps[1] / gaps[2]) == pytest.approx(2.0, abs=0.25)


@pytest.mark.parametrize("key", CORRECTED)
def test_signs_and_rotations_of_the_modes_change_nothing(key):
    world = bar(key, modes=4, every=1000)
    state = run(world, 3, H, thrown(world))
    turn = np.linalg.qr(np.random.default_rng(0).normal(size=(8, 8)))[0]
    turned = replace(state, memory={**state.memory, BASIS: state.memory[BASIS] @ turn})
    close(world.step(state, H), world.step(turned, H), 1e-9)


@pytest.mark.parametrize("key", CORRECTED)
def test_finding_the_modes_anew_does_not_jump(key):
    """From one state and one past, one step with the modes of some steps ago and one with those of now."""
    world = bar(key, every=1000)
    state = run(world, 4, H, thrown(world, speed=0.1))
    assert state.memory[AGE] == [4.0]
    followed = world.step(state, H)
    anew = world.step(replace(state, memory={**state.memory, AGE: np.array([1000.0])}), H)
    assert followed.memory[AGE] == [5.0] and anew.memory[AGE] == [1.0]
    share = 0.01
    change = np.abs(anew.u - state.u).max()
    assert 1e-9 * change < np.abs(anew.u - followed.u).max() <= share * change
    assert np.abs(anew.q - followed.q).max() <= share * H * change


def test_modes_are_those_of_the_dense_problem_and_none_is_missed():
    """Six of λ = 0 and pairs of equal λ: a bar with a square section, free."""
    nodes, tets = box((10, 4, 4), (0.1, 0.04, 0.04))
    world = make(nodes, tets, method="vanilla", gravity=(0, 0, 0))
    state = world.initial_state()
    k, m, _ = dense(world, state)
    root = np.sqrt(m)
    want = np.linalg.eigvalsh(-k / root[:, None] / root)
    tangent = world.tangent(state, state.time)
    x = lowest(tangent, 10, H, None)[:, :10]
    assert np.abs(x.T @ (m[:, None] * x) - np.eye(10)).max() <= 1e-10
    found = np.linalg.eigvalsh(-x.T @ tangent.stiffness(x))
    assert found == pytest.approx(want[:10], rel=1e-8, abs=1e-8 * want[10])
    assert np.abs(tangent.stiffness(x) + k @ x).max() >= np.abs(k @ x).max()  # K, not −K
    again = lowest(tangent, 10, H, x)[:, :10]
    assert np.abs(again @ (again.T @ (m[:, None] * x)) - x).max() <= 1e-6 * np.abs(x).max()


def test_damping_of_a_tangent_is_never_a_multiple_of_its_stiffness():
    """Stiffness damping comes as blocks of its own, projected, whose products are those of the semi-definite D; a
    multiple of the true K would be left out in silence."""
    nodes, tets = box((4, 1, 1), (0.16, 0.04, 0.03))
    world = make(nodes, tets, method="vanilla", gravity=(0, 0, 0), damping=("rayleigh", 0.02, 0.0))
    state = world.initial_state()
    tangent, columns = world.tangent(state, state.time), np.random.default_rng(0).normal(size=(len(state.q), 2))
    assert tangent.lin.damped.stiffness_damping == 0.0
    # at rest K is semi-definite, so both are the same multiple
    assert tangent.damping(columns) == pytest.approx(0.02 * tangent.stiffness(columns), rel=1e-9, abs=1e-9)
    tangent = replace(tangent, lin=replace(tangent.lin, damped=replace(tangent.lin.damped, stiffness_damping=0.02)))
    with pytest.raises(ValueError, match="not projected"):
        tangent.damping(columns)


def test_a_buckled_body_has_a_mode_that_pushes():
    """Squeezed along itself; the true stiffness says so, the projected one would not."""
    nodes, tets = box((10, 2, 2), (0.2, 0.02, 0.02))
    pinned = np.flatnonzero((nodes[:, 0] < 1e-9) | (nodes[:, 0] > 0.2 - 1e-9))
    world = make(nodes, tets, pinned=pinned, method="vanilla", gravity=(0, 0, 0), integrator="siere", modes=4,
                 redecompose=1, young=3e4)
    squeezed = nodes * np.array([0.85, 1.03, 1.03])
    world.coordinates._static_positions = squeezed[pinned]
    free = squeezed[world.coordinates.free].ravel()
    state = State(0.0, free, np.zeros_like(free))
    tangent = world.tangent(state, state.time)
    x = lowest(tangent, 4, H, None)[:, :4]
    values = np.linalg.eigvalsh(x.T @ tangent.stiffness(x))
    want = np.linalg.eigvalsh(dense(make(nodes, tets, pinned=pinned, method="vanilla", project=False), state)[0])
    assert values[-1] > 0.0 and want[-1] > 0.0
    after = run(world, 60, H, state)
    assert np.isfinite(after.q).all()
    assert np.abs(after.q.reshape(-1, 3) - squeezed[world.coordinates.free]).max() < 0.2


@pytest.mark.parametrize("method", ["vanilla", "conjac"])
def test_an_impulse_changes_the_rates_by_what_solving_with_it_changes(method):
    """Two stages at one moment that differ by an impulse alone."""
    nodes, tets = box((4, 1, 1), (0.16, 0.04, 0.03))
    pinned = np.flatnonzero(nodes[:, 0] < 1e-9)
    world = make(nodes, tets, pinned=pinned, method=method, dynamic=[19] if method == "conjac" else [])
    state = world.initial_state()
    impulses = np.random.default_rng(0).normal(size=(len(state.q), 2))
    stage = Stage(H, 1.0, 1.0, H, None, state.u)
    posed = world.pose(state, stage)
    plain, answers = posed.solve(), posed.respond(impulses)
    for impulse, answer in zip(impulses.T, answers.T):
        kicked = stage.u_hat + impulse / np.repeat(world.mass[world.coordinates.free], 3)
        change = posed.again(replace(stage, u_hat=kicked)).solve() - plain
        assert np.abs(change - answer).max() <= 1e-10 * np.abs(answer).max()


# ---- damping

@pytest.mark.parametrize("key", CORRECTED + ["ere"])
@pytest.mark.parametrize("y", [0.1, 0.5, 1.0, 3.0, 20.0])
def test_modes_keep_all_their_swing(key, y):
    entry = catalogue.find("integrator", key)
    defaults = {param.key: param.default for param in entry.params}
    method = entry.load()({**defaults, "exponential_tolerance": 1e-13})
    values = np.linalg.eigvals(update_matrix(method, y))
    assert np.abs(values).max() == pytest.approx(1.0, abs=1e-10)
    assert abs(damping(method, y)) <= 1e-9


#: [ERRATA 22, 23, 27]
@pytest.mark.parametrize("key,radii", [("bdf2ere_printed", (1.0048, 1.069, 1.115)),
                                       ("sbdf2ere_printed", (1.0048, 1.069, 1.115)),
                                       ("str_sbdf2ere_printed", (1.0008, 1.020, 1.070))])
def test_the_printed_formulas_amplify_the_modes(key, radii):
    for y, radius in zip((0.1, 0.5, 1.0), radii):
        method = find_integrator(key, {"modes": 3, "redecompose": 1})
        assert np.abs(np.linalg.eigvals(update_matrix(method, y))).max() == pytest.approx(radius, abs=6e-4)


@pytest.mark.parametrize("key,limit", [("siere", "semi_implicit"), ("beere", "backward_euler"), ("sbdf2ere", "sbdf2"),
                                       ("bdf2ere", "bdf2"), ("str_sbdf2ere", "str_bdf2"), ("tr_bdf2ere", "tr_bdf2")])
def test_without_modes_the_curve_is_the_other_method_s(key, limit):
    for y in (0.1, 1.0, 3.0, 20.0):
        method = find_integrator(key, {"modes": 0, "redecompose": 1})
        assert damping(method, y) == pytest.approx(damping(find_integrator(limit), y), abs=1e-12)


# ---- bodies

@pytest.mark.parametrize("key", CORRECTED + ["ere"])
def test_a_free_body_falls_and_drifts_as_it_must(key):
    """Its centre: exactly, in first-order methods but for ½ g h² a step; it does not deform."""
    world = bar(key, pinned=False, modes=8, cells=(3, 1, 1))
    state = world.initial_state()
    u = np.tile([0.2, -0.1, 0.4], len(world.rest))
    after = run(world, 10, H, replace(state, u=u))
    moved = (after.q - state.q).reshape(-1, 3)
    t = 10 * H
    want = t * np.array([0.2, -0.1, 0.4]) + [0, 0, -0.5 * 9.81 * t * t]
    assert np.abs(moved - want).max() <= 1e-9


@pytest.mark.parametrize("key", some(["ere", "siere", "sbdf2ere", "str_sbdf2ere"], "ere", "sbdf2ere"))
def test_a_spinning_free_body_keeps_its_energy(key):
    """A quarter of a turn and more: what is kinetic or elastic, and all momenta of a body in no field."""
    world = bar(key, pinned=False, modes=12, every=1, gravity=(0, 0, 0), cells=(3, 1, 1), young=2e5)
    state = world.initial_state()
    x = world.rest - np.average(world.rest, axis=0, weights=world.mass)
    state = replace(state, u=np.cross([0.0, 0.0, 6.0], x).ravel())

    def energy(now):
        kinetic = 0.5 * float(np.repeat(world.mass, 3) @ now.u**2)
        return kinetic + world.evaluate(positions(world, now), now.time)[1]

    start = energy(state)
    after = run(world, 120, 1 / 480, state)
    assert energy(after) == pytest.approx(start, rel=1.5e-2 if key == "ere" else 3e-2)
    assert np.abs(np.average(after.u.reshape(-1, 3), axis=0, weights=world.mass)).max() <= 1e-7
    turn = np.average(np.cross(positions(world, after), after.u.reshape(-1, 3)), axis=0, weights=world.mass)
    before = np.average(np.cross(x, state.u.reshape(-1, 3)), axis=0, weights=world.mass)
    assert turn == pytest.approx(before, rel=4e-2, abs=2e-6)


@pytest.mark.parametrize("key", some(["ere", "sbdf2ere", "str_sbdf2ere", "bdf2ere", "tr_bdf2ere"],
                                     "ere", "sbdf2ere", "bdf2ere"))
def test_moving_pins_do_not_cost_an_order(key, once):
    motion = swinging(box((3, 1, 1), (0.16, 0.04, 0.03))[0])

    def end(kind, steps):
        world = bar(kind, motion=motion, cells=(3, 1, 1), young=2e3, gravity=(0, 0, 0))
        state = world.initial_state()
        for i in range(steps):
            state = world.step(replace(state, time=i * 0.05 / steps), 0.05 / steps)
        return state.q

    exact = once("additive-moving-pins", lambda: end("tr_bdf2", 400))
    errors = [np.linalg.norm(end(key, steps) - exact) for steps in ((6, 12) if key == "ere" else (24, 48))]
    assert np.log2(errors[0] / errors[1]) == pytest.approx(2, abs=0.2)


@pytest.mark.parametrize("key", ["beere", "tr_bdf2ere"])
@pytest.mark.parametrize("solver", catalogue.family("stage_solver"))
def test_every_stage_solver_leaves_the_modes_alone(key, solver):
    """And lands where Newton does."""
    worlds = [bar(key, every=1000, young=2e3, tolerance=1e-10) for _ in range(2)]
    entry = catalogue.find("stage_solver", solver)
    params = {param.key: param.default for param in entry.params} | {
        "tolerance": 1e-10, "iterations": 500, "strain_left": 1e-10, "edge_left": 1e-10,
        "tries": 500, "mixed_iterations": 500, "decrement_left": 1e-12}
    worlds[1].stage_solver = entry.load()(params)
    newton, other = (run(world, 4, H, thrown(world)) for world in worlds)
    close(newton, other, 1e-7)


LAWS = [("rayleigh", 0.003, 2.0), ("green", 0.003, 0.0)]


@pytest.mark.parametrize("key,law", crossed(["ere", "bdf2ere", "siere"], LAWS) + [
    pytest.param(key, law, marks=pytest.mark.long)
    for key in ("sbdf2ere", "str_sbdf2ere", "tr_bdf2ere") for law in LAWS])
def test_damping_costs_no_order(key, law, once):
    def end(kind, steps):
        world = bar(kind, cells=(3, 1, 1), young=2e3, gravity=(0, 0, 0), damping=law)
        state = thrown(world, speed=0.1)
        for i in range(steps):
            state = world.step(replace(state, time=i * 0.05 / steps), 0.05 / steps)
        return np.concatenate([state.q, 0.02 * state.u])

    exact = once(f"additive-damped-{law[0]}", lambda: end("tr_bdf2", 500))
    errors = [np.linalg.norm(end(key, steps) - exact) for steps in ((6, 12) if key == "ere" else (48, 96))]
    assert np.log2(errors[0] / errors[1]) >= catalogue.find("integrator", key).load().order - 0.2


# ---- what is remembered

@pytest.mark.parametrize("key", CORRECTED)
def test_a_saved_state_goes_on_to_the_same_bytes(key):
    """In another process: a world made anew, from nothing but the state."""
    whole = bar(key, every=4)
    state = run(whole, 6, H, thrown(whole))
    memory = {name: np.array(value) for name, value in state.memory.items()}
    copied = State(state.time, state.q.copy(), state.u.copy(), memory)
    go_on, resumed = run(whole, 6, H, state), run(bar(key, every=4), 6, H, copied)
    assert go_on.q.tobytes() == resumed.q.tobytes() and go_on.u.tobytes() == resumed.u.tobytes()
    assert go_on.memory[AGE] == resumed.memory[AGE] == [4.0]


def test_the_basis_matters_to_that_test():
    """Without it the modes are found anew, and the bytes are others."""
    world = bar("siere", every=4)
    state = run(world, 6, H, thrown(world))
    bare = replace(state, memory={})
    assert run(world, 6, H, state).q.tobytes() != run(world, 6, H, bare).q.tobytes()


def test_modes_follow_a_body_that_turns():
    """After many steps without a new analysis, they are still the modes of the present state."""
    world = bar("siere", modes=4, every=1000)
    state = run(world, 20, H, thrown(world, speed=0.3))
    x, m = world.step(state, H).memory[BASIS][:, :4], np.repeat(world.mass[world.coordinates.free], 3)
    right = lowest(world.tangent(state, state.time), 4, H, None)[:, :4]
    angles = np.linalg.svd(x.T @ (m[:, None] * right), compute_uv=False)
    first = lowest(world.tangent(thrown(world), 0.0), 4, H, None)[:, :4]
    assert np.linalg.svd(first.T @ (m[:, None] * right), compute_uv=False)[-1] < 0.9
    assert angles[-1] > 0.999
