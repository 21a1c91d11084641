"""New soft bodies that are dropped: no needles, no spin of its own, not deep in the ground."""

import numpy as np
import pytest
from matrix import some

from benchmarks import impacts


def coarse_cube():
    return impacts.standing(*impacts.mirrored((2, 2, 2), (1.0, 1.0, 1.0)), True)


@pytest.mark.parametrize("name,made", some(
    [("coarse", coarse_cube), ("cube", impacts.cube), ("torus", impacts.torus)], ("coarse", coarse_cube)))
def test_what_lands_looks_right(name, made):
    row = impacts.dropped(name, 1.0, made())
    print(row)
    assert row["stretch"] <= 2.0 and row["turned"] <= 1.0 and 0.0 < row["sink"] <= 0.02
    assert row["longest edge, ours"] > 1.1  # it was hit
    assert row["turned, ConJac"] <= 1.0


@pytest.mark.long
def test_what_is_small_and_falls_far_is_not_turned_by_conjac():
    """It is pressed to half its height. What held it at its anchors turned it by .3 degrees, and conjugate gradients
    on a factor without its inertia by .003."""
    shape = impacts.standing(*impacts.mirrored((4, 4, 4), (1.0, 1.0, 1.0)), True)
    turned = impacts.followed(0.2 * shape.nodes + [0.0, 0.0, impacts.DROP], shape.tets)
    print(turned)
    assert turned <= 1e-4


def test_a_turned_body_is_seen_to_be_turned():
    shape = impacts.cube()
    world, _ = impacts.world_of(shape.nodes, shape.tets, impacts.QUICK)
    c, s = np.cos(np.radians(7.0)), np.sin(np.radians(7.0))
    turned = shape.nodes @ np.array([[c, 0.0, s], [0.0, 1.0, 0.0], [-s, 0.0, c]])
    assert impacts.turned(world, [shape.nodes, turned]) == pytest.approx(7.0, abs=1e-6)
    assert impacts.longest(world, [1.5 * shape.nodes]) == pytest.approx(1.5)


def test_what_conjac_drops_spins_by_where_its_nodes_are():
    """Nodes at mirrored places turn the cube no more than its mesh does, four at others do: the ground pushes where
    they let it dent, and flight keeps that spin."""
    shape = impacts.standing(*impacts.mirrored((4, 4, 4), (1.0, 1.0, 1.0)), True)
    high, most = shape.nodes + [0.0, 0.0, impacts.DROP], {}
    corners = [[x, y, z] for x in (-0.5, 0.5) for y in (-0.5, 0.5) for z in (0.0, 1.0)]
    for name, places in (("mirrored", corners), ("others", corners[:3] + [[0.25, 0.25, 0.75]])):
        near = [int(np.linalg.norm(shape.nodes - place, axis=1).argmin()) for place in places]
        world, timeline = impacts.world_of(high, shape.tets, impacts.QUICK, method={"kind": "conjac"}, chosen=near)
        frames, _, halved = impacts.seen(world, timeline)
        assert not halved
        most[name] = impacts.turned(world, frames)
    assert most["mirrored"] < 0.3 and most["others"] > 1.0
