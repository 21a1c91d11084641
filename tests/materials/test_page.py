"""The manual's table of materials agrees with the kernels."""

import re
from pathlib import Path

import numpy as np
import pytest
from scipy.optimize import brentq
from test_materials import LANES, MATERIALS, Lanes

PAGE = Path(__file__).resolve().parents[2] / "docs" / "materials.md"
ROWS = {key: [float(number.replace("−", "-")) for number in numbers] for key, *numbers in re.findall(
    r"^\|[^|]+\| `(\w+)` \| ([−\d.]+) \| ([\d.]+) \| ([\d.]+) \| ([\d.]+) \|", PAGE.read_text(encoding="utf-8"), re.M)}


def test_every_material_has_its_row():
    assert list(ROWS) == MATERIALS


@pytest.mark.parametrize("key", MATERIALS)
def test_force_and_volume_of_a_bar_with_free_sides(key):
    lanes, found = Lanes(key, youngs_modulus=1.0, poisson_ratio=0.45), []

    def stress(along, across):
        return lanes.stress(np.broadcast_to(np.diag([along, across, across]), (LANES, 3, 3)))[0]

    for stretch in (0.6, 1.5):
        near = stretch**-0.45  # of the balances there may be, the one that rest leads to
        side = brentq(lambda across, along=stretch: stress(along, across)[1, 1], 0.75 * near, 1.3 * near)
        found += [stress(stretch, side)[0, 0], stretch * side**2]
    assert found == pytest.approx(ROWS[key], abs=6e-4)
