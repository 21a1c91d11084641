"""Soft bodies that touch each other, themselves and obstacles, step by step: nothing ever goes through anything."""

import numpy as np
import pytest
from contact_scenes import balls_in_a_bowl, bent_bar
from matrix import some
from small_jobs import change
from touching import (
    Quiet,
    box,
    contact_job,
    distance,
    energy,
    keep_momentum_where_they_collide,
    obstacle,
    refused,
    resumed_alike,
    sheet,
    soft,
    stepped,
    two_on_a_floor,
)
from worlds import nodes_of

from solver.contact.find.distance_kernels import squares
from solver.job.load import load
from solver.state import State

H = 1 / 96
BOUNDED = ["backward_euler", "bdf2", "sdirk2", "semi_implicit"]


@pytest.mark.parametrize("integrator,solver", [("backward_euler", "newton_d"),
                                               pytest.param("bdf2", "newton_d", marks=pytest.mark.long),
                                               pytest.param("sdirk2", "newton_d", marks=pytest.mark.long),
                                               ("backward_euler", "qlb"),
                                               ("semi_implicit", "newton_d"),
                                               pytest.param("sdirk2", "qlb", marks=pytest.mark.long)])
def test_nothing_goes_through_anything(tmp_path, integrator, solver):
    job = two_on_a_floor(tmp_path / "job", integrator={"kind": integrator}, stage_solver={"kind": solver})
    part = nodes_of(load(job))
    state = part.initial_state()
    start, least = energy(part, state), np.inf
    for _ in range(30):
        state = stepped(part, state, H, 1)
        least = min(least, distance(part, state))
        assert energy(part, state) <= start + 1e-3
    # both landed, and the upper one tips over the edge of the other
    x = part.coordinates.positions(state.q, state.time)
    assert least < part.contacts[0].activation
    assert 0.0 < x[:27, 2].min() < 0.02
    assert x[27:54, 2].min() > 0.02


def test_a_fast_body_does_not_pass_a_thin_sheet(tmp_path):
    """20 m/s is 0.2 m a step: its own size, and a hundred times the distance at which surfaces push."""
    arrays = {}
    bodies = [soft("Ball", *box((2, 2, 2), (0.2, 0.2, 0.2), (-0.1, -0.1, 0.5)), arrays, modulus=1e6)]
    job = contact_job(tmp_path / "job", bodies, [obstacle("Floor", *sheet(2.0, 3), arrays)], arrays)
    part = nodes_of(load(job))
    state = part.initial_state()
    u = np.zeros((27, 3))
    u[:, 2] = -20.0
    state = stepped(part, State(0.0, state.q, u.ravel()), H, 12)
    x = part.coordinates.positions(state.q, state.time)[:27]
    assert x[:, 2].min() > 0.0


@pytest.mark.parametrize("method", some(["vanilla", "conjac"], "vanilla"))
def test_thick_bodies_keep_so_far_from_each_other(tmp_path, method):
    job = two_on_a_floor(tmp_path / "job", method={"kind": method})
    change(job, "bodies.0.thickness", 0.006)
    change(job, "bodies.1.thickness", 0.004)
    part = nodes_of(load(job))
    state = part.initial_state()
    for _ in range(24):
        state = stepped(part, state, H, 1)
    x = part.coordinates.positions(state.q, state.time)
    law = part.contacts[0]
    assert 0.006 < x[:27, 2].min() < 0.006 + law.activation
    near = law.surfaces.find_near_pairs(x, 0.05)
    square = np.empty(len(near.nodes))
    squares(0, len(square), x, near.nodes, near.points, square)
    body = np.searchsorted([27, 54], near.nodes[:, [0, 3]], side="right")
    apart = np.sqrt(square[(body == [0, 1]).all(axis=1) | (body == [1, 0]).all(axis=1)].min())
    assert 0.01 < apart < 0.01 + law.activation
    assert law.nearest(x) is None
    # what stands nearer at the start is told
    change(job, "bodies.1.thickness", 0.03)
    assert '"Top"' in refused(job) and "than they are thick" in refused(job)
    change(job, "bodies.1.thickness", 3.0)
    assert "Thickness of 3 m, more than its size of 0.2 m" in refused(job)


