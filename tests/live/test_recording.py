"""A live performance is recorded: frames at the scene's rate, in the cache of a job as if they were baked."""

import json

import numpy as np
import pytest
from mechanisms import double_pendulum, mechanism_job
from rope_jobs import Quiet
from small_jobs import write_job
from test_bumps import block
from test_playing import DOWN, Window, job, quiet  # noqa: F401

from solver import cli
from solver.errors import Stopped
from solver.frames.read import Cache
from solver.job.arrays import read_npz
from solver.live.board import PLAYED, RECORDED
from solver.live.engines.interface import GrabbedVertex, Hold, Inputs
from solver.live.recording import Recording, keep
from solver.live.run import control, engine_of


def test_frames_stand_between_steps(tmp_path):
    recording = Recording(24.0)
    for k in range(11):
        recording.add(3.0 + k / 60, np.full((2, 3), k / 60))
    assert recording.frames == 5  # a sixth of a second
    recording.save(tmp_path / "performed.npz")
    positions = read_npz(tmp_path / "performed.npz")["places"]
    assert positions.shape == (5, 2, 3) and positions.dtype == np.float32
    np.testing.assert_allclose(positions[:, 0, 0], np.arange(5) / 24, atol=1e-6)


def test_poses_are_interpolated_between_steps_and_hands_are_recorded(tmp_path):
    recording, turned = Recording(24.0), np.eye(4)[None]
    for k in range(9):
        angle = 0.3 * k
        turned[0, :2, :2] = [[np.cos(angle), -np.sin(angle)], [np.sin(angle), np.cos(angle)]]
        turned[0, 0, 3] = k
        grabbed = [GrabbedVertex(9, 4, np.array([k, 0.0, 0.0]), 100.0 + k)] if 2 < k < 7 else []
        recording.add(k / 48, np.zeros((5, 3)), turned, grabbed)
    recording.save(tmp_path / "performed.npz")
    arrays = read_npz(tmp_path / "performed.npz")
    assert arrays["poses"].shape == (5, 1, 4, 4)
    np.testing.assert_allclose(arrays["poses"][:, 0, 0, 3], [0, 2, 4, 6, 8], atol=1e-9)
    np.testing.assert_allclose(arrays["poses"][3, 0, 0, 0], np.cos(1.8), atol=1e-9)
    recording = Recording(32.0)
    recording.add(0.0, np.zeros((0, 3)), np.eye(4)[None])
    recording.add(1 / 16, np.zeros((0, 3)), turned)
    recording.save(tmp_path / "between.npz")
    turn = read_npz(tmp_path / "between.npz")["poses"][1, 0, :3, :3]
    np.testing.assert_allclose(turn @ turn.T, np.eye(3), atol=1e-12)
    assert arrays["vertex"].tolist() == [4]
    np.testing.assert_array_equal(arrays["stiffness"][:, 0], [0, 0, 104, 106, 0])
    np.testing.assert_array_equal(arrays["target"][2, 0], [4, 0, 0])


def test_what_is_played_while_it_records_is_passed_on_when_it_ends(job, tmp_path):  # noqa: F811
    window, saved = Window("world", job, tmp_path / "board"), []
    window.live._on_saved = lambda path, frames: saved.append((path, frames))
    window.play(0.1, control(DOWN))
    window.play(0.5, control(DOWN, run=RECORDED))
    assert saved == []
    window.play(0.1, control(DOWN, run=PLAYED))
    [(path, frames)] = saved
    positions = read_npz(path)["places"]
    assert frames == len(positions) == 13  # half a second at 24 a second, and the first one
    assert positions[0, :, 2].min() > positions[5, :, 2].min()  # it goes on sagging
    window.play(0.2, control(DOWN, run=RECORDED))
    window.play(0.1, control(DOWN))
    assert len(saved) == 2 and saved[1][0] != path


@pytest.fixture()
def baked(tmp_path):
    """Return a job whose object moves along x by 1 m a frame, and five frames of a performance in the world."""
    vertices = np.array([[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1.0]])
    triangles = np.array([[0, 2, 1], [0, 1, 3], [1, 2, 3], [0, 3, 2]], np.int32)
    to_object = np.tile(np.eye(4), (8, 1, 1))
    to_object[:, 0, 3] = -np.arange(8)
    surface = {"vertices": "arrays/vertices.npy", "triangles": "arrays/triangles.npy",
               "to_object": "arrays/to_object.npy"}
    scene = {"version": 1, "name": "small", "time": {"start": 3, "end": 10, "fps": 24, "step": 1 / 48},
             "bodies": [{"name": "Ear", "surface": surface}]}
    folder = write_job(tmp_path / "job", scene, {"vertices": vertices, "triangles": triangles, "to_object": to_object})
    recording = Recording(24.0)
    for k in range(5):
        recording.add(k / 24, vertices + [0.0, 0.0, k])
    recording.save(tmp_path / "performed.npz")
    return folder, tmp_path / "performed.npz", vertices


