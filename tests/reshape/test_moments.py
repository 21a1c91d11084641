"""Bodies are cut and nailed at their moment, between frames too, and what a cut does not part goes on as before."""

from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest
from cut_jobs import FACES, PLANE, Listener, bar_job, faces_at, opened
from matrix import some
from small_jobs import box_tets, change
from springs import Springs

from solver import simulate
from solver.contact.laws.static_friction import ANCHORS, STUCK_NODES
from solver.frames.read import Cache
from solver.integrators.control import FINEST
from solver.node_records import SourceNodes
from solver.simulate import Timeline
from solver.world.ground_friction import FORCE
from solver.world.node_memory import carry_over_memory


def inside_the_bar():
    """One face that only inner edges have: no node comes in two."""
    nodes, tets = box_tets((12, 3, 3), (0.24, 0.06, 0.06))
    on_skin = (np.isclose(nodes[:, 1:], 0.0) | np.isclose(nodes[:, 1:], 0.06)).any(axis=1)
    faces = faces_at(nodes, tets, 0.1)
    return faces[on_skin[faces].sum(axis=1) == 0][:1]


KINDS = {"bdf2": ("vanilla", "bdf2", "qlb"), "newton": ("vanilla", "bdf2", "newton_d"),
         "sbdf2": ("vanilla", "sbdf2", "newton_d"), "alpha": ("vanilla", "generalized_alpha", "newton_l1"),
         "conjac": ("conjac", "bdf2", "newton_d"), "euler": ("conjac", "semi_implicit", "newton_d")}


@pytest.mark.parametrize("kind", some(KINDS, "bdf2", "conjac"))
def test_a_cut_that_parts_no_node_changes_no_motion(tmp_path, kind):
    """The integrator's memory goes on, and factors are kept: forgotten, BDF2 takes another way at once."""
    method, integrator, solver = KINDS[kind]
    job = bar_job(tmp_path, {"frame": 3, "subframe": 0.25, **FACES}, young=6e4, method={"kind": method},
                  integrator={"kind": integrator}, stage_solver={"kind": solver})
    np.save(job / "arrays/faces.npy", inside_the_bar())
    ends = []
    for what in ("nothing", "cut", "forgotten"):
        world, reshape = opened(job)
        state = world.initial_state()
        for k in range(16):
            if k == 9 and what == "cut":
                done = reshape.at(3, world, state, share=0.25)
                assert len(done.notes) == 1 and len(reshape.record()["0.apart"]) == 1
                world, state = done.world, done.state
            if k == 9 and what == "forgotten":
                state = replace(state, memory={})
            state = world.step(state, 1 / 96)
        ends.append(state)
    assert np.abs(ends[0].q - world.initial_state().q).max() > 0.01
    assert np.array_equal(ends[0].q, ends[1].q) and np.array_equal(ends[0].u, ends[1].u)
    assert (np.abs(ends[2].q - ends[0].q).max() > 1e-6) == (integrator != "semi_implicit")


@pytest.mark.parametrize("step", [1 / 24, 1 / 48])
def test_a_cut_at_half_a_frame_acts_there(tmp_path, step):
    """As in a scene of twice as many frames, in which it is a whole one."""
    jobs = [bar_job(tmp_path / "fine", {"frame": 10, **FACES}, young=2e5, end=19,
                    time={"start": 1, "end": 19, "fps": 48, "step": 1 / 48}),
            bar_job(tmp_path / "half", {"frame": 5, "subframe": 0.5, **FACES}, young=2e5,
                    time={"start": 1, "end": 10, "fps": 24, "step": step})]
    listener = Listener()
    for job in jobs:
        simulate.bake(job, listener)
    assert [text.partition(",")[0] for text in listener.logs if "cut at" in text] == ['"Bar": cut at frame 10',
                                                                                      '"Bar": cut at frame 5.5']
    fine, half = (Cache(job / "cache") for job in jobs)
    made = [cache.cuts["Bar"][0] for cache in (fine, half)]
    assert made[1].frame == 5 and np.array_equal(made[0].source, made[1].source)
    counts = [len(half.frame(k)["Bar"]) for k in (5, 6)]
    assert counts[1] > counts[0]
    for frame in range(1, 11) if step == 1 / 48 else (1,):
        a, b = fine.frame(2 * frame - 1)["Bar"], half.frame(frame)["Bar"]
        assert a.shape == b.shape and np.abs(a - b).max() < 1e-7
    if step == 1 / 24:  # half a step before the cut and half a step after it
        before, after = half.read_all_vertices(5)["Bar"], half.read_all_vertices(6)["Bar"]
        assert np.abs(before[:counts[0]] - after[:counts[0]]).max() > 1e-3


