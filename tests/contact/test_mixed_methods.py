"""Bodies of different methods touch: each moves as its own method has it, and both feel the forces that they share."""

from dataclasses import replace

import numpy as np
import pytest
from matrix import some
from small_jobs import change
from touching import (
    QUICK,
    box,
    contact_job,
    crosses,
    distance,
    keep_momentum_where_they_collide,
    lively,
    obstacle,
    resumed_alike,
    sheet,
    soft,
    stepped,
)
from worlds import nodes_of, world_of

from solver.assembly.damping import Damped
from solver.assembly.pattern import NO_ELEMENTS
from solver.errors import BadScene
from solver.job.load import load
from solver.parts.stage import NodeStage
from solver.state import State

H = 1 / 96


def by_conjac(body, arrays, picked):
    """The body with ConJac's dynamic nodes."""
    return lively(body, arrays, picked) | {"method": {"kind": "conjac"}}


def two_boxes(folder, picked=(0, 5, 26), conjac=True, **scene):
    """A box with dynamic nodes and one without that fly at each other in the void, and the state in which they do."""
    arrays = {}
    left = soft("Left", *box((2, 2, 2), (0.2, 0.2, 0.2)), arrays)
    right = soft("Right", *box((2, 2, 2), (0.2, 0.2, 0.2), (0.25, 0.06, 0.05)), arrays, modulus=5e4)
    job = contact_job(folder, [by_conjac(left, arrays, picked) if conjac else left, right], [], arrays,
                      **{"gravity": [0.0, 0.0, 0.0], **scene})
    part = nodes_of(load(job))
    u = np.zeros((54, 3))
    u[:27], u[27:] = [1.5, 0.1, 0.0], [-0.5, 0.0, 0.2]
    return part, State(0.0, part.initial_state().q, u.ravel())


@pytest.mark.parametrize("integrator", some(["backward_euler", "bdf2", "sdirk2", "semi_implicit"], "sdirk2"))
def test_momentum_stays_where_they_collide(tmp_path, integrator):
    part, state = two_boxes(tmp_path / "job", integrator={"kind": integrator},
                            stage_solver={"kind": "newton_d", "params": {"tolerance": 1e-11}})
    keep_momentum_where_they_collide(part, state, H)


@pytest.mark.long
def test_momentum_stays_where_one_has_a_spot_that_moves_as_one(tmp_path):
    scene = {"integrator": {"kind": "sdirk2"}, "stage_solver": {"kind": "newton_d", "params": {"tolerance": 1e-11}}}
    two_boxes(tmp_path / "job", **scene)
    np.save(tmp_path / "job" / "arrays" / "places.npy", np.array([[0.2, 0.1, 0.1]]))
    change(tmp_path / "job", "bodies.0.dynamic", {"points": "arrays/places.npy"})
    change(tmp_path / "job", "bodies.0.spot", {"kind": "turn", "params": {"spot_radius": 0.12}})
    part = nodes_of(load(tmp_path / "job"))
    assert part.condensation.members[0].condensation.patches.unknowns == 6
    u = np.zeros((54, 3))
    u[:27], u[27:] = [1.5, 0.1, 0.0], [-0.5, 0.0, 0.2]
    keep_momentum_where_they_collide(part, State(0.0, part.initial_state().q, u.ravel()), H)


@pytest.mark.parametrize("integrator", some(["backward_euler", "sdirk2"], "backward_euler"))
def test_with_all_nodes_dynamic_both_are_vanilla(tmp_path, integrator):
    solver = {"stage_solver": {"kind": "newton_d", "params": {"tolerance": 1e-10}}, "integrator": {"kind": integrator}}
    ends = []
    for conjac in (True, False):
        part, state = two_boxes(tmp_path / str(conjac), range(27), conjac, **solver)
        ends.append(stepped(part, state, H, 9))
    assert distance(part, state) == np.inf and distance(part, ends[1]) < np.inf
    assert ends[0].q == pytest.approx(ends[1].q, abs=1e-7)
    assert ends[0].u == pytest.approx(ends[1].u, abs=1e-5)