def test_a_performance_is_a_bake_in_the_space_of_the_object(baked, capsys):
    folder, performed, vertices = baked
    assert cli.main(["record", str(folder), str(performed), "--json"], read_stdin=False) == 0
    output = capsys.readouterr().out
    assert '"frame": 7' in output
    cache = Cache(folder / "cache")
    assert cache.frames_done() == [3, 4, 5, 6, 7] and cache.manifest["runs"][0]["backend"] == "Play Live"
    for k in range(5):
        np.testing.assert_allclose(cache.frame(3 + k)["Ear"], vertices + [-k, 0.0, k], atol=1e-6)


def test_bodies_and_mechanisms_are_recorded_together(tmp_path):
    bodies, joints = double_pendulum()
    folder = mechanism_job(tmp_path / "job", bodies, joints, step=1 / 96, end=12)
    scene = json.loads((folder / "scene.json").read_text())
    vertices, triangles = block([0, 0, 0], [0.1, 0.1, 0.1])
    scene["bodies"] = [{"name": f"Jelly {k}", "surface": {"vertices": f"arrays/v{k}.npy", "triangles": "arrays/f.npy"},
                        "method": {"kind": "vanilla"}} for k in range(2)]
    write_job(folder, scene, {"v0": vertices + [3.0, 0.0, 1.0], "v1": vertices + [4.0, 0.0, 1.0], "f": triangles})
    engine, recording = engine_of("", folder, quiet), Recording(24.0)
    seen = []
    for k in range(25):
        if k % 4 == 0:
            seen.append((engine.positions.copy(), engine.poses.copy()))
        recording.add(k / 96, engine.positions, engine.poses, engine.grabbed)
        engine.step(0, Inputs(DOWN))
    recording.save(tmp_path / "performed.npz")
    assert cli.main(["record", str(folder), str(tmp_path / "performed.npz")], read_stdin=False) == 0
    cache = Cache(folder / "cache")
    assert [mechanism["bodies"] for mechanism in cache.mechanisms()] == [[body["name"] for body in bodies]]
    first = cache.frames_done()[0]
    for k, (positions, poses) in enumerate(seen):
        np.testing.assert_allclose(cache.poses(first + k)["pose"], poses, atol=1e-9)
        frame = cache.frame(first + k)
        np.testing.assert_allclose(np.concatenate([frame["Jelly 0"], frame["Jelly 1"]]), positions, atol=1e-5)
    assert len(cache.frames_done()) == len(seen) == 7


def test_hands_on_soft_bodies_are_reported(job):  # noqa: F811
    """Both engines report the vertex, the target and the strength of a grab."""
    stiffness = []
    for key in ("modes", "world"):
        engine = engine_of(key, job, quiet)
        vertex = int(engine.positions[:, 0].argmax())
        position = engine.positions[vertex].copy()
        assert engine.grabbed == ()
        for _ in range(3):
            engine.step(0, Inputs(DOWN, grabs=(Hold(5, position, position + [0.0, 0.0, 0.1], 0.0, 1.0),)))
        [grabbed] = engine.grabbed
        assert (grabbed.id, grabbed.vertex) == (5, vertex)
        np.testing.assert_allclose(grabbed.target, position + [0.0, 0.0, 0.1], atol=0.02)
        stiffness.append(grabbed.stiffness)
        engine.step(0, Inputs(DOWN))
        assert engine.grabbed == ()
    assert min(stiffness) > 0.0


def test_a_finished_bake_is_replaced_only_with_the_option(baked, capsys):
    folder, performed, _ = baked
    assert cli.main(["record", str(folder), str(performed)], read_stdin=False) == 0
    assert cli.main(["record", str(folder), str(performed)], read_stdin=False) == 2
    assert "it was baked" in capsys.readouterr().err
    assert cli.main(["record", str(folder), str(performed), "--replace"], read_stdin=False) == 0
    assert len(Cache(folder / "cache").manifest["runs"]) == 1


def test_one_that_was_stopped_on_its_way_is_recorded_again(baked):
    folder, performed, vertices = baked
    calls = []
    with pytest.raises(Stopped, match="before frame 5"):
        keep(folder, performed, Quiet(), lambda: calls.append(1) or len(calls) > 2)
    assert Cache(folder / "cache").frames_done() == [3, 4]
    keep(folder, performed, Quiet(), lambda: False, replaces=True)
    assert Cache(folder / "cache").frames_done() == [3, 4, 5, 6, 7]


def test_what_is_no_performance_of_it_is_refused(baked, tmp_path, capsys):
    folder, performed, vertices = baked
    other = Recording(24.0)
    other.add(0.0, np.zeros((7, 3)))
    other.save(tmp_path / "other.npz")
    (tmp_path / "text.npz").write_text("no")
    for path, message in ((tmp_path / "other.npz", "has others"), (tmp_path / "text.npz", "nothing that was performed"),
                          (tmp_path / "gone.npz", "nothing that was performed")):
        assert cli.main(["record", str(folder), str(path)], read_stdin=False) == 2
        assert message in capsys.readouterr().err
    assert not (folder / "cache" / "frames").exists()
