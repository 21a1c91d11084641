"""Adaptive steps: accuracy of the error estimate, effect of the tolerance, and unchanged frames and bytes."""

from dataclasses import replace

import numpy as np
import pytest
from bodies import box, make, nearest, positions
from matrix import some
from small_jobs import box_job, change

from solver import catalogue
from solver.errors import BadScene, Diverged, StepFailed, Stopped
from solver.frames.read import Cache
from solver.integrators.control import ERROR, FINEST, PROPOSED, Controller
from solver.job.load import load
from solver.simulate import Halved, Timeline, advance_frame, bake
from solver.state import State

NODES, TETS = box((3, 1, 1), (0.12, 0.04, 0.04))
PINNED = np.flatnonzero(NODES[:, 0] < 1e-9)
ADAPTIVE = [entry.key for entry in catalogue.family("integrator").values() if entry.able("adaptive")]


def bar(key, method="vanilla", **params):
    return make(NODES, TETS, young=2e3, gravity=(0, 0, -2), pinned=PINNED, method=method, beta=1.0, integrator=key,
                tolerance=1e-9, **params)


def swung(world):
    """A smooth bend and twist."""
    free = NODES[world.coordinates.free]
    length, width, _ = free.T
    u = np.stack([0 * length, 1.5 * length, length * (1.0 + 10.0 * (width - 0.02))], 1)
    return State(0.0, free.ravel(), u.ravel())


def line(tolerance, frames=4, fps=24.0, step=1 / 24):
    return Timeline(0, frames, fps, step, 10, tolerance)


def watched(world):
    """(time, h) of every step that is tried, also of those that are not kept."""
    tried, step = [], world.step
    world.step = lambda state, h: tried.append((state.time, h)) or step(state, h)
    return tried


def frames(world, line, state=None):
    state = swung(world) if state is None else state
    for frame in range(line.start + 1, line.end + 1):
        state = advance_frame(world, state, line, frame)
    return state


@pytest.mark.parametrize("key", ADAPTIVE)
def test_the_error_that_is_estimated_is_the_one_that_is_made(key):
    """Against many small steps from the same state; SBDF2's and BDF2's once they have a past."""
    world, exact, h = bar(key), bar("tr_bdf2"), 1 / 240
    state = swung(world)
    estimated, made = [], []
    for k in range(7):
        after = world.step(state, h)
        if k >= 3:
            fine = replace(state, memory={})
            for _ in range(8):
                fine = exact.step(fine, h / 8)
            made.append(np.abs(after.q - fine.q).max())
            estimated.append(np.abs(world.integrator.error(state, after, h)).max())
        state = after
    ratios = np.array(estimated) / made
    assert 0.4 < ratios.min() and ratios.max() < 4.0


@pytest.mark.parametrize("key,finest", some([("semi_implicit", 1e-4), ("backward_euler", 1e-4), ("bdf2", 1e-5),
                                             ("sbdf2", 1e-5), ("tr_bdf2", 1e-5), ("sdirk", 1e-5), ("sdirk2", 1e-5)],
                                            ("semi_implicit", 1e-4), ("bdf2", 1e-5)))
def test_work_buys_precision(key, finest, once):
    exact = once("control-swing", lambda: frames(bar("tr_bdf2"), line(0.0, step=1 / 24 / 120)).q)
    errors, work = [], []
    for tolerance in (100 * finest, 10 * finest, finest):
        world = bar(key)
        tried = watched(world)
        errors.append(np.abs(frames(world, line(tolerance)).q - exact).max() / world.bodies_in_world[0].size)
        work.append(len(tried))
    assert errors[0] > 1.5 * errors[1] > 3.0 * errors[2]
    assert work[0] < work[1] < work[2] <= 300
    assert errors[2] <= 100 * finest


@pytest.mark.parametrize("fps", [24000 / 1001, 24.0, 60.0])
@pytest.mark.parametrize("key", ["sdirk2", "bdf2"])
def test_steps_fill_frames_exactly(key, fps):
    world = bar(key)
    tried, state, timeline = watched(world), swung(world), line(1e-4, 4, fps, 0.7 / fps)
    for frame in (1, 2, 3, 4):
        state = advance_frame(world, state, timeline, frame)
        assert state.time == frame / fps
    accepted = [attempt for attempt, after in zip(tried, [*tried[1:], (4 / fps, 0.0)]) if after[0] > attempt[0]]
    times, lengths = np.array(accepted).T
    assert np.abs(times + lengths - [*times[1:], 4 / fps]).max() <= 1e-15
    assert lengths.max() <= 0.7 / fps and (len(set(lengths)) > 1 or fps > 30)
    if key == "bdf2":  # halves and doubles: most steps are as long as the one before
        ratios = np.log2(lengths / lengths.max())
        assert np.abs(ratios - np.round(ratios)).max() <= 1e-12


