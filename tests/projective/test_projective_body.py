"""Steps of projective dynamics: the energy decreases, converged steps are those of backward Euler, and contact is
resolved."""

import bodies
import numpy as np
import pytest
from bodies import box
from projective_bodies import WOVEN, block, cloth
from scipy.sparse import csc_matrix

from solver import threads
from solver.errors import BadInput, NoFreeNode
from solver.materials.arap import Arap
from solver.meshing.volume import tet_volumes
from solver.parts.projective.body import ProjectiveBody, ProjectiveState, TargetRows
from solver.parts.projective.building import ropes, springs
from solver.parts.projective.constraints import Lengths
from solver.parts.projective.factor import GlobalMatrix

H = 1 / 60
NODES, TETS = box((4, 2, 2), (0.2, 0.1, 0.1))
LEFT = np.flatnonzero(NODES[:, 0] < 1e-9)


class ArapOfTwo(Arap):
    @staticmethod
    def constants(youngs_modulus, poisson_ratio):
        return Arap.constants(youngs_modulus)


def fell(body):
    energies = np.array(body.energies)
    return np.diff(energies).max() <= 1e-12 * np.abs(energies).max()  # what is more than rounding


@pytest.mark.parametrize("integrator, memory", [("backward_euler", 0), ("backward_euler", 5), ("bdf2", 5)])
def test_converged_steps_are_those_of_newtons_method_on_arap(monkeypatch, integrator, memory):
    """Its quadratic energy of rotations is ARAP: a bake's own solver finds the same root."""
    monkeypatch.setattr(bodies, "MATERIAL", ArapOfTwo)
    world = bodies.make(NODES, TETS, young=2e4, pinned=LEFT, method="vanilla", integrator=integrator, tolerance=1e-12)
    body = block(NODES, TETS, LEFT, mu=1e4, iterations=4000, tolerance=1e-15, integrator=integrator,
                 memory=memory)
    whole, own = world.initial_state(), body.initial_state()
    for step in range(4):
        before, whole = whole, world.step(whole, H)
        x, v = world.nodes_at(whole)
        # a bake begins BDF2 with another method
        starts = step == 0 and integrator == "bdf2"
        own = ProjectiveState(x, v, H, (*world.nodes_at(before), H)) if starts else body.step(own, H)
    assert np.abs(x - NODES).max() > 1e-2
    assert np.abs(own.x - x).max() < 1e-8


@pytest.mark.parametrize("make", [lambda: cloth(12, iterations=6), lambda: cloth(12, iterations=6, memory=0),
                                  lambda: cloth(12, iterations=6, woven=WOVEN | {"stretch_limit": 0.01}),
                                  lambda: block(NODES, TETS, LEFT, 1e4, 1e5, iterations=6)])
def test_the_potential_falls_in_each_iteration(make):
    body = make()
    state, rng = body.initial_state(), np.random.default_rng(1)
    for step in range(30):
        force = 20.0 * rng.normal(size=body.rest.shape) * body.mass[:, None] * 9.81
        low = np.flatnonzero(state.x[:, 2] < -0.05).astype(np.int32)
        wall = TargetRows.touching(low, body.diagonal(H)[low], [0.0, 0.0, -0.05], [0.0, 0.0, 1.0])
        state = body.step(state, H, force=force, points=wall if step > 5 else None)
        assert fell(body)
        assert body.energies[-1] < body.energies[0]


def test_memory_makes_stiff_cloth_swing_as_if_converged():
    """A few plain iterations brake what turns: how far they are off after half a second, with memory and without."""
    ends = []
    for memory, iterations in ((0, 10), (5, 10), (5, 400)):
        body = cloth(16, [0, 15], size=1.0, memory=memory, iterations=iterations)
        state = body.initial_state()
        for _ in range(24):
            state = body.step(state, H)
        ends.append(state.x)
    off = [np.abs(end - ends[-1]).mean() for end in ends[:-1]]
    assert off[1] < 0.5 * off[0]
    assert off[1] < 0.02


