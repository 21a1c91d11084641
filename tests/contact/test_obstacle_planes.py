"""Planes by which obstacles keep points of drafts out: where they stand, and which points have none."""

import numpy as np
import pytest
import solids

from solver.contact.find.obstacle_planes import ObstacleMesh
from solver.coordinates.prescribed import Constant, Motion

CORNERS, SIDES = solids.box()
SQUARE = np.array([[0, 0, 0], [1, 0, 0], [0, 1, 0], [1, 1, 0]], float)
HALVES = np.array([[0, 1, 3], [0, 3, 2]], np.int32)
MARGIN, H = 0.01, 0.02


def box(low=(0, 0, 0), high=(1, 1, 1)):
    vertices, triangles = solids.box(low, high)
    return ObstacleMesh(triangles, Constant(vertices))


def planes(mesh, before, end, side=1.0):
    return mesh.planes(np.atleast_2d(np.asarray(before, float)), np.atleast_2d(np.asarray(end, float)), 0.0, H, side,
                       MARGIN)


def test_a_point_that_would_be_inside_has_the_plane_of_the_face_that_it_came_through():
    found = planes(box(), [[0.5, 0.4, 1.03], [-0.02, 0.5, 0.3], [0.5, 0.5, 1.5]],
                   [[0.5, 0.4, 0.9], [0.2, 0.5, 0.3], [0.5, 0.5, 1.3]])
    assert found.points.tolist() == [0, 1]
    np.testing.assert_allclose(found.positions, [[0.5, 0.4, 1.0], [0.0, 0.5, 0.3]], atol=1e-12)
    np.testing.assert_allclose(found.normals, [[0, 0, 1], [-1, 0, 0]], atol=1e-12)


def test_a_point_that_is_inside_has_a_plane_wherever_it_goes():
    """Its velocity points outwards, but external forces may keep it inside."""
    found = planes(box(), [0.5, 0.5, 0.99], [0.5, 0.5, 1.2])
    np.testing.assert_allclose(found.normals, [[0, 0, 1]], atol=1e-12)
    np.testing.assert_allclose(found.positions[0, 2], 1.0)


def test_a_point_that_falls_by_an_edge_is_not_thrown_off():
    """No plane is above it at its end."""
    found = planes(box(), [1.005, 0.5, 1.02], [1.005, 0.5, 0.8])
    assert np.einsum("ij,ij->i", np.array([1.005, 0.5, 0.8]) - found.positions, found.normals) > 0.0
    assert planes(box(), [1.2, 0.5, 1.02], [1.2, 0.5, 0.8]) is None


def test_a_point_between_a_floor_and_a_wall_does_not_go_through_the_floor():
    floor, wall = box((0, 0, -1), (3, 1, 0)), box((-1, 0, -1), (0, 1, 2))
    before, end = [0.02, 0.5, 0.01], [0.02, 0.5, -0.2]
    np.testing.assert_allclose(planes(floor, before, end).normals, [[0, 0, 1]], atol=1e-12)
    assert planes(wall, before, end) is None or planes(wall, before, end).normals[0, 0] == 1.0


def test_what_goes_right_through_a_thin_plate_leaves_where_it_came_in():
    plate = box((0, 0, -0.004), (1, 1, 0))
    for before, end, normal in ((0.05, -0.1, 1.0), (-0.05, 0.1, -1.0)):
        found = planes(plate, [0.5, 0.5, before], [0.5, 0.5, end])
        np.testing.assert_allclose(found.normals, [[0, 0, normal]], atol=1e-12)


@pytest.mark.parametrize("height, side", [(0.2, 1.0), (-0.2, -1.0)])
def test_a_sheet_holds_what_begins_on_either_side_of_it_and_nothing_beside_it(height, side):
    sheet = ObstacleMesh(HALVES, Constant(SQUARE))
    start = np.array([[0.5, 0.5, height], [0.3, 0.6, height], [1.4, 0.5, -height]])
    assert sheet.side_of(start) == side
    # a tenth of it beyond, and so far in by now
    for before in (0.01, -0.01):
        found = planes(sheet, [0.5, 0.5, side * before], [0.5, 0.5, -side * 0.05], side)
        np.testing.assert_allclose(found.normals, [[0, 0, side]], atol=1e-12)
    assert planes(sheet, [1.05, 0.5, side * 0.01], [1.05, 0.5, -side * 0.05], side) is None


def test_a_box_that_is_turned_inside_out_keeps_out_what_is_out_of_it():
    turned = ObstacleMesh(SIDES[:, ::-1], Constant(CORNERS))
    side = turned.side_of(np.array([[0.5, 0.5, 1.3], [0.6, 0.5, 1.2]]))
    np.testing.assert_allclose(planes(turned, [0.5, 0.5, 1.01], [0.5, 0.5, 0.9], side).normals, [[0, 0, 1]],
                               atol=1e-12)


def test_planes_are_those_of_a_moving_mesh_at_the_end_of_the_step():
    way = np.stack([CORNERS + [0.0, 0.0, 0.5 * k * H] for k in range(5)])
    mesh = ObstacleMesh(SIDES, Motion(way, H))
    found = planes(mesh, [0.5, 0.5, 1.002], [0.5, 0.5, 1.002])
    np.testing.assert_allclose(found.positions, [[0.5, 0.5, 1.01]], atol=1e-12)
    np.testing.assert_allclose(found.velocities, [[0.0, 0.0, 0.5]], atol=1e-9)


def test_normals_turn_with_a_mesh_that_tips_over():
    def tipped(angle):
        c, s = np.cos(angle), np.sin(angle)
        return CORNERS @ np.array([[c, 0, -s], [0, 1, 0], [s, 0, c]])

    mesh = ObstacleMesh(SIDES, Motion(np.stack([tipped(0.2 * k) for k in range(5)]), H))
    found = planes(mesh, [0.5, 0.5, 1.001], [0.5, 0.5, 1.001])
    np.testing.assert_allclose(found.normals, [[np.sin(0.2), 0, np.cos(0.2)]], atol=1e-9)


def test_long_thin_triangles_are_sampled_along_them_alone():
    """A third of the places that as many equal parts of all sides have, where the column is thirty spacings long."""
    angles = np.linspace(0.0, 2.0 * np.pi, 1000, endpoint=False)
    ring = np.stack([np.cos(angles), np.sin(angles), np.zeros(1000)], axis=1)
    k, after = np.arange(1000), (np.arange(1000) + 1) % 1000
    sides = np.concatenate([np.stack([k, after, after + 1000], axis=1), np.stack([k, after + 1000, k + 1000], axis=1)])
    column = ObstacleMesh(sides.astype(np.int32), Constant(np.concatenate([ring, ring + [0, 0, 30.0]])))
    assert len(column._sampled_triangles) < 2000 * 31**2 / 3
    found = planes(column, [1.001, 0.0, 17.3], [0.9, 0.0, 17.3])
    np.testing.assert_allclose(found.normals, [[1, 0, 0]], atol=1e-2)
