"""Follow: what takes part in the motion of an object feels that much less of it as inertia."""

import json

import numpy as np
import pytest
from rope_jobs import baked, rope_job
from small_jobs import box_job, change
from worlds import world_of

from solver.errors import BadScene
from solver.job.load import load

H, FPS, PER_FRAME = 1 / 96, 24, 4
A = np.array([6.0, 0.0, 2.0])  #: acceleration of the object [m/s²]


def frames_of(end, place, turn=lambda t: np.eye(3)):
    """(T, 4, 4) samples at the times of the steps."""
    times = H * np.arange((end - 1) * PER_FRAME + 1)
    out = np.tile(np.eye(4), (len(times), 1, 1))
    out[:, :3, 3] = [place(t) for t in times]
    out[:, :3, :3] = [turn(t) for t in times]
    return out


def accelerated(t):
    """A place whose mean velocity grows by A h from each step to the next, from rest on."""
    return 0.5 * A * t * (t + H)


def about(axis, angle):
    axis = np.asarray(axis) / np.linalg.norm(axis)
    cross = np.cross(np.eye(3), -axis)
    return np.eye(3) + np.sin(angle) * cross + (1.0 - np.cos(angle)) * cross @ cross


def follow(job, frames, share=1.0):
    """The job whose first body takes part in the motion of frames (T, 4, 4)."""
    np.save(job / "arrays" / "follow.npy", frames)
    change(job, "time.samples_per_frame", PER_FRAME)
    if isinstance(share, np.ndarray):
        np.save(job / "arrays" / "share.npy", share)
        share = "arrays/share.npy"
    change(job, "bodies.0.follow", {"motion": "arrays/follow.npy", "share": share})
    return job


def box(folder, *, end=13, gravity=(0.0, 0.0, 0.0), method="vanilla", pinned=False, **scene):
    job = box_job(folder, end=end, motion=False, gravity=list(gravity), method={"kind": method}, **scene)
    if not pinned:
        change(job, "bodies.0.pin", {})
    return job


def positions(job, end):
    """Return the positions of all nodes at each frame, (frames, n, 3) [m]."""
    world = world_of(load(job))
    part, state = world.parts[0], world.initial_state()
    out = [part.nodes_at(state)[0]]
    for _ in range(end - 1):
        for _ in range(PER_FRAME):
            state = world.step(state, H)
        out.append(part.nodes_at(state)[0])
    return np.array(out)


def at_frames(frames):
    return frames[::PER_FRAME]


@pytest.mark.parametrize("method", ["vanilla", "conjac"])
@pytest.mark.parametrize("integrator", ["semi_implicit", "backward_euler", "bdf2", "sdirk2", "leapfrog"])
def test_what_follows_wholly_stays_where_it_is_on_the_object(tmp_path, integrator, method):
    from solver import catalogue
    if method == "conjac" and not catalogue.find("integrator", integrator).able("quasistatic"):
        pytest.skip("this integrator steps no nodes that follow others")
    frames = frames_of(13, accelerated)
    job = follow(box(tmp_path / "job", method=method, integrator={"kind": integrator}), frames)
    x = positions(job, 13)
    off = x - x[0] - at_frames(frames)[:, None, :3, 3]
    assert np.abs(off).max() < 1e-7 < 0.5 < np.abs(x[-1] - x[0]).max()


@pytest.mark.parametrize("share", [0.0, 0.35, 1.0])
def test_by_a_share_it_is_under_what_is_left_of_it(tmp_path, share):
    """Pinned to the object, a soft bar hangs on it as it does at rest under g − (1 − s) a."""
    end, g = 25, np.array([0.0, 0.0, -9.81])
    frames = frames_of(end, accelerated)
    moved = follow(box(tmp_path / "moved", end=end, gravity=g, pinned=True, integrator={"kind": "backward_euler"}),
                   frames, share)
    pins = np.load(moved / "arrays" / "nodes.npy")[np.load(moved / "arrays" / "pinned.npy")]
    np.save(moved / "arrays" / "pin_motion.npy", pins + frames[:, None, :3, 3])
    change(moved, "bodies.0.pin.node_motion", "arrays/pin_motion.npy")
    still = box(tmp_path / "still", end=end, gravity=g - (1.0 - share) * A, pinned=True,
                integrator={"kind": "backward_euler"})
    there, here = positions(moved, end), positions(still, end)
    off = there - at_frames(frames)[:, None, :3, 3] - here
    assert np.abs(here[-1] - here[0]).max() > 0.01, "it bends"
    assert np.abs(off).max() < 1e-5, np.abs(off).max()