def test_what_damps_between_both_is_part_of_what_a_stage_lowers(tmp_path):
    """A damper from a node that follows others to one that moves by itself: slope and curvature of the energy are its
    differences, and both bodies feel it."""
    part, state = two_boxes(tmp_path / "job")
    x, v = part.coordinates.positions(state.q, 0.0), part.velocity(state)
    nodes, blocks = np.array([[13, 40, 40, 40]], np.int32), np.zeros((1, 6, 9))
    blocks[0, 0] = 30.0 * np.eye(3).ravel()  # D of the one node beside the other [N s/m]
    stage, rng = NodeStage(H, 1.0, 1.0, H, None, v, None), np.random.default_rng(3)
    lin, none = part.linearise_without_contact(x, v, 0.0), np.zeros(0, np.int32)
    bare, damped = (part.condensation.inertia(replace(lin, damped=Damped(np.zeros(len(x)), 0.0, None, None, none,
                                                                         NO_ELEMENTS, between)), stage, False)
                    for between in (None, (nodes, blocks)))
    at, way = rng.normal(size=(2, *x.shape))
    slope = damped.energy(at)[0]
    ends = [damped.energy(at + share * way) for share in (-1e-3, 1e-3)]
    assert np.vdot(slope, way) == pytest.approx((ends[1][1] - ends[0][1]) / 2e-3, rel=1e-7)
    assert damped.times(way) == pytest.approx((ends[1][0] - ends[0][0]) / 2e-3, rel=1e-7, abs=1e-9)
    # what it adds is ½ c h of the square of how fast its ends part
    apart = np.subtract(*damped.velocities(at)[[13, 40]])
    assert damped.energy(at)[1] - bare.energy(at)[1] == pytest.approx(0.5 * 30.0 * H * apart @ apart, rel=1e-9)
    contact_force = slope - bare.energy(at)[0]
    assert np.abs(contact_force[:27]).max() > 0.01 and np.abs(contact_force[40]).max() > 0.01
    assert not np.delete(contact_force[27:], 13, axis=0).any()


def energy(part, state):
    x, v = part.coordinates.positions(state.q, state.time), part.velocity(state)
    return part.evaluate(x, state.time)[1] + 0.5 * float(part.mass @ np.einsum("ni,ni->n", v, v))


def stack(folder, **scene):
    """A box that moves on its own dropped onto one that follows dynamic nodes, on a sheet."""
    arrays, damping = {}, {"kind": "rayleigh", "params": {"stiffness_damping": 0.01}}
    bodies = [soft(name, *box((2, 2, 2), (0.2, 0.2, 0.2), (-0.1 + 0.01 * k, -0.1, 0.01 + 0.21 * k)), arrays,
                   modulus=3e4, friction=0.5, damping=damping) for k, name in enumerate(("Low", "High"))]
    bodies[0] = by_conjac(bodies[0], arrays, (18, 20, 24, 26))
    return contact_job(folder, bodies, [obstacle("Floor", *sheet(2.0, 3), arrays, friction=0.5)], arrays, **scene)


@pytest.mark.parametrize("integrator", some(["sdirk2", "semi_implicit"], "semi_implicit"))
def test_one_lies_on_the_other(tmp_path, integrator):
    part = nodes_of(load(stack(tmp_path / "job", **QUICK | {"integrator": {"kind": integrator}})))
    state = part.initial_state()
    last = energy(part, state)
    for _ in range(40):
        state = stepped(part, state, H, 1)
        assert distance(part, state) > 0.0
        now = energy(part, state)
        assert now <= last + 1e-3 * float(part.mass.sum())  # lifting all of it by a tenth of a millimetre
        last = now
    assert not crosses(part, state)
    x = part.coordinates.positions(state.q, state.time)
    low, high = (x[27 * k : 27 * k + 27, 2].mean() for k in range(2))
    assert 0.08 < low < 0.12
    assert 0.25 < high < 0.33
    assert part.counts["calmed"] == 0


def jelly_and_sheet(folder, under, cells=6, **scene):
    """A jelly that follows dynamic nodes under a square of cloth that falls, or dropped on one held by its corners."""
    arrays, side = {}, cells + 1
    vertices, triangles = sheet(0.4, cells, 0.015 if under else 0.0)
    cloth = {"name": "Cloth", "cloth": {}, "surface": {"vertices": "arrays/v.npy", "triangles": "arrays/t.npy"}}
    arrays["v"], arrays["t"] = vertices, triangles
    if under:
        nodes, tets = box((2, 2, 2), (0.2, 0.2, 0.2), (-0.1, -0.1, -0.2))
        jelly = soft("Jelly", nodes, tets, arrays, pinned=np.flatnonzero(nodes[:, 2] < -0.19))
    else:
        jelly = soft("Jelly", *box((2, 2, 2), (0.1, 0.1, 0.1), (-0.05, -0.05, 0.02)), arrays, density=300.0)
        arrays["pins"] = np.array([0, cells, side * cells, side * side - 1], np.int32)
        cloth["pin"] = {"nodes": "arrays/pins.npy"}
    return contact_job(folder, [cloth, by_conjac(jelly, arrays, (2, 8, 20, 26))], [], arrays, **scene)


