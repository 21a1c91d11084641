"""A nail through a moving body: what it holds stands, the rest comes to rest as if it had always been held."""

from dataclasses import replace

import numpy as np
import pytest
from bodies import settled
from cut_jobs import PLANE, Listener, bar_job, opened, placed
from matrix import some
from small_jobs import change

from solver import simulate
from solver.errors import BadScene
from solver.frames.read import Cache
from solver.job.load import load
from solver.nonlinear.equilibrium import equilibrium

H = 1 / 96
#: through the bar's middle, across; two nodes of its grid stand at either side of the line
NAIL = {"frame": 3, "head": [0.16, -0.02, 0.03], "tip": [0.16, 0.08, 0.03], "radius": 0.016}


def nailed_job(folder, *nails, cuts=(), **scene):
    job = bar_job(folder, *cuts, young=8e4, surface=False, **scene)
    change(job, "bodies.0.nails", list(nails))
    return job


def run(world, state, steps):
    for _ in range(steps):
        state = world.step(state, H)
    return state


THROUGH = ((0.16, 0.02, 0.02),)


@pytest.mark.parametrize("dynamic", some([((0.12, 0.03, 0.03),), THROUGH, (None,)], THROUGH))
def test_a_nail_does_not_lock_what_balances(tmp_path, dynamic):
    """In mid fall, also through a dynamic node: ConJac ends where Vanilla's equilibrium with these nodes held is."""
    job = nailed_job(tmp_path, NAIL, dynamic=dynamic, method={"kind": "conjac", "params": {"beta": 1.0}})
    change(job, "bodies.0.damping", {"kind": "rayleigh", "params": {"mass_damping": 20.0}})
    world, reshape = opened(job)
    state = run(world, world.initial_state(), 3)
    x, v = placed(world, state), world.velocity(state)
    done = reshape.at(3, world, state)
    world, state = done.world, done.state
    nailed_nodes = np.setdiff1d(world.coordinates.prescribed, np.flatnonzero(np.isclose(world.rest[:, 0], 0.0)))
    near = np.hypot(x[:, 0] - 0.16, x[:, 2] - 0.03) <= 0.016
    assert len(nailed_nodes) >= 4 and np.array_equal(nailed_nodes, np.flatnonzero(near))
    assert not np.isin(nailed_nodes, world.condensation.mesh.dynamic).any()
    assert f"a nail holds {len(nailed_nodes)} nodes from frame 3 on" in done.notes[0]
    # nothing jumps, and what is not held keeps its speed
    free = world.coordinates.free
    assert np.abs(placed(world, state) - x).max() < 1e-15 and np.array_equal(world.velocity(state)[free], v[free])

    end = settled(world, 900, H, state)
    now = placed(world, end)
    assert np.abs(now[nailed_nodes] - x[nailed_nodes]).max() < 1e-15
    balance = equilibrium(world, now.copy(), end.time, free, world.tets, type(world.linear)())
    sag = np.abs(now - world.rest).max()
    assert sag > 2e-3 and np.abs(now - balance).max() < 1e-6 * sag


def test_a_nail_that_moves_carries_what_it_holds_and_lets_go(tmp_path):
    samples = (25 - 1) * 2 + 1
    turn = 0.5 * np.clip((np.arange(samples) - 4) / 40, 0, 1)
    motion = np.tile(np.eye(4), (samples, 1, 1))
    motion[:, :3, :3] = [[[np.cos(a), 0, np.sin(a)], [0, 1, 0], [-np.sin(a), 0, np.cos(a)]] for a in turn]
    motion[:, :3, 3] = np.array([0.16, 0.0, 0.03]) + 0.02 * turn[:, None] * [0, 1, 0]
    nail = NAIL | {"head": [0, -0.02, 0], "tip": [0, 0.08, 0], "motion": "arrays/nail.npy", "until": 20}
    job = nailed_job(tmp_path, nail)
    np.save(tmp_path / "arrays/nail.npy", motion)
    world, reshape = opened(job)
    state = run(world, world.initial_state(), 8)
    x = placed(world, state)
    done = reshape.at(3, world, state)
    world, state = done.world, done.state
    nailed_nodes = np.setdiff1d(world.coordinates.prescribed, np.flatnonzero(np.isclose(world.rest[:, 0], 0.0)))
    state = run(world, state, 40)
    place = motion[4 + 20] @ np.linalg.inv(motion[4])
    assert np.abs(placed(world, state)[nailed_nodes] - (x[nailed_nodes] @ place[:3, :3].T + place[:3, 3])).max() < 1e-6
    before = world.velocity(state)
    assert np.abs(before[nailed_nodes]).max() > 1e-3
    done = reshape.at(20, world, state)
    assert '"Bar": a nail is drawn at frame 20' in done.notes
    world, after = done.world, done.state
    assert not np.isin(nailed_nodes, world.coordinates.prescribed).any()
    assert np.array_equal(world.velocity(after), before)
    assert np.abs(placed(world, run(world, after, 8))[nailed_nodes] - placed(world, after)[nailed_nodes]).max() > 1e-3


