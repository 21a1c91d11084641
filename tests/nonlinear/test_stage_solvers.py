"""Every stage solver lands on the same root, says where it cannot, and forgets on demand without changing answers."""

import re

import numpy as np
import pytest
from bodies import box, make, positions
from matrix import crossed

from solver import catalogue
from solver.coordinates.prescribed import Motion
from solver.errors import StepFailed
from solver.nonlinear.conjugate_gradients import ConjugateGradients
from solver.nonlinear.problem import StageProblem
from solver.parts.stage import NodeStage
from solver.simulate import Halved, advance
from solver.state import State

KEYS = list(catalogue.family("stage_solver"))
#: stop before the root, see test_early_stopped_qn.py, tests/cloth/test_cloth_truth.py and test_mixed_fem.py
EARLY = ("quick", "newton_visible", "mixed")
OTHERS = [key for key in KEYS if key not in ("newton_d", *EARLY)]
H = 0.05


def solver(key, **params):
    entry = catalogue.find("stage_solver", key)
    return entry.load()({param.key: params.get(param.key, param.default) for param in entry.params})


def turned(angle):
    c, s = np.cos(angle), np.sin(angle)
    return np.array([[1, 0, 0], [0, c, -s], [0, s, c]])


def moved_end(stretch, twist, steps=4):
    """A bar between a wall and a plate that moves to `stretch` times its length and turns by `twist` in all steps."""
    nodes, tets = box((8, 3, 3), (0.16, 0.06, 0.06))
    nodes = nodes - [0.0, 0.03, 0.03]
    pinned_nodes = np.flatnonzero((nodes[:, 0] < 1e-9) | (nodes[:, 0] > 0.16 - 1e-9))
    moves = nodes[pinned_nodes, 0] > 0.1
    samples = []
    for share in np.linspace(0.0, 1.0, steps + 1):
        at = nodes[pinned_nodes].copy()
        at[moves] = at[moves] @ turned(share * twist).T + [share * (stretch - 1.0) * 0.16, 0, 0]
        samples.append(at)
    return nodes, tets, pinned_nodes, Motion(np.array(samples), H)


def quasistatic(key, stretch, twist, **params):
    nodes, tets, pinned_nodes, motion = moved_end(stretch, twist)
    world = make(nodes, tets, young=2e4, poisson=0.49, pinned=pinned_nodes, motion=motion, method="vanilla",
                 integrator="quasistatic", linear=params.pop("linear", "auto"))
    world.stage_solver = solver(key, tolerance=1e-9, **params)
    return world


def swinging(key, **params):
    nodes, tets = box((8, 2, 2))
    world = make(nodes, tets, young=2e4, pinned=np.flatnonzero(nodes[:, 0] < 1e-9), method="vanilla", integrator="bdf2")
    world.stage_solver = solver(key, tolerance=1e-9, **params)
    return world


def falling(key, **params):
    nodes, tets = box((4, 4, 4), (0.1, 0.1, 0.1))
    world = make(nodes + [0, 0, 0.02], tets, young=2e4, method="vanilla", integrator="sdirk2", ground=(0.0, 1e3))
    world.stage_solver = solver(key, tolerance=1e-9, **params)
    return world


WORLDS = {"compressed": (lambda key, **p: quasistatic(key, 0.75, 0.0, **p), H, 4),
          "stretched": (lambda key, **p: quasistatic(key, 1.5, 0.0, **p), H, 4),
          "twisted": (lambda key, **p: quasistatic(key, 1.1, 2.0, **p), H, 4),
          "swinging": (swinging, 1 / 60, 8), "falling": (falling, 1 / 60, 8)}


def ran(name, key, **params):
    """Positions after each step."""
    start, h, steps = WORLDS[name]
    world = start(key, **params)
    state, out = world.initial_state(), []
    for i in range(steps):
        state = world.step(State(i * h, state.q, state.u, state.memory), h)
        out.append(positions(world, state))
    return np.array(out)


@pytest.fixture(scope="module")
def roots():
    return {name: ran(name, "newton_d") for name in WORLDS}


