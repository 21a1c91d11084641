"""The ground below a soft body carries the rigid bodies that lie on it: it is as much stiffer as they are heavier."""

import numpy as np
import pytest
from test_rigid_and_soft import RIGID, made, rigid_on_jelly

GROUND = {"point": [0, 0, 0], "normal": [0, 0, 1], "stiffness_per_area": 3e7}


def stiffness(folder, mass, **scene):
    """Return the stiffness of the ground at all nodes of the jelly [N/m], and the jelly's mass [kg]."""
    part = made(rigid_on_jelly(folder, floor=False, mechanism={"name": "M", "bodies": [{**RIGID, "mass": mass}]},
                               ground=GROUND, **scene)).parts[0]
    nodes = part.bodies_in_world[0].nodes
    return part.ground.stiffness[nodes], float(part.mass[nodes].sum())


def test_it_is_as_much_stiffer_as_the_heaviest_that_may_lie_on_it_is_heavier(tmp_path):
    light, own = stiffness(tmp_path / "light", 0.1)
    heavy, _ = stiffness(tmp_path / "heavy", 40.0 * own)
    assert heavy == pytest.approx(40.0 * light)
    assert np.array_equal(stiffness(tmp_path / "lighter", 0.01)[0], light)