def test_an_inverted_block_recovers():
    body = block(NODES, TETS, LEFT, 1e4, 1e5, iterations=30, gravity=(0.0, 0.0, 0.0), mass_damping=5.0, memory=0)
    start = NODES + 0.15 * np.random.default_rng(0).normal(size=NODES.shape)
    start[LEFT] = NODES[LEFT]
    assert tet_volumes(start, TETS).min() < 0.0
    state = body.with_positions(body.initial_state(), start)
    for _ in range(120):
        state = body.step(state, H, positions=NODES[LEFT])
    assert np.abs(state.x - NODES).max() < 2e-3


def test_a_block_falls_freely_and_keeps_its_momentum():
    body = block(NODES, TETS)
    state = body.initial_state()
    for _ in range(10):
        state = body.step(state, H)
    assert state.v == pytest.approx(np.broadcast_to([0.0, 0.0, -9.81 * 10 * H], state.v.shape), abs=1e-9)
    assert state.x - NODES == pytest.approx(np.broadcast_to([0.0, 0.0, -9.81 * 55 * H * H], state.x.shape), abs=1e-9)


def test_prescribed_nodes_go_where_they_are_led():
    body = cloth(6, (0, 5))
    state, there = body.initial_state(), body.rest[[0, 5]] + [0.0, 0.1, 0.2]
    state = body.step(state, H, positions=there)
    assert np.array_equal(state.x[[0, 5]], there)
    assert state.v[[0, 5]] == pytest.approx(np.broadcast_to([0.0, 6.0, 12.0], (2, 3)))


def test_what_falls_on_the_floor_rests_on_it_and_rubs():
    """Pushed along it with less than friction holds it stays; with more it slides."""
    went = []
    for push in (0.3, 0.9):
        body = block(NODES, TETS, iterations=25, gravity=(9.81 * push, 0.0, -9.81), mass_damping=2.0)
        stiff, state = 4.0 * body.diagonal(H).max(), body.initial_state()

        def floor(x, begin, stiff=stiff):
            near = np.flatnonzero(x[:, 2] < 1e-3).astype(np.int32)
            return TargetRows.touching(near, stiff, [0.0, 0.0, 0.0], [0.0, 0.0, 1.0], 0.6)

        for _ in range(60):
            state = body.step(state, H, touching=floor)
        assert state.x[:, 2].min() > -5e-4
        went.append(float((state.x - NODES)[:, 0].mean()))
    assert went[0] < 0.01 < 0.1 < went[1]


@pytest.mark.parametrize("integrator", ["backward_euler", "bdf2"])
@pytest.mark.parametrize("mu, length", [(1e4, 0.2), (1e6, 0.1)], ids=["soft", "stiff"])
def test_what_slides_is_braked_by_all_of_its_friction(integrator, mu, length):
    """With as many iterations as a draft has by default, at 0.9 g along the floor and 0.6 g of friction."""
    nodes, tets = box((4, 2, 2), (length, 0.1, 0.1))
    body = block(nodes, tets, mu=mu, lam=mu, gravity=(9.81 * 0.9, 0.0, -9.81),
                 integrator=integrator)
    state, stiff = body.initial_state(), 4.0 * body.diagonal(H)

    def floor(x, begin):
        near = np.flatnonzero(x[:, 2] < 5e-3).astype(np.int32)
        return TargetRows.touching(near, stiff[near], [0.0, 0.0, 0.0], [0.0, 0.0, 1.0], 0.6)

    way = []
    for _ in range(60):
        state = body.step(state, H, touching=floor)
        way.append(float(body.mass @ (state.x - nodes)[:, 0] / body.mass.sum()))
    t0, t1 = 10 * H, 60 * H
    assert way[-1] - way[9] == pytest.approx(0.15 * 9.81 * (t1**2 - t0**2), rel=0.04)