def bounced(key, method, **params):
    """A block that falls 2 cm onto stiff ground."""
    nodes, tets = box((2, 2, 2), (0.06, 0.06, 0.06))
    world = make(nodes, tets, method=method, young=1e5, integrator=key, ground=(-0.02, 2e4), beta=1.0, tolerance=1e-8,
                 dynamic=np.arange(0, len(nodes), 3), **params)
    return nodes, world


@pytest.mark.parametrize("key,method", some([("sdirk2", "vanilla"), ("bdf2", "vanilla"), ("semi_implicit", "conjac")],
                                            ("semi_implicit", "conjac")))
def test_an_impact_takes_small_steps_and_then_they_grow(key, method):
    nodes, world = bounced(key, method)
    tried = watched(world)
    state, timeline, low = world.initial_state(), line(2e-4, 6), []
    for frame in range(1, 7):
        state = advance_frame(world, state, timeline, frame)
        low.append(positions(world, state)[:, 2].min())
    times, lengths = np.array(tried).T
    impact = np.sqrt(2 * 0.02 / 9.81)
    before = lengths[(times > 0.5 * impact) & (times < 0.9 * impact)]
    during = lengths[(times > impact - 0.005) & (times < impact + 0.025)]
    assert during.min() < 0.3 * before.max()
    assert lengths[-8:].max() > 1.9 * during.min()
    assert min(low) > -0.05


def test_a_step_that_is_not_accepted_leaves_no_trace():
    """From one state the same frame comes out again, and of a world that has not seen the steps that were not kept."""
    state, world = swung(bar("bdf2")), bar("bdf2")
    tried = watched(world)
    first = advance_frame(world, state, line(1e-4), 1)
    lengths = [h for (time, h), after in zip(tried, [*tried[1:], (1 / 24, 0.0)]) if after[0] > time]
    other = bar("bdf2")
    second, time = state, 0.0
    for h in lengths:
        second = other.step(replace(second, time=time), h)
        time += h
    assert np.abs(first.q - second.q).max() <= 1e-13 and np.abs(first.u - second.u).max() <= 1e-11
    second = advance_frame(world, state, line(1e-4), 1)
    assert (np.diff([time for time, _ in tried]) == 0).any()  # some were not kept
    assert first.q.tobytes() == second.q.tobytes() and first.u.tobytes() == second.u.tobytes()
    assert first.memory[PROPOSED] == second.memory[PROPOSED] and first.memory[ERROR] == second.memory[ERROR]


@pytest.mark.parametrize("kind,method", some(
    [("semi_implicit", "conjac"), ("sbdf2", "conjac"), ("tr_bdf2", "vanilla")],
    ("semi_implicit", "conjac"), ("tr_bdf2", "vanilla")))
def test_a_resumed_bake_gives_the_same_bytes(tmp_path, kind, method):
    class Quiet:
        def __getattr__(self, name):
            return lambda *_: None

    def contents(job):
        return {path.name: path.read_bytes() for path in sorted((job / "cache").glob("frames/*"))}

    jobs = [box_job(tmp_path / name, end=9, step=1 / 24, cells=(3, 1, 1), integrator={"kind": kind},
                    method={"kind": method}) for name in ("whole", "resumed")]
    for job in jobs:
        change(job, "time.tolerance", 1e-3)
        change(job, "time.snapshot_every", 4)
    bake(jobs[0], Quiet())
    bake(jobs[1], Quiet(), frames=(1, 7))
    bake(jobs[1], Quiet(), resume=True)
    assert Cache(jobs[1] / "cache").frames_done() == list(range(1, 10))
    assert len(contents(jobs[0])) == 9 and contents(jobs[0]) == contents(jobs[1])


def test_an_integrator_without_an_estimate_is_refused(tmp_path):
    job = box_job(tmp_path / "job", end=2, motion=False, method={"kind": "vanilla"}, integrator={"kind": "midpoint"})
    load(job)
    change(job, "time.tolerance", 1e-3)
    with pytest.raises(BadScene, match=r"Implicit Midpoint does not estimate its error.*SDIRK2.*\$\.time\.tolerance"):
        load(job)


def test_a_step_that_cannot_be_solved_is_shortened_and_at_last_given_up():
    world = bar("sdirk2")
    step, limit = world.step, [1 / 24 / 16]

    def refusing(state, h):
        if h > limit[0]:
            raise StepFailed("the step is too long")
        return step(state, h)

    world.step = refusing
    halved = Halved()
    advance_frame(world, swung(world), line(1.0), 1, halved=halved)
    assert halved[0][0] == pytest.approx(1 / 24) and all(h > limit[0] for h, _ in halved)
    limit[0] = 0.0
    with pytest.raises(Diverged, match="too long"):
        advance_frame(world, swung(world), line(1.0), 1)
    with pytest.raises(Stopped):
        advance_frame(world, swung(world), line(1.0), 1, stop=lambda: True)


