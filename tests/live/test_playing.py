"""A body that is played moves as the artist's hands and settings say, and identically wherever the clock is
identical."""


import numpy as np
import pytest
from small_jobs import box_job, change, write_job

from solver import catalogue
from solver.errors import ConJacError, StepFailed
from solver.job.load import load
from solver.live import board as boards
from solver.live.clock import FixedClock
from solver.live.engines import modes
from solver.live.engines.interface import Hold, Inputs
from solver.live.run import Live, control, engine_of

DOWN = np.array([0.0, 0.0, -9.81])
SOLVED = {"integrator": {"kind": "sdirk2"}, "stage_solver": {"kind": "quick"},
          "method": {"kind": "vanilla", "params": {"beta": 1.0}}}


def quiet(*_):
    pass


@pytest.fixture()
def job(tmp_path):
    """Return a job of a soft box that hangs from its left end."""
    return box_job(tmp_path / "job", end=1, step=1 / 48, motion=False, **SOLVED)


class Window:
    """A stand-in for Blender: a board, a body that is played on it and a clock that it moves."""

    def __init__(self, key, job, path):
        self.notes, self.clock = [], FixedClock()
        self.engine = engine_of(key, job, quiet)
        self.start = self.engine.positions
        self.board = boards.create_board(path, len(self.start), self.start.mean(axis=0))
        self.live = Live(job, self.engine, self.board, self.clock, self.notes.append)

    def play(self, seconds, control_values=None):
        """Return the positions afterwards, (n, 3) [m]."""
        if control_values is not None:
            self.board.write_control(control_values)
        for _ in range(round(48 * seconds)):
            self.live.update()
            self.clock.wait(1 / 48)
        self.live.update()
        self.frame, positions, self.poses = self.board.read_frame()
        return positions + self.board.origin


@pytest.fixture(params=list(catalogue.family("live_engine")))
def key(request):
    """Return the key of an engine."""
    return request.param


@pytest.fixture()
def window(key, job, tmp_path):
    return Window(key, job, tmp_path / "board")


def test_nothing_moves_before_blender_has_sent_its_position(window):
    window.live.update()
    window.clock.wait(1.0)
    window.live.update()
    assert window.board.read_frame() is None


def test_a_computer_that_sleeps_owes_no_steps(window):
    """A laptop that was asleep for a night continues from where it was."""
    window.play(0.2, control(DOWN))
    before = window.frame["time"][0]
    window.clock.wait(30_000.0)
    window.live.update()
    frame, positions, _ = window.board.read_frame()
    assert 0.0 < frame["time"][0] - before < 0.3
    assert window.engine.restarts == 0 and np.isfinite(positions).all()


@pytest.mark.parametrize("seconds", [0.05, 0.011], ids=["slow", "two in three redraws"])
def test_a_slow_step_is_shown_before_the_next_one(window, monkeypatch, seconds):
    window.play(0.1, control(DOWN))
    before, step = window.frame["time"][0], window.engine.step

    def slow(*what):
        step(*what)
        window.clock.wait(seconds)

    monkeypatch.setattr(window.engine, "step", slow)
    window.clock.wait(0.1)
    window.live.update()
    assert window.board.read_frame()[0]["time"][0] - before == pytest.approx(window.engine.efforts[0].step)


def test_it_sags_by_its_weight_and_floats_without(window):
    low = window.play(0.2, control(DOWN))[:, 2].min()
    assert low < window.start[:, 2].min() - 0.005
    assert window.frame["time"][0] == pytest.approx(0.2, abs=0.03)


def test_without_gravity_it_stays_as_it_is(window):
    np.testing.assert_allclose(window.play(0.2, control(np.zeros(3))), window.start, atol=1e-6)


def test_with_a_fixed_clock_it_is_the_same_to_the_last_bit(key, job, tmp_path):
    runs = []
    for name in ("one", "two"):
        window = Window(key, job, tmp_path / name)
        grab = Hold(1, window.start[-1], window.start[-1] + [0.0, 0.02, 0.05], 0.0, 2.0)
        window.play(0.2, control(DOWN, grabs=(grab,)))
        runs.append(window.play(0.3, control(DOWN)).tobytes())
    assert runs[0] == runs[1]


def test_a_hand_pulls_what_it_has_grabbed_to_its_own_position(window):
    position = window.start[np.argmax(window.start[:, 0])]
    hand = position + [0.0, 0.05, 0.05]
    near = np.linalg.norm(window.start - position, axis=1) < 0.03
    lacks = []
    for strength in (0.2, 5.0):
        pulled = window.play(1.5, control(np.zeros(3), grabs=(Hold(1, position, hand, 0.0, strength),)))
        lacks.append(np.linalg.norm((pulled - window.start)[near].mean(axis=0) - [0.0, 0.05, 0.05]))
    assert lacks[0] < 0.05 and lacks[1] < 0.5 * lacks[0], lacks  # the wheel makes it stronger
    window.play(0.5, control(np.zeros(3)))
    middle = np.mean([window.play(1 / 48) for _ in range(96)], axis=0)
    assert np.abs(middle - window.start).max() < 0.01  # it is let go, and swings about where it was


