"""Pins of cloth with Sharp Edges that jump further in a step than it could be drawn: it is carried along."""

import numpy as np
import pytest
from cloth_jobs import BOX, cloth_body, cloth_job, obstacle
from sheets import grid

from solver.build.world import build
from solver.job.load import load
from solver.simulate import advance

H, CELLS = 1 / 96, 6


def led(folder, way):
    """Return a cloth that hangs over a box by its border, which moves along X by way(time) [m], and its part."""
    arrays, end = {}, 6
    vertices, triangles = grid(CELLS, CELLS, 0.5, 0.5)
    x = vertices - vertices.mean(axis=0) + [0.0, 0.0, 0.53]
    pinned = np.flatnonzero(vertices[:, 1] > 0.499)
    times = np.arange(2 * end - 1) / 48.0
    motion = x[pinned] + np.array([way(time) for time in times])[:, None, None] * [1.0, 0.0, 0.0]
    box = obstacle("Box", 0.25 * BOX[0] + [0.0, 0.0, 0.25], BOX[1], arrays)
    body = cloth_body("Cloth", x, triangles, arrays, pinned=pinned, motion=motion, drag=0.0, air_friction=0.0,
                      eulerian={})
    world, *_ = build(load(cloth_job(folder, [body], arrays, end=end, contact={}, obstacles=[box])), lambda *_: None)
    return next(part for part in world.parts if hasattr(part, "steps"))


def seen(part, steps):
    """After each step: the cloth."""
    state, cloths = part.initial_state(), []
    for _ in range(steps):
        state = advance(part, state, H, 1)
        cloths.append(part.cloth(state))
    return cloths


def stretched(cloth):
    ends = cloth.mesh.edges
    length, rest = (np.linalg.norm(at[ends[:, 1]] - at[ends[:, 0]], axis=1) for at in (cloth.mesh.x,
                                                                                       cloth.mesh.material))
    return float((length / rest).max())


@pytest.mark.parametrize("far", [2.0, 10.0])
def test_cloth_whose_pins_jump_is_carried_along_as_it_is_for_no_more_work(tmp_path, far):
    still = led(tmp_path / "still", lambda time: 0.0)
    jumping = led(tmp_path / "jumps", lambda time: far * (time > 0.05))
    seen(still, 16)
    after = seen(jumping, 16)
    assert any("pins jumped" in note for note in jumping.notes) and not any("pins" in note for note in still.notes)
    assert jumping.steps.step_log.barrier_iterations <= 3 * still.steps.step_log.barrier_iterations
    assert jumping.steps.step_log.substeps <= 2 * still.steps.step_log.substeps
    # what is slow before and behind the jump draws it
    assert all(stretched(cloth) < 3.0 for cloth in after)  # the step of the jump, by rounding
    mesh = after[-1].mesh
    assert np.ptp(mesh.x[:, 0]) < 0.75 and abs(mesh.x[:, 0].mean() - far) < 0.1
    # nothing of the jump is left in it
    assert np.linalg.norm(mesh.v, axis=1).max() < 5.0
    is_pinned = after[-1].pin >= 0
    np.testing.assert_allclose(mesh.x[is_pinned], jumping.steps.pins(16 * H)[after[-1].pin[is_pinned]], atol=1e-12)


def test_cloth_on_what_drives_off_at_once_has_its_speed(tmp_path):
    part = led(tmp_path / "drives", lambda time: 30.0 * time)
    first, *_, last = seen(part, 8)
    assert first.mesh.v[:, 0] == pytest.approx(30.0, abs=1.0) and stretched(last) < 1.05
    assert last.mesh.x[:, 0].mean() == pytest.approx(30.0 * 8 * H, abs=0.05)


def test_cloth_that_can_be_drawn_is_not_carried(tmp_path):
    part = led(tmp_path / "drawn", lambda time: 0.15 * (time > 0.05))
    seen(part, 10)
    assert not any("pins" in note for note in part.notes)
