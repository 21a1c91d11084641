"""Sharp features: corners, edges, nails and wires, of an object at rest and of one that moves."""

import numpy as np
import pytest
from solids import SHARP_ANGLE, ball, box, lathe, square

from solver.contact.find.features import join_features, steep_normals
from solver.contact.find.sharp import find_sharp_features, nails, wires


def features_of(x, triangles, **choices):
    return find_sharp_features(x, triangles, **{"angle": SHARP_ANGLE, **choices}).at(x, np.zeros_like(x))


def unordered(normals):
    return sorted(tuple(np.round(n, 12) + 0.0) for n in normals)


def test_a_box_has_eight_corners_of_three_normals_and_twelve_edges_of_two():
    low, high = np.array([-1.0, 2.0, 0.5]), np.array([3.0, 2.5, 4.0])
    found = features_of(*box(low, high))
    assert found.points.shape == (8, 3) and found.corner.all() and (found.point_counts == 3).all()
    for p, normals in zip(found.points, found.point_normals):
        out = np.where(p == high, 1.0, -1.0)
        assert unordered(normals) == unordered(np.diag(out))
    assert found.edges.shape == (12, 2) and not found.thin.any() and len(np.unique(found.run)) == 12
    for (a, b), (left, right) in zip(found.points[found.edges], found.edge_normals):
        along, middle = b - a, 0.5 * (a + b)
        across = np.abs(along) == 0.0
        out = np.where(across, np.sign(middle - 0.5 * (low + high)), 0.0)
        assert unordered([left, right]) == unordered(np.diag(out)[across])
        # left is left, seen from outside
        assert np.cross(left, right) @ along > 0.0


def test_a_smooth_ball_has_none():
    found = features_of(*ball())
    assert len(found.points) == len(found.edges) == 0


def test_a_cylinder_has_two_rings_without_corners():
    found = features_of(*lathe([0.5, 0.5], [0.0, 1.0], 32))
    assert len(found.points) == len(found.edges) == 64 and not found.corner.any() and (found.point_counts == 0).all()
    assert len(np.unique(found.run)) == 2
    for run in range(2):
        edges = found.edges[found.run == run]
        assert np.array_equal(edges[:, 1], np.roll(edges[:, 0], -1))
        # all go the same way around: one normal stays the cap's
        caps = np.abs(found.edge_normals[found.run == run][:, :, 2])
        assert np.allclose(caps[:, 0], caps[0, 0], atol=1e-12) and sorted(caps[0].round(12)) == [0.0, 1.0]


def test_few_sides_make_corners_of_three_normals():
    found = features_of(*lathe([0.5, 0.5], [0.0, 1.0], 8))
    assert found.corner.all() and len(found.points) == 16 and (found.point_counts == 3).all()
    assert len(found.edges) == 24


def test_a_fan_of_many_triangles_has_one_normal_for_each_side():
    x, triangles = lathe([0.5, 0.5, 0.5], [0.0, 0.5, 1.0], 4)
    found = features_of(x, triangles)
    # the four points halfway up are on edges that run on
    half = found.points[:, 2] == 0.5
    assert half.sum() == 4 and not found.corner[half].any() and found.corner[~half].all()
    assert (found.point_counts[~half] == 3).all() and len(np.unique(found.run)) == 12
    lengths = np.linalg.norm(found.point_normals[~half], axis=2)
    assert np.allclose(lengths[:, :3], 1.0)


def test_hollow_edges_are_not_sharp():
    """A step, as of a stair: the inner edge is nothing that cloth can hang over."""
    x, triangles = lathe([1.0, 1.0, 0.5, 0.5], [0.0, 0.5, 0.5, 1.0], 32)
    found = features_of(x, triangles)
    hollow = (found.points[:, 2] == 0.5) & (np.hypot(*found.points.T[:2]) < 0.75)
    assert len(np.unique(found.run)) == 3 and not hollow.any()