@pytest.mark.parametrize("integrator", ["backward_euler", "bdf2", "sdirk2"])
def test_it_goes_along_as_the_object_turns(tmp_path, integrator):
    """A body at rest on the object stays so, and a moving one continues straight: no centrifugal and no Coriolis
    force."""
    frames = frames_of(13, lambda t: np.zeros(3), lambda t: about([1.0, 2.0, 3.0], 4.0 * t * t))
    job = follow(box(tmp_path / "job", integrator={"kind": integrator}), frames)
    x = positions(job, 13)
    on_object = np.einsum("tji,tnj->tni", at_frames(frames)[:, :3, :3], x)
    assert np.abs(on_object - x[0]).max() < 1e-4 < 0.1 < np.abs(x[-1] - x[0]).max()

    world = world_of(load(job))
    state = world.initial_state()
    speed = np.array([0.1, 0.0, 0.05])
    state = type(state)(state.time, state.q, np.tile(speed, len(state.u) // 3), state.memory)
    for _ in range(12 * PER_FRAME):
        state = world.step(state, H)
    reached = world.parts[0].nodes_at(state)[0] @ frames[-1, :3, :3]
    assert np.abs((reached - x[0]).mean(axis=0) - 0.5 * speed).max() < 0.01 * np.linalg.norm(speed)


def test_the_share_may_change_on_the_way(tmp_path):
    """Nothing at first, then all: from there on its speed grows with the object's."""
    end = 25
    frames = frames_of(end, accelerated)
    share = (np.arange(len(frames)) >= 48).astype(float)
    x = positions(follow(box(tmp_path / "job", end=end, integrator={"kind": "backward_euler"}), frames, share), end)
    middle = x.mean(axis=1) - x[0].mean(axis=0)
    assert np.abs(middle[12]).max() < 1e-9
    assert middle[-1] == pytest.approx(0.5 * A * 0.5 * (0.5 + H), rel=1e-6)


def test_a_scaled_object_moves_no_further(tmp_path):
    frames = frames_of(13, accelerated)
    plain = positions(follow(box(tmp_path / "plain"), frames), 13)
    frames[:, :3, :3] = np.linspace(1.0, 4.0, len(frames))[:, None, None] * np.eye(3)
    assert np.allclose(positions(follow(box(tmp_path / "scaled"), frames), 13), plain, atol=1e-12)


def test_a_rope_follows_too_and_a_resumed_bake_is_the_same(tmp_path):
    places = np.stack([np.linspace(0.0, 1.0, 11), np.zeros(11), np.zeros(11)], axis=1)
    out = []
    for name, ends in (("whole", (13,)), ("parts", (5, 13))):
        job = rope_job(tmp_path / name, places, end=13, pinned=(), scene={"gravity": [0.0, 0.0, 0.0]})
        out.append(baked(follow(job, frames_of(13, accelerated)), *ends))
    assert np.array_equal(*out)
    assert np.abs(out[0][-1] - places - accelerated(0.5)).max() < 1e-7


def test_what_nobody_can_follow_is_refused(tmp_path):
    frames = frames_of(13, accelerated)
    flat = frames.copy()
    flat[3, :3, :3] = 0.0
    for name, wrong, share, sentence in (
            ("flat", flat, 1.0, "zero scale"), ("short", frames[:-1], 1.0, "follow.motion"),
            ("more", frames, np.full(len(frames), 1.5), "between 0 and 100 %")):
        with pytest.raises(BadScene, match=sentence):
            load(follow(box(tmp_path / name), wrong, share))
    job = follow(box(tmp_path / "draft", method="subspace"), frames)
    change(job, "integrator", {"kind": "backward_euler"})
    with pytest.raises(BadScene, match="it cannot follow an object"):
        load(job)
    assert json.loads((job / "scene.json").read_text())["bodies"][0]["follow"]