def test_it_touches_itself(tmp_path):
    """An open ring that claps shut: its two ends meet."""
    nodes, tets = box((10, 1, 2), (1.0, 0.06, 0.1))
    angle, radius = np.pi * 1.9 * nodes[:, 0], 0.17 + nodes[:, 1]
    ring = np.stack([radius * np.sin(angle), radius * np.cos(angle), nodes[:, 2]], axis=1)
    arrays = {}
    body = soft("Ring", ring, tets[:, [0, 1, 3, 2]], arrays, modulus=2e4)
    job = contact_job(tmp_path / "job", [body], [], arrays, gravity=[0.0, 0.0, 0.0])
    part = nodes_of(load(job))
    along = np.stack([np.cos(angle), -np.sin(angle), 0.0 * angle], axis=1)
    u = along * (4.0 * nodes[:, :1] - 2.0)
    state, nearest = State(0.0, part.initial_state().q, u.ravel()), np.inf
    for _ in range(30):
        state = stepped(part, state, H, 1)
        nearest = min(nearest, distance(part, state))
    assert nearest < 0.9 * part.contacts[0].activation


def test_a_moving_obstacle_pushes_and_lifts(tmp_path):
    """A plate comes up at 2 m/s, 2 cm a step, far more than the distance at which it pushes, and takes a box along."""
    arrays = {}
    bodies = [soft("Jelly", *box((2, 2, 2), (0.2, 0.2, 0.2), (-0.1, -0.1, 0.03)), arrays, modulus=2e4)]
    vertices, triangles = sheet(1.0, 3)
    times = np.arange(49) / 48
    rise = np.where(times < 0.25, 0.0, np.minimum(2.0 * (times - 0.25), 0.5))
    motion = vertices + rise[:, None, None] * np.array([0.0, 0.0, 1.0])
    job = contact_job(tmp_path / "job", bodies, [obstacle("Plate", vertices, triangles, arrays, motion)], arrays)
    part = nodes_of(load(job))
    state = stepped(part, part.initial_state(), H, 60)
    x = part.coordinates.positions(state.q, state.time)
    assert x[27:, 2].max() == pytest.approx(0.5)
    assert x[:27, 2].min() > 0.5


@pytest.mark.parametrize("integrator", some(BOUNDED, "semi_implicit", "sdirk2"))
def test_momentum_stays_where_free_bodies_collide(tmp_path, integrator):
    arrays = {}
    bodies = [soft("Left", *box((2, 2, 2), (0.2, 0.2, 0.2)), arrays),
              soft("Right", *box((2, 2, 2), (0.2, 0.2, 0.2), (0.25, 0.06, 0.05)), arrays, modulus=5e4)]
    job = contact_job(tmp_path / "job", bodies, [], arrays, gravity=[0.0, 0.0, 0.0], integrator={"kind": integrator},
                      stage_solver={"kind": "newton_d", "params": {"tolerance": 1e-11}})
    part = nodes_of(load(job))
    u = np.zeros((54, 3))
    u[:27], u[27:] = [1.5, 0.1, 0.0], [-0.5, 0.0, 0.2]
    state = State(0.0, part.initial_state().q, u.ravel())
    keep_momentum_where_they_collide(part, state, H)


@pytest.mark.long
def test_both_ways_of_counting_threads_and_any_past_give_the_same_bytes(tmp_path):
    from solver.threads import configure

    ends = []
    for threads in (1, 2):
        configure(threads)
        part = nodes_of(load(two_on_a_floor(tmp_path / f"job{threads}")))
        state = part.initial_state()
        for k in range(30):
            state = part.step(state, H)
            if k == 20:  # as where a bake may be resumed: who goes on forgets, who resumes has a new world
                part.forget_past()
            if threads == 2 and k == 20:
                part = nodes_of(load(two_on_a_floor(tmp_path / "again")))
        ends.append(state)
    configure(None)
    assert distance(part, state) < np.inf
    assert np.array_equal(ends[0].q, ends[1].q)
    assert np.array_equal(ends[0].u, ends[1].u)


