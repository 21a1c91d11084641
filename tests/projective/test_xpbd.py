"""XPBD: its steps converge to implicit Euler as they shrink, for any order of constraints."""

import bodies
import numpy as np
import pytest
from bodies import box
from projective_bodies import BENDS, WOVEN, cloth, sheet

from solver import threads
from solver.errors import NoFreeNode
from solver.materials.neo_hookean_plain import NeoHookeanPlain
from solver.meshing.volume import tet_volumes
from solver.parts.projective.body import ProjectiveBody, TargetRows
from solver.parts.projective.building import ropes, springs
from solver.parts.xpbd.body import CompliantBody
from solver.parts.xpbd.tables import Coloured, CompliantRows, NeoHookean, compliant_cloth
from solver.world.bodies import lump_mass

H = 1 / 60
NODES, TETS = box((4, 2, 2), (0.2, 0.1, 0.1))
LEFT = np.flatnonzero(NODES[:, 0] < 1e-9).astype(np.int32)
YOUNG, POISSON = 2e4, 0.3
MU, LAM = YOUNG / (2 * (1 + POISSON)), YOUNG * POISSON / ((1 + POISSON) * (1 - 2 * POISSON))


def block(prescribed=LEFT, **how):
    count = len(TETS)
    mass = lump_mass(NODES, TETS, tet_volumes(NODES, TETS), np.full(count, 1000.0))
    made = NeoHookean(NODES, TETS, np.full(count, MU), np.full(count, LAM))
    return CompliantBody(NODES, mass, [made], np.array(prescribed, dtype=np.int32), **how)


def after(body, time, h):
    state = body.initial_state()
    for _ in range(round(time / h)):
        state = body.step(state, h)
    return state


def test_short_steps_converge_to_the_bakes_implicit_euler(monkeypatch):
    """Both end at the same motion; with as many sweeps as it takes, the distance at equal steps shrinks with h."""
    monkeypatch.setattr(bodies, "MATERIAL", NeoHookeanPlain)
    off = []
    for parts in (1, 2, 4):
        h = H / parts
        world = bodies.make(NODES, TETS, young=YOUNG, poisson=POISSON, pinned=LEFT, method="vanilla",
                            integrator="backward_euler", tolerance=1e-10)
        whole = world.initial_state()
        for _ in range(6 * parts):
            whole = world.step(whole, h)
        own = after(block(substeps=1, iterations=400), 6 * H, h)
        off.append(np.abs(own.x - world.coordinates.positions(whole.q, whole.time)).max())
        moved = np.abs(own.x - NODES).max()
    assert moved > 0.02
    orders = np.log2(np.array(off[:-1]) / off[1:])
    assert orders.min() > 0.9  # first order at least
    assert off[-1] < 0.1 * moved


def test_more_sweeps_leave_less():
    """The residual of a few sweeps shrinks with their number."""
    ends = [after(block(substeps=1, iterations=count), 2 * H, H).x for count in (2, 8, 32, 800)]
    off = [np.abs(end - ends[-1]).max() for end in ends[:-1]]
    assert off[0] > off[1] > off[2] > 0.0


def test_cloth_hangs_as_projective_dynamics_has_it():
    made = sheet(8)
    mass = np.zeros(len(made.rest))
    np.add.at(mass, made.triangles.ravel(), np.repeat(0.2 * made.areas / 3.0, 3))
    pins = np.array([0, 7], dtype=np.int32)
    own = CompliantBody(made.rest, mass, compliant_cloth(made, WOVEN, BENDS), pins, mass_damping=6.0, substeps=30)
    other = cloth(8, pins, mass_damping=6.0, iterations=100)
    assert np.abs(after(own, 2.0, H).x - after(other, 2.0, H).x).max() < 0.02


def test_small_strains_of_cloth_are_those_of_projective_dynamics():
    """Equilibrium has one stretch of a hanging strip, its threads askew."""
    made = sheet(5)
    mass = np.full(len(made.rest), 0.05)
    top = np.flatnonzero(made.rest[:, 0] < 1e-9).astype(np.int32)
    drops = []
    for make, table in ((CompliantBody, compliant_cloth), (ProjectiveBody, None)):
        how = {"gravity": (9.81, 4.0, 0.0), "mass_damping": 20.0, "iterations": 50}
        body = (make(made.rest, mass, table(made, WOVEN, BENDS), top, substeps=4, **how) if table
                else cloth(5, top, **how))
        body.mass[:] = mass
        body = body if table else ProjectiveBody(made.rest, mass, body.constraints, top, **how)
        drops.append(after(body, 1.0, H).x - made.rest)
    assert np.abs(drops[0] - drops[1]).max() < 0.02 * np.abs(drops[1]).max()


