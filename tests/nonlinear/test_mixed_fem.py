"""Mixed: stretches are unknowns of their own. Converged it is FEM, a few iterations are enough for what is stiff in
soft, and no stage ends with more potential than it began with."""

from dataclasses import replace

import bodies
import numpy as np
import pytest
from bodies import box, make, positions
from small_jobs import box_job, change
from test_stage_solvers import WORLDS, falling, moved_end, ran, solver, swinging
from worlds import nodes_of

from solver import catalogue, threads
from solver.errors import StepFailed
from solver.job.load import load
from solver.nonlinear.bounded_search import BoundedSearch
from solver.nonlinear.limits import StopRule
from solver.nonlinear.mixed_fem import MixedFEM
from solver.state import State

NOWHERE = {"strain_left": 1e-12, "decrement_left": 1e-13}  #: none of its rules ends a stage
TIGHT = {"mixed_iterations": 60, "strain_left": 1e-9, "decrement_left": 1e-11}


class Few:
    """Newton's method on projected stiffness with a line search, after so many iterations."""

    def __init__(self, count):
        self.limits, self._count = StopRule.of({}), count

    def solve(self, problem, guess):
        at = problem.evaluate(guess)
        for _ in range(self._count):
            problem.factors.factor(problem, at.unknowns, False)
            at, _ = BoundedSearch(problem).search(at, problem.system.linear.solve(-at.residual))
        return at.unknowns

    def forget_past(self):
        return


def hinge(stage_solver, soft=1e5, stiff=1e9, integrator="backward_euler"):
    """Two blocks of 1e9 Pa with one of 1e5 Pa between them, let go level from a wall: 72 tetrahedra."""
    nodes, tets = box((6, 2, 1), (0.4, 0.05, 0.04))
    middle = nodes[tets].mean(axis=1)[:, 0]
    young = np.where((middle > 0.4 / 3) & (middle < 0.2), soft, stiff)
    world = make(nodes, tets, young=young, pinned=np.flatnonzero(nodes[:, 0] < 1e-9), method="vanilla",
                 integrator=integrator)
    world.stage_solver = stage_solver
    return world


def drops(world, steps, h=1 / 60):
    """How far the tip is above where it began after each step [m]."""
    tip = int(np.argmax(world.rest @ [1.0, 0.1, 0.1]))
    state, out = world.initial_state(), []
    for _ in range(steps):
        state = world.step(state, h)
        out.append(positions(world, state)[tip, 2] - world.rest[tip, 2])
    return np.array(out)


def energy(world, state):
    x, v = positions(world, state), world.velocity(state)
    return world.evaluate(x, state.time)[1] + 0.5 * float(np.vdot(world.mass[:, None] * v, v))


@pytest.fixture(scope="module")
def roots():
    return {name: ran(name, "newton_d") for name in WORLDS}


@pytest.mark.parametrize("name", WORLDS)
def test_converged_it_is_fem(name, roots):
    """To 1e-6 of how far a step moves the body; what balances ends by iterations, not by their number."""
    found, known = ran(name, "mixed", **TIGHT), roots[name]
    assert np.abs(found - known).max() <= 1e-6 * np.abs(np.diff(known, axis=0)).max()


@pytest.mark.parametrize("integrator", ["backward_euler", "bdf2", "sdirk2", "sdirk23", "tr_bdf2", "midpoint"])
@pytest.mark.parametrize("damping", [None, ("rayleigh", 0.01, 0.5), ("green", 0.01, 0.5)])
def test_so_it_is_with_all_integrators_and_damping_and_pins_that_move(integrator, damping):
    nodes, tets, pinned_nodes, motion = moved_end(1.2, 1.5, steps=6)

    def end(stage_solver):
        world = make(nodes, tets, young=2e4, pinned=pinned_nodes, motion=motion, method="vanilla",
                     integrator=integrator, damping=damping)
        world.stage_solver, state, out = stage_solver, world.initial_state(), []
        for _ in range(5):
            state = world.step(state, 1 / 24)
            out.append(positions(world, state))
        return np.array(out)

    known, found = end(solver("newton_d", tolerance=1e-9)), end(solver("mixed", **TIGHT))
    assert np.abs(found - known).max() <= 1e-6 * np.abs(np.diff(known, axis=0)).max()


@pytest.mark.parametrize("material", ["corotational", "fixed_corotated", "neo_hookean_plain", "stvk", "linear"])
def test_so_it_is_with_other_materials(material, monkeypatch):
    """A linear one cannot be put in stretches: it is solved as it is."""
    monkeypatch.setattr(bodies, "MATERIAL", catalogue.find("material", material).load())
    known, found = (drops(swinging(key, **params), 8) for key, params in (("newton_d", {}), ("mixed", TIGHT)))
    assert np.abs(found - known).max() <= 1e-6 * np.abs(known).max()


