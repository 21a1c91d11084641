"""The loop: frames stand at their times at every rate, failed steps are halved, a resumed run gives the same bytes."""

import math
from dataclasses import replace

import numpy as np
import pytest
from small_jobs import box_job
from springs import Springs

from solver.errors import CacheUnwritable, Diverged, Stopped
from solver.frames.read import Cache
from solver.frames.write import FrameStore
from solver.job import hashes
from solver.job.load import load
from solver.job.schema import step_size
from solver.simulate import Timeline, advance_frame, simulate

RATES = [24000 / 1001, 24.0, 30.0, 60.0]


def store_of(tmp_path, world, name="cache"):
    """A begun store in a job folder of its own."""
    job = load(box_job(tmp_path / name, end=37, motion=False))
    store = FrameStore(job.cache)
    store.begin(job, hashes.settings(job), world.bodies, backend=world.backend, first=1)
    return store


def timeline(end=37, fps=24.0, step=1 / 96):
    return Timeline(1, end, fps, step, 10)


def contents(store):
    return {path.name: path.read_bytes() for path in sorted(store.folder.glob("*/*.np*"))}


@pytest.mark.parametrize("fps", RATES)
@pytest.mark.parametrize("step", [1 / 24, 1 / 96, 1 / 100, 1 / 120, 0.003, 1.0])
def test_a_frame_holds_a_whole_number_of_steps(fps, step):
    count, h = step_size(fps, step)
    assert abs(count * h - 1 / fps) < 1e-15
    assert h <= step * (1 + 1e-8)
    assert count == 1 or 1 / fps / (count - 1) > step


def test_rounding_does_not_add_a_step():
    assert all(step_size(fps, 1 / (fps * n))[0] == n for fps in RATES for n in range(1, 60))


@pytest.mark.parametrize("fps", RATES)
def test_frames_stand_at_their_times(tmp_path, fps):
    """Frame k is the state at (k - start)/fps to 1e-12, over an hour of film, and the height is the exact one then."""
    line = Timeline(-3, 3600 * 60, fps, 1 / 100, 10)
    world = Springs()
    state = replace(world.initial_state(), time=0.0)
    for frame in (-2, -1, 0):
        state = advance_frame(world, state, line, frame)
        assert state.time == (frame + 3) / fps
        assert np.abs(state.q - world.exact((frame + 3) / fps)).max() < 1e-7
    late = 3600 * 50
    state = advance_frame(world, replace(state, time=(late + 2) / fps), line, late)
    assert abs(state.time - (late + 3) / fps) < 1e-12
    count, h = step_size(fps, 1 / 100)
    times = [time for time, _ in world.steps[-count:]]
    assert np.abs(np.array(times) - (late + 2) / fps - h * np.arange(count)).max() < 1e-12


def test_every_frame_is_written_and_right(tmp_path):
    world = Springs()
    store = store_of(tmp_path, world)
    told = []
    simulate(world, timeline(), store, report=lambda *frame: told.append(frame))
    cache = Cache(store.folder)
    assert cache.frames_done() == list(range(1, 38)) and cache.verify() == []
    assert [frame for frame, _, _ in told] == list(range(2, 38)) and told[-1][2] == 0
    assert all(ms >= 0 and left >= 0 for _, ms, left in told)
    for frame in (1, 2, 20, 37):
        bodies = cache.frame(frame)
        assert list(bodies) == ["Springs ß", ".."] and bodies["Springs ß"].shape == (2, 3)
        heights = np.concatenate([bodies["Springs ß"], bodies[".."]])[:, 2]
        assert np.abs(heights - world.exact((frame - 1) / 24)).max() < 1e-6
        assert bodies[".."].dtype == np.float32 and (bodies[".."][:, 0] == frame).all()


@pytest.mark.parametrize("snapshot", [11, 21, 31])
def test_a_resumed_run_gives_the_same_bytes(tmp_path, snapshot):
    whole, resumed = store_of(tmp_path, Springs()), store_of(tmp_path, Springs(), "resumed")
    simulate(Springs(), timeline(), whole)
    simulate(Springs(), timeline(snapshot + 3), resumed)
    simulate(Springs(), timeline(), resumed, snapshot=snapshot)
    assert contents(whole) == contents(resumed)
    assert len(contents(whole)) == 37 + 3