def test_what_a_cut_parts_is_drawn_on_both_sides(tmp_path):
    cut = {"frame": 5, **PLANE, "point": [0.16, 0.0, 0.03], "normal": [1.0, 0.0, 0.0]}
    world, reshape = opened(nailed_job(tmp_path, NAIL | {"until": 9}, cuts=[cut]))
    pinned = len(world.coordinates.prescribed)
    done = reshape.at(3, world, world.initial_state())
    nailed = len(done.world.coordinates.prescribed)
    done = reshape.at(5, done.world, done.state)
    assert len(done.world.coordinates.prescribed) > nailed > pinned
    assert len(reshape.at(9, done.world, done.state).world.coordinates.prescribed) == pinned


@pytest.mark.parametrize("is_cut", [False, True])
def test_a_dynamic_node_that_was_nailed_is_dynamic_again(tmp_path, is_cut):
    cuts = [{"frame": 5, **PLANE, "point": [0.165, 0.0, 0.03], "normal": [1.0, 0.0, 0.0]}] * is_cut
    world, reshape = opened(nailed_job(tmp_path, NAIL | {"until": 9}, cuts=cuts, dynamic=(0.16, 0.02, 0.02)))
    place = world.rest[world.condensation.mesh.dynamic]
    done = reshape.at(3, world, world.initial_state())
    assert not len(done.world.condensation.mesh.dynamic)
    done = reshape.at(5, done.world, done.state)
    done = reshape.at(9, done.world, done.state)
    assert np.array_equal(done.world.rest[done.world.condensation.mesh.dynamic], place) and len(place) == 1


def test_a_nail_through_a_seam_holds_each_side_where_it_is(tmp_path):
    """One side alone is near; it is driven again as it was, and drawn."""
    cut = {"frame": 3, **PLANE, "point": [0.165, 0.0, 0.03], "normal": [1.0, 0.0, 0.0]}
    job = nailed_job(tmp_path, NAIL | {"frame": 9, "until": 15}, cuts=[cut])
    world, reshape = opened(job)
    whole = len(world.rest)
    done = reshape.at(3, world, world.initial_state())
    world, state, records = done.world, done.state, [reshape.record()]
    pinned, x = world.coordinates.prescribed, placed(world, state)
    parted = np.isin(world.rest[:whole, 0], world.rest[whole:, 0])
    x[:whole][parted, 0] -= 0.1  # the side whose nodes keep their numbers is away
    near = np.flatnonzero(np.hypot(x[:, 0] - 0.16, x[:, 2] - 0.03) <= 0.016)
    state = replace(state, q=x[world.coordinates.free].ravel())
    done = reshape.at(9, world, state)
    records.append(reshape.record())
    nailed_nodes = np.setdiff1d(done.world.coordinates.prescribed, pinned)
    assert len(near) and near.min() >= whole and np.array_equal(nailed_nodes, near)
    again = opened(job)
    other = again[1].again(again[0], records)
    assert np.array_equal(other.coordinates.prescribed, done.world.coordinates.prescribed)
    for reshaping in (reshape, again[1]):
        assert np.array_equal(reshaping.at(15, done.world, done.state).world.coordinates.prescribed, pinned)


@pytest.mark.long
def test_a_resumed_bake_gives_the_same_bytes(tmp_path):
    caches = []
    for name, parts in (("whole", [None]), ("parts", [(1, 9), (1, 13), None])):
        job = nailed_job(tmp_path / name, NAIL, NAIL | {"frame": 11, "head": [0.08, -0.02, 0.03],
                                                        "tip": [0.08, 0.08, 0.03], "radius": 0.04, "until": 22})
        for frames in parts:
            simulate.bake(job, Listener(), frames=frames, resume=frames != parts[0])
        caches.append({path.name + path.parent.name: path.read_bytes() for path in (job / "cache").glob("*/*.np*")})
    assert len(caches[0]) == 25 + 2 + 3 and caches[0] == caches[1]
    assert Cache(job / "cache").cuts == {}


def test_a_nail_that_meets_nothing_is_reported(tmp_path):
    listener = Listener()
    simulate.bake(nailed_job(tmp_path, NAIL | {"head": [5, 0, 0], "tip": [6, 0, 0]}, end=5), listener)
    assert '"Bar": the nail at frame 3 is not near any of its nodes, so it holds nothing' in listener.logs


@pytest.mark.parametrize("bad,where,says", [
    ({"frame": 25}, "frame", "would never hold"), ({"until": 3}, "until", "drawn at frame 3 already"),
    ({"head": [1e300, 0, 0]}, "head", "beyond"), ({"radius": 0.0}, "radius", "> 0"),
    ({"motion": "arrays/flat.npy"}, "motion", "zero scale")])
def test_a_nail_that_cannot_be_is_refused(tmp_path, bad, where, says):
    job = nailed_job(tmp_path, NAIL | bad)
    np.save(tmp_path / "arrays/flat.npy", np.zeros((49, 4, 4)))
    with pytest.raises(BadScene, match=says) as refused:
        load(job)
    assert f"$.bodies[0].nails[0].{where}" in str(refused.value)