def test_a_step_within_the_tolerance_may_still_deform_too_much():
    world, halved = bar("sdirk2"), Halved()
    state = swung(world)
    change = world.deformation(state, world.step(state, 1 / 24))
    advance_frame(world, state, replace(line(1.0), largest_deformation=0.3 * change), 1, halved=halved)
    assert halved[0][0] == pytest.approx(1 / 24) and "an edge changed by" in halved.describe(1)


TOLERANCE = 1e-3


@pytest.mark.parametrize("order", [1, 2, 3])
def test_steps_settle_where_their_errors_are_a_fixed_share_of_the_tolerance(order):
    """Errors that are C h^(order + 1): in a dozen steps, from far too short ones and after C has grown by ten, without
    a step to and fro; where the controller rests 0.9 = r^(0.3 / (order + 1)), r the error over the tolerance."""
    controller = Controller(TOLERANCE, order, False, 1)
    rest, memory, units = 0.9 ** ((order + 1) / 0.3), {PROPOSED: np.array([16.0])}, []
    lengths, refused = [], 0
    for step in range(60):
        scale = TOLERANCE / 200.0 ** (order + 1) * (1.0 if step < 30 else 10.0)
        units, shortened = controller.propose_length(memory), False
        while not controller.accepts(int(units), error := scale * units ** (order + 1)):
            units, shortened, refused = controller.shorter(int(units), error), True, refused + 1
            assert scale * units ** (order + 1) <= 0.95 * TOLERANCE  # once is enough
        memory = controller.longer(memory, units, error, shortened)
        lengths.append(units)
    for end, most in ((29, 200.0), (59, 200.0 / 10.0 ** (1.0 / (order + 1)))):
        assert lengths[end] == pytest.approx(most * rest ** (1.0 / (order + 1)), rel=1e-2)
    assert refused == 1  # as C grew
    assert lengths[12] == pytest.approx(lengths[29], rel=0.2)
    assert np.diff(lengths[:30]).min() > -0.05 * lengths[29]


@pytest.mark.parametrize("order", [1, 2, 3])
def test_a_step_is_doubled_where_a_doubled_one_would_stand(order):
    """Equal steps: with an error after it of 0.9^(order + 1) of the tolerance at most."""
    controller = Controller(TOLERANCE, order, True, 1)
    for share, length in ((0.98, 128), (1.02, 64)):
        error = share * TOLERANCE * 0.45 ** (order + 1)
        assert controller.fit(controller.propose_length(controller.longer({}, 64, error, False)), 0, FINEST) == length
    # one that is shortened goes to where its error stands
    for units, factor in ((64, 3.0), (640, 6.0)):
        assert controller.shorter(units, TOLERANCE * factor ** (order + 1)) == pytest.approx(0.9 * units / factor)


@pytest.mark.parametrize("equal", [False, True])
def test_any_proposal_fills_the_frame_without_a_step_too_long(equal):
    """And a part of it, wherever that begins and ends."""
    controller = Controller(1e-3, 2, equal, 3)
    rng = np.random.default_rng(0)
    for _ in range(200):
        done = 0
        for end in (*np.sort(rng.integers(controller.units, size=2)), controller.units):
            while done < end:
                length = controller.fit(float(np.exp(rng.uniform(-2.0, 10.0))), done, end)
                assert 1 <= length <= FINEST
                done += length
            assert done == end


def test_the_worst_node_is_measured_by_the_size_of_its_own_body():
    world = bar("semi_implicit")
    state = swung(world)
    after = replace(state, u=state.u + np.eye(1, len(state.u), 3 * 4 + 1).ravel())
    assert world.error(state, after, 0.01) == pytest.approx(0.005 / np.linalg.norm([0.12, 0.04, 0.04]))


def test_a_quasistatic_correction_is_no_error():
    """ConJac's positions gain what balance owes in each step however short: a tolerance must not chase it."""
    nodes, tets = box((4, 2, 2), (0.12, 0.04, 0.04))
    world = make(nodes, tets, pinned=np.flatnonzero(nodes[:, 0] < 1e-9), dynamic=[nearest(nodes, (0.12, 0.02, 0.02))],
                 beta=1.0)
    start = world.initial_state()
    after = world.step(start, 1e-5)
    moved = np.abs(after.q - start.q - 1e-5 * after.u).max()
    assert moved > 1e-4 and world.error(start, after, 1e-5) < 1e-6
