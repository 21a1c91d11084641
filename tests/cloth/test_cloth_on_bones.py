"""Animated bones that move through hanging cloth: the cloth yields, and no bone passes through it."""

import numpy as np
import pytest
from cloth_jobs import cloth_body, cloth_job
from matrix import some
from sheets import grid

from solver.build.world import build
from solver.job.load import load
from solver.simulate import advance

H, SAMPLES = 1 / 96, 49
LEG = {"name": "Leg", "shape": {"kind": "capsule", "params": {"radius": 0.035, "length": 0.3}}}
HUB, BELOW = np.array([-0.15, 0.0, 0.25]), np.array([0.0, 0.0, -0.2])  #: of a leg that swings, and its middle [m]


def curtain(folder, mechanism, arrays, solver):
    """A world of cloth that hangs from its upper edge in the plane x = 0."""
    vertices, triangles = grid(12, 12, 0.6, 0.6)
    places = np.column_stack([np.zeros(len(vertices)), vertices[:, 0] - 0.3, vertices[:, 1] - 0.3])
    attached = np.flatnonzero(places[:, 2] > 0.3 - 1e-9)
    body = cloth_body("Cloth", places, triangles, arrays, pinned=attached, area_density=0.25)
    law = {"kind": "barrier", "params": {"friction_coefficient": 0.3}}
    job = cloth_job(folder, [body], arrays, contact={"law": law}, mechanisms=[{"name": "Rig", **mechanism}],
                    stage_solver={"kind": solver})
    return build(load(job), lambda *_: None)[0]


def pushed(world, steps):
    """How far the cloth was pushed along X [m]; asserts after every step that nothing crosses."""
    part, state = world.parts[0], world.initial_state()
    for _ in range(steps):
        state = advance(world, state, H, 1)
        mine = world.split_state(state)[0]
        x = part.coordinates.positions(mine.q, mine.time, mine.carrier_motion)
        assert part.contacts[0].surfaces.intersection(x) is None, state.time
    return x[:169, 0].max()


@pytest.mark.parametrize("solver", some(["quick", "newton_d"], "quick"))
def test_a_leg_on_a_drive_jerks_in_cloth_and_not_through_it(tmp_path, solver):
    """A drive ends a step where it is told, which is not where its rates led: that way was not looked at."""
    time = np.arange(SAMPLES) / 48
    target = np.zeros((SAMPLES, 6))
    target[:, 1], target[:, 3] = np.sin(6.0 * np.pi * time), 0.6 * time
    free = {"name": "Leg", "child": "Leg", "kind": "free", "position": [-0.08, 0.01, 0.0],
            "motor": {"mode": {"kind": "drive", "params": {}}, "target": "arrays/target.npy"}}
    leg = {"bodies": [{**LEG, "position": [-0.08, 0.01, 0.0]}], "joints": [free]}
    assert pushed(curtain(tmp_path / "job", leg, {"target": target}, solver), 5) > 0.02


def test_quick_does_not_begin_behind_a_leg_that_has_moved(tmp_path):
    """A violent stage may be solved from nearer to where nodes were, but not from the other side of what came since."""
    turns = np.sin(6.0 * np.arange(SAMPLES) / 48)
    motion = np.repeat(np.eye(4)[None], SAMPLES, axis=0)
    motion[:, 0, 0] = motion[:, 2, 2] = np.cos(turns)
    motion[:, 2, 0], motion[:, 0, 2] = np.sin(turns), -np.sin(turns)
    motion[:, :3, 3] = HUB + motion[:, :3, :3] @ BELOW
    leg = {"bodies": [{**LEG, "position": (HUB + BELOW).tolist(), "motion": "arrays/motion.npy"}]}
    assert pushed(curtain(tmp_path / "job", leg, {"motion": motion}, "quick"), 23) > 0.2
