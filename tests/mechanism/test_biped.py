"""BIPED as a user's job: a ragdoll falls down stairs, its limbs touch, its knees stay knees."""

import numpy as np

from benchmarks.scenes import biped
from solver.build.mechanisms import build_mechanisms
from solver.job.load import load


def test_a_ragdoll_falls_down_stairs_and_comes_to_rest(tmp_path):
    biped.job(tmp_path / "job")
    world = build_mechanisms(load(tmp_path / "job"))
    state, count = world.initial_state(), 1 + len(biped.LIMBS)
    limits, start, energies = world.constraints.limits, world.poses(world.initial_state())["pose"], []
    assert len(limits) == 6
    for _ in range(300):
        state = world.step(state, 0.01)
        pose = world.poses(state)["pose"]
        assert np.isfinite(pose).all() and biped.lowest_point(pose[:count]) > 0.02
        place = state.q[limits.rate]
        assert (place > limits.low - 1e-9).all() and (place < limits.high + 1e-9).all()
        energies.append(world.energy(state))
    # stairs stand still, and the one who fell lies at their foot
    assert np.array_equal(pose[count:], start[count:])
    assert pose[0, 1, 3] > 1.0 and pose[0, 2, 3] < 0.6 and np.abs(state.u).max() < 0.3
    mass = sum(world.tree.inertia[i, 5, 5] for i, name in enumerate(world.tree.bodies) if name.startswith("Ragdoll/"))
    # what overlaps may be lifted out by 1 m/s, and limbs turn with it
    assert np.diff(energies).max() < 2.0 * mass * 9.81 * 0.01 and energies[-1] < energies[0] - 800.0