def test_a_solid_that_is_inside_out_has_the_same_features():
    x, triangles = box()
    first, second = features_of(x, triangles), features_of(x, np.ascontiguousarray(triangles[:, ::-1]))
    assert len(second.edges) == 12
    for p, q in zip(first.point_normals, second.point_normals):
        assert unordered(p) == unordered(q)


def test_a_sheet_has_its_border():
    x, triangles = square(4)
    found = features_of(x, triangles)
    assert found.corner.sum() == 4 and len(found.edges) == 16 and len(np.unique(found.run)) == 4
    assert (found.point_counts[found.corner] == 4).all()
    for (a, b), normals in zip(found.points[found.edges], found.edge_normals):
        off = 0.5 * (a + b) - [0.5, 0.5, 0.0]
        off = np.where(np.abs(off) == 0.5, np.sign(off), 0.0)
        assert np.allclose(normals @ off, np.cos(np.deg2rad(80.0)))
        assert np.allclose(np.sort(normals[:, 2]), np.array([-1, 1]) * np.sin(np.deg2rad(80.0)))


def test_a_blade_has_normals_as_a_sheets_border():
    x, triangles = square(1)
    found = features_of(x, np.concatenate([triangles, triangles[:, ::-1]]))
    assert len(found.edges) == 4
    middle = found.points[found.edges].mean(axis=1) - [0.5, 0.5, 0.0]
    assert np.allclose(np.einsum("eki,ei->ek", found.edge_normals, middle), 0.5 * np.cos(np.deg2rad(80.0)))


def test_marked_edges_are_sharp_though_they_are_blunt():
    x, triangles = ball(32)
    ring = 5 * 32 + np.arange(32)
    marked = np.stack([ring, np.roll(ring, -1)], 1)
    found = features_of(x, triangles, marked=marked)
    assert len(found.edges) == 32 and not found.corner.any() and len(np.unique(found.run)) == 1
    assert np.allclose(found.points[:, 2], x[ring[0], 2])


def test_a_mark_on_a_flat_edge_says_nothing():
    x, triangles = box()
    diagonals = np.array([[0, 3], [4, 7]])
    assert len(features_of(x, triangles, marked=diagonals).edges) == 12


def test_a_mark_that_ends_somewhere_has_points_with_the_normals_of_its_edge():
    x, triangles = ball(32)
    ring = 5 * 32 + np.arange(6)
    found = features_of(x, triangles, marked=np.stack([ring[:-1], ring[1:]], 1))
    assert len(found.edges) == 5 and found.corner.sum() == 2
    assert (found.point_counts[found.corner] == 2).all()


def test_a_wider_angle_leaves_blunt_edges_out():
    x, triangles = lathe([0.5, 0.5], [0.0, 1.0], 8)
    assert len(features_of(x, triangles, angle=np.deg2rad(60.0)).edges) == 16


def test_edges_with_three_faces_are_left_out():
    x, triangles = box()
    fin = np.array([[0, 1, 8]], np.int32)
    found = find_sharp_features(np.vstack([x, [[-1.0, -1.0, 0.5]]]), np.concatenate([triangles, fin]), SHARP_ANGLE)
    assert {0, 1} not in [set(found.vertices[e].tolist()) for e in found.edges]


def test_features_go_with_what_they_are_of():
    x, triangles = box((-0.5, -0.5, -0.5), (0.5, 0.5, 0.5))
    sharp = find_sharp_features(x, triangles, SHARP_ANGLE)
    spin, speed = np.array([0.3, -1.0, 2.0]), np.array([1.0, 0.0, -3.0])

    def turned(t):
        angle = t * np.linalg.norm(spin)
        axis = spin / np.linalg.norm(spin)
        cross = np.array([[0, -axis[2], axis[1]], [axis[2], 0, -axis[0]], [-axis[1], axis[0], 0]])
        return np.eye(3) + np.sin(angle) * cross + (1 - np.cos(angle)) * cross @ cross

    t, h = 0.7, 1e-6
    places = [x @ turned(s).T + s * speed for s in (t - h, t, t + h)]
    velocity = speed + np.cross(spin, x @ turned(t).T)
    at = sharp.at(places[1], velocity, number=3)
    assert np.allclose((sharp.at(places[2], velocity).points - sharp.at(places[0], velocity).points) / (2 * h),
                       at.velocity, atol=1e-8)
    rest = sharp.at(x, np.zeros_like(x))
    assert np.allclose(at.edge_normals, rest.edge_normals @ turned(t).T, atol=1e-14)
    assert np.allclose(at.point_normals, rest.point_normals @ turned(t).T, atol=1e-14)
    assert (at.point_object == 3).all() and (at.edge_object == 3).all()