@pytest.mark.parametrize("key, name", crossed(OTHERS, WORLDS))
def test_all_land_on_one_root(key, name, roots):
    """To 1e-6 of how far a step moves the body."""
    found, known = ran(name, key), roots[name]
    moved = np.abs(np.diff(known, axis=0)).max()
    print(name, key, np.abs(found - known).max() / moved)
    assert np.abs(found - known).max() <= 1e-6 * moved


@pytest.mark.parametrize("key", OTHERS)
def test_it_works_without_cholmod(key, roots):
    found, known = ran("stretched", key, linear="superlu"), roots["stretched"]
    assert np.abs(found - known).max() <= 1e-6 * np.abs(np.diff(known, axis=0)).max()


def problem_of(world, x=None, energy=True):
    """The first stage of a step of h, at random velocities."""
    h, count = H, len(world.rest)
    stage = NodeStage(h, 1.0, 1.0, h, None, np.random.default_rng(3).normal(size=(count, 3)) * 0.1, None)
    problem = StageProblem(world, world.stage_method.system, stage, world.rest.copy(), world.coordinates.prescribed)
    return problem, np.random.default_rng(4).normal(size=3 * len(problem.order)) * 0.05


def test_the_residual_is_the_slope_of_the_merit():
    problem, at = problem_of(swinging("newton_d"))
    residual = problem.evaluate(at).residual
    for seed in range(5):
        along = np.random.default_rng(seed).normal(size=len(at))
        step = 1e-5 / np.linalg.norm(along)
        ahead, behind = problem.evaluate(at + step * along), problem.evaluate(at - step * along)
        slope = (ahead.merit - behind.merit) / (2 * step)
        assert slope == pytest.approx(residual @ along, rel=1e-5)


@pytest.mark.parametrize("key", KEYS)
def test_what_cannot_be_solved_says_where_and_when(key):
    world = quasistatic(key, 0.75, 2.0, iterations=2, tries=2)
    with pytest.raises(StepFailed, match=r"net force of .* N is left near \(.*\) m, 0.05 s") as caught:
        world.step(world.initial_state(), H)
    assert caught.value.object == "box"
    place = np.array(str(caught.value).split("(")[1].split(")")[0].split(", "), dtype=float)
    assert np.abs(place - world.rest).max() < 1.0 and "node" not in str(caught.value)


@pytest.mark.parametrize("key", ["newton_d", "newton_l0", "newton_i"])
def test_the_last_iteration_counts(key):
    """As many as it takes are enough, and one fewer is not."""
    for limit in range(1, 30):
        world = quasistatic(key, 0.95, 0.0, iterations=limit)
        try:
            world.step(world.initial_state(), H)
        except StepFailed as failure:
            assert float(str(failure).split("force of ")[1].split()[0]) > 1e-9 * 9.81 * world.mass.max()
        else:
            break
    assert 2 < limit < 29


@pytest.mark.parametrize("key", ["newton_d", "newton_l0", "newton_l1", "newton_i"])
def test_a_step_that_needs_too_many_iterations_is_halved(key):
    """And lands where one with enough of them does."""
    world, halved = quasistatic(key, 0.75, 2.0, iterations=8), Halved()
    state = advance(world, world.initial_state(), H, 2, halved=halved)
    assert halved[0][0] == H
    smallest = min(h for h, _ in halved) / 2
    assert re.match(r'Frame 2: a step of "box" of 0.05 s was too long, the solver did not converge in 8 '
                    r"iterations; a net force of .* N is left near \(.*\) m, 0.05 s; "
                    rf"smaller ones were taken, down to {smallest:.6g} s", halved.describe(2))
    enough = quasistatic(key, 0.75, 2.0)
    known = enough.step(enough.initial_state(), H)
    assert np.abs(state.q - known.q).max() <= 1e-6 * 0.04


@pytest.mark.parametrize("key", KEYS)
def test_without_an_energy_the_residual_leads(key, monkeypatch):
    """Without an energy, the residual alone leads to the same root."""
    known = ran("swinging", key)[1]
    world = swinging(key)
    evaluate_all = world.evaluate
    monkeypatch.setattr(world, "evaluate", lambda *moment, **asked: (evaluate_all(*moment, **asked)[0], None))
    state = world.initial_state()
    for i in range(2):
        state = world.step(State(i / 60, state.q, state.u, state.memory), 1 / 60)
    assert np.abs(positions(world, state) - known).max() <= 1e-6 * np.abs(known - world.rest).max()


