"""Triangles of a sheet that pass sharp features: now, within the thickness, through it, or within a step."""

import numpy as np
import pytest
from solids import SHARP_ANGLE, box

from solver.contact.find.passing import passing_edges, passing_points
from solver.contact.find.sharp import find_sharp_features, wires

THIN, DEEP, H = 1e-3, 0.05, 0.01


def cube():
    """From the origin to (1, 1, 1): its edge from (1, 0, 1) to (1, 1, 1) lies along y."""
    x, triangles = box()
    return find_sharp_features(x, triangles, SHARP_ANGLE).at(x, np.zeros_like(x))


def wire():
    x = np.array([[1.0, 0, 1], [1, 1, 1]])
    return wires(x, np.array([[0, 1]]), SHARP_ANGLE).at(x, np.zeros_like(x))


def edges(ends, features, velocity=None):
    """Passings of edges with these ends, (e, 2, 3)."""
    x = np.asarray(ends, float).reshape(-1, 3)
    moves = np.zeros_like(x) if velocity is None else H * np.broadcast_to(velocity, x.shape)
    return passing_edges(x, np.ascontiguousarray(moves), np.arange(len(x), dtype=np.int32).reshape(-1, 2), features, H,
                         THIN, DEEP)


def faces(corners, features, velocity=None):
    x = np.asarray(corners, float).reshape(-1, 3)
    moves = np.zeros_like(x) if velocity is None else H * np.broadcast_to(velocity, x.shape)
    return passing_points(x, np.ascontiguousarray(moves), np.arange(len(x), dtype=np.int32).reshape(-1, 3), features,
                          features.corner, H, THIN, DEEP)


def alone(found):
    assert len(found.of) == 1
    return found


@pytest.mark.parametrize("up", [0.0, 5e-4, -5e-4])
def test_an_edge_that_lies_over_the_boxs_edge_passes_it(up):
    found = alone(edges([[[0.9, 0.3, 1 + up], [1.2, 0.6, 1 + up]]], cube()))
    assert found.barycentric[0] == pytest.approx(1 / 3, abs=1e-12) and found.when[0] == 0.0
    assert np.allclose(found.positions[0], [1.0, 0.4, 1.0], atol=1e-12)


def test_one_that_is_above_by_more_than_the_thickness_does_not():
    assert not len(edges([[[0.9, 0.3, 1.01], [1.2, 0.6, 1.01]]], cube()).of)


def test_one_that_ends_before_the_boxs_edge_does_not():
    assert not len(edges([[[0.5, 0.3, 1.0], [0.9995, 0.3, 1.0]]], cube()).of)


def test_one_that_cuts_the_edge_off_passes_it_as_far_as_it_is_not_too_deep():
    found = alone(edges([[[0.9, 0.5, 1.05], [1.05, 0.5, 0.9]]], cube()))
    assert found.barycentric[0] == pytest.approx(0.5) and np.allclose(found.positions[0], [1.0, 0.5, 1.0])
    assert not len(edges([[[0.5, 0.5, 1.05], [1.05, 0.5, 0.5]]], cube()).of)


def test_one_below_a_thin_plate_does_not_pass_the_edges_of_its_top():
    x, triangles = box((0, 0, 0.98), (1, 1, 1))
    plate = find_sharp_features(x, triangles, SHARP_ANGLE).at(x, np.zeros_like(x))
    found = alone(edges([[[0.9, 0.3, 0.98], [1.2, 0.6, 0.98]]], plate))
    assert found.positions[0, 2] == 0.98


@pytest.mark.parametrize("features", [cube, wire])
def test_one_that_falls_through_within_the_step_is_found_where_it_meets_it(features):
    falling = [[[0.9, 0.3, 1.02], [1.2, 0.6, 1.02]]]
    found = alone(edges(falling, features(), [0, 0, -4.0]))
    assert found.when[0] == pytest.approx(0.5) and found.barycentric[0] == pytest.approx(1 / 3)
    assert not len(edges(falling, features(), [0, 0, -1.0]).of)