def test_a_nail_is_its_tip_with_four_steep_normals():
    x = np.array([[0.0, 0, 0], [0, 0, 0.1], [1, 0, 0], [1.1, 0, 0.2]])
    found = nails(np.array([[0, 1], [2, 3]])).at(x, np.ones_like(x))
    assert np.array_equal(found.points, x[1::2]) and found.corner.all() and (found.point_counts == 4).all()
    for head, tip, normals in zip(x[::2], x[1::2], found.point_normals):
        axis = (tip - head) / np.linalg.norm(tip - head)
        assert np.allclose(normals @ axis, np.cos(np.deg2rad(80.0)))
        assert np.allclose(normals.sum(axis=0), 4 * np.cos(np.deg2rad(80.0)) * axis, atol=1e-14)


def test_a_wire_has_corners_where_it_ends_and_turns():
    x = np.array([[0.0, 0, 0], [1, 0.1, 0], [2, 0, 0], [2, 1, 0]])
    found = wires(x, np.array([[1, 0], [1, 2], [2, 3]]), SHARP_ANGLE).at(x, np.zeros_like(x))
    assert found.thin.all() and (found.point_counts == 0).all() and not found.edge_normals.any()
    assert found.corner.tolist() == [True, False, True, True]
    first = found.edges[found.run == found.run[0]]
    assert np.array_equal(first[:-1, 1], first[1:, 0])


@pytest.mark.parametrize("along", [[1.0, 0, 0], [0.6, 0.8, 0.0]])
def test_steep_normals_of_a_wire_allow_the_way_off_it_alone(along):
    along, out = np.array([along]), np.array([[0.3, -0.2, 1.0]])
    normals = steep_normals(out, along)[0]
    away = out[0] - (out[0] @ along[0]) * along[0]
    assert np.allclose(normals @ along[0], 0.0, atol=1e-15) and np.allclose(np.linalg.norm(normals, axis=1), 1.0)
    assert np.allclose(normals @ away, np.cos(np.deg2rad(80.0)) * np.linalg.norm(away))
    assert np.allclose(np.cross(normals.sum(axis=0), away), 0.0, atol=1e-14)


def test_features_of_several_things_stand_behind_each_other():
    x, triangles = box()
    tips = np.array([[0.0, 0, 0], [0, 0, 1]])
    wire = np.array([[0.0, 0, 5], [1, 0, 5]])
    one = np.array([[0, 1]])
    several = [find_sharp_features(x, triangles, SHARP_ANGLE).at(x, np.zeros_like(x), 0),
               nails(one).at(tips, np.zeros_like(tips), 1),
               wires(wire, np.array([[0, 1]]), SHARP_ANGLE).at(wire, np.zeros_like(wire), 2)]
    found = join_features(several)
    assert found.points.shape == (11, 3) and found.edges.shape == (13, 2) and found.point_normals.shape == (11, 4, 3)
    assert found.edges[-1].tolist() == [9, 10] and found.run[-1] == 12
    assert found.point_object.tolist() == [0] * 8 + [1, 2, 2] and found.edge_object.tolist() == [0] * 12 + [2]
    assert join_features([]).points.shape == (0, 3) and join_features([]).edge_normals.shape == (0, 2, 3)