class Marks:
    """A reshape that changes nothing and tells when it was asked."""

    def __init__(self, shares):
        self.shares, self.asked = shares, []

    def moments(self, frame):
        return self.shares if frame == 3 else []

    def at(self, frame, share, world, state):
        self.asked.append(state.time)
        return SimpleNamespace(world=world, state=state, notes=[])

    def record(self):
        return {}


class IgnoringStore:
    """A store that keeps nothing."""

    def write(self, *frame): ...


class Quiet(Springs):
    """A world whose only output is its frames."""

    sheet_names, mechanisms = (), ()

    def liveliness(self, state): ...
    def stress(self, state): ...

    def contact_forces(self, state): ...
    def poses(self, state): ...
    def sheets(self, state, frame): ...
    def longest(self, state):
        return np.zeros(len(self.bodies))


def test_steps_are_cut_at_the_moments_and_stand_elsewhere():
    """Two steps a frame; what is at the end of a step, but for the single precision of Blender's subframes, cuts none.
    """
    world, marks = Quiet(), Marks([0.0, 0.3, float(np.float32(0.5)) + 1e-8, 0.9])
    simulate.simulate(world, Timeline(1, 5, 24.0, 1 / 48, 10), IgnoringStore(), reshape=marks)
    assert np.allclose(np.array(marks.asked) * 24, [2.0, 2.3, 2.5, 2.9], atol=1e-6)
    begins, lengths = np.array(world.steps).T * 24
    assert np.allclose(begins, [0, 0.5, 1, 1.5, 2, 2.3, 2.5, 2.9, 3, 3.5], atol=1e-12)
    assert np.allclose(lengths, [0.5, 0.5, 0.5, 0.5, 0.3, 0.2, 0.4, 0.1, 0.5, 0.5], atol=1e-12)


@pytest.mark.parametrize("kind", ["bdf2", "sdirk2"])
def test_steps_of_a_given_accuracy_end_at_the_moment(tmp_path, kind):
    """Within half of the smallest unit of their lengths."""
    share = 0.3141
    job = bar_job(tmp_path, {"frame": 3, "subframe": share, **FACES}, young=2e5, end=6, method={"kind": "vanilla"},
                  integrator={"kind": kind},
                  time={"start": 1, "end": 6, "fps": 24, "step": 1 / 24, "tolerance": 1e-3})
    change(job, "bodies.0.dynamic", {})
    asked, at = [], simulate.advance_frame

    def watched(world, state, *others):
        asked.append(state.time * 24)
        return at(world, state, *others)

    simulate.advance_frame = watched
    try:
        simulate.bake(job, Listener())
    finally:
        simulate.advance_frame = at
    assert np.allclose(asked, [0, 1, 2, 2 + share, 3, 4], atol=0.5 / FINEST)
    assert Cache(job / "cache").frames_done() == list(range(1, 7))