@pytest.mark.parametrize("make", [springs, ropes])
def test_a_chain_keeps_its_length_and_lets_go_of_none(make):
    x = np.stack([np.linspace(0.0, 1.0, 11), np.zeros(11), np.zeros(11)], axis=1)
    pairs = np.stack([np.arange(10), np.arange(1, 11)], axis=1).astype(np.int32)
    body = CompliantBody(x, np.full(11, 0.01), [CompliantRows(make(x, pairs, 1e6))], np.array([0], np.int32),
                         mass_damping=4.0, substeps=40)
    end = after(body, 4.0, H)
    assert end.x[-1] == pytest.approx([0.0, 0.0, -1.0], abs=5e-3)


def test_a_rope_does_not_push():
    x = np.array([[0.0, 0, 0], [1.0, 0, 0]])
    body = CompliantBody(x, np.ones(2), [CompliantRows(ropes(x, np.array([[0, 1]]), 1e6))], np.array([0], np.int32),
                         gravity=(-9.81, 0.0, 0.0))
    assert after(body, 0.2, H).x[1, 0] == pytest.approx(1.0 - 0.5 * 9.81 * 0.04, abs=0.01)


def test_what_falls_rests_and_rubs():
    went = []
    for push in (0.3, 0.9):
        body = block((), gravity=(9.81 * push, 0.0, -9.81), mass_damping=1.0)

        def floor(x, begin):
            near = np.flatnonzero(x[:, 2] < 1e-3).astype(np.int32)
            return TargetRows.touching(near, 1e7, [0.0, 0.0, 0.0], [0.0, 0.0, 1.0], 0.6)

        state = body.initial_state()
        for _ in range(60):
            state = body.step(state, H, touching=floor)
        assert state.x[:, 2].min() > -1e-4
        went.append(float((state.x - NODES)[:, 0].mean()))
    assert went[0] < 0.03 < 0.1 < went[1]


def test_stiffness_damping_calms_a_spring():
    x = np.array([[0.0, 0, 0], [1.0, 0, 0]])
    left = []
    for tau in (0.0, 0.05):
        rows = CompliantRows(springs(x, np.array([[0, 1]]), 100.0))
        body = CompliantBody(x, np.ones(2), [rows], np.array([0], np.int32),
                             gravity=(0.0, 0.0, 0.0), stiffness_damping=tau, substeps=40)
        state = body.initial_state()
        state = type(state)(state.x + [[0.0, 0, 0], [0.1, 0, 0]], state.v)
        reached = []
        for _ in range(60):
            state = body.step(state, H)
            reached.append(abs(state.x[1, 0] - 1.0))
        left.append(max(reached[30:]))
    # amplitude falls as exp(−½ τ k t/m): to 0.29 in half a second
    assert left[0] > 0.06 and left[1] < 0.035


def test_elements_of_a_colour_share_no_node():
    made = Coloured(TETS, np.full(len(TETS), 4))
    for (own,) in made.cut(TETS):
        assert len(np.unique(own)) == own.size
    assert sum(len(own) for (own,) in made.cut(TETS)) == len(TETS)


def test_threads_change_nothing():
    nodes, tets = box((12, 8, 8), (0.2, 0.1, 0.1))
    mass = lump_mass(nodes, tets, tet_volumes(nodes, tets), np.full(len(tets), 1000.0))
    ends = []
    for count in (1, 2):
        threads.configure(count)
        made = NeoHookean(nodes, tets, np.full(len(tets), MU), np.full(len(tets), LAM))
        ends.append(after(CompliantBody(nodes, mass, [made], np.array([0], np.int32)), 3 * H, H).x)
    threads.configure(None)
    assert np.array_equal(*ends)


def test_nothing_free_is_refused():
    with pytest.raises(NoFreeNode):
        block(np.arange(len(NODES)))