def test_the_past_matters_to_that_test(tmp_path):
    """Without forgetting at snapshots the runs differ, so the test above can fail."""
    class Remembers(Springs):
        def forget_past(self):
            pass

    whole, resumed = store_of(tmp_path, Springs()), store_of(tmp_path, Springs(), "resumed")
    simulate(Remembers(), timeline(), whole)
    simulate(Remembers(), timeline(14), resumed)
    simulate(Remembers(), timeline(), resumed, snapshot=11)
    assert contents(whole) != contents(resumed)


def test_a_snapshot_is_the_whole_state_exactly(tmp_path):
    store = store_of(tmp_path, Springs())
    last = simulate(Springs(), timeline(11), store)
    back = store.restore(11)
    assert back.time == last.time == 10 / 24
    assert back.q.tobytes() == last.q.tobytes() and back.u.tobytes() == last.u.tobytes()
    assert back.memory.keys() == last.memory.keys() == {"last step"}
    assert back.memory["last step"].tobytes() == last.memory["last step"].tobytes()


@pytest.mark.parametrize("parts", [1, 2, 4, 8, 16])
def test_a_failed_step_is_halved(tmp_path, parts):
    world = Springs(too_long=1 / 96 / parts * 1.001)
    simulate(world, timeline(3), store_of(tmp_path, world))
    assert len(world.steps) == 8 * parts
    assert all(math.isclose(h, 1 / 96 / parts) for _, h in world.steps)
    times = np.array([time for time, _ in world.steps])
    assert np.abs(times - np.arange(8 * parts) / 96 / parts).max() < 1e-12


def test_a_halved_step_is_said_once_a_frame(tmp_path):
    world, logged = Springs(too_long=1 / 200), []
    simulate(world, timeline(3), store_of(tmp_path, world), log=logged.append)
    assert logged == [f"Frame {frame}: a step of 0.0104167 s was too long, the step is too long; "
                    "smaller ones were taken, down to 0.00260417 s" for frame in (2, 3)]
    # of many frames the first ones are told, and how many there were
    logged.clear()
    world = Springs(too_long=1 / 200)
    simulate(world, timeline(9), store_of(tmp_path, world, "many"), log=logged.append)
    assert [one.split(":")[0] for one in logged[:-1]] == ["Frame 2", "Frame 3", "Frame 4"]
    assert logged[-1] == "In all 8 frames took smaller steps, down to 0.00260417 s"
    logged.clear()
    world = Springs()
    simulate(world, timeline(3), store_of(tmp_path, world, "well"), log=logged.append)
    assert logged == []


def test_what_a_world_notes_while_it_steps_is_said_once(tmp_path):
    class Telling(Springs):
        def step(self, state, h):
            if len(self.steps) == 5:
                self.notes.append("the fourth spring squeaks")
            return super().step(state, h)

    world, logged = Telling(), []
    simulate(world, timeline(4), store_of(tmp_path, world), log=logged.append)
    assert logged == ["the fourth spring squeaks"]


def test_a_step_that_deforms_too_much_is_halved_and_the_shortest_taken(tmp_path):
    """The fastest mass moves by a tenth in a step at most; by more than 1e-9 also in a sixteenth of one."""
    for largest, shortest in ((0.0, 1), (0.2, 1), (0.05, 4), (1e-9, 16)):
        world, logged = Springs(), []
        line = replace(timeline(9), largest_deformation=largest)
        simulate(world, line, store_of(tmp_path, world, f"{largest}"), log=logged.append)
        assert min(h for _, h in world.steps) == pytest.approx(1 / 96 / shortest)
        assert ("an edge changed by" in "".join(logged)) == (shortest > 1)


def test_shortest_steps_that_are_taken_in_vain_become_longer(tmp_path):
    """Eight that deform too much are followed by eight twice as long, and so on; once one helps all are as short."""
    class Rings(Springs):
        def deformation(self, before, after):
            return 0.1 if 9 / 24 < before.time < 10 / 24 else 2.0

    world = Rings()
    line = replace(timeline(12), largest_deformation=0.5, snapshot_every=100)
    simulate(world, line, store_of(tmp_path, world))
    steps = np.array([h for _, h in world.steps]) * 96
    first = steps[:1 + 8 + 8 + 8 + 9 + 4]
    # a whole one is tried first; the ninth half fills a step
    assert [np.count_nonzero(np.isclose(first, h)) for h in (1 / 16, 1 / 8, 1 / 4, 1 / 2, 1.0)] == [8, 8, 8, 9, 5]
    after = np.array([time for time, _ in world.steps]) > 10 / 24 - 1e-9
    assert np.isclose(steps[after], 1 / 16).sum() == 8


