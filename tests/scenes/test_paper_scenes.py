"""The paper's scenes in benchmarks/scenes: their counts, and the behavior that the text describes."""

from math import pi

import numpy as np
import pytest

from benchmarks.scenes import aniso, hetero, twist
from benchmarks.scenes.scene import at_rest, in_balance

SMALL = {"cells": (6, 6, 19), "edge": 0.02}


@pytest.mark.parametrize("scene", [twist, hetero, aniso])
def test_grids_have_the_counts_of_table_1(scene):
    made = scene.scene()
    assert (len(made.nodes), len(made.tets)) == (made.paper["vertices"], made.paper["tets"])


@pytest.mark.parametrize("count", [1, 2, 4, 8, 16, 32])
def test_dynamic_nodes_of_twist_stand_on_the_axis_or_at_corners_of_slices(count):
    scene = twist.scene()
    nodes = scene.nodes[scene.dynamic(count)]
    assert len(np.unique(nodes, axis=0)) == count
    places, members = np.unique(nodes[:, 0].round(6), return_counts=True)
    even = 0.2 / (len(places) + 1)
    assert np.abs(np.diff(places, prepend=0.0, append=0.2) - even).max() <= 0.011
    off_axis = np.abs(nodes[:, 1:])
    assert (off_axis < 1e-9).all() if count <= 4 else (np.abs(off_axis - 0.03) < 1e-9).all()
    assert set(members) == {1 if count <= 4 else 4}


def test_the_moved_end_of_twist_turns_by_half_a_turn_and_comes_back():
    scene = twist.scene()
    world = scene.world("vanilla")
    q = world.initial_state().q
    right = np.flatnonzero(scene.nodes[:, 0] > 0.2 - 1e-9)
    away, back = (world.coordinates.positions(q, time)[right] for time in (twist.AWAY, twist.RELEASE))
    assert away == pytest.approx(scene.nodes[right] * [1, -1, -1] + [0, 0, twist.RISE], abs=1e-9)
    assert back == pytest.approx(scene.nodes[right], abs=1e-9)
    rate = world.coordinates.compute_prescribed_rate(twist.RELEASE + 0.1)
    assert rate is None or np.abs(rate).max() < 1e-9


def turned(field):
    """(Degrees by which the bottom turns in balance, the scene, positions)."""
    scene = aniso.of(field, **SMALL)
    x = in_balance(scene.world("vanilla"), scene.nodes.copy())
    return np.degrees(aniso.turn(scene, x)), scene, x


def test_only_helical_fibers_twist_the_bar_and_the_other_hand_the_other_way():
    right, _, _ = turned(aniso.FIBERS["helical"])
    left, _, _ = turned({"kind": "helix", "params": {**aniso.FIBERS["helical"]["params"], "fiber_angle": -pi / 4}})
    assert right > 20.0  # fibers that are pulled unwind
    assert left == pytest.approx(-right, rel=0.1)
    for name in ("horizontal", "vertical"):
        straight, scene, x = turned(aniso.FIBERS[name])
        assert abs(straight) < 0.02 * right
        assert x[:, 2].min() < 1.01 * scene.nodes[:, 2].min()  # it is stretched all the same


def test_diagonal_fibers_make_the_bar_lean_and_do_not_twist_it():
    degrees, scene, x = turned(aniso.FIBERS["diagonal"])
    low = scene.nodes[:, 2] < scene.nodes[:, 2].min() + 1e-9
    along, across = (x - scene.nodes)[low, :2].mean(axis=0)
    assert abs(along) > 5e-3 and abs(across) < 0.2 * abs(along) and abs(degrees) < 0.5


def test_the_resting_shape_of_layers_is_vanillas_and_the_lower_soft_layer_bulges_more():
    scene = hetero.scene((4, 4, 10), 0.0135, (2, 2, 2, 2, 2))
    target = in_balance(scene.world("vanilla"), scene.nodes.copy())
    x = at_rest(scene)
    assert np.abs(x - target).max() <= 1e-6 * np.linalg.norm(np.ptp(scene.nodes, axis=0))

    def width(row):
        return np.ptp(x[np.abs(scene.nodes[:, 2] - row * 0.0135) < 1e-9, 0])

    stiff, lower, upper = width(5), width(3), width(7)
    assert lower > 1.01 * upper > 1.005 * stiff > 1.004 * 0.054


def test_a_conjac_bar_of_helical_fibers_comes_to_rest_as_vanilla_does():
    scene = aniso.of(aniso.FIBERS["helical"], cells=(4, 4, 12), edge=0.03)
    target = in_balance(scene.world("vanilla"), scene.nodes.copy())
    x = at_rest(scene)
    assert aniso.turn(scene, x) == pytest.approx(aniso.turn(scene, target), rel=1e-4)


def test_barcut_falls_apart_into_what_swings_what_falls_and_what_rests():
    from benchmarks.scenes import barcut

    row = barcut.row((49, 4, 4))
    swings, falls, rests = row["mean_speed_of_pieces"]
    assert row["pieces"] == 3 and len(row["ms_a_step"]) == 3
    assert rests < 1e-6 < swings < falls
    # eight frames after the second cut: a third of a second, from some speed of its swing
    assert falls == pytest.approx(9.81 * (barcut.END - max(barcut.CUTS)) / barcut.FPS, rel=0.2)
