"""Small systems in which tuned constants of contact with features and of contact times steer; see `tuned_units`."""

from types import SimpleNamespace

import numpy as np
from solids import box
from tuned_units_contact import Interpreted
from tuned_units_sliding import stand_in

from solver.contact.find import distance_kernels, impact_times_kernels
from solver.contact.find.ground import Ground
from solver.contact.find.mesh import Surfaces
from solver.parts.eol import cone_kernels, touching_kernels
from solver.parts.eol.feature_contacts import FeatureContacts, _distinct
from solver.parts.eol.inside_obstacles import InsideObstacles
from solver.parts.eol.obstacles import FeatureObstacles
from solver.parts.eol.offset_surface import offset_surface
from solver.sheet.sheet_mesh import SheetMesh

FACE = np.array([[0, 1, 2]], np.int32)
UP = np.array([0.0, 0.0, 1.0])


def directions_across_an_edge():
    """Rows of flat cloth on edges whose direction across the cloth is of these lengths."""
    found = []
    for length in (0.3, 0.8):
        along = np.array([[length, 0.0, np.sqrt(1.0 - length**2)]])
        vertex, factor, target = np.zeros(8, np.int32), np.zeros((8, 5)), np.zeros(8)
        with Interpreted(cone_kernels):
            count = cone_kernels.rows_of(
                np.zeros((1, 3)), np.zeros(1, np.int32), np.zeros((1, 1, 3)), UP[None], np.ones(1, bool),
                np.zeros(1, bool), np.zeros(1, bool), np.array([[1.0, 0.0]]), along, np.zeros((1, 3)), np.zeros((1, 3)),
                1.0, 8, vertex, factor, target, np.zeros(8, bool), np.zeros(8, np.int64))
        found.append((int(count), factor.round(6).tolist()))
    return found


def edges_that_lie_on_a_feature():
    """Directions in which vertices do not slide where an edge of the cloth leans to the feature by these cosines."""
    found = []
    for cosine in (0.9998, 0.995):
        material = np.array([[0.0, 0.0], [1.0, 0.0], [0.0, 1.0]])
        x = np.array([[0.0, 0.0, 0.0], [cosine, np.sqrt(1.0 - cosine**2), 0.0], [0.0, 1.0, 0.0]])
        tangent, gradients = np.zeros((2, 2)), np.zeros((1, 3, 2))
        gradients[0, 0, 0] = gradients[0, 1, 1] = gradients[0, 0, 1] = gradients[0, 2, 0] = 1.0
        with Interpreted(cone_kernels):
            cone_kernels.folds_of(
                x, material, FACE, np.ones(1), gradients, np.array([[0, 1], [1, 2], [2, 0]], np.int32),
                np.array([0, 1, -1], np.int32), np.tile([1.0, 0.0, 0.0], (2, 1)), np.zeros((2, 2)), np.zeros(2, bool),
                np.zeros(2, bool), tangent, np.zeros(2))
        found.append(tangent.round(6).tolist())
    return found


def speeds_of_separation():
    """Whether cloth 1 m inside comes out faster than 10 cm/s and slower than 5 m/s."""
    speed = FeatureContacts._closing(SimpleNamespace(h=0.01), np.array([-1.0]))[0]
    return speed > 0.1, speed < 5.0


def vertices_that_sway():
    """Numbers of rows of cloth that slides over the ground at these heights, relative to its move in a step."""
    found = []
    rest = np.array([[0.0, 0.0], [0.2, 0.0], [0.2, 0.2], [0.0, 0.2]])
    for high in (0.2, 0.8):
        ground = Ground(np.zeros(3), UP, 0.4)
        mesh = SheetMesh.at_rest(np.column_stack([rest, np.full(4, 0.01 * high)]), rest,
                                 np.array([[0, 1, 2], [0, 2, 3]], np.int32))
        mesh.v[:] = [1.0, 0.0, 0.0]
        things = FeatureObstacles([], ground, 0.0)
        contacts = FeatureContacts.around(mesh, things, things.at(0.0, 0.01), np.zeros(3), 0.01)
        found.append(len(contacts._vertices().vertex))
    return found