@pytest.mark.parametrize("kind", catalogue.family("fiber_material"))
def test_so_it_is_with_fibers_and_a_muscle_that_contracts(tmp_path, kind):
    """Activation by frames, a pinned end that swings, all the way from scene.json."""
    def end(name, choice):
        job = box_job(tmp_path / name, end=4, cells=(6, 2, 2), method={"kind": "vanilla"}, stage_solver=choice,
                      integrator={"kind": "sdirk2"})
        change(job, "bodies.0.fiber_material", {"kind": kind, "params": {"fiber_modulus": 6e4}})
        change(job, "bodies.0.fiber_field", {"kind": "straight", "params": {"fiber_x": 1.0, "fiber_z": 0.0}})
        if kind == "afung":
            np.save(job / "arrays" / "fiber_activation.npy", np.linspace(0.0, 1.0, 7))
            change(job, "bodies.0.fiber_activation", "arrays/fiber_activation.npy")
            change(job, "bodies.0.fiber_material.params.activation", 1.0)
        world = nodes_of(load(job))
        state = world.initial_state()
        for _ in range(6):
            state = world.step(state, 1 / 48)
        return world.coordinates.positions(state.q, state.time), world.rest

    (known, rest), (found, _) = (end(key, {"kind": key, "params": params}) for key, params in (
        ("newton_d", {"tolerance": 1e-9}), ("mixed", TIGHT | {"strain_left": 1e-6})))
    assert np.abs(found - known).max() <= 1e-6 * np.abs(known - rest).max()
    if kind == "afung":
        assert np.ptp(known[:, 0]) < 0.9 * 0.2


def test_a_hinge_turns_in_one_iteration():
    """One of Newton's method leaves more than half of the way; two of ours a two-thousandth."""
    known = drops(hinge(solver("newton_d", tolerance=1e-9)), 30)
    one, two = (drops(hinge(solver("mixed", mixed_iterations=count, **NOWHERE)), 30) for count in (1, 2))
    newton = drops(hinge(Few(1)), 30)
    largest = np.abs(known).max()
    assert largest > 0.07
    assert np.abs(one - known).max() <= 0.02 * largest  # found: 0.0045
    assert np.abs(two - known).max() <= 1e-3 * largest
    assert np.abs(newton - known).max() > 0.5 * largest  # found: 0.75
    assert np.abs(newton[:8] - known[:8]).max() > 0.5 * np.abs(known[:8]).max()


def test_few_iterations_are_that_many_factors():
    world = hinge(solver("mixed", **NOWHERE))
    drops(world, 10)
    assert world.stage_solver.newton_stages == 0 and world.linear.factored == 20
    settled = hinge(solver("mixed", mixed_iterations=50))
    drops(settled, 10)
    assert settled.linear.factored < 30  # by what is left of edges


@pytest.mark.parametrize("soft, stiff", [(1.0, 1e12), (1e3, 1e12), (1.0, 1e6)])
def test_a_ratio_of_a_million_millions_changes_no_iteration(soft, stiff):
    """Turning keeps its stiffness: two iterations are as near to the root with any ratio of moduli."""
    known = drops(hinge(solver("mixed", **TIGHT), soft, stiff), 12)
    found = drops(hinge(solver("mixed", **NOWHERE), soft, stiff), 12)
    assert np.isfinite(known).all() and np.abs(known).max() > 0.05
    assert np.abs(found - known).max() <= 0.02 * np.abs(known).max()


def pulled(stage_solver, integrator="backward_euler", stretch=1.6, twist=2.0):
    """A bar let go from where it is pulled to 1.6 times its length and twisted by 2 rad."""
    nodes, tets = box((12, 3, 3), (0.24, 0.06, 0.06))
    world = make(nodes, tets, pinned=np.flatnonzero(nodes[:, 0] < 1e-9), poisson=0.45, method="vanilla",
                 integrator=integrator, gravity=(0, 0, 0))
    world.stage_solver = stage_solver
    x, y, z = (nodes - [0.0, 0.03, 0.03]).T
    angle = twist * x / 0.24
    at = np.stack([stretch * x, np.cos(angle) * y - np.sin(angle) * z, np.sin(angle) * y + np.cos(angle) * z], axis=1)
    return world, replace(world.initial_state(), q=(at + [0.0, 0.03, 0.03])[world.coordinates.free].ravel())


def inside_out(stage_solver, integrator="backward_euler"):
    """Return the bar with every node an edge's length away from its place, by chance."""
    world, state = pulled(stage_solver, integrator)
    at = world.rest + 0.02 * np.random.default_rng(0).normal(size=world.rest.shape)
    volumes = np.linalg.det(np.diff(at[world.tets], axis=1))
    assert (volumes < 0.0).mean() > 0.2
    return world, replace(state, q=at[world.coordinates.free].ravel())


@pytest.mark.parametrize("integrator", ["backward_euler", "sdirk2"])
@pytest.mark.parametrize("count", [1, 2, 4])
@pytest.mark.parametrize("start, h", [(pulled, 1 / 24), (pulled, 1 / 48), (inside_out, 1 / 24), (inside_out, 1 / 96)])
def test_no_step_gains_energy(start, h, count, integrator):
    world, state = start(solver("mixed", mixed_iterations=count), integrator)
    initial_energy = energy(world, state)
    for _ in range(18):
        state = world.step(state, h)
        assert energy(world, state) <= 1.001 * initial_energy


