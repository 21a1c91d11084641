"""Motion that a Wobble Half-Life damps, and motion that it must leave: falling, turning, rolling, being carried."""

from dataclasses import replace

import numpy as np
import pytest
from small_jobs import box_job, change, write_job
from test_flying import momenta, run, thrown
from worlds import nodes_of

from solver.job.load import load
from solver.meshing.grid import box_tets
from solver.world.half_life_damping import CONTACT_TIME

H = 1 / 48


def rigid_momenta(world, v, x):
    p = world.mass[:, None] * v
    return p.sum(axis=0), np.cross(x - world.mass @ x / world.mass.sum(), p).sum(axis=0)


def test_what_flies_loses_no_momentum_at_all(tmp_path):
    """Bent, turning and falling: all that is taken is motion of parts against each other."""
    job = box_job(tmp_path / "job", cells=(6, 2, 2), motion=False, method={"kind": "vanilla"},
                  integrator={"kind": "sdirk2"})
    change(job, "bodies.0.pin", {})
    change(job, "bodies.0.wobble_half_life", 0.05)
    world = nodes_of(load(job))
    x = world.rest + 0.02 * np.sin(30.0 * world.rest[:, ::-1])
    v = np.cross([1.0, -3.0, 2.0], x) + [0.5, 0.0, -4.0] + np.cos(40.0 * x)
    state = replace(world.initial_state(), q=x.ravel(), u=v.ravel())
    faded, borne = world.damp_start(state, H)
    then = faded.u.reshape(-1, 3)
    assert borne is None and np.abs(then - v).max() > 0.2
    for now, left in zip(rigid_momenta(world, v, x), rigid_momenta(world, then, x)):
        assert np.abs(left - now).max() <= 1e-12 * np.abs(now).max()
    rigid = np.cross([1.0, -3.0, 2.0], x) + [0.5, 0.0, -4.0]
    still, _ = world.damp_start(replace(state, u=rigid.ravel()), H)
    assert np.abs(still.u - rigid.ravel()).max() <= 1e-12


def test_only_steps_that_are_cut_short_have_a_stiffness_damping(tmp_path):
    """A finely bent shape goes on in a whole step as without a half-life, and is calmed in a sixteenth of one."""
    job = box_job(tmp_path / "job", cells=(6, 2, 2), motion=False, method={"kind": "vanilla"}, step=H,
                  integrator={"kind": "sdirk2"}, gravity=[0, 0, 0])
    change(job, "bodies.0.pin", {})
    change(job, "bodies.0.wobble_half_life", 0.2)
    world = nodes_of(load(job))
    state = world.initial_state()
    world.damp_start(state, H)
    assert world._evaluate_damping(state, 0.0) is None
    world.damp_start(state, H / 16)
    v = np.cos(100.0 * world.rest)
    force = world._evaluate_damping(state, 0.0).force(v)
    assert np.vdot(force, v) < 0.0 and np.abs(force.sum(axis=0)).max() <= 1e-12 * np.abs(force).max()
    spinning = world._evaluate_damping(state, 0.0).force(np.cross([1.0, 2.0, 3.0], world.rest))
    assert np.abs(spinning).max() <= 1e-9 * np.abs(force).max()


def test_what_is_carried_is_not_left_behind(tmp_path):
    """A body whose pins turn and move turns and moves with them; where they part from each other it follows between."""
    world = carried(tmp_path / "turning", np.cross([0.0, 1.0, 3.0], ends()) + [2.0, 0.0, 0.0])
    x = world.rest
    along = np.cross([0.0, 1.0, 3.0], x) + [2.0, 0.0, 0.0]
    faded, _ = world.damp_start(replace(world.initial_state(), u=along[world.coordinates.free].ravel()), H)
    assert np.abs(faded.u - along[world.coordinates.free].ravel()).max() <= 1e-6

    # one end moves alone: what stands between is drawn to neither by more than to the other
    pull = np.where(ends()[:, :1] > 0.1, [[1.0, 0.0, 0.0]], 0.0)
    world = carried(tmp_path / "pulled", pull)
    free = world.coordinates.free
    faded, _ = world.damp_start(replace(world.initial_state(), u=np.zeros(3 * len(free))), H)
    loss, far = world.losses.parts[0], world.rest[free, 0] / 0.2
    share = faded.u.reshape(-1, 3)[:, 0] / -np.expm1(-2.0 * loss.rate(0.0) * H)
    assert share == pytest.approx(far, abs=0.15) and (0.0 <= share.min()) and share.max() <= 1.0


def ends():
    nodes, _ = box_tets((8, 2, 2), (0.2, 0.1, 0.1))
    return nodes[(nodes[:, 0] < 1e-9) | (nodes[:, 0] > 0.2 - 1e-9)]


def carried(folder, v):
    """A bar of 0.2 m, both ends of which move at these velocities [m/s] from the start on."""
    nodes, tets = box_tets((8, 2, 2), (0.2, 0.1, 0.1))
    pinned = np.flatnonzero((nodes[:, 0] < 1e-9) | (nodes[:, 0] > 0.2 - 1e-9)).astype(np.int32)
    times = np.arange(5)[:, None, None] / 48
    body = {"name": "Bar", "tets": {"nodes": "arrays/nodes.npy", "tets": "arrays/tets.npy"}, "wobble_half_life": 0.1,
            "pin": {"nodes": "arrays/pinned.npy", "node_motion": "arrays/motion.npy"},
            "material": {"kind": "stable_neo_hookean", "params": {"youngs_modulus": 2e4, "poisson_ratio": 0.4}}}
    job = write_job(folder, {"version": 1, "name": "bar", "bodies": [body], "method": {"kind": "vanilla"},
                             "integrator": {"kind": "sdirk2"}, "time": {"start": 1, "end": 3, "fps": 24, "step": H}},
                    {"nodes": nodes, "tets": tets, "pinned": pinned, "motion": nodes[pinned] + times * v})
    return nodes_of(load(job))