@pytest.mark.parametrize("under, integrator, solver", some(
    [(under, integrator, solver) for under in (True, False) for integrator, solver in (
        ("backward_euler", "newton_visible"), ("sdirk2", "quick"))],
    (False, "backward_euler", "newton_visible")))
def test_cloth_and_jelly_hold_each_other(tmp_path, under, integrator, solver):
    """Cloth that hangs by its corners bears a jelly, a jelly bears cloth, and neither goes through the other."""
    scene = {"integrator": {"kind": integrator}, "stage_solver": {"kind": solver}}
    part = nodes_of(load(jelly_and_sheet(tmp_path / "job", under, **scene)))
    state, touched = part.initial_state(), False
    first = energy(part, state)
    for _ in range(24):
        state = stepped(part, state, H, 1)
        touched |= distance(part, state) < np.inf
        assert energy(part, state) <= first + 1e-3 * float(part.mass.sum())
    x = part.coordinates.positions(state.q, state.time)
    cloth, jelly = x[:49], x[49:]
    assert touched
    inside = (np.abs(cloth[:, :2]) < 0.06).all(axis=1)
    if under:
        assert -0.03 < cloth[inside, 2].mean() < 0.02
        assert -0.02 < jelly[:, 2].max() < 0.003
    else:  # it would have fallen by 0.31 m
        assert -0.1 < cloth[inside, 2].mean() < 0.0
        assert jelly[:, 2].mean() > -0.05


def test_bodies_that_follow_differently_touch(tmp_path):
    """Relaxation and Settle Time of ConJac are each body's own, and Start at Rest is."""
    job = stack(tmp_path / "job", **QUICK)
    np.save(job / "arrays" / "High_dynamic.npy", np.array([0, 8, 13], np.int32))
    change(job, "bodies.1.dynamic", {"nodes": "arrays/High_dynamic.npy"})
    change(job, "bodies.1.method", {"kind": "conjac", "params": {"settle_time": 0.1, "quasistatic_start": True}})
    part = nodes_of(load(job))
    assert [member.condensation.settle_time for member in part.condensation.members] == [0.0, 0.1]
    assert [body.name for body in part.balanced] == ["High"]
    state = part.initial_state()
    before = part.coordinates.positions(state.q, 0.0)[27:54, 2].mean()
    state = stepped(part, state, H, 8)
    after = part.coordinates.positions(state.q, state.time)[27:54, 2].mean()
    assert after < before
    assert not crosses(part, state)


def test_a_linearised_step_has_one_damping(tmp_path):
    job = stack(tmp_path / "job", integrator={"kind": "semi_implicit"})
    change(job, "bodies.1.method", {"kind": "vanilla", "params": {"beta": 1.0}})
    with pytest.raises(BadScene, match='"Low" and "High" touch each other and have a Damping of 0.5 and 1.*use SDIRK2'):
        load(job)
    change(job, "integrator", {"kind": "sdirk2"})
    load(job)


def two_on_rods(folder, kinds, friction=0.0, **scene):
    """Blocks whose middles hang on rods that fly freely, one above the other, over a sheet. kinds: how each moves."""
    arrays, bodies, rods = {}, [], []
    for k, name in enumerate(("Upper", "Lower")):
        nodes, tets = box((2, 2, 2), (0.2, 0.2, 0.2), (-0.1 + 0.02 * k, -0.1 + 0.01 * k, 0.245 - 0.215 * k))
        pinned_nodes = np.flatnonzero(np.abs(nodes[:, 0] - 0.02 * k) < 1e-9).astype(np.int32)
        arrays[f"held{k}"], free = pinned_nodes, np.setdiff1d(np.arange(27), pinned_nodes)
        one = soft(name, nodes, tets, arrays)
        one["attach"] = [{"mechanism": "M", "body": f"Rod{k}", "nodes": f"arrays/held{k}.npy"}]
        picked = {"corners": free[[0, 2, 15, 17]], "all": free, "own": None}[kinds[k]]
        bodies.append(one if picked is None else by_conjac(one, arrays, picked))
        rods.append({"name": f"Rod{k}", "position": [0.02 * k, 0.01 * k, 0.345 - 0.215 * k], "density": 1000.0,
                     "shape": {"kind": "box", "params": {"size_x": 0.02, "size_y": 0.4, "size_z": 0.02}}})
    law = {"law": {"kind": "barrier", "params": {"friction_coefficient": friction}}}
    return contact_job(folder, bodies, [obstacle("Floor", *sheet(2.0, 3), arrays)], arrays, contact=law,
                       mechanisms=[{"name": "M", "bodies": rods}], **scene)