def test_by_the_guard_alone():
    """Without it two iterations end with thousands of times the energy, as the paper's one does with 7.7 times."""
    world, state = pulled(solver("mixed"), "sdirk2")
    initial_energy, unguarded = energy(world, state), 0.0
    world.stage_solver._gains = lambda *_: False
    for _ in range(6):
        state = world.step(state, 1 / 24)
        unguarded = max(unguarded, energy(world, state))
    assert unguarded > 10.0 * initial_energy and world.stage_solver.newton_stages == 0
    world, state = pulled(solver("mixed"), "sdirk2")
    for _ in range(6):
        state = world.step(state, 1 / 24)
    assert world.stage_solver.newton_stages > 0


@pytest.mark.parametrize("count", [2, 12])
def test_what_starts_inside_out_recovers(count):
    """It swings on by then, and no element is far from its shape."""
    world, state = inside_out(solver("mixed", mixed_iterations=count))
    initial_energy = energy(world, state)
    for _ in range(30):
        state = world.step(state, 1 / 24)
    at, rest = (np.linalg.det(np.diff(x[world.tets], axis=1)) for x in (positions(world, state), world.rest))
    assert np.abs(at / rest - 1.0).max() < 0.05 and energy(world, state) < 1e-4 * initial_energy


def test_what_flies_keeps_its_momentum():
    """Its spin as well as solved stages do, though stages end before their root."""
    def turned_on(stage_solver):
        nodes, tets = box((8, 2, 2), (0.16, 0.04, 0.04))
        world = make(nodes, tets, young=2e4, method="vanilla", integrator="sdirk2", gravity=(0, 0, 0))
        world.stage_solver = stage_solver
        arm = nodes - nodes.mean(axis=0)
        state = replace(world.initial_state(),
                        u=(np.cross([1.0, 4.0, 2.0], arm) + 0.5 * np.sin(60 * nodes[:, [1, 2, 0]])).ravel())

        def momenta(state):
            x, p = positions(world, state), world.mass[:, None] * world.velocity(state)
            return p.sum(axis=0), np.cross(x - world.mass @ x / world.mass.sum(), p).sum(axis=0)

        before = momenta(state)
        for _ in range(60):
            state = world.step(state, 1 / 60)
        after = momenta(state)
        assert np.abs(after[0] - before[0]).max() <= 1e-12
        return np.linalg.norm(after[1] - before[1]) / np.linalg.norm(before[1])

    solved = turned_on(solver("newton_d", tolerance=1e-9))
    assert turned_on(solver("mixed", mixed_iterations=1, **NOWHERE)) <= 1.1 * solved
    assert turned_on(solver("mixed")) <= 1.1 * solved


def test_what_snaps_is_left_to_newtons_method():
    """A bar that is pressed to three quarters of its length between plates buckles: no Lagrangian leads there."""
    nodes, tets, pinned_nodes, motion = moved_end(0.75, 0.0)
    world = make(nodes, tets, young=2e4, poisson=0.49, pinned=pinned_nodes, motion=motion, method="vanilla",
                 integrator="quasistatic")
    world.stage_solver = solver("mixed", iterations=60)
    state = world.initial_state()
    for i in range(4):
        state = world.step(State(i * 0.05, state.q, state.u, state.memory), 0.05)
    force = world.evaluate(positions(world, state), state.time)[0]
    free = world.coordinates.free
    assert np.abs(force[free]).max() < 0.05 * np.abs(force).max()


def test_the_ground_and_what_rests_on_it():
    known, found = falling("newton_d"), falling("mixed")
    heights = []
    for world in (known, found):
        state = world.initial_state()
        for _ in range(20):
            state = world.step(state, 1 / 48)
        heights.append(positions(world, state)[:, 2].mean())
    assert heights[1] == pytest.approx(heights[0], abs=1e-3) and found.stage_solver.newton_stages == 0


def test_as_many_threads_as_there_are_find_the_same():
    ends = []
    try:
        for count in (1, 2):
            threads.configure(count)
            world, state = pulled(solver("mixed"), "sdirk2")
            for _ in range(3):
                state = world.step(state, 1 / 48)
            ends.append(state.q)
    finally:
        threads.configure(None)
    assert np.array_equal(*ends)


def test_a_stage_without_a_balance_says_so():
    nodes, tets = box((2, 1, 1))
    world = make(nodes, tets, method="vanilla", integrator="quasistatic")
    world.stage_solver = solver("mixed", iterations=5)
    with pytest.raises(StepFailed):
        world.step(world.initial_state(), 0.05)


def test_stretches_are_no_part_of_the_state():
    """A stage begins with those of its positions: a step taken anew from a snapshot is the same to the last digit."""
    world = hinge(solver("mixed"), integrator="sdirk2")
    state = world.initial_state()
    for _ in range(3):
        state = world.step(state, 1 / 60)
    ahead = world.step(world.step(state, 1 / 60), 1 / 60)
    other = hinge(solver("mixed"), integrator="sdirk2")
    assert np.array_equal(ahead.q, other.step(other.step(state, 1 / 60), 1 / 60).q)
    assert isinstance(world.stage_solver, MixedFEM)
