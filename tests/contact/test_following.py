"""ConJac's bodies touch: velocities follow dynamic nodes as if nothing did, positions balance with all that touches."""

from dataclasses import replace

import numpy as np
import pytest
from contact_scenes import ball, balls_in_a_bowl
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
    sheet,
    soft,
    stepped,
)
from worlds import nodes_of

from solver.job.load import load
from solver.parts.stage import NodeStage, Stage
from solver.state import State

H = 1 / 96
CONJAC = {"method": {"kind": "conjac"}}


def two_boxes(folder, picked=(0, 5, 26), **scene):
    """Two boxes that fly at each other in the void, and the state in which they do."""
    arrays = {}
    bodies = [soft("Left", *box((2, 2, 2), (0.2, 0.2, 0.2)), arrays),
              soft("Right", *box((2, 2, 2), (0.2, 0.2, 0.2), (0.25, 0.06, 0.05)), arrays, modulus=5e4)]
    job = contact_job(folder, [lively(body, arrays, picked) for body in bodies], [], arrays,
                      **{"gravity": [0.0, 0.0, 0.0], **CONJAC, **scene})
    part = nodes_of(load(job))
    u = np.zeros((54, 3))
    u[:27], u[27:] = [1.5, 0.1, 0.0], [-0.5, 0.0, 0.2]
    return part, State(0.0, part.initial_state().q, u.ravel())


def energy(part, state):
    x, v = part.coordinates.positions(state.q, state.time), part.velocity(state)
    return part.evaluate(x, state.time)[1] + 0.5 * float(part.mass @ np.einsum("ni,ni->n", v, v))


def inertia_of(part, state):
    stage = NodeStage.of(Stage(H, 1.0, 1.0, state.time + H, state.q, state.u), part.coordinates)
    x = part.coordinates.positions(state.q, state.time)
    lin = replace(part.linearise_without_contact(x, part.velocity(state), state.time), memory=state.memory)
    return part.condensation.inertia(lin, stage, False)


@pytest.mark.parametrize("picked", [(), (4,), (0, 5, 26), range(27)])
def test_what_is_read_off_velocities_that_follow_are_those_velocities(tmp_path, picked):
    """V C is a projection, onto velocities among which all rigid ones are; and its slope is that of its energy."""
    part, state = two_boxes(tmp_path / "job", picked)
    state = replace(state, q=state.q * np.tile([1.1, 1.0, 0.9], 54))
    inertia = inertia_of(part, state)
    rng = np.random.default_rng(1)
    v = rng.normal(size=(54, 3))
    once = inertia.velocities(v)
    assert inertia.velocities(once) == pytest.approx(once, abs=1e-9)
    x, spin = state.q.reshape(-1, 3), np.array([0.3, -1.0, 0.4])
    rigid = np.concatenate([np.cross(spin, x[:27]) + [0.1, 2.0, 0.3], np.cross(-spin, x[27:])])
    assert inertia.velocities(rigid) == pytest.approx(rigid, abs=1e-9)
    # no momentum is lost with what does not follow
    assert part.mass @ once == pytest.approx(part.mass @ v, abs=1e-9)

    slope, _ = inertia.energy(v)
    way, eps = rng.normal(size=v.shape), 1e-4
    change_of = (inertia.energy(v + eps * way)[1] - inertia.energy(v - eps * way)[1]) / (2 * eps)
    assert change_of == pytest.approx(float(np.vdot(slope, way)), rel=1e-7)
    curve = (inertia.energy(v + eps * way)[0] - inertia.energy(v - eps * way)[0]) / (2 * eps)
    assert inertia.times(way) == pytest.approx(curve, abs=1e-7 * np.abs(curve).max())


@pytest.mark.parametrize("integrator", some(["backward_euler", "sdirk2"], "backward_euler"))
def test_with_all_nodes_dynamic_it_is_vanilla(tmp_path, integrator):
    solver = {"stage_solver": {"kind": "newton_d", "params": {"tolerance": 1e-10}}, "integrator": {"kind": integrator}}
    ends = []
    for name, scene in (("conjac", CONJAC), ("vanilla", {"method": {"kind": "vanilla"}})):
        part, state = two_boxes(tmp_path / name, range(27), **solver, **scene)
        ends.append(stepped(part, state, H, 9))
    assert distance(part, state) == np.inf and distance(part, ends[1]) < np.inf
    assert ends[0].q == pytest.approx(ends[1].q, abs=1e-7)
    assert ends[0].u == pytest.approx(ends[1].u, abs=1e-5)


@pytest.mark.parametrize("integrator", some(["backward_euler", "bdf2", "sdirk2", "semi_implicit"],
                                            "backward_euler"))
def test_momentum_stays_where_free_bodies_collide(tmp_path, integrator):
    part, state = two_boxes(tmp_path / "job", integrator={"kind": integrator},
                            stage_solver={"kind": "newton_d", "params": {"tolerance": 1e-11}})
    keep_momentum_where_they_collide(part, state, H)