def test_a_feature_that_rises_is_found_as_well():
    x, triangles = box()
    sharp = find_sharp_features(x, triangles, SHARP_ANGLE)
    found = alone(edges([[[0.9, 0.3, 1.02], [1.2, 0.6, 1.02]]], sharp.at(x, np.broadcast_to([0, 0, 4.0], x.shape))))
    assert found.when[0] == pytest.approx(0.5) and np.allclose(found.positions[0], [1.0, 0.4, 1.0])


@pytest.mark.parametrize("features", [cube, wire])
def test_what_moves_away_is_let_go(features):
    near = [[[0.9, 0.3, 1.0005], [1.2, 0.6, 1.0005]]]
    assert len(edges(near, features()).of) == 1 and len(edges(near, features(), [0, 0, -0.01]).of) == 1
    assert not len(edges(near, features(), [0, 0, 0.01]).of)


def test_an_edge_along_the_boxs_edge_passes_with_the_ends_that_lie_on_it():
    found = edges([[[1.0, 0.25, 1.0], [1.0, 0.5, 1.0]], [[1.0, 0.75, 1.0], [1.0, 1.0, 1.0]],
                   [[0.9, 0.25, 1.0], [0.9, 0.5, 1.0]]], cube())
    along = (found.positions[:, 0] == 1.0) & (found.positions[:, 2] == 1.0)
    ends = set(zip(found.of[along].tolist(), found.barycentric[along].tolist(), found.positions[along, 1].tolist()))
    assert ends == {(0, 0.0, 0.25), (0, 1.0, 0.5), (1, 0.0, 0.75), (1, 1.0, 1.0)} and not (found.of == 2).any()


def test_an_end_that_hits_the_edge_exactly_is_found_from_both_sides():
    found = edges([[[0.9, 0.5, 1.0], [1.0, 0.5, 1.0]], [[1.0, 0.5, 1.0], [1.1, 0.6, 1.0]]], cube())
    assert sorted(zip(found.of.tolist(), found.barycentric.tolist())) == [(0, 1.0), (1, 0.0)]


def test_an_edge_over_the_corner_passes_both_edges_there():
    found = edges([[[0.9, 1.1, 1.0], [1.1, 0.9, 1.0]]], cube())
    assert len(found.of) >= 2 and np.allclose(found.positions, 1.0) and np.allclose(found.barycentric, 0.5)


@pytest.mark.parametrize("up", [0.0, 5e-4, -5e-4, -0.02])
def test_a_face_over_a_corner_is_found_with_its_weights(up):
    corners = [[0.8, 0.8, 1 + up], [1.4, 0.8, 1 + up], [0.8, 1.4, 1 + up]]
    found = alone(faces([corners], cube()))
    assert np.allclose(found.barycentric[0], 1 / 3) and np.allclose(found.positions[0], 1.0)


def test_a_face_beside_a_corner_or_far_above_it_is_not():
    assert not len(faces([[[0.5, 0.5, 1.0], [0.9, 0.5, 1.0], [0.5, 0.9, 1.0]]], cube()).of)
    assert not len(faces([[[0.8, 0.8, 1.1], [1.4, 0.8, 1.1], [0.8, 1.4, 1.1]]], cube()).of)


def test_a_face_that_falls_on_a_corner_within_the_step_is_found():
    falling = [[[0.8, 0.8, 1.03], [1.4, 0.8, 1.03], [0.8, 1.4, 1.03]]]
    found = alone(faces(falling, cube(), [0, 0, -4.0]))
    assert found.when[0] == pytest.approx(0.75) and np.allclose(found.barycentric[0], 1 / 3)
    assert not len(faces(falling, cube(), [0, 0, 4.0]).of)


def test_room_is_made_for_as_many_as_there_are():
    y = np.linspace(0.05, 0.95, 700)
    ends = np.stack([np.stack([0.9 + 0 * y, y, 1 + 0 * y], 1), np.stack([1.1 + 0 * y, y, 1 + 0 * y], 1)], 1)
    assert len(edges(ends, cube()).of) == 700
