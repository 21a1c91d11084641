"""Pinned and attached vertices are drawn where their animation has them, however few and wherever they lie."""

import numpy as np
import pytest
from rope_jobs import baked
from small_jobs import box_job, change
from worlds import quiet

from solver.build.pinned_vertices import Rigid
from solver.build.world import build
from solver.embedding.pinned import PinnedVertices
from solver.job.load import load

H, STEPS = 1 / 48, 24


def skin(cells, size):
    """A box's surface, finer than its tetrahedra and not on their nodes: (n, 3) [m] and triangles (t, 3)."""
    points, triangles = [], []
    for axis in range(3):
        u, v = (axis + 1) % 3, (axis + 2) % 3
        for side in (0, 1):
            first = len(points)
            for i in range(cells + 1):
                for j in range(cells + 1):
                    p = np.zeros(3)
                    p[axis], p[u], p[v] = side, i / cells, j / cells
                    points.append(p * size)
            for i in range(cells):
                for j in range(cells):
                    a = first + i * (cells + 1) + j
                    quad = [a, a + cells + 1, a + cells + 2, a + 1][:: 1 if side else -1]
                    triangles += [[quad[0], quad[1], quad[2]], [quad[0], quad[2], quad[3]]]
    points, same = np.unique(np.round(points, 9), axis=0, return_inverse=True)
    return points, same.ravel()[np.array(triangles)].astype(np.int32)


SIZE = np.array([0.2, 0.1, 0.1])
VERTICES, TRIANGLES = skin(17, SIZE)
ENDS = {
    "one vertex": [np.linalg.norm(VERTICES - [0.2, 0.05, 0.05], axis=1).argmin()],
    "six vertices": np.argsort(np.linalg.norm(VERTICES - [0.0, 0.047, 0.052], axis=1), kind="stable")[:6],
    "a corner": np.argsort(np.linalg.norm(VERTICES - [0.2, 0.1, 0.1], axis=1), kind="stable")[:20],
    "a row": np.flatnonzero((VERTICES[:, 0] == 0.0) & (VERTICES[:, 2] == 0.1)),
}


def pinned_job(folder, chosen, moving, **scene):
    """A box whose painted vertices stand still, or swing and turn."""
    job = box_job(folder, end=STEPS // 2 + 1, step=H, motion=False, integrator={"kind": "sdirk2"},
                  method={"kind": "vanilla"}, **scene)
    np.save(job / "arrays/vertices.npy", VERTICES)
    np.save(job / "arrays/triangles.npy", TRIANGLES)
    np.save(job / "arrays/weights.npy", np.isin(np.arange(len(VERTICES)), chosen).astype(float))
    change(job, "bodies.0.surface", {"vertices": "arrays/vertices.npy", "triangles": "arrays/triangles.npy"})
    change(job, "bodies.0.dynamic", {})
    change(job, "bodies.0.pin", {"weights": "arrays/weights.npy"})
    motion = np.repeat(VERTICES[None, chosen], STEPS + 1, axis=0)
    if moving:
        for k in range(len(motion)):
            angle = 0.5 * np.sin(2 * np.pi * k / 48)
            turn = np.array([[np.cos(angle), 0, np.sin(angle)], [0, 1, 0], [-np.sin(angle), 0, np.cos(angle)]])
            motion[k] = VERTICES[chosen] @ turn.T + [0.05 * np.sin(2 * np.pi * k / 24), 0.0, 0.0]
        np.save(job / "arrays/motion.npy", motion)
        np.save(job / "arrays/told.npy", np.asarray(chosen, np.int32))
        change(job, "bodies.0.pin.motion", "arrays/motion.npy")
        change(job, "bodies.0.pin.motion_vertices", "arrays/told.npy")
    return job, motion