@pytest.mark.parametrize("key", OTHERS)
def test_a_forgotten_past_gives_the_same_bytes(key):
    """Two worlds at one state, one with a past and one without: alike once both forget."""
    old, new = quasistatic(key, 1.3, 0.5), quasistatic(key, 1.3, 0.5)
    state = old.initial_state()
    for i in range(2):
        state = old.step(State(i * H, state.q, state.u, state.memory), H)
    old.forget_past()
    at = State(2 * H, state.q, state.u, state.memory)
    assert old.step(at, H).q.tobytes() == new.step(at, H).q.tobytes()


def factorizations(key, **params):
    world = quasistatic(key, 1.2, 0.0, **params)
    state = world.initial_state()
    for i in range(4):
        state = world.step(State(i * H, state.q, state.u, state.memory), H)
    return world.linear.factored


def test_a_factor_serves_many_steps():
    assert factorizations("newton_i") == 0
    direct = factorizations("newton_d")
    assert factorizations("qlb") < direct / 2 and factorizations("newton_l0") < direct / 2
    assert factorizations("newton_l0", patience=0) >= 4


@pytest.mark.parametrize("key", ["newton_l0", "hybrid_l1"])
def test_a_direction_that_takes_longer_than_a_factor_is_worth_gets_a_new_one(key, monkeypatch):
    """And no direction takes more on an old one than that; where they end is the same."""
    taken, solve = [], ConjugateGradients.solve

    def counted(self, *of):
        answer = solve(self, *of)
        taken.append((self.taken, of[3]))
        return answer

    monkeypatch.setattr(ConjugateGradients, "solve", counted)
    exact = {"cg_tolerance": 1e-8}
    assert factorizations(key, patience=4, **exact) > factorizations(key, patience=200, **exact)
    assert max(count for count, most in taken if most == 4) == 4 < max(count for count, most in taken if most == 200)
    assert max(count for count, most in taken if most == 1000) <= 4  # on one of its own matrix
    ends = [quasistatic(key, 1.2, 0.0, patience=patience, **exact) for patience in (4, 200)]
    first, second = (positions(world, world.step(world.initial_state(), H)) for world in ends)
    assert np.abs(first - second).max() <= 1e-6


def test_a_factor_that_someone_else_replaced_is_not_used():
    """A semi-implicit step between two others factors another matrix in the same place."""
    world, alone = swinging("qlb"), swinging("qlb")
    other = catalogue.find("integrator", "sbdf2").load()({})
    state = world.initial_state()
    state = world.step(state, 1 / 60)
    other.step(world, state, 1 / 600)
    alone.step(alone.initial_state(), 1 / 60)
    at = State(1 / 60, state.q, state.u, state.memory)
    first, second = positions(world, world.step(at, 1 / 60)), positions(alone, alone.step(at, 1 / 60))
    assert np.abs(first - second).max() <= 1e-9