def fallen(job, h, count):
    """The world after some steps in which nothing crosses, its state, and positions of all nodes."""
    world = world_of(load(job))
    state, part = world.initial_state(), world.parts[0]
    for _ in range(count):
        state = world.step(state, h)
        flesh = world.split_state(state)[0]
        x = part.coordinates.positions(flesh.q, flesh.time, flesh.carrier_motion)
        assert part.contacts[0].surfaces.intersection(x) is None
    return world, state, x


def test_flesh_of_two_methods_that_meets_is_vanilla_where_all_nodes_are_dynamic(tmp_path):
    solver = {"stage_solver": {"kind": "newton_d", "params": {"tolerance": 1e-10, "iterations": 300}}}
    ends = []
    for kinds in (("all", "own"), ("own", "own")):
        world, state, x = fallen(two_on_rods(tmp_path / "-".join(kinds), kinds, **solver), H, 9)
        ends.append(state)
    both = world.parts[0].contacts[0].find_active_pairs(x).nodes
    assert ((both < 27).any(axis=1) & ((both >= 27) & (both < 54)).any(axis=1)).any()
    assert ends[0].q == pytest.approx(ends[1].q, abs=1e-7)
    assert ends[0].u == pytest.approx(ends[1].u, abs=1e-5)


@pytest.mark.long
@pytest.mark.parametrize("kinds", [("corners", "own"), ("own", "corners")])
@pytest.mark.parametrize("integrator", ["sdirk2", "semi_implicit"])
def test_flesh_of_two_methods_comes_to_lie_on_bones(tmp_path, kinds, integrator):
    _, _, x = fallen(two_on_rods(tmp_path / "job", kinds, 0.4, **QUICK | {"integrator": {"kind": integrator}}), H, 40)
    high, low = x[:27, 2].mean(), x[27:54, 2].mean()
    assert 0.09 < low < 0.12
    assert 0.28 < high < 0.36


@pytest.mark.parametrize("integrator", some(["sdirk2", "semi_implicit"], "sdirk2"))
def test_both_stand_on_the_ground_and_its_friction_holds_them(tmp_path, integrator):
    """Two boxes side by side, thrown along the ground: friction slows each as Coulomb's law predicts."""
    arrays = {}
    bodies = [soft(name, *box((2, 2, 2), (0.2, 0.2, 0.2), (0.0, 0.4 * k, 0.0)), arrays, modulus=1e5)
              for k, name in enumerate(("One", "Other"))]
    bodies[0] = by_conjac(bodies[0], arrays, (18, 20, 24, 26))
    ground = {"point": [0, 0, 0], "normal": [0, 0, 1], "stiffness": 2e3,
              "friction": {"kind": "coulomb", "params": {"friction_coefficient": 0.3}}}
    part = nodes_of(load(contact_job(tmp_path / "job", bodies, [], arrays, ground=ground,
                                     **QUICK | {"integrator": {"kind": integrator}})))
    boxes = slice(0, 27), slice(27, 54)

    def speeds(state):
        """Return the speeds of the middles, (2, 3)."""
        v = part.velocity(state)
        return np.array([part.mass[own] @ v[own] / part.mass[own].sum() for own in boxes])

    state = stepped(part, part.initial_state(), H, 12, check=False)
    thrown = State(state.time, state.q, (state.u.reshape(-1, 3) + [2.0, 0.0, 0.0]).ravel(), state.memory)
    after = stepped(part, thrown, H, 24, check=False)
    change = speeds(after) - speeds(thrown)
    pressed = change[:, 2] + 9.81 * 24 * H
    assert -change[:, 0] == pytest.approx(0.3 * pressed, rel=0.05)
    assert pressed == pytest.approx(9.81 * 24 * H, rel=0.2)


@pytest.mark.long  # a state of this scene goes on with the same bytes in the test below
def test_a_bake_that_goes_on_in_mid_contact_has_the_same_bytes(tmp_path):
    resumed_alike([stack(tmp_path / name, **QUICK) for name in ("whole", "resumed")])


def test_a_state_in_mid_contact_goes_on_with_the_same_bytes(tmp_path):
    job = stack(tmp_path / "job", **QUICK)
    first, second = nodes_of(load(job)), nodes_of(load(job))
    middle = stepped(first, first.initial_state(), H, 8)
    assert distance(first, middle) < np.inf
    first.forget_past()
    ends = [stepped(part, middle, H, 3) for part in (first, second)]
    assert np.array_equal(ends[0].q, ends[1].q)
    assert np.array_equal(ends[0].u, ends[1].u)
