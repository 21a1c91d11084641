"""Visible energy is measured in modes of the body itself."""

import numpy as np
import pytest

from benchmarks.scenes import plucked
from solver.state import State


def test_a_mode_pushes_back_with_its_own_frequency():
    scene = plucked.scene()
    world = scene.world("vanilla")
    visible = plucked.Visible(world, scene.nodes)
    free, still = world.coordinates.free, np.zeros_like(scene.nodes)
    for mode, stiffness in zip(visible._modes.T[:3], visible._stiffness):
        moved = still.copy()
        moved[free] = 1e-6 * mode.reshape(-1, 3) / np.abs(mode).max()
        ahead, behind = (world.evaluate(scene.nodes + side * moved, 0.0)[0] for side in (1.0, -1.0))
        force = -0.5 * (ahead - behind)[free].ravel()
        inert = np.repeat(world.mass[free], 3) * moved[free].ravel()
        assert np.abs(force - stiffness * inert).max() <= 1e-4 * np.abs(force).max()
        energy = 0.5 * float(force @ moved[free].ravel())
        state = State(0.0, (scene.nodes + moved)[free].ravel(), np.zeros(3 * len(free)))
        assert visible.of(state) == pytest.approx(energy, rel=1e-3)