def test_a_rope_of_links_hangs_by_its_length():
    x = np.stack([np.linspace(0.0, 1.0, 11), np.zeros(11), np.zeros(11)], axis=1)
    pairs = np.stack([np.arange(10), np.arange(1, 11)], axis=1).astype(np.int32)
    body = ProjectiveBody(x, np.full(11, 0.01), [ropes(x, pairs, 2e3)], np.array([0], np.int32), mass_damping=4.0,
                          iterations=40)
    state = body.initial_state()
    for _ in range(240):
        state = body.step(state, H)
    assert state.x[-1] == pytest.approx([0.0, 0.0, -1.0], abs=5e-3)


def test_springs_welds_and_anchors_hold_a_second_body():
    """Two blocks in one table, joined by springs; an anchor carries both."""
    both = np.concatenate([NODES, NODES + [0.0, 0.0, -0.15]])
    tets = np.concatenate([TETS, TETS + len(NODES)]).astype(np.int32)
    body = block(both, tets, LEFT, iterations=20, mass_damping=3.0)
    low, high = np.flatnonzero(NODES[:, 2] < 1e-9), np.flatnonzero(NODES[:, 2] > 0.1 - 1e-9) + len(NODES)
    joints = springs(both, np.stack([low, high], axis=1), 3e3)
    body = ProjectiveBody(both, body.mass, [*body.constraints, joints], body.prescribed, iterations=20,
                          mass_damping=3.0)
    state = body.initial_state()
    for _ in range(120):
        state = body.step(state, H)
    assert state.x[high, 2].mean() > -0.2
    free = block(both, tets, LEFT)
    loose = free.initial_state()
    for _ in range(120):
        loose = free.step(loose, H)
    assert loose.x[high, 2].mean() < -10.0
    lengths = Lengths.of(np.array([[int(high[0])]]), np.array([1.0]), 1e6, 0.0, 0.0, both[[high[0]]])
    assert lengths.project(both, np.zeros((1, 4, 3))) == 0.0


def test_a_grabbed_node_is_pulled():
    body = cloth(6, (0,))
    state, rows = body.initial_state(), TargetRows.springs(np.array([35]), 1e4, np.array([[0.3, 0.3, 0.1]]))
    for _ in range(60):
        state = body.step(state, H, points=rows)
    assert state.x[35] == pytest.approx([0.3, 0.3, 0.1], abs=1e-3)


@pytest.mark.parametrize("count", [1, GlobalMatrix.most_updates, GlobalMatrix.most_updates + 6])
def test_a_changed_diagonal_is_solved_as_if_factored_anew(count):
    body = cloth(8)
    matrix = (body._stiffness + 5.0 * np.eye(len(body.free))).copy()
    one = GlobalMatrix(csc_matrix(matrix))
    rng = np.random.default_rng(4)
    right = rng.normal(size=(len(body.free), 3))
    for _ in range(2):
        diagonal = np.zeros(len(body.free))
        diagonal[rng.choice(len(body.free), count, replace=False)] = 1e4 * rng.random(count)
        one.add(diagonal)
        exact = np.linalg.solve(np.asarray(matrix) + np.diag(diagonal), right)
        assert one.solve(right) == pytest.approx(exact, rel=1e-9, abs=1e-12)
        # six digits of L, however few of them that leaves of the solution
        np.testing.assert_allclose(one.direction(right), exact, rtol=0.0, atol=1e-3 * np.abs(exact).max())
    assert (one.factored > 1) == (count > GlobalMatrix.most_updates)


def test_threads_change_nothing():
    ends = []
    for count in (1, 2):
        threads.configure(count)
        body = block(*box((8, 4, 4), (0.2, 0.1, 0.1)), [0], 1e4, 1e5)
        state = body.initial_state()
        for _ in range(3):
            state = body.step(state, H)
        ends.append(state.x)
    threads.configure(None)
    assert np.array_equal(*ends)


def test_bad_input_is_refused():
    with pytest.raises(NoFreeNode):
        block(NODES, TETS, np.arange(len(NODES)))
    with pytest.raises(BadInput, match="no mass"):
        ProjectiveBody(NODES, np.zeros(len(NODES)), [])
    with pytest.raises(BadInput, match="no integrator"):
        block(NODES, TETS, integrator="sdirk")