# friction

def on_a_slope(folder, slope, mu=0.5, **scene):
    """A flat block on a plate; instead of the plate gravity is tilted."""
    arrays = {}
    bodies = [soft("Block", *box((4, 4, 1), (0.2, 0.2, 0.05), (-0.1, -0.1, 0.004)), arrays, modulus=1e6,
                   friction=mu, damping={"kind": "rayleigh", "params": {"stiffness_damping": 0.002}})]
    g = 9.81 / np.hypot(1.0, slope)
    vertices, triangles = sheet(3.0, 7)
    turn = np.array([[np.cos(0.3), -np.sin(0.3), 0], [np.sin(0.3), np.cos(0.3), 0], [0, 0, 1]])
    return contact_job(folder, bodies, [obstacle("Plate", vertices @ turn.T, triangles, arrays, friction=mu)], arrays,
                       gravity=[slope * g, 0.0, -g], **scene)


@pytest.mark.parametrize("integrator", some(["backward_euler", "sdirk2"], "backward_euler"))
def test_a_block_slides_where_the_slope_is_steeper_than_its_friction(tmp_path, integrator):
    mu, method = 0.5, {"integrator": {"kind": integrator}}
    level = nodes_of(load(on_a_slope(tmp_path / "level", 0.0, mu, **method)))
    rests, speeds = stepped(level, level.initial_state(), H, 48, check=False), {}
    for share in (0.98, 1.02):
        part = nodes_of(load(on_a_slope(tmp_path / f"job{share}", share * mu, mu, **method)))
        state, seen = State(0.0, rests.q, 0.0 * rests.u), []
        for _ in range(48):
            state = part.step(state, H)
            seen.append(float((part.mass @ part.velocity(state))[0] / part.mass.sum()))
        speeds[share] = np.array(seen)
    # below it creeps no faster than the creep speed, once it has leaned over
    assert np.abs(speeds[0.98][-24:]).max() <= 1.0e-3
    # above it gains what is left of the slope
    gained = (speeds[1.02][-1] - speeds[1.02][-25]) / (24 * H)
    wanted = 9.81 / np.hypot(1.0, 1.02 * mu) * 0.02 * mu
    assert gained == pytest.approx(wanted, rel=0.1)
    assert speeds[1.02][-1] > 5e-3


def test_friction_brakes_as_coulomb_says_and_takes_no_momentum(tmp_path):
    mu = 0.3
    part = nodes_of(load(on_a_slope(tmp_path / "job", 0.0, mu)))
    state = stepped(part, part.initial_state(), H, 48)
    u = state.u.reshape(-1, 3).copy()
    u[:, 1] += 2.0
    state, seen = State(state.time, state.q, u.ravel()), []
    for _ in range(24):
        state = part.step(state, H)
        seen.append(float((part.mass @ part.velocity(state))[1] / part.mass.sum()))
    assert (seen[-13] - seen[-1]) / (12 * H) == pytest.approx(mu * 9.81, rel=0.02)