def test_what_touches_is_halved_once_for_its_deformation_alone(tmp_path):
    class Touching(Springs):
        def in_contact(self, state):
            return True

    line = replace(timeline(9), largest_deformation=1e-9)
    world = Touching()
    simulate(world, line, store_of(tmp_path, world))
    assert min(h for _, h in world.steps) == pytest.approx(1 / 192)
    world = Touching(too_long=1 / 400)  # what cannot be solved is halved on
    simulate(world, line, store_of(tmp_path, world, "long"))
    assert min(h for _, h in world.steps) == pytest.approx(1 / 96 / 16)


def test_a_step_that_would_deform_too_much_is_not_tried_again(tmp_path):
    """It predicts the length of the next step, until a snapshot's frame; calm worlds take full steps."""
    class ReducedPrecision(Springs):
        def deformation(self, before, after):
            return (8.0 if before.time < 14 / 24 else 0.5) * math.sqrt(after.time - before.time)

    world, logged = ReducedPrecision(), []
    line = replace(timeline(21), largest_deformation=0.5)
    simulate(world, line, store_of(tmp_path, world), log=logged.append)
    steps = np.array([h for _, h in world.steps]) * 96
    rough = np.array([time for time, _ in world.steps]) < 14 / 24
    # at the start and after the snapshot of frame 11 one whole step is tried in vain
    assert [np.count_nonzero(np.isclose(steps[rough], h)) for h in (1.0, 0.5, 0.25)] == [2, 0, 14 * 4 * 4]
    assert steps[~rough][:5] == pytest.approx([0.25, 0.25, 0.5, 1.0, 1.0])
    assert steps[~rough][3:] == pytest.approx(1.0)
    assert [one for one in logged if "Frame 3:" in one] == [
        "Frame 3: a step of 0.0104167 s was too long, an edge would have changed by about 82% of its length; "
        "smaller ones were taken, down to 0.00260417 s"]


def test_a_resumed_run_takes_the_same_steps_as_one_that_was_not(tmp_path):
    line = replace(timeline(21), largest_deformation=0.05)
    whole, half = (store_of(tmp_path, Springs(), name) for name in ("whole", "half"))
    simulate(Springs(), line, whole)
    simulate(Springs(), replace(line, end=11), half)
    simulate(Springs(), line, half, snapshot=11)
    assert contents(whole) == contents(half)


def test_after_four_halvings_the_bake_stops_with_advice(tmp_path):
    world = Springs(explodes_at=5.4 / 24)
    store = store_of(tmp_path, world)
    with pytest.raises(Diverged) as caught:
        simulate(world, timeline(), store)
    assert str(caught.value) == '"Springs ß", frame 7: it explodes. Use a smaller step.'
    assert caught.value.exit_code == 3
    assert Cache(store.folder).frames_done() == [1, 2, 3, 4, 5, 6]


def test_an_output_that_is_not_finite_is_never_written(tmp_path):
    class Leaves(Springs):
        def output(self, state, frame):
            return super().output(state, frame) * (1.0 if frame < 4 else 1e300)

    store = store_of(tmp_path, Springs())
    with pytest.raises(Diverged, match="not finite"):
        simulate(Leaves(), timeline(), store)
    assert Cache(store.folder).frames_done() == [1, 2, 3]


def test_a_pause_in_mid_frame_changes_no_byte(tmp_path):
    """The stop is asked for between the steps of frame 14; the resumed run starts at snapshot 11."""
    whole, paused = store_of(tmp_path, Springs()), store_of(tmp_path, Springs(), "paused")
    simulate(Springs(), timeline(), whole)
    world = Springs()
    with pytest.raises(Stopped) as caught:
        simulate(world, timeline(), paused, stop=lambda: len(world.steps) == 12 * 4 + 2)
    assert caught.value.exit_code == 75 and len(world.steps) == 50
    assert Cache(paused.folder).frames_done() == list(range(1, 14))
    simulate(Springs(), timeline(), paused, snapshot=11)
    assert contents(whole) == contents(paused)


def test_a_snapshot_that_is_lost_is_said(tmp_path):
    with pytest.raises(CacheUnwritable, match="snapshot of frame 11"):
        store_of(tmp_path, Springs()).restore(11)
