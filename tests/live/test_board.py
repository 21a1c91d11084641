"""Memory shared by Blender and the live worker: complete messages, only the newest, for any order of reads and
writes."""

import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

from solver.errors import BadInput
from solver.live import board
from solver.live.run import control

ROOT = Path(__file__).resolve().parents[2]

WRITER = """
import sys, time
import numpy as np
from pathlib import Path
from solver.live import board
with board.open_board(Path(sys.argv[1])) as opened:
    until = time.monotonic() + 1.0
    frame, k = np.zeros(1, board.FRAME), 0
    while time.monotonic() < until:
        k += 1
        frame["time"] = k
        opened.show(frame, np.full((opened.vertices, 3), float(k)))
"""


def frame_at(time):
    frame = np.zeros(1, board.FRAME)
    frame["time"] = time
    return frame


def test_positions_and_controls_arrive_as_they_were_sent(tmp_path):
    origin = np.array([100.0, -50.0, 3.0])
    made = board.create_board(tmp_path / "board", 5, origin)
    with board.open_board(tmp_path / "board") as opened:
        assert opened.read_control() is None and made.read_frame() is None
        made.write_control(control(np.array([0.0, 0.0, -9.81]), settings=3))
        sent, pinned = opened.read_control()
        assert pinned.shape == (0, 3)
        assert sent["settings"][0] == 3 and sent["run"][0] == 1 and sent["gravity"][0, 2] == -9.81
        assert opened.read_control() is None  # it was read before
        positions = origin + np.arange(15.0).reshape(5, 3) / 7.0
        opened.show(frame_at(2.5), positions)
        frame, seen, _ = made.read_frame()
        assert frame["time"][0] == 2.5 and seen.dtype == np.float32
        np.testing.assert_allclose(seen + origin, positions, atol=1e-6)
        assert made.read_frame() is None
    made.close()


def test_poses_and_pinned_vertices_arrive_as_they_were_sent(tmp_path):
    made = board.create_board(tmp_path / "board", 3, np.zeros(3), rigid=2, pinned=4)
    with board.open_board(tmp_path / "board") as opened:
        pinned, poses = np.random.default_rng(2).normal(size=(4, 3)), np.random.default_rng(3).normal(size=(2, 4, 4))
        made.write_control(control(np.zeros(3)), pinned)
        np.testing.assert_array_equal(opened.read_control()[1], pinned)
        opened.show(frame_at(1.0), np.ones((3, 3)), poses)
        _, seen, arrived = made.read_frame()
        np.testing.assert_array_equal(arrived, poses)
        assert (seen == 1.0).all()
    made.close()


def test_who_reads_late_sees_the_newest_alone(tmp_path):
    made = board.create_board(tmp_path / "board", 2, np.zeros(3))
    for k in range(7):
        made.show(frame_at(k), np.full((2, 3), float(k)))
    frame, seen, _ = made.read_frame()
    assert frame["time"][0] == 6.0 and (seen == 6.0).all() and made.read_frame() is None
    made.close()


def test_a_message_that_is_torn_is_not_taken(tmp_path):
    made = board.create_board(tmp_path / "board", 50, np.zeros(3))
    made.show(frame_at(1.0), np.ones((50, 3)))
    _, body = made.frame._copies[1]
    body[100] ^= 1  # as of a writer that is in the middle of it
    assert made.read_frame() is None
    body[100] ^= 1
    assert (made.read_frame()[1] == 1.0).all()
    made.close()


def test_no_frame_is_ever_a_mixture_of_two_while_another_process_writes(tmp_path):
    made = board.create_board(tmp_path / "board", 20_000, np.zeros(3))
    writer = subprocess.Popen([sys.executable, "-c", WRITER, str(tmp_path / "board")], cwd=ROOT)
    seen, last = 0, 0.0
    while writer.poll() is None:
        latest = made.read_frame()
        if latest is None:
            time.sleep(0.0005)
            continue
        frame, positions, _ = latest
        assert (positions == frame["time"][0]).all() and frame["time"][0] > last
        last, seen = frame["time"][0], seen + 1
    assert writer.returncode == 0 and seen > 20
    made.close()


@pytest.mark.parametrize("raw", [b"", b"x" * 500, None])
def test_what_is_no_board_is_refused(tmp_path, raw):
    path = tmp_path / "board"
    if raw is not None:
        path.write_bytes(raw)
    with pytest.raises(BadInput, match="board"), board.open_board(path):
        pass


def test_a_board_that_was_cut_short_is_refused(tmp_path):
    board.create_board(tmp_path / "board", 10, np.zeros(3)).close()
    whole = (tmp_path / "board").read_bytes()
    (tmp_path / "board").write_bytes(whole[:-8])
    with pytest.raises(BadInput, match="no board"), board.open_board(tmp_path / "board"):
        pass