def shown(job):
    """The vertices of every frame, (frames, n, 3) [m]."""
    world = build(load(job), quiet).world
    state = world.initial_state()
    frames = [world.output(state, 1)]
    for frame in range(2, STEPS // 2 + 2):
        for _ in range(2):
            state = world.step(state, H)
        frames.append(world.output(state, frame))
    return np.array(frames)


@pytest.mark.parametrize("moving", [False, True])
@pytest.mark.parametrize("end", ENDS)
def test_painted_vertices_are_shown_where_they_are_pinned(tmp_path, end, moving):
    job, motion = pinned_job(tmp_path, ENDS[end], moving)
    frames = shown(job)
    assert np.abs(frames[:, ENDS[end]] - motion[::2]).max() < 1e-4 * SIZE[0]
    # it hangs there: what is held by nothing falls by 1.2 m in half a second
    assert np.linalg.norm(frames - frames[0], axis=2).max() < 2.5 * SIZE[0]
    # and its mesh has no spike there
    links = np.unique(np.sort(TRIANGLES[:, [0, 1, 1, 2, 2, 0]].reshape(-1, 2), axis=1), axis=0)
    length = np.linalg.norm(frames[:, links[:, 0]] - frames[:, links[:, 1]], axis=2)
    assert (length / length[0]).max() < (4.0 if len(ENDS[end]) == 1 else 2.5)


def test_a_body_swings_freely_about_one_vertex(tmp_path):
    """As a rigid bar hung by the middle of its end, which is nearly on its other side half a second later; the bar's
    own nodes are few, so its inertia is somewhat larger."""
    job, _ = pinned_job(tmp_path, ENDS["one vertex"], False)
    change(job, "bodies.0.material.params.youngs_modulus", 2e6)
    frames = shown(job)
    far = np.flatnonzero(VERTICES[:, 0] == 0.0)
    arm = frames[:, far].mean(axis=1) - frames[:, ENDS["one vertex"][0]]
    angle = np.unwrap(np.arctan2(-arm[:, 2], -arm[:, 0]))
    # a pendulum of length l with the inertia of the box about its end, by small steps
    inertia, theta, rate = SIZE[0] ** 2 / 3 + SIZE[2] ** 2 / 12, 0.0, 0.0
    expected = [0.0]
    for step in range(STEPS // 2 * 1000):
        rate += 1e-3 / 24 * 9.81 * 0.5 * SIZE[0] * np.cos(theta) / inertia
        theta += 1e-3 / 24 * rate
        if step % 1000 == 999:
            expected.append(theta)
    assert angle == pytest.approx(np.array(expected), abs=0.25)


def test_what_is_around_pinned_vertices_goes_along_and_the_rest_stays():
    vertices, triangles = VERTICES, TRIANGLES
    chosen = ENDS["a corner"]

    class Shifted:
        vertices = np.asarray(chosen)

        def positions_at(self, x, frame):
            return VERTICES[chosen] + [0.003, 0.0, 0.0]

    moved = PinnedVertices([Shifted()], vertices, triangles, 0.03).apply(vertices, vertices, 0) - vertices
    assert moved[chosen] == pytest.approx(np.tile([0.003, 0, 0], (len(chosen), 1)))
    away = np.linalg.norm(vertices - [0.2, 0.1, 0.1], axis=1)
    assert (moved[away > 0.13] == 0.0).all() and (moved >= -1e-15).all() and moved.max() <= 0.003 + 1e-12
    links = np.unique(np.sort(triangles[:, [0, 1, 1, 2, 2, 0]].reshape(-1, 2), axis=1), axis=0)
    assert np.abs(moved[links[:, 0]] - moved[links[:, 1]]).max() < 0.002


def test_vertices_that_a_bone_carries_move_with_its_nodes():
    rng = np.random.default_rng(1)
    nodes, vertices = rng.normal(size=(4, 3)), rng.normal(size=(6, 3))
    turn = np.linalg.qr(rng.normal(size=(3, 3)))[0]
    turn *= np.linalg.det(turn)
    x = np.concatenate([rng.normal(size=(2, 3)), nodes @ turn.T + [1.0, 2.0, 3.0]])
    target = Rigid(np.arange(6), vertices, np.arange(2, 6), nodes)
    assert target.positions_at(x, 7) == pytest.approx(vertices @ turn.T + [1.0, 2.0, 3.0])


def test_a_bake_that_goes_on_shows_them_alike(tmp_path):
    chosen = ENDS["six vertices"]
    (whole, motion), (resumed, _) = (pinned_job(tmp_path / name, chosen, True) for name in ("whole", "resumed"))
    unbroken = baked(whole, body="Ear")
    assert np.array_equal(unbroken, baked(resumed, 6, STEPS // 2 + 1, body="Ear"))
    assert np.abs(unbroken[5, chosen] - motion[10]).max() <= 1e-6
