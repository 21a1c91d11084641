"""Impacts do not bounce and add no energy, with methods that go on from earlier velocities too."""

import numpy as np
import pytest
from matrix import crossed
from mechanisms import HINGE_ALONG_Y, mechanism_world, run

GROUND = {"point": [0, 0, 0], "normal": [0, 0, 1]}


def falling(folder, integrator):
    """Three boxes that are no joint's fall askew on each other."""
    bodies = [{"name": f"Box {k}", "position": [0.03 * k, 0.02 * k, 0.5 + 0.45 * k], "mass": 1.0 + k,
               "rotation": [1.0, 0.3 * (k + 1), 0.1, 0.05 * k],
               "shape": {"kind": "box", "params": {"size_x": 0.4, "size_y": 0.3, "size_z": 0.2}}} for k in range(3)]
    return mechanism_world(folder, bodies, [], integrator=integrator, ground=GROUND)


def swinging(folder, integrator):
    """A rod falls on a hinge until its limit."""
    rod = {"name": "Rod", "position": [0.5, 0, 0], "mass": 2.0,
           "shape": {"kind": "box", "params": {"size_x": 1.0, "size_y": 0.1, "size_z": 0.1}}}
    pin = {"name": "Pin", "child": "Rod", "rotation": HINGE_ALONG_Y, "low": [-2.0], "high": [0.4]}
    return mechanism_world(folder, [rod], [pin], integrator=integrator)


@pytest.mark.parametrize("integrator, make", crossed(["backward_euler", "bdf2", "sdirk2"], [falling, swinging]))
def test_no_energy_comes_from_an_impact(tmp_path, make, integrator):
    world, h = make(tmp_path, integrator), 1 / 96
    state, energies = world.initial_state(), []
    for _ in range(130):
        energies.append(world.energy(state))
        state = world.step(state, h)
    assert np.diff(energies).max() < 1e-5 * np.ptp(energies) and np.ptp(energies) > 3.0
    assert world.impacts.count > 0 and np.abs(state.u).max() < 1.0


def test_what_rests_or_slides_is_struck_no_more(tmp_path):
    """A box is let down on the ground, where it slides without friction: one impact, then steps of second order."""
    box = {"name": "Box", "position": [0, 0, 0.3], "shape": {"kind": "box", "params": {
        "size_x": 0.4, "size_y": 0.3, "size_z": 0.2}}}
    glide = {"name": "Glide", "kind": "free", "child": "Box", "rate": [0, 0, 0.5, 1.0, 0, 0]}
    world = mechanism_world(tmp_path, [box], [glide], integrator="bdf2", ground=GROUND)
    landed = run(world, 1 / 100, 40)
    struck = world.impacts.count
    slid = run(world, 1 / 100, 100, landed)
    assert 0 < struck == world.impacts.count
    pose = world.poses(slid)["pose"][0]
    assert pose[0, 3] == pytest.approx(1.4, abs=1e-6) and pose[2, 3] == pytest.approx(0.1, abs=1e-3)
    assert "bdf2.q" in slid.memory
