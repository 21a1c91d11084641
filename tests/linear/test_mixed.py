"""A factor in single precision with refined answers does what a factor in double does."""

import numpy as np
import pytest
import scipy.sparse as sp
from bodies import NONE, box, make, nearest, positions, run
from matrix import crossed

pytest.importorskip("sksparse", reason="scikit-sparse, whose single precision it is, is not installed")

from solver import threads
from solver.coordinates.prescribed import Motion
from solver.linear.cholesky.cholmod import Cholmod
from solver.linear.cholesky.mixed import Mixed
from solver.linear.interface import NotPositiveDefinite
from solver.parts.stage import NodeStage

CELLS, SIZE = (12, 4, 4), (0.16, 0.06, 0.06)
SPOTS = [(0.16, 0.03, 0.03), (0.08, 0.03, 0.06), (0.12, 0.0, 0.0), (0.04, 0.06, 0.06), (0.1, 0.06, 0.0)]


def bar(count=2, **settings):
    nodes, tets = box(CELLS, SIZE)
    pinned_nodes = np.flatnonzero(nodes[:, 0] < 1e-9) if settings.pop("pinned", True) else NONE
    dynamic = [nearest(nodes, spot) for spot in SPOTS[:count]]
    return nodes, make(nodes, tets, pinned=pinned_nodes, dynamic=dynamic, **settings)


def bordered(count, poisson):
    """A = −K and its border as a step makes it, and how many unknowns are kept."""
    _, world = bar(count, poisson=poisson)
    run(world, 3)
    condensation = world.condensation
    return condensation._matrix, 3 * len(condensation.retained) + condensation.pattern.border


@pytest.mark.parametrize("count", [0, 1, 5])
@pytest.mark.parametrize("poisson", [0.3, 0.49])
def test_its_j_is_that_of_a_double_factor(count, poisson):
    lower, retained = bordered(count, poisson)
    answers = []
    for solver in (Cholmod(), Mixed()):
        solver.analyse(lower, retained)
        solver.factor(lower)
        answers.append(solver.condense())
    assert answers[1].shape[1] == 3 * count + 1  # one column, and more than a strip of 15 + 1
    off = np.abs(answers[1] - answers[0]).max(axis=0) / np.abs(answers[0]).max(axis=0)
    assert 0.0 < off.max() <= 1e-3
    assert solver.in_double == 1 and solver.taken >= 1  # the first factor shows the pattern
    # what is left of J is what it says, and squares the error of what is left for the kept unknowns
    size = len(answers[0])
    whole = (lower + sp.tril(lower, -1).T).toarray()
    inner, across = whole[:size, :size], whole[size:, :size]
    rest = solver.compute_condensation_residual()
    assert np.abs(inner @ answers[1] + across.T + rest).max() <= 1e-9 * np.abs(across).max()
    exact, first = across @ answers[0], across @ answers[1]
    scale = np.sqrt(np.outer(np.diag(exact), np.diag(exact)))
    errors = [(np.abs(condensed - exact) / scale).max() for condensed in (first, first - answers[1].T @ rest)]
    assert errors[0] > 1e-9 and errors[1] <= max(1e-2 * errors[0], 1e-10)