def test_flesh_pushes_its_bones_by_what_it_loses(tmp_path):
    """As two bones with a bar between them fly, tumble and bend, both momenta stay as without a half-life."""
    for name, half_life in (("without", 0.0), ("with", 0.02)):
        world, state = thrown(tmp_path / name, keep=True, bodies__0__wobble_half_life=half_life)
        assert (world.parts[0].losses is not None) == bool(half_life)
        before, after = momenta(world, state)[:2], momenta(world, run(world, state, 12))[:2]
        for now, then in zip(before, after):
            assert np.abs(then - now).max() <= 1e-11 * np.abs(now).max()
    drifts = []
    for name, half_life in (("solved", 0.0), ("solved_with", 0.2)):
        world, state = thrown(tmp_path / name, "sdirk2", bodies__0__wobble_half_life=half_life)
        before, after = momenta(world, state)[:2], momenta(world, run(world, state, 12))[:2]
        drifts.append(max(np.linalg.norm(b - a) / np.linalg.norm(a) for a, b in zip(before, after)))
    assert drifts[1] <= 1.5 * drifts[0] + 1e-4


RUBS = {"kind": "coulomb", "params": {"friction_coefficient": 0.5}}


def on_ground(folder, half_life, nodes, tets, young, friction=RUBS):
    body = {"name": "Jelly", "tets": {"nodes": "arrays/nodes.npy", "tets": "arrays/tets.npy"},
            "wobble_half_life": half_life,
            "material": {"kind": "stable_neo_hookean", "params": {"youngs_modulus": young, "poisson_ratio": 0.45}}}
    ground = {"point": [0, 0, 0], "normal": [0, 0, 1], "stiffness_per_area": 3.27e7,
              **({} if friction is None else {"friction": friction})}
    return nodes_of(load(write_job(folder, {
        "version": 1, "name": "jelly", "bodies": [body], "ground": ground, "method": {"kind": "vanilla"},
        "integrator": {"kind": "sdirk2"}, "stage_solver": {"kind": "quick"},
        "time": {"start": 1, "end": 49, "fps": 24, "step": H}}, {"nodes": nodes, "tets": tets})))


def test_what_stands_sways_for_as_long_as_is_asked(tmp_path):
    """On the ground a tower bends as a rigid motion does but for a few percent, which are all that it would lose."""
    nodes, tets = box_tets((3, 3, 8), (0.1, 0.1, 0.3))
    world = on_ground(tmp_path / "job", 0.5, nodes, tets, 1e5)
    state = run_nodes(world, world.initial_state(), 40)
    assert state.memory[CONTACT_TIME].max() > 0.1
    x, _ = world.nodes_at(state)
    top, stood = x[:, 2] > 0.29, x[:, 0].copy()
    push = np.zeros_like(x)
    push[:, 0] = 0.2 * (x[:, 2] / 0.3) ** 2
    state, seen = replace(state, u=push.ravel()), []
    for _ in range(60):
        state = world.step(state, H)
        seen.append((world.nodes_at(state)[0][:, 0] - stood)[top].mean())
    heights = np.abs(seen)
    first, later = heights[:12].max(), heights[36:].max()
    assert first > 0.005 and later < 0.45 * first


def run_nodes(world, state, steps):
    for _ in range(steps):
        state = world.step(state, H)
    return state


def test_what_rolls_rolls_on(tmp_path):
    """Its nodes touch the ground for less than what stands there does."""
    nodes, tets = box_tets((4, 4, 4), (0.24, 0.24, 0.24))
    nodes = nodes - 0.12
    away = np.linalg.norm(nodes, axis=1)
    nodes *= np.divide(np.abs(nodes).max(axis=1), away, out=np.zeros_like(away), where=away > 0.0)[:, None]
    nodes[:, 2] += 0.119
    left = []
    for half_life in (0.0, 0.75):
        world = on_ground(tmp_path / str(half_life), half_life, nodes, tets, 6e4)
        assert (world.losses is not None) == bool(half_life)
        v = np.cross([0.0, 12.0, 0.0], nodes)
        state = run_nodes(world, replace(world.initial_state(), u=v.ravel()), 36)
        left.append(world.mass @ state.u.reshape(-1, 3)[:, 0] / world.mass.sum())
    assert left[0] > 0.6 and left[1] > 0.8 * left[0]


def test_what_slides_on_ice_keeps_its_momentum_however_soon_it_is_calmed(tmp_path):
    """The force of a whole tower on its light touching nodes threw it about."""
    nodes, tets = box_tets((4, 4, 8), (0.1, 0.1, 0.3))
    world = on_ground(tmp_path / "job", 0.05, nodes, tets, 3e5, friction=None)
    state = run_nodes(world, world.initial_state(), 48)
    x, _ = world.nodes_at(state)
    push = np.zeros_like(x)
    push[:, 0] = 0.1 + 0.2 * (x[:, 2] / 0.3) ** 2
    state = replace(state, u=push.ravel())
    before = world.mass @ push[:, 0]
    state = run_nodes(world, state, 48)
    v = state.u.reshape(-1, 3)
    assert state.memory[CONTACT_TIME].max() > 0.1
    assert world.mass @ v[:, 0] == pytest.approx(before, rel=1e-6)
    assert np.ptp(v[:, 0]) < 0.05 * np.ptp(push[:, 0])