def stack(folder, count=3, **scene):
    """Boxes that fall on each other and on a sheet."""
    arrays = {}
    bodies = [lively(soft(f"Box{k}", *box((2, 2, 2), (0.2, 0.2, 0.2), (-0.1 + 0.01 * k, -0.1, 0.01 + 0.21 * k)),
                          arrays, modulus=3e4, friction=0.5, damping={"kind": "rayleigh", "params":
                          {"stiffness_damping": 0.01}}), arrays, (18, 20, 24, 26)) for k in range(count)]
    return contact_job(folder, bodies, [obstacle("Floor", *sheet(2.0, 3), arrays, friction=0.5)], arrays,
                       **CONJAC, **scene)


@pytest.mark.parametrize("integrator", some(["sdirk2", "semi_implicit"], "semi_implicit"))
def test_a_stack_stands(tmp_path, integrator):
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
    low, middle, high = (x[27 * k : 27 * k + 27, 2].mean() for k in range(3))
    assert 0.08 < low < 0.12 and 0.25 < middle < 0.33 and 0.43 < high < 0.54
    assert part.counts["calmed"] == 0


@pytest.mark.parametrize("count, cells, steps", some([(2, 3, 20), (3, 4, 24)], (2, 3, 20)))
def test_balls_that_pile_up_in_a_bowl_halve_no_step(tmp_path, count, cells, steps):
    """A stage that does not settle is taken as it is: each iteration lowers its energy and meets nothing."""
    side = cells + 1
    job = balls_in_a_bowl(tmp_path / "job", count, cells, step=1 / 48, **CONJAC, **QUICK)
    np.save(job / "arrays" / "dynamic.npy", np.array([0, side - 1, side**3 - side, side**3 - 1], np.int32))
    for k in range(count):
        change(job, f"bodies.{k}.dynamic", {"nodes": "arrays/dynamic.npy"})
    part = nodes_of(load(job))
    state = part.initial_state()
    last = energy(part, state)
    for _ in range(steps):
        state = part.step(state, 1 / 48)
        assert distance(part, state) > 0.0
        now = energy(part, state)
        assert now <= last + 1e-3 * float(part.mass.sum())
        last = now
    assert not crosses(part, state)
    assert now < -0.25 * 9.81 * float(part.mass.sum())  # what rests in the bowl, or rolls there


def test_nobody_sleeps_where_surfaces_touch(tmp_path):
    job = stack(tmp_path / "job", **QUICK)
    change(job, "method", {"kind": "conjac", "params": {"adaptive": True}})
    part = nodes_of(load(job))
    assert part.condensation.sleep is None
    assert any("Adaptive" in note for note in part.notes)


def test_a_ball_is_squeezed_between_plates_and_let_go(tmp_path):
    """Plates come 4 cm nearer to each other than the ball is thick, and part again; it ends round and whole."""
    arrays = {}
    times = np.arange(97) / 48
    near = 0.07 * np.interp(times, [0.0, 0.4, 0.6, 1.0], [0.0, 1.0, 1.0, 0.0])
    plates = []
    for name, z, way in (("Low", -0.115, 1.0), ("High", 0.115, -1.0)):
        vertices, triangles = sheet(0.6, 3, z)
        motion = vertices + near[:, None, None] * np.array([0.0, 0.0, 0.5 * way])
        plates.append(obstacle(name, vertices, triangles if way > 0 else triangles[:, ::-1].copy(), arrays, motion))
    nodes, tets = ball(0.1, 4)
    picked = [int(np.argmin(np.linalg.norm(nodes - np.array(p), axis=1)))
              for p in ((0.1, 0, 0), (-0.1, 0, 0), (0, 0.1, 0), (0, -0.1, 0))]
    body = lively(soft("Ball", nodes, tets, arrays, modulus=2e4), arrays, picked)
    job = contact_job(tmp_path / "job", [body], plates, arrays, end=49, gravity=[0.0, 0.0, 0.0], **CONJAC, **QUICK)
    part = nodes_of(load(job))
    state, flattest = part.initial_state(), np.inf
    for _ in range(60):
        state = stepped(part, state, 2 * H, 1)
        x = part.coordinates.positions(state.q, state.time)
        flattest = min(flattest, float(np.ptp(x[: len(nodes), 2])))
    assert flattest < 0.162
    assert not crosses(part, state)
    assert np.ptp(x[: len(nodes)], axis=0) == pytest.approx(np.full(3, 0.2), rel=0.05)