def test_columns_of_several_strips_are_each_solved():
    lower, _ = bordered(5, 0.4)
    size = lower.shape[0] // 3 * 3 - 15
    inner = sp.csc_matrix(lower[:size, :size])
    inner.sort_indices()
    whole = inner + sp.tril(inner, -1).T
    right = np.random.default_rng(0).normal(size=(size, 37)) * 10.0 ** np.arange(-18, 19)
    right[:, 5] = 0.0
    solver = Mixed()
    solver.analyse(inner, 0)
    solver.factor(inner)
    length = np.linalg.norm(right, axis=0)

    def rest(tolerance):
        solver.tolerance = tolerance
        left = np.linalg.norm(whole @ solver.solve(right) - right, axis=0)
        assert (left <= 1.01 * tolerance * length).all()
        return left[length > 0] / length[length > 0]

    rest(1e-9)
    assert solver.taken >= 2
    after_one = rest(0.1)
    assert solver.taken == 1 and list(solver._arrays) == [(3, size, 16)]
    # columns that are not there yet go on by themselves, in as few strips as hold them
    for many in (20, 1):
        among = np.sort(after_one)[-many - 1 : len(after_one) - many + 1]
        rest(np.sqrt(among[0] * among[1]))
        assert solver.taken == 2 and list(solver._arrays)[-1][0] == -(-many // 16)


@pytest.mark.parametrize("poisson", [0.499, 0.4999, 0.49999])
def test_answers_have_the_digits_that_are_promised(poisson):
    """A residual of 1e-10 in every column, with matter that is hardly compressible: noise and smooth answers."""
    lower, _ = bordered(5, poisson)
    size = lower.shape[0] // 3 * 3 - 15
    inner = sp.csc_matrix(lower[:size, :size])
    inner.sort_indices()
    whole, rng = inner + sp.tril(inner, -1).T, np.random.default_rng(0)
    right = np.column_stack([rng.normal(size=(size, 32)), whole @ np.cumsum(rng.normal(size=(size, 32)), axis=0)])
    solver = Mixed()
    solver.analyse(inner, 0)
    solver.factor(inner)
    left = np.linalg.norm(whole @ solver.solve(right) - right, axis=0) / np.linalg.norm(right, axis=0)
    assert left.max() <= 1.01e-10 and solver.in_double == 1


def test_j_has_the_digits_that_are_promised():
    """2e-3 of each column, with a factor that is off by a hundredth."""
    lower, retained = bordered(2, 0.4)
    solver = Mixed()
    solver.analyse(lower, retained)
    solver.factor(lower)
    solver._single.values[:] *= 1.005
    J = solver.condense()
    size = len(J)
    whole = (lower + sp.tril(lower, -1).T).toarray()
    inner, across = whole[:size, :size], whole[size:, :size].T
    left = np.linalg.norm(inner @ J + across, axis=0) / np.linalg.norm(across, axis=0)
    assert left.max() <= 2.01e-3 and solver.taken == 2 and solver.in_double == 1


SCENES = {
    "held": {},
    "loose": {"pinned": False, "ground": (-0.05, 200.0)},
    "corrected": {"corrections": 2},
    "damped": {"damping": ("rayleigh", 1e-3, 0.5)},
    "moved": {"motion": True, "corrections": 1},
}


@pytest.mark.parametrize("method, scene", crossed(["vanilla", "conjac"], SCENES))
def test_bodies_move_as_with_a_double_factor(method, scene):
    ends = []
    for linear in ("cholmod", "mixed"):
        settings = dict(SCENES[scene])
        if settings.pop("motion", False):
            nodes, _ = box(CELLS, SIZE)
            at = nodes[nodes[:, 0] < 1e-9]
            settings["motion"] = Motion(at + 0.02 * np.sin(np.linspace(0, 3, 41))[:, None, None] * [0, 1, 0], 1 / 120)
        nodes, world = bar(method=method, linear=linear, solve_impacts=False, **settings)  # one factor a step
        ends.append(positions(world, run(world, 12)))
    assert world.linear.in_double == 1 and world.linear.factored >= 12
    moved = np.abs(ends[0] - nodes).max()
    assert moved > 0.005 and np.abs(ends[0] - ends[1]).max() <= (1e-5 if method == "conjac" else 1e-7) * moved


def test_a_release_has_the_same_energy_and_comes_to_the_same_rest():
    found = []
    for linear in ("cholmod", "mixed"):
        nodes, world = bar(linear=linear, gravity=(0, 0, 0), gamma=0.2)
        state = world.initial_state()
        free = nodes[world.coordinates.free]
        state = type(state)(0.0, (free * [1.2, 1.0, 1.0] + [0, 0, 0.2] * free[:, :1]).ravel(), state.u)
        energy = []
        for _ in range(40):
            state = world.step(state, 1 / 100)
            energy.append(0.5 * world.mass @ np.square(world.velocity(state)).sum(axis=1))
        _, damped = bar(linear=linear, beta=1.0, corrections=2)
        found.append((np.mean(energy), positions(damped, run(damped, 60, 1 / 24))))
    assert found[0][0] > 1e-4 and abs(found[1][0] / found[0][0] - 1.0) <= 1e-5
    assert np.abs(found[0][1] - nodes).max() > 0.01
    assert np.abs(found[0][1] - found[1][1]).max() <= 1e-6 * 0.16


def test_bytes_depend_neither_on_the_threads_nor_on_what_was_before():
    ends = []
    for count in (1, 2):
        threads.configure(count)
        try:
            _, world = bar(linear="mixed")
            ends.append(run(world, 6).q.tobytes())
        finally:
            threads.configure(None)
    _, one = bar(linear="mixed")
    _, other = bar(linear="mixed")
    assert run(other, 3, state=run(one, 3)).q.tobytes() == ends[0] == ends[1]


def floating(part):
    """A loose body whose rigid motions are held by `part` of its stiffness alone."""
    nodes, tets = box((6, 4, 4), (0.12, 0.08, 0.08))
    world = make(nodes, tets, method="vanilla")
    lin = world.linearise(world.initial_state())
    pattern = world.condensation.pattern
    pattern.gather(lin.blocks, lin.node_blocks, -1.0, np.full(len(nodes), part))
    return pattern.matrix()


def test_where_single_precision_does_not_do_it_factors_in_double():
    lower = floating(1e-5)
    whole = lower + sp.tril(lower, -1).T
    solver, known = Mixed(), Cholmod()
    for linear in (solver, known):
        linear.analyse(lower, 0)
        linear.factor(lower)
    assert solver.in_double == 2
    assert solver.remarks == ["Mixed Precision factors in double precision where single does not do, which takes "
                              "longer; here a pivot is lost in single precision"]
    right = np.random.default_rng(0).normal(size=lower.shape[0])
    assert np.array_equal(solver.solve(right), known.solve(right[:, None])[:, 0])
    assert np.linalg.norm(whole @ solver.solve(right) - right) <= 1e-6 * np.linalg.norm(right)
    # it is said once, and the next one is single again
    solver.factor(lower)
    assert solver.in_double == 3 and len(solver.remarks) == 1
    lower.data[lower.indptr[:-1]] += 100.0
    solver.factor(lower)
    assert solver.in_double == 3


def test_a_world_reports_what_its_solver_remarks():
    _, world = bar(linear="mixed", method="vanilla")
    state = run(world, 2)
    assert not world.notes
    world.linear._single.values[:] = 0.0
    world.linear._single._fronts.factor = lambda *_: False  # type: ignore[method-assign]
    run(world, 1, state=state)
    assert len(world.notes) == 1 and world.notes[0].startswith("Mixed Precision factors in double precision")
    assert not world.linear.remarks


def test_an_answer_that_does_not_come_near_is_factored_in_double():
    lower = floating(1.0)
    solver = Mixed()
    solver.analyse(lower, 0)
    solver.factor(lower)
    assert solver.in_double == 1
    right = np.random.default_rng(0).normal(size=lower.shape[0])
    assert not solver.remarks
    solver._single.values[:] *= 1.7  # a factor that is of no use
    whole = lower + sp.tril(lower, -1).T
    assert np.linalg.norm(whole @ solver.solve(right) - right) <= 1e-6 * np.linalg.norm(right)
    assert solver.in_double == 2
    assert len(solver.remarks) == 1 and "its answers do not come near" in solver.remarks[0]


def test_a_matrix_that_is_not_positive_definite_is_refused():
    lower = floating(100.0)
    solver = Mixed()
    solver.analyse(lower, 0)
    solver.factor(lower)
    lower.data[:] *= -1.0
    with pytest.raises(NotPositiveDefinite):
        solver.factor(lower)
    with pytest.raises(NotPositiveDefinite):
        fresh = Mixed()
        fresh.analyse(lower, 0)
        fresh.factor(lower)


def test_the_error_of_j_enters_the_reduced_stiffness_squared():
    """The body is bent, so that forces are not balanced."""
    _, world = bar(3)
    state, found = run(world, 6), []
    for linear in ("cholmod", "mixed"):
        _, world = bar(3, linear=linear)
        for _ in range(2):  # the first factor is a double one
            lin = world.linearise(state)
            posed = world.condensation.pose(lin, NodeStage(1 / 120, 1.0, 1.0, 1 / 120, None, lin.v, None))
        found.append((posed.motion.stiffness, posed.motion.jacobian))
    off = [np.abs(b - a).max() / np.abs(a).max() for a, b in zip(*found)]
    assert off[1] > 1e-8 and off[0] <= 1e-3 * off[1]