def test_a_body_too_stiff_for_single_precision_is_factored_in_full():
    """It floats, so its inertia alone holds it, a part in 1e7 of its stiffness."""
    nodes, tets = box((4, 2, 2), (0.1, 0.05, 0.05))
    worlds = [make(nodes, tets, young=3e10, method="vanilla", integrator="bdf2") for _ in range(2)]
    after = []
    for world, key in zip(worlds, ("newton_d", "qlb")):
        world.stage_solver = solver(key, tolerance=1e-3)
        start = world.initial_state()
        start = State(0.0, start.q, start.u + np.tile([0.0, 0.0, 1.0], len(start.u) // 3), start.memory)
        after.append(positions(world, world.step(start, 1 / 60)))
    assert np.abs(after[0] - after[1]).max() <= 1e-9
    # one to show the pattern, two in single precision that are refused, one that stands
    assert worlds[1].linear.factored == 4


def test_a_factor_is_extrapolated_while_no_element_changes_its_clamping(monkeypatch):
    """L + Δt L̇ is the factor of the matrix at the guess, to second order; L alone to first."""
    world = quasistatic("newton_l1", 1.02, 0.0)
    state = world.step(world.initial_state(), H)
    errors = {}
    for same in (True, False):
        world.stage_solver.forget_past()
        clamps = iter([[True], [same]])
        monkeypatch.setattr(world, "find_clamped_elements", lambda x, time, clamps=clamps: np.array(next(clamps)))
        stage = NodeStage(H, 1.0, 1.0, 2 * H, state.q, np.zeros_like(world.rest),
                      world.coordinates.compute_prescribed_velocity(H, H), inertia=0.0)
        base = world.coordinates.positions(state.q, 2 * H)
        base[world.coordinates.prescribed] -= H * stage.w
        problem = StageProblem(world, world.stage_method.system, stage, base, world.coordinates.prescribed)
        guess = world.coordinates.spread(state.u, None)[problem.order].ravel()
        before = world.linear.factored
        world.stage_solver._factor.ready(problem, guess)
        made = world.linear.factored - before
        problem.fill(guess)
        lower = world.stage_method.system.matrix
        right = np.random.default_rng(0).normal(size=len(guess))
        whole = lower + lower.T
        whole.setdiag(lower.diagonal())
        errors[same] = np.linalg.norm(whole @ world.stage_solver._factor.solve(right) - right) / np.linalg.norm(right)
        assert made == (2 if same else 1)
    print(errors)
    assert errors[True] < 0.3 * errors[False]


def test_without_cholmod_the_factor_stays_frozen_and_that_is_reported():
    from solver.linear.interface import available

    assert solver("newton_l1").notes(available("superlu")()) == [
        "The stage solver's factor stays frozen: only CHOLMOD's can be extrapolated"]
    assert all(solver(key).notes(available("cholmod")()) == [] for key in KEYS)


@pytest.mark.parametrize("key", ["newton_d", *OTHERS])
def test_the_smallest_tolerance_that_is_allowed_is_reached(key):
    """Not asked for without end: in about as many iterations as doubles have digits."""
    h, world = 1 / 60, swinging(key)
    smallest = next(param.low for param in catalogue.find("stage_solver", key).params if param.key == "tolerance")
    world.stage_solver = solver(key, tolerance=smallest, iterations=60)
    state, known = world.initial_state(), ran("swinging", "newton_d")[:3]
    for i in range(3):
        state = world.step(State(i * h, state.q, state.u, state.memory), h)
        assert np.abs(positions(world, state) - known[i]).max() <= 1e-6 * np.abs(np.diff(known, axis=0)).max()


def test_a_factor_of_where_a_step_starts_stands_there():
    """Also where prescribed nodes accelerate: their rate at the step's end would extrapolate back to another
    position."""
    nodes, tets, pinned_nodes, _ = moved_end(1.2, 1.0)
    pinned_at = nodes[pinned_nodes]
    moved = pinned_at[None] + np.linspace(0.0, 1.0, 5)[:, None, None] ** 2 * (pinned_at[:, :1] > 0.1) * 0.02
    world = make(nodes, tets, pinned=pinned_nodes, motion=Motion(moved, H), method="vanilla", integrator="quasistatic")
    seen = []

    class Watching(type(solver("newton_d"))):
        def solve(self, problem, guess):
            seen.append((problem, guess))
            return super().solve(problem, guess)

    world.stage_solver = Watching({"tolerance": 1e-6, "iterations": 100})
    state = world.initial_state()
    world.step(world.step(state, H), H)
    problem, guess = seen[1]
    v = problem.velocities(guess)
    assert np.abs(problem.positions_at_fraction(v, 0.0)[pinned_nodes] - moved[1]).max() <= 1e-12
    assert np.abs(problem.positions_at_fraction(v, 1.0)[pinned_nodes] - moved[2]).max() <= 1e-12
    middle = 0.5 * (problem.positions_at_fraction(v, 0.0) + problem.positions_at_fraction(v, 1.0))
    assert np.abs(problem.positions_at_fraction(v, 0.5) - middle).max() <= 1e-12