def test_friction_is_the_slope_of_its_potential():
    from solver.contact.laws.lagged_friction import LaggedFriction

    rng = np.random.default_rng(2)
    base = rng.normal(size=(12, 3))
    nodes = rng.permutation(12).reshape(3, 4).astype(np.int32)
    weights = np.stack([np.ones(3), *-rng.dirichlet([1, 1, 1], 3).T], axis=1)
    normal = rng.normal(size=(3, 3))
    normal /= np.linalg.norm(normal, axis=1)[:, None]
    couples = rng.normal(size=(3, 4, 3))  # of a point and a triangle: the point has none
    couples[:, 0] = 0.0
    couples[:, 1:] -= couples[:, 1:].mean(axis=1, keepdims=True)
    couples -= np.einsum("kai,ki->ka", couples, normal)[:, :, None] * normal[:, None, :]
    # one sticks, one slides, one stands still
    law = LaggedFriction(nodes, weights, couples, normal, np.array([2.0, 3.0, 1.0]), 0.5, base, 0.01)
    v = rng.normal(size=(12, 3))
    v[nodes[0]] *= 0.05
    v[nodes[2]] = 0.0
    x = base + 0.01 * v
    table, step = law.fill(x, 0.0, False), 1e-7

    def stiffness(blocks):
        K = np.zeros((12, 3, 12, 3))
        for k, pairs in enumerate(blocks):
            for pair, (a, b) in enumerate(((1, 0), (2, 0), (2, 1), (3, 0), (3, 1), (3, 2))):
                for i, j, block in ((a, b, pairs[pair].reshape(3, 3)), (b, a, pairs[pair].reshape(3, 3).T)):
                    K[nodes[k, i], :, nodes[k, j]] += block
                    K[nodes[k, i], :, nodes[k, i]] -= block
        return K.reshape(36, 36)

    K = stiffness(table.blocks)
    assert np.linalg.eigvalsh(K).max() <= 1e-9
    # a step on the parabola above it never goes too far: the energy falls by what that has said at least
    above = law.fill(x, 0.0, True)
    assert np.array_equal(above.forces, table.forces)
    whole = stiffness(above.blocks)
    for _ in range(20):
        far = rng.normal(size=x.shape) * 10.0 ** rng.uniform(-5.0, -1.0)
        force = np.zeros_like(x)
        table.add_forces(force)
        most = table.energy - float(np.vdot(force, far)) - 0.5 * float(far.ravel() @ whole @ far.ravel())
        assert law.measure(x + far, 0.0).energy <= most + 1e-12
    assert np.abs(table.forces.sum(axis=1)).max() <= 1e-12
    assert np.abs(np.linalg.norm(table.forces[1, 0]) - 3.0) <= 1e-12
    for _ in range(3):
        way = rng.normal(size=x.shape)
        ends = [law.measure(x + sign * step * way, 0.0) for sign in (1, -1)]
        force = np.zeros_like(x)
        table.add_forces(force)
        assert -(ends[0].energy - ends[1].energy) / (2 * step) == pytest.approx(float(np.vdot(force, way)), rel=1e-5)
        bend = sum(sign * end.forces for sign, end in zip((1, -1), ends)) / (2 * step)
        wanted = (K @ way.ravel()).reshape(12, 3)[nodes]
        assert np.abs(bend - wanted).max() <= 1e-4 * np.abs(wanted).max()


# whole scenes, through the loop of a bake

@pytest.mark.long  # a bake of cloth on a box is resumed in test_cloth_contact, a state of this scene further up
def test_a_bake_that_goes_on_in_mid_contact_has_the_same_bytes(tmp_path):
    whole = resumed_alike([two_on_a_floor(tmp_path / name) for name in ("whole", "resumed")])
    assert whole.vertices(6)[:27, 2].min() < 0.02  # it lay on the floor where it was stopped


@pytest.mark.long
@pytest.mark.parametrize("make,until", [(bent_bar, 37), (balls_in_a_bowl, 17)])
def test_scenes_bake_and_nothing_crosses_in_any_frame(tmp_path, make, until):
    from solver.frames.read import Cache
    from solver.simulate import bake

    job = make(tmp_path / "job")
    bake(job, Quiet(), frames=(1, until))
    cache, part = Cache(job / "cache"), nodes_of(load(job))
    law, nearest = part.contacts[0], np.inf
    for frame in range(1, until + 1):
        # frames are in single precision, which may bring surfaces nearer by a micrometre and no more
        count = sum(body.vertices for body in part.bodies_in_world)
        x = part.coordinates.positions(part.initial_state().q, (frame - 1) / 24)
        x[:count] = cache.vertices(frame)[:count]
        assert law.surfaces.intersection(x) is None
        nearest = min(nearest, float(law.find_active_pairs(x).work[:, 16].min(initial=np.inf)))
    assert 0.0 < nearest < law.activation**2