def test_what_is_pinned_follows_the_object(window):
    carrier = np.eye(4)
    carrier[:3, 3] = 0.0, 0.3, 0.1
    window.play(0.1, control(np.zeros(3)))
    positions = window.play(0.1, control(np.zeros(3), carrier))
    pinned = window.start[:, 0] == 0.0
    np.testing.assert_allclose(positions[pinned], window.start[pinned] + carrier[:3, 3], atol=1e-6)


def test_what_is_pinned_softly_hangs_on_springs(key, tmp_path, monkeypatch):
    """A cube that is painted 0.5 all over sinks by g over the stiffness of each kg, which a slider sets, and follows
    its object."""
    vertices = 0.2 * np.array([[x, y, z] for x in (0, 1) for y in (0, 1) for z in (0, 1)], float)
    sides = np.array([[0, 1, 3], [0, 3, 2], [4, 6, 7], [4, 7, 5], [0, 4, 5], [0, 5, 1], [2, 3, 7], [2, 7, 6],
                      [0, 2, 6], [0, 6, 4], [1, 5, 7], [1, 7, 3]], np.int32)
    body = {"name": "Cube", "surface": {"vertices": "arrays/v.npy", "triangles": "arrays/f.npy"},
            "material": {"kind": "stable_neo_hookean", "params": {"youngs_modulus": 1e6, "poisson_ratio": 0.4}},
            "pin": {"weights": "arrays/w.npy", "stiffness": 400.0}, "wobble_half_life": 0.1}
    scene = {"version": 1, "name": "cube", "time": {"start": 1, "end": 1, "fps": 24, "step": 1 / 48}, "bodies": [body],
             **SOLVED}
    folder = write_job(tmp_path / "job", scene, {"v": vertices, "f": sides, "w": np.full(8, 0.5)})
    monkeypatch.setattr(modes, "CELLS", 300)
    window = Window(key, folder, tmp_path / "board")
    window.play(0.7, control(DOWN))
    at = np.mean([window.play(1 / 48).mean(axis=0) for _ in range(30)], axis=0)  # it swings a little
    assert 0.1 - at[2] == pytest.approx(9.81 / 400.0, rel=0.1)
    change(folder, "bodies.0.pin.stiffness", 1600.0)
    carrier = np.eye(4)
    carrier[0, 3] = 0.3
    window.play(0.7, control(DOWN, carrier, settings=1))
    at = np.mean([window.play(1 / 48).mean(axis=0) for _ in range(30)], axis=0)
    assert 0.1 - at[2] == pytest.approx(9.81 / 1600.0, abs=2e-3)
    assert at[0] == pytest.approx(0.4, abs=0.02)


def test_it_begins_where_the_object_is_now(window):
    carrier = np.eye(4)
    carrier[:3, :3] = [[0.0, -1.0, 0.0], [1.0, 0.0, 0.0], [0.0, 0.0, 1.0]]
    positions = window.play(0.1, control(np.zeros(3), carrier))
    np.testing.assert_allclose(positions, window.start @ carrier[:3, :3].T, atol=1e-6)


def test_settings_act_at_once_and_it_goes_on_from_where_it_is(window, job):
    before = window.play(0.5, control(DOWN))
    change(job, "bodies.0.material.params.youngs_modulus", 2e7)
    after = window.play(1 / 48, control(DOWN, settings=1))
    assert window.frame["settings"][0] == 1
    assert np.abs(after - before).max() < 0.02  # it did not jump
    stiff = window.play(3.0)
    assert np.abs(stiff - window.start).max() < 0.3 * np.abs(before - window.start).max()


def test_settings_that_cannot_be_played_are_not_reported_as_done(window, job):
    window.play(1 / 24, control(DOWN))
    change(job, "bodies.0.material.params.youngs_modulus", -1.0)
    window.play(1 / 24, control(DOWN, settings=1))
    assert window.frame["settings"][0] == 0 and len(window.notes) == 1
    change(job, "bodies.0.material.params.youngs_modulus", 2e4)
    window.play(1 / 24, control(DOWN, settings=2))
    assert window.frame["settings"][0] == 2 and len(window.notes) == 1


def test_what_is_only_stiffer_moves_as_what_was_made_so(job):
    engine = engine_of("modes", job, quiet)
    subspace = engine.bodies[0].body.subspace
    change(job, "bodies.0.material.params.youngs_modulus", 5e4)
    engine.change(load(job))
    assert engine.bodies[0].body.subspace is subspace  # no modes are computed anew
    anew = engine_of("modes", job, quiet)
    for _ in range(24):
        engine.step(0, Inputs(DOWN))
        anew.step(0, Inputs(DOWN))
    assert anew.positions[:, 2].min() < -0.02
    np.testing.assert_allclose(engine.positions, anew.positions, atol=2e-4)
    change(job, "bodies.0.material.params.poisson_ratio", 0.2)
    engine.change(load(job))
    assert engine.bodies[0].body.subspace is not subspace


