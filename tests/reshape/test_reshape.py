"""A world is cut: nothing jumps, pieces move as physics says, and a resumed bake gives the same bytes."""

import numpy as np
import pytest
from bodies import settled
from cut_jobs import FACES, PLANE, SHEET, Listener, bar_job, opened, placed
from matrix import some
from small_jobs import change

from solver import simulate
from solver.errors import BadScene, Stopped
from solver.frames.read import Cache
from solver.job.load import load
from solver.meshing.volume import face_parts
from solver.state import State

H = 1 / 96
CUT = {"frame": 5, **PLANE}


def moving(world, seed=3):
    """A state in mid motion: bent, stretched, every node at a speed of its own."""
    rng = np.random.default_rng(seed)
    start = world.initial_state()
    q = start.q.reshape(-1, 3) * [1.05, 0.97, 1.0] + 0.002 * rng.normal(size=(len(start.q) // 3, 3))
    return State(4 / 24, q.ravel(), 0.3 * rng.normal(size=start.u.shape), {"bdf2.q": q.ravel()})


def energies(world, state):
    x, v = placed(world, state), world.velocity(state)
    return world.evaluate(x, state.time)[1], 0.5 * float(world.mass @ (v**2).sum(axis=1))


@pytest.mark.parametrize("surface", [True, False])
@pytest.mark.parametrize("cut,pieces", [(PLANE, 2), (SHEET, 1), (FACES, 2)])
def test_nothing_jumps_when_a_body_is_cut(tmp_path, cut, pieces, surface):
    world, reshape = opened(bar_job(tmp_path, {"frame": 5, **cut}, surface=surface))
    state = moving(world)
    assert reshape.moments(5) == [0.0] and not reshape.moments(4) and not reshape.moments(6)
    done = reshape.at(5, world, state)
    after, now = done.world, done.state
    assert now.time == state.time and now.memory == {}
    assert len(now.q) == len(now.u) > len(state.q)
    assert face_parts(after.tets)[0] == pieces

    before, points = placed(world, state), placed(after, now)
    assert np.array_equal(points[after.tets], before[world.tets])
    assert np.array_equal(after.velocity(now)[after.tets], world.velocity(state)[world.tets])
    assert after.mass.sum() == pytest.approx(world.mass.sum(), rel=1e-14)
    momentum = world.mass @ world.velocity(state)
    assert after.mass @ after.velocity(now) == pytest.approx(momentum, rel=1e-12)
    assert energies(after, now) == pytest.approx(energies(world, state), rel=1e-12)

    # what is shown stays where it was, and new vertices stand between those that their cut parted
    old, new = world.output(state, 5), after.output(now, 5)
    assert len(new) > len(old) and np.abs(new[:len(old)] - old).max() < 1e-12


def test_every_dynamic_and_pinned_node_is_still_one(tmp_path):
    world, reshape = opened(bar_job(tmp_path, {"frame": 5, **FACES}, pinned=(0.0, 0.1)))
    after = reshape.at(5, world, world.initial_state()).world
    assert len(after.coordinates.prescribed) == len(world.coordinates.prescribed) + 16

    world, reshape = opened(bar_job(tmp_path, {"frame": 5, **FACES}, dynamic=(0.1, 0.03, 0.03)))
    after = reshape.at(5, world, world.initial_state()).world
    [node] = after.condensation.mesh.dynamic
    centres = after.rest[after.tets].mean(axis=1)[(after.tets == node).any(axis=1)]
    assert centres[:, 0].min() > 0.1  # the piece from 0.1 to 0.24 is the larger one
    assert np.allclose(after.rest[node], world.rest[world.condensation.mesh.dynamic[0]])


def test_a_piece_without_a_dynamic_node_falls_and_turns_as_a_rigid_body(tmp_path):
    """Its middle is thrown as a stone, its first step keeps its angular momentum, its shape is that at rest."""
    world, reshape = opened(bar_job(tmp_path, CUT))
    state = world.initial_state()
    spin = np.zeros_like(state.q).reshape(-1, 3)
    free = world.rest[world.coordinates.free]
    spin[:, 2] = 3.0 * (free[:, 0] > 0.17) * (free[:, 0] - 0.19)
    spin[:, 1] = 0.5
    done = reshape.at(5, world, State(0.0, state.q, spin.ravel()))
    world, state = done.world, done.state
    _, part = face_parts(world.tets)
    x = placed(world, state)
    right = np.unique(world.tets[part == part[np.argmax(x[world.tets].mean(axis=1)[:, 0])]])
    assert not np.isin(world.condensation.mesh.dynamic, right).any()
    mass = world.mass[right][:, None]

    def middle(values):
        return (mass * values[right]).sum(axis=0) / mass.sum()

    def angular(state):
        x, v = placed(world, state), world.velocity(state)
        return (mass * np.cross(x[right] - middle(x), (v - middle(v))[right])).sum(axis=0)

    start_at, thrown, turning, size = middle(x), middle(world.velocity(state)), angular(state), 0.08
    for k in range(1, 49):
        state = world.step(state, H)
        # semi-implicit Euler: gravity first, then positions
        assert middle(world.velocity(state)) == pytest.approx(thrown + k * H * np.array([0, 0, -9.81]), rel=1e-9)
        fallen = start_at + k * H * thrown + H**2 * k * (k + 1) / 2 * np.array([0, 0, -9.81])
        assert np.abs(middle(placed(world, state)) - fallen).max() < 5e-3 * size
        if k == 1:  # semi-implicit Euler brakes what turns later on, with Vanilla FEM as well
            assert np.abs(angular(state) - turning).max() < 1e-9 * np.linalg.norm(turning)
    # its shape: the best rotation of the rest shape leaves nothing
    now, rest = placed(world, state)[right], world.rest[right]
    u, _, vt = np.linalg.svd((now - now.mean(axis=0)).T @ (rest - rest.mean(axis=0)))
    rotation = u @ np.diag([1, 1, np.linalg.det(u @ vt)]) @ vt
    assert np.linalg.norm(rotation - np.eye(3)) > 0.3
    assert np.abs(now - now.mean(axis=0) - (rest - rest.mean(axis=0)) @ rotation.T).max() < 5e-3 * size


def test_conjac_and_vanilla_come_to_rest_alike_after_a_cut(tmp_path):
    """Held at both ends and cut apart in the middle: each half hangs from its own end."""
    shapes = []
    for method in ("conjac", "vanilla"):
        job = bar_job(tmp_path / method, {"frame": 1, **FACES}, young=8e4, pinned=(0.0, 0.24), surface=False,
                      method={"kind": method, "params": {"beta": 1.0}})
        change(job, "bodies.0.damping", {"kind": "rayleigh", "params": {"mass_damping": 30.0}})
        world, reshape = opened(job)
        done = reshape.at(1, world, world.initial_state())
        world, state = done.world, done.state
        assert np.array_equal(placed(world, state), world.rest)
        state = settled(world, 400, 1 / 48, state)
        assert np.abs(state.u).max() < 1e-9
        shapes.append(placed(world, state))
    sag = np.abs(shapes[1] - world.rest).max()
    assert sag > 0.005 and np.abs(shapes[0] - shapes[1]).max() < 1e-6 * sag


STAGES = {"conjac": {}, "bdf2": {"method": {"kind": "vanilla"}, "integrator": {"kind": "bdf2"}},
          "steps": {"time": {"start": 1, "end": 18, "fps": 24, "step": 1 / 96, "tolerance": 1e-2}}}


@pytest.mark.parametrize("kind", some(STAGES, "conjac"))
def test_a_resumed_bake_gives_the_same_bytes(tmp_path, kind):
    """Stopped between both cuts, the second of them at a snapshot."""
    caches = []
    for name, parts in (("whole", [None]), ("parts", [(1, 9), (1, 12), (1, 16), None])):
        job = bar_job(tmp_path / name, CUT, {"frame": 11, **SHEET}, young=2e5, **{"end": 18, **STAGES[kind]})
        for frames in parts:
            listener = Listener()
            simulate.bake(job, listener, frames=frames, resume=frames != parts[0])
        caches.append({path.name + path.parent.name: path.read_bytes() for path in (job / "cache").glob("*/*.np*")})
    assert len(caches[0]) == 18 + 2 + 1 and caches[0] == caches[1]
    # the last part goes on from the snapshot of frame 11
    assert [text[:22] for text in listener.logs if text.startswith('"Bar": cut')] == ['"Bar": cut at frame 11']


def test_a_resumed_bake_needs_the_records_of_its_cuts(tmp_path):
    job = bar_job(tmp_path, CUT, young=2e5)
    simulate.bake(job, Listener(), frames=(1, 12))
    record = job / "cache/cuts/000005.npz"
    content = record.read_bytes()
    record.write_bytes(content[:-40])
    listener = Listener()
    simulate.bake(job, listener, resume=True)
    assert "There is no snapshot to resume from, so the bake begins at the first frame" in listener.logs
    assert record.read_bytes() == content
    cache = Cache(job / "cache")
    assert cache.frames_done() == list(range(1, 26)) and cache.verify() == []
    assert cache.free() == 25 + 2 + 1 + 2 and not (job / "cache").exists()


@pytest.mark.parametrize("file", ["stays", "goes"])
def test_a_resumed_bake_mends_a_log_without_the_line_of_a_cut(tmp_path, file):
    """No snapshot after it is gone on from: it has nodes that the world without the cut has not."""
    job = bar_job(tmp_path, CUT, young=2e5, end=14)
    simulate.bake(job, Listener(), frames=(1, 12))
    record, log = job / "cache/cuts/000005.npz", job / "cache/written.log"
    whole = {path.name: path.read_bytes() for path in (job / "cache").glob("*/*.np*")}
    lines = log.read_text().splitlines(keepends=True)
    log.write_text("".join(line for line in lines if not line.startswith("cuts ")))
    if file == "goes":
        record.unlink()
    assert Cache(job / "cache").frames_done() == list(range(1, 6))
    assert Cache(job / "cache").status().state == "broken"
    simulate.bake(job, Listener(), resume=True)
    cache = Cache(job / "cache")
    assert cache.frames_done() == list(range(1, 15)) and cache.verify() == [] and cache.cut_frames() == [5]
    assert cache.status().state == "complete"
    for path in (job / "cache").glob("*/*.np*"):
        assert whole.get(path.name, path.read_bytes()) == path.read_bytes() or path.parent.name == "snapshots"


def test_a_frame_is_split_by_its_own_counts_and_shown_with_the_last_ones(tmp_path):
    job = bar_job(tmp_path, CUT, {"frame": 8, **SHEET}, end=10)
    simulate.bake(job, Listener())
    cache = Cache(job / "cache")
    vertices = np.load(job / "arrays/vertices.npy")
    first, second = cache.cuts["Bar"]
    counts = [len(cache.frame(k)["Bar"]) for k in (1, 5, 6, 8, 9, 10)]
    assert (first.frame, second.frame) == (5, 8) and len(first.parents) > 100 and len(second.parents) > 50
    assert counts == [len(vertices)] * 2 + [len(vertices) + len(first.parents)] * 2 + [counts[-1]] * 2
    for frame in range(1, 11):
        shown, own = cache.read_all_vertices(frame)["Bar"], cache.frame(frame)["Bar"]
        assert len(shown) == counts[-1] and np.array_equal(shown[:len(own)], own)
    # what lies inside has no area before the cut is seen, and the rest is the mesh as it was
    before, after = cache.read_all_vertices(5)["Bar"], cache.read_all_vertices(6)["Bar"]

    def areas(x, which):
        a, b, c = x[first.triangles[which]].transpose(1, 0, 2)
        return np.linalg.norm(np.cross(b - a, c - a), axis=1).sum() / 2

    inner = first.source < 0
    assert areas(before, inner) == 0.0 and areas(after, inner) > 2 * 0.06**2
    triangles = np.load(job / "arrays/triangles.npy")
    a, b, c = before[triangles].transpose(1, 0, 2)
    assert areas(before, ~inner) == pytest.approx(np.linalg.norm(np.cross(b - a, c - a), axis=1).sum() / 2, rel=1e-5)


def logs(job, frames=None):
    listener = Listener()
    simulate.bake(job, listener, frames=frames)
    return [text for text in listener.logs if text.startswith('"Bar": ')]


def test_what_a_cut_did_is_reported(tmp_path):
    away = {"kind": "plane", "point": [5.0, 0.0, 0.0], "normal": [1.0, 0.0, 0.0]}
    job = bar_job(tmp_path, {"frame": 2, **away}, {"frame": 3, **PLANE}, {"frame": 4, **SHEET}, end=6)
    assert logs(job) == [
        '"Bar": the cut at frame 2 does not pass through its tetrahedra, so nothing is cut',
        '"Bar": cut at frame 3, into 2 pieces; 1 without a dynamic node of its own, in balance from now on',
        '"Bar": cut at frame 4; it still hangs together']


def test_pieces_of_full_fem_need_no_dynamic_node(tmp_path):
    job = bar_job(tmp_path, {"frame": 3, **PLANE}, end=4)
    change(job, "method", {"kind": "vanilla"})
    assert logs(job) == ['"Bar": cut at frame 3, into 2 pieces']


def test_a_stop_before_the_cut_leaves_it_undone(tmp_path):
    job = bar_job(tmp_path, CUT)
    with pytest.raises(Stopped):
        simulate.bake(job, Listener(), stop=lambda: Cache(job / "cache").frames_done()[-1] == 4)
    assert Cache(job / "cache").cut_frames() == []


def refused(job, path):
    with pytest.raises(BadScene) as caught:
        load(job)
    assert caught.value.where == path and caught.value.object == "Bar"
    return str(caught.value)


@pytest.mark.parametrize("field,value,where,message", [
    ("frame", 0, "frame", "the cut at frame 0 would never be seen: the scene has frames 1 to 25. "
     "Cut from frame 1 to 24"),
    ("frame", 25, "frame", "the cut at frame 25 would never be seen"),
    ("kind", "knife", "kind", 'there is no cut "knife". Use one of plane, sheet, faces'),
    ("normal", [0, 0, 0], "normal", "the plane's normal has no direction"),
    ("normal", None, "normal", "a cut of kind plane needs normal. It reads point and normal"),
    ("vertices", "arrays/sheet.npy", "vertices", "a cut of kind plane does not read vertices"),
])
def test_a_cut_that_cannot_be_is_refused(tmp_path, field, value, where, message):
    job = bar_job(tmp_path, CUT)
    change(job, f"bodies.0.cuts.0.{field}", value)
    assert message in refused(job, f"$.bodies[0].cuts[0].{where}")


def test_a_sheet_without_triangles_and_faces_that_are_none_are_refused(tmp_path):
    job = bar_job(tmp_path, {"frame": 3, **SHEET})
    np.save(job / "arrays/sheet_triangles.npy", np.zeros((0, 3), np.int32))
    assert "the sheet has no triangle. Give it faces" in refused(job, "$.bodies[0].cuts[0].triangles")
    np.save(job / "arrays/sheet_triangles.npy", np.array([[0, 1, 9]], np.int32))
    assert "an index does not fit the 4 vertices" in refused(job, "$.bodies[0].cuts[0].triangles")

    job = bar_job(tmp_path, {"frame": 3, **FACES})
    np.save(job / "arrays/faces.npy", np.array([[0, 1, 200]], np.int32))
    with pytest.raises(BadScene) as caught:
        opened(job)
    assert str(caught.value) == ('"Bar": face 0 of the list, with nodes [0, 1, 200], belongs to no tetrahedron. '
                                 "Correct the list - at `$.bodies[0].cuts[0]`.")


def test_faces_need_a_volume_given_by_hand(tmp_path):
    job = bar_job(tmp_path, {"frame": 3, **FACES})
    change(job, "bodies.0.pin", {})
    change(job, "bodies.0.dynamic", {})
    change(job, "bodies.0.tets", None)
    assert "given by hand" in refused(job, "$.bodies[0].cuts[0].faces")