def directions_at_a_vertex():
    """Numbers of contacts of a vertex with two directions of these cosines."""
    return [len(_distinct(SimpleNamespace(
        vertex=np.zeros(2, int), gap=np.array([0.0, 1.0]),
        normal=np.array([[1.0, 0.0, 0.0], [cosine, np.sqrt(1.0 - cosine**2), 0.0]])))) for cosine in (0.95, 0.995)]


def edges_through_a_wall():
    """Whether edges of cloth are inside walls, one between samples and one in the first half."""
    found = []
    for low, high in ((0.53, 0.6), (0.3, 0.45)):
        x, triangles = box((low, -1.0, -1.0), (high, 1.0, 1.0))
        obstacles = SimpleNamespace(is_closed=np.array([True]), triangles=triangles.astype(np.int32),
                                    of_triangle=np.zeros(len(triangles), int), of_vertex=np.zeros(len(x), int))
        test = InsideObstacles(obstacles, 2)
        nodes = np.concatenate([[[0.0, 0.0, 0.0], [1.0, 0.0, 0.0]], x])
        pairs = test.of_pairs(np.array([[0, 1, 2, 3]]), np.array([[1.0, 0.0, -1.0, 0.0]]), nodes)
        found.append(bool(test.contain(pairs, nodes)[0]))
    return found


def ridges_that_are_offset():
    """Positions of vertices of ridges that are so sharp [rad], offset, to the last bit."""
    found = []
    for angle in (1e-5, 1e-2):
        x = np.array([[0.0, 0, 0], [0, 1, 0], [-1, 0.5, -angle], [1, 0.5, -angle], [-1, -1, -angle]])
        found.append(offset_surface(x, np.array([[0, 1, 2], [1, 0, 3], [0, 2, 4]]), 1.0).tobytes())
    return found


def _beside(x, sharp, even):
    """Whether a pair of a point and a triangle is kept. sharp, even: of the sides opposite to its corners."""
    x = np.concatenate([[x], [[0.0, 0.0, 0.0], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0]]])
    keep, room = np.zeros(1, bool), (np.zeros((1, 4)), np.zeros((1, 3)), np.zeros(1))
    with Interpreted(touching_kernels, distance_kernels):
        touching_kernels.point_rows(x, np.array([[0, 0]], np.int32), 1, FACE + 1, UP[None], np.array([sharp]),
                                    np.array([even]), np.zeros(1, bool), *room, keep)
    return bool(keep[0])


def points_near_a_corner():
    """Whether points beside an edge, so near a corner, are left to the sharp edge there."""
    return [_beside([off, -1e-3, 0.0], [False, True, False], [False] * 3) for off in (1e-11, 1e-6)]


def points_upright_over_an_edge():
    """Whether points that lean so far out of an edge [m] stand upright over it."""
    return [_beside([0.3, -off, 1e-8], [False] * 3, [False, False, True]) for off in (1e-11, 1e-6)]


def times_of_a_slide():
    """When a point touches a triangle that slides along it, to the last bit."""
    x = np.array([[0.0, 0.2, 1e-3], [-2.0, 0.0, 0.0], [2.0, 0.0, 0.0], [0.0, 2.0, 0.0]])
    end, out = x.copy(), np.zeros(1)
    end[0] = [0.8, 0.2, -1e-4]
    with Interpreted(impact_times_kernels, distance_kernels):
        impact_times_kernels.impact_times(0, 1, x, end, np.array([[0, 1, 2, 3]], np.int32), 1, 3000, out)
    return float(out[0])


def times_far_from_the_origin():
    """How far a pair may move that is too far from the origin for a plane to separate it."""
    x = np.array([[1e4, 1e4 + 0.2, 2e4 + 2e-11], [1e4 - 2.0, 1e4, 2e4], [1e4 + 2.0, 1e4, 2e4], [1e4, 1e4 + 2.0, 2e4]])
    end = x.copy()
    end[0, 0] += 0.5
    return float(Surfaces._times(stand_in(Surfaces), x, end, np.array([[0, 1, 2, 3]], np.int32), 1)[0])


UNITS = (
    directions_across_an_edge, edges_that_lie_on_a_feature, speeds_of_separation, vertices_that_sway,
    directions_at_a_vertex, edges_through_a_wall, ridges_that_are_offset, points_near_a_corner,
    points_upright_over_an_edge, times_of_a_slide, times_far_from_the_origin)