def test_what_is_taken_back_is_as_stiff_as_before(job):
    """A body restores the settings that it has applied where another one of the scene cannot apply its own."""
    engine = engine_of("modes", job, quiet)
    [body] = engine.bodies
    first, before = body.body, body.body.points.volumes.copy()
    change(job, "bodies.0.material.params.youngs_modulus", 5e4)
    played, prepared = engine._prepare(load(job))
    take_back = body.change(played, prepared[0])
    assert body.body.points is first.points and not np.allclose(first.points.volumes, before, rtol=1e-3)
    take_back()
    np.testing.assert_allclose(first.points.volumes, before, rtol=1e-12)
    change(job, "bodies.0.material.params.poisson_ratio", 0.2)
    played, prepared = engine._prepare(load(job))
    take_back = body.change(played, prepared[0])
    assert body.body.points is not first.points
    take_back()
    assert body.body is first


def test_settings_that_cannot_be_used_are_reported_and_it_plays_on(window, job):
    window.play(0.1, control(DOWN))
    change(job, "bodies.0.material.params.youngs_modulus", -1.0)
    before = window.play(0.1, control(DOWN, settings=1))
    assert len(window.notes) == 1 and "youngs_modulus" in window.notes[0], window.notes
    assert not np.array_equal(window.play(0.1), before)


def test_every_effort_moves_it_about_as_far(key, job):
    low = []
    for effort in range(3):
        engine = engine_of(key, job, quiet)
        seconds = 0.0
        while seconds < 0.2 - 1e-9:
            engine.step(effort, Inputs(DOWN))
            seconds += engine.efforts[effort].step
        assert engine.restarts == 0
        low.append(engine.positions[:, 2].min())
    # projective dynamics moves more slowly the fewer iterations it has
    assert low[1] == pytest.approx(low[0], rel=0.15 if key == "projective" else 0.02)
    assert 1.02 * low[0] < low[2] < 0.6 * low[0], low  # the longest steps are calmer


def test_efforts_say_what_they_save_on(window):
    assert [effort.label for effort in window.engine.efforts] == ["", "fewer iterations", "longer steps"]
    assert window.engine.efforts[2].step == 2 * window.engine.efforts[0].step


def test_what_cannot_go_on_begins_anew(window, monkeypatch):
    window.play(0.2, control(DOWN))

    def fails(*_, **__):
        raise StepFailed("the system matrix is not positive definite")

    with monkeypatch.context() as broken:
        moved = vars(window.engine).get("_world") or window.engine.bodies[0].body
        for name in ("step", "rescue"):
            broken.setattr(type(moved), name, fails, raising=False)  # however it is stepped
        positions = window.play(1 / 48)
    np.testing.assert_allclose(positions, window.start, atol=1e-6)
    assert window.frame["restarts"][0] == 1 and "Restarted" in window.notes[0]
    assert window.play(0.2)[:, 2].min() < window.start[:, 2].min() - 0.005  # and it plays on


def test_a_note_says_why_a_reduced_body_could_not_go_on(job, tmp_path, monkeypatch):
    window = Window("modes", job, tmp_path / "board")
    window.play(0.1, control(DOWN))
    body = window.engine.bodies[0]

    def fails(*_, **__):
        raise StepFailed("a stage did not converge")

    with monkeypatch.context() as broken:
        broken.setattr(type(body.body), "step", fails)
        window.play(1 / 48)
    monkeypatch.setattr(type(body), "_is_in_world", lambda *_: False)
    window.play(1 / 48)
    assert "a stage did not converge" in window.notes[0] and "thrown more than 50 times its size" in window.notes[1]


def test_a_job_that_is_none_is_refused(key, tmp_path):
    with pytest.raises(ConJacError):
        engine_of(key, tmp_path / "nowhere", quiet)


def test_a_half_life_halves_the_wobble_in_that_time(job):
    change(job, "bodies.0.wobble_half_life", 0.5)
    engine = engine_of("modes", job, quiet)
    start = engine.positions
    for _ in range(90):
        engine.step(0, Inputs(0.3 * DOWN))
    hangs = engine.positions
    tip = int(np.argmax(start[:, 0]))
    assert hangs[tip, 2] < start[tip, 2] - 0.005
    heights = []
    for _ in range(72):  # three half-lives without weight
        engine.step(0, Inputs(np.zeros(3)))
        heights.append(engine.positions[tip, 2] - start[tip, 2])
    first, last = np.ptp(heights[:24]), np.ptp(heights[48:])  # a second apart
    assert 0.12 < last / first < 0.4  # a quarter, by and large