def test_drag_asks_nothing_of_obstacles_that_weigh_nothing(tmp_path):
    """A body that mass damping brakes in the air, far from a sheet."""
    arrays = {}
    body = lively(soft("Box", *box((2, 2, 2), (0.2, 0.2, 0.2), (-0.1, -0.1, 1.0)), arrays, damping={
        "kind": "rayleigh", "params": {"mass_damping": 2.0}}), arrays, (0, 2, 24))
    job = contact_job(tmp_path / "job", [body], [obstacle("Floor", *sheet(2.0, 3), arrays)], arrays, **CONJAC, **QUICK)
    part = nodes_of(load(job))
    state = part.initial_state()
    with np.errstate(all="raise", under="ignore"):
        for _ in range(3):
            state = part.step(state, H)
    t = 3 * H
    # v' = -g - 2 v
    assert part.velocity(state)[:27, 2].mean() == pytest.approx(-9.81 / 2.0 * (1.0 - np.exp(-2.0 * t)), rel=1e-3)


@pytest.mark.parametrize("count", some([36, 60], 36))
def test_a_ball_rolls_down_a_slope(tmp_path, count):
    """As fast as a solid ball that does not slide, 5/7 of what slides; its facets make it hop and cost it a little."""
    arrays, slope, seconds = {}, 0.2, count * H
    nodes, tets = ball(0.1, 4)
    sides = ((0.1, 0, 0), (-0.1, 0, 0), (0, 0.1, 0), (0, -0.1, 0))
    picked = [int(np.argmin(np.linalg.norm(nodes - np.array(side), axis=1))) for side in sides]
    body = lively(soft("Ball", nodes + [0.0, 0.0, 0.104], tets, arrays, modulus=5e4, friction=0.8, damping={
        "kind": "rayleigh", "params": {"stiffness_damping": 0.01}}), arrays, picked)
    vertices, triangles = sheet(4.0, 1)
    floor = obstacle("Floor", vertices + [1.5, 0.3, 0.0], triangles, arrays, friction=0.8)
    g = 9.81 / np.hypot(1.0, slope)
    job = contact_job(tmp_path / "job", [body], [floor], arrays, gravity=[slope * g, 0.0, -g], **CONJAC, **QUICK,
                      contact={"law": {"kind": "barrier", "params": {"distance": 0.008}}})
    part = nodes_of(load(job))
    state = stepped(part, part.initial_state(), H, count)
    own = slice(0, len(nodes))
    mass, x = part.mass[own, None], part.coordinates.positions(state.q, state.time)[own]
    v = part.velocity(state)[own]
    middle, pace = (mass * x).sum(axis=0) / mass.sum(), (mass * v).sum(axis=0) / mass.sum()
    out = x - middle
    turns = (mass * np.cross(out, v))[:, 1].sum() / (mass[:, 0] * (out[:, 0] ** 2 + out[:, 2] ** 2)).sum()
    rolls = 5 / 7 * slope * g * seconds
    assert 0.85 * rolls < pace[0] < 1.02 * rolls and abs(pace[1]) < 0.03 * rolls
    assert 0.7 * pace[0] < turns * middle[2] < 1.05 * pace[0]
    assert part.counts["calmed"] == 0


def test_boxes_pressed_into_each_other_and_pulled_apart_let_go(tmp_path):
    """Their outer faces come 6 cm nearer and part again: nothing sticks, and each rests in its own shape."""
    arrays, bodies = {}, []
    times = np.arange(31) / 48
    pressed = np.interp(times, [0.0, 0.15, 0.2, 0.4], [0.0, 0.03, 0.03, -0.05])
    for name, at, side in (("Left", 0.0, 1.0), ("Right", 0.21, -1.0)):
        nodes, tets = box((2, 2, 2), (0.2, 0.2, 0.2), (at, 0.02 * side, 0.0))
        outer = np.flatnonzero(np.isclose(nodes[:, 0], nodes[:, 0].min() if side > 0 else nodes[:, 0].max()))
        body = soft(name, nodes, tets, arrays, modulus=2e4, friction=0.5, pinned=outer,
                    damping={"kind": "rayleigh", "params": {"stiffness_damping": 0.03}})
        arrays[f"{name}_way"] = nodes[outer] + side * pressed[:, None, None] * [1.0, 0.0, 0.0]
        body["pin"]["node_motion"] = f"arrays/{name}_way.npy"
        bodies.append(lively(body, arrays, (13, 22) if side > 0 else (13, 4)))
    job = contact_job(tmp_path / "job", bodies, [], arrays, end=16, gravity=[0.0, 0.0, 0.0], **CONJAC, **QUICK)
    part = nodes_of(load(job))
    state, least = part.initial_state(), np.inf
    rest = part.coordinates.positions(state.q, 0.0)
    for _ in range(56):
        state = stepped(part, state, H, 1)
        least = min(least, distance(part, state))
    assert least < 0.005 and distance(part, state) == np.inf
    moved = part.coordinates.positions(state.q, state.time) - rest
    assert moved[:27] == pytest.approx(np.tile([-0.05, 0.0, 0.0], (27, 1)), abs=2e-3)
    assert moved[27:] == pytest.approx(np.tile([0.05, 0.0, 0.0], (27, 1)), abs=2e-3)
    assert part.counts["calmed"] == 0