def test_a_resumed_bake_does_what_happened_in_one_frame_in_its_order(tmp_path):
    """Driven, cut and drawn between frames 5 and 6: the numbers of what a nail holds are those of before the cut."""
    nail = {"frame": 5, "subframe": 0.2, "head": [0.1, -1.0, 0.03], "tip": [0.1, 1.0, 0.03], "radius": 0.02}
    nails = [nail, {**nail, "frame": 3, "subframe": 0.6, "head": [0.2, -1, 0.03], "tip": [0.2, 1, 0.03], "until": 5,
                    "until_subframe": 0.8}]
    caches = []
    for name in ("whole", "parts"):
        job = bar_job(tmp_path / name, {"frame": 5, "subframe": 0.5, **FACES}, {"frame": 7, **PLANE}, young=2e5,
                      time={"start": 1, "end": 14, "fps": 24, "step": 1 / 48, "snapshot_every": 5})
        change(job, "bodies.0.nails", nails)
        listener = Listener()
        if name == "parts":
            simulate.bake(job, listener, frames=(1, 7))
        simulate.bake(job, listener, resume=name == "parts")
        caches.append({path.parent.name + path.name: path.read_bytes() for path in (job / "cache").glob("*/*.np*")})
    assert caches[0] == caches[1] and len(Cache(job / "cache").cut_frames()) == 3
    sentences = [text.partition(": ")[2] for text in listener.logs if text.startswith('"Bar"')]
    frames = [text.rpartition("frame ")[2].partition(",")[0] for text in sentences]
    assert frames == ["3.6 on", "5.2 on", "5.5", "5.8", "7"]


def test_friction_holds_both_sides_of_a_cut():
    """Anchors go with every copy of a node, as far off as it is itself; a warm start is shared by mass."""
    memory = {STUCK_NODES: np.array([1.0, 2.0]), ANCHORS: np.arange(6.0), FORCE: np.ones((3, 3)), "bdf2.q": np.zeros(9)}
    source = np.array([0, 1, 2, 1], np.int32)
    moved = np.zeros((4, 3))
    moved[3] = [0.5, 0.0, 0.0]
    carried = carry_over_memory(memory, SourceNodes(source, moved, np.array([1.0, 0.25, 1.0, 0.75])))
    assert sorted(carried) == sorted([STUCK_NODES, ANCHORS, FORCE])
    assert carried[STUCK_NODES].tolist() == [1, 2, 3]
    assert carried[ANCHORS].reshape(-1, 3).tolist() == [[0, 1, 2], [3, 4, 5], [0.5, 1, 2]]
    assert carried[FORCE][:, 0].tolist() == [1, 0.25, 1, 0.75]
    assert carry_over_memory({}, SourceNodes(source, moved, np.ones(4))) == {}


@pytest.mark.parametrize("integrator", some(["semi_implicit", "sdirk2"], "semi_implicit"))
def test_what_lies_on_a_slope_does_not_creep_when_it_is_cut(tmp_path, integrator):
    """A block with a friction of 0.6 at 12°, whose halves lean by some µm. Its friction forgotten, it would slide down
    by 40 µm before it sticks again."""
    a, ends = np.radians(12), []
    for name, cuts in (("whole", ()), ("cut", ({"frame": 14, **FACES},))):
        job = bar_job(tmp_path / name, *cuts, young=2e5, end=20, surface=False,
                      gravity=[0.0, 9.81 * np.sin(a), -9.81 * np.cos(a)],
                      ground={"point": [0, 0, 0], "normal": [0, 0, 1], "friction": {
                          "kind": "coulomb", "params": {"friction_coefficient": 0.6}}})
        change(job, "bodies.0.pin", {})
        change(job, "bodies.0.damping", {"kind": "rayleigh", "params": {"mass_damping": 20.0}})
        change(job, "integrator", {"kind": integrator})
        simulate.bake(job, Listener())
        cache = Cache(job / "cache")
        ends.append(cache.frame(20)["Bar"][:208, 1] - cache.frame(14)["Bar"][:208, 1])
    assert -2e-5 < float((ends[1] - ends[0]).mean()) < 1.5e-5
