"""Pins that let go on the way: of cloth, as a flag that is torn off its pole, and of a body of tetrahedra."""

import numpy as np
import pytest
from cloth_jobs import BOX, Quiet, square
from sheets import grid
from small_jobs import box_job, change

from solver.errors import BadScene, NoFreeNode, StaleCache
from solver.frames.read import Cache
from solver.job.load import load
from solver.simulate import bake

CELLS, SIZE, END = 6, 0.5, 12
COUNT = (CELLS + 1) ** 2
EDGE = np.arange(0, COUNT, CELLS + 1)  #: vertices along one side
NEVER = np.iinfo(np.int32).max


def flag(folder, until, *, end=END, **body):
    """Held along one side. until: frame for each of its vertices."""
    job = square(folder, cells=CELLS, size=SIZE, end=end, drag=0.0, air_friction=0.0, **body)
    weights, frames = np.zeros(COUNT), np.full(COUNT, NEVER, dtype=np.int32)
    weights[EDGE], frames[EDGE] = 1.0, until
    np.save(job / "arrays" / "weights.npy", weights)
    np.save(job / "arrays" / "until.npy", frames)
    change(job, "bodies.0.pin", {"weights": "arrays/weights.npy", "until": "arrays/until.npy"})
    return job


def seen(job, *ends, last=END):
    for end in ends or (last,):
        bake(job, Quiet(), frames=(1, end), resume=True)
    cache = Cache(job / "cache")
    return np.array([cache.vertices(k) for k in range(1, last + 1)])


def test_what_is_let_go_falls_from_its_frame_on(tmp_path):
    """One vertex after the other; until the first of them as if all were held, to the last bit."""
    frames = [4, 5, 6, 7, 8, 8, 8]
    torn = seen(flag(tmp_path / "torn", frames))
    never_torn = seen(flag(tmp_path / "held", NEVER))
    assert np.array_equal(torn[:4], never_torn[:4]) and np.abs(torn[5] - never_torn[5]).max() > 1e-3
    for vertex, frame in zip(EDGE, frames):
        assert np.array_equal(torn[frame - 1, vertex], torn[0, vertex])
        assert np.abs(torn[frame, vertex] - torn[0, vertex]).max() > 1e-4
    corners = grid(CELLS, CELLS, SIZE, SIZE)[1].ravel()
    middle = np.tensordot(torn[7:].astype(float), np.bincount(corners) / len(corners), axes=(1, 0))
    assert np.abs(np.diff(middle, 2, axis=0) * 24.0 ** 2 - [0.0, 0.0, -9.81]).max() < 1e-3


def test_a_resumed_bake_lets_the_same_go(tmp_path):
    frames = [4, 5, 6, 7, 8, NEVER, NEVER]
    assert np.array_equal(seen(flag(tmp_path / "whole", frames)), seen(flag(tmp_path / "parts", frames), 5, 7, END))


def test_frames_before_what_changes_are_reused(tmp_path):
    """A later release does not invalidate earlier frames; an earlier one does."""
    job = flag(tmp_path / "job", NEVER, end=6)
    seen(job, last=6)
    frames = np.load(job / "arrays" / "until.npy")
    frames[EDGE] = 9
    np.save(job / "arrays" / "until.npy", frames)
    change(job, "time.end", END)
    seen(job)
    frames[EDGE] = 3
    np.save(job / "arrays" / "until.npy", frames)
    with pytest.raises(StaleCache, match="when pins let go"):
        seen(job)


def test_a_body_of_tetrahedra_is_let_go_too(tmp_path):
    """Its nodes go with what is painted nearest; from then on all of it falls."""
    job = box_job(tmp_path / "job", end=8, motion=False, method={"kind": "vanilla"})
    vertices, faces = BOX
    top = vertices[:, 0] < 0.0
    np.save(job / "arrays" / "vertices.npy", 0.5 * (vertices + 1.0) * [0.2, 0.1, 0.1])
    np.save(job / "arrays" / "faces.npy", faces)
    change(job, "bodies.0.surface", {"vertices": "arrays/vertices.npy", "triangles": "arrays/faces.npy"})
    change(job, "bodies.0.dynamic", {})
    np.save(job / "arrays" / "until.npy", np.where(top, 4, NEVER).astype(np.int32))
    np.save(job / "arrays" / "top.npy", top.astype(float))
    change(job, "bodies.0.pin", {"weights": "arrays/top.npy", "until": "arrays/until.npy"})
    out = seen(job, last=8)
    assert np.abs(out[:4, top] - out[0, top]).max() < 1e-6 and (out[7, top, 2] < out[0, top, 2] - 0.05).all()


def led(job, vertices, speed, frame, end):
    """All of a body is led along x at so many metres a second and let go at a frame."""
    samples = np.arange(2 * (end - 1) + 1) / 48
    arrays = {"all": np.ones(len(vertices)), "until": np.full(len(vertices), frame, dtype=np.int32),
              "led": vertices + samples[:, None, None] * np.array([speed, 0.0, 0.0]),
              "which": np.arange(len(vertices), dtype=np.int32)}
    for name, values in arrays.items():
        np.save(job / "arrays" / f"{name}.npy", values)
    change(job, "bodies.0.pin", {"weights": "arrays/all.npy", "until": "arrays/until.npy", "motion": "arrays/led.npy",
                                 "motion_vertices": "arrays/which.npy"})


def flies(out, frame, speed):
    """It is where it is led up to a frame, and in free fall with that speed from then on."""
    middle = out.astype(float).mean(axis=1)
    assert np.diff(middle[:, 0]) * 24.0 == pytest.approx(speed, rel=1e-3)
    assert np.ptp(middle[:frame, 2]) < 1e-6
    assert np.abs(np.diff(middle[frame:, 2], 2) * 24.0 ** 2 + 9.81).max() < 2e-2


def test_a_body_that_is_led_as_a_whole_and_let_go_is_thrown(tmp_path):
    """Keyframes move it up to its release, and it continues with their velocity."""
    job = box_job(tmp_path / "job", end=10, motion=False, method={"kind": "vanilla"})
    vertices, faces = BOX
    vertices = 0.5 * (vertices + 1.0) * [0.2, 0.1, 0.1]
    np.save(job / "arrays" / "vertices.npy", vertices)
    np.save(job / "arrays" / "faces.npy", faces)
    change(job, "bodies.0.surface", {"vertices": "arrays/vertices.npy", "triangles": "arrays/faces.npy"})
    change(job, "bodies.0.dynamic", {})
    change(job, "bodies.0.wobble_half_life", 0.75)
    led(job, vertices, 2.0, 5, 10)
    messages = []
    reporter = Quiet()
    reporter.log = messages.append
    bake(job, reporter)
    assert any("Wobble Half-Life 0.75 s" in message for message in messages)
    cache = Cache(job / "cache")
    flies(np.array([cache.vertices(k) for k in range(1, 11)]), 5, 2.0)
    # held to the end it is refused, as before
    np.save(job / "arrays" / "until.npy", np.full(len(vertices), NEVER, dtype=np.int32))
    change(job, "bodies.0.pin", {"weights": "arrays/all.npy"})
    with pytest.raises(NoFreeNode, match="every node is pinned"):
        bake(job, Quiet())


def test_cloth_that_is_led_as_a_whole_and_let_go_is_thrown(tmp_path):
    job = square(tmp_path / "job", cells=CELLS, size=SIZE, end=10, drag=0.0, air_friction=0.0)
    led(job, np.load(job / "arrays" / "Cloth_vertices.npy"), 2.0, 5, 10)
    flies(seen(job, last=10), 5, 2.0)


@pytest.mark.parametrize(("field", "value", "word"), [
    ("pin.weights", None, "there are none"), ("pin.until", "arrays/weights.npy", "not int32"),
    ("cloth.eulerian", {}, "Sharp Edges has no pins that let go")])
def test_what_cannot_be_let_go_is_refused(tmp_path, field, value, word):
    job = flag(tmp_path / "job", 4)
    change(job, f"bodies.0.{field}", value)
    with pytest.raises(BadScene, match=word):
        load(job)
