"""Small systems in which tuned constants of the search for contacts and of contact laws steer; see `tuned_units`."""

import tempfile
from dataclasses import replace
from functools import cache
from types import SimpleNamespace

import numpy as np
from scipy.spatial import cKDTree
from solids import box
from tuned_units_contact import Interpreted, _intersecting

from solver.contact.find import bodies_kernels, convex_kernels, near_kernels, pair_kernels
from solver.contact.find.bodies import Colliders
from solver.contact.find.candidate_cells import CandidateCells
from solver.contact.find.convex import Convex, Shapes
from solver.contact.find.mesh import _on_one_side
from solver.contact.find.neighbours import Neighbours
from solver.contact.find.obstacle_planes import ObstacleMesh
from solver.contact.laws import lagged_friction_kernels
from solver.contact.laws.embedded import Embedded
from solver.contact.laws.separate_intersections import SeparateIntersections
from solver.coordinates.prescribed import Constant

NONE = np.zeros((0, 3))


def _layers(heights, size=1.0):
    """Small triangles over each other, at these heights."""
    corners = size * np.array([[0.0, 0.0, 0.0], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0]])
    x = np.concatenate([corners + [0.5, 0.5, height] for height in heights])
    return x, np.arange(len(x), dtype=np.int32).reshape(-1, 3)


def _cells(heights, size=1e-3):
    """Whether a point where the lowest of some layers is has candidates, and how many at most."""
    x, triangles = _layers(heights, size)
    cells = CandidateCells(SimpleNamespace(mins=np.zeros(3), maxes=np.ones(3)), x, triangles,
                           np.full(len(triangles), 1.5 * size), 2.0, 0.0)
    has_candidates, found = cells.of(np.array([[0.5, 0.5, 0.5]]))
    return bool(has_candidates[0]), found.shape[1]


def layers_in_a_cell():
    """Whether a point is looked up in a cell with 60, and with 200, triangles."""
    return [_cells(0.5 + 1e-4 * np.arange(count))[0] for count in (60, 200)]


def layers_on_the_diagonal_of_a_cell():
    """Numbers of triangles of a cell, of three in its middle, and by so much beyond its diagonal."""
    return _cells([0.5, 0.5 + 3.0**0.5 + 1e-8, 0.5 + 3.0**0.5 + 1e-3], 1e-9)


def sizes_of_cells():
    """Numbers of triangles in a cell of an evenly sampled surface."""
    grid = np.stack(np.meshgrid(np.arange(9.0), np.arange(9.0), [0.0], indexing="ij"), axis=-1).reshape(-1, 3)
    first = np.array([9 * i + j for i in range(8) for j in range(8)], np.int32)
    triangles = np.stack([first, first + 9, first + 10], axis=1)
    cells = CandidateCells(cKDTree(grid), grid, triangles, np.full(64, 1.5), 2.0, 1.0)
    return cells.of(np.array([[4.2, 4.2, 0.3]]))[1].shape[1]


def edges_on_one_side():
    """Whether edges are on one side of a triangle's plane that are so far above it, relative to their length."""
    corners = np.array([[[0.0, 0, 0], [1, 0, 0], [0, 1, 0]]])
    return [bool(_on_one_side(np.array([[[0.2, 0.2, off], [1.0, 0.2, off]]]), corners)[0]) for off in (1e-11, 1e-7)]


def rows_near_those_that_moved():
    """Which boxes may touch one of two small boxes that moved, from so far beside the first, relative to both."""
    offs = (0.0, 1.0, 0.02, 0.05, 0.1, 0.3)
    box_of = np.array([[off, off, off, off + 1e-3, off + 1e-3, off + 1e-3] for off in offs])
    corners = np.arange(6, dtype=np.int32)[:, None]
    has_moved, out = np.zeros(6, bool), np.zeros(6, bool)
    with Interpreted(near_kernels):
        near_kernels.mark_near_moved(box_of, corners, np.array([True, True] + 4 * [False]), has_moved, out)
    return out.tolist()


def nodes_within_a_skin():
    """Whether nodes are outside of a list's skin that moved by so much less than it allows."""
    listed = Neighbours(NONE, 2.0, np.zeros((0, 4), np.int32), 0, np.zeros(0, np.int64), np.zeros(0))
    return listed.outside(np.array([1.0 - 1e-10, 1.0 - 1e-5]), 0.0).tolist()


def samples_of_an_obstacle():
    """Number of samples of a cube's surface."""
    vertices, triangles = box((0, 0, 0), (1, 1, 1))
    return len(ObstacleMesh(triangles, Constant(vertices))._sampled)


def samples_near_a_point():
    """Number of candidate triangles of a point near a moving obstacle of 13 layers."""
    x, triangles = _layers(np.linspace(0.0, 0.3, 13), 1.0)
    mesh = ObstacleMesh(triangles, SimpleNamespace(moves=True, at=lambda time: x))
    return mesh._find_near_triangles(mesh._at(0.0), np.array([[0.7, 0.7, 0.1]]), 1.0).shape[1]


def _crossed_boxes(turned):
    """Whether an edge across an edge is the contact of two boxes that are rotated by an angle [rad] each."""
    shape, poses, c, s = Convex.box(np.ones(3)), np.tile(np.eye(4), (2, 1, 1)), np.cos(turned), np.sin(turned)
    poses[0, :3, :3] = [[c, -s, 0.0], [s, c, 0.0], [0.0, 0.0, 1.0]]
    poses[1, :3, :3], poses[1, :3, 3] = [[c, 0.0, s], [0.0, 1.0, 0.0], [-s, 0.0, c]], [c + s, -0.8, 0.8]
    colliders = Colliders(Shapes.of([shape, shape]), np.array([0, 1], np.int32), np.tile(np.eye(4), (2, 1, 1)),
                          np.ones(2), np.array([-1, -1], np.int32), np.zeros(2, np.int32), np.array([True]),
                          np.zeros((0, 2), np.int32))
    with Interpreted(bodies_kernels, pair_kernels, convex_kernels):
        found = colliders.find(poses, np.array([[0.0, 0, 0, 0, 0, 0], [0, 0, 0, -0.2, 0, 0]]), 0.0, 1.0)
    return len(found), found.normal[:1].round(4).tolist()


def edges_or_faces_of_boxes():
    """Normals of contacts of boxes that touch with edges almost along faces."""
    return [_crossed_boxes(turned) for turned in (1e-4, 2e-3, 0.05, 0.3)]


def narrow_pairs():
    """Couples of friction of edges that cross at such angles [rad]."""
    found = []
    with Interpreted(lagged_friction_kernels):
        for angle in (0.05, 0.5):
            x = np.array([[0.0, -angle, 0.0], [1.0, angle, 0.0], [0.0, 0.0, 0.01], [1.0, 0.0, 0.01]])
            couples = np.zeros((1, 4, 3))
            lagged_friction_kernels.couple_weights(0, 1, x, np.array([[0, 1, 2, 3]], np.int32), 0,
                                                   np.array([[0.0, 0.0, -1.0]]), np.full(1, 0.01), couples)
            found.append(couples.tobytes())
    return found


def _cuts(rounds):
    """Steps of two bodies, of which the first one's fraction shrinks for so many rounds."""
    asked = []

    def largest_steps(start, end, alike):
        asked.append(1)
        return np.array([0.9 if len(asked) < rounds else 1.0, 1.0])

    law = SimpleNamespace(
        body_rounds=Embedded.body_rounds, inner=SimpleNamespace(largest_steps=largest_steps),
        _embedded=SimpleNamespace(positions=lambda x: x, corners=np.zeros((0, 4), int)),
        largest_step=lambda start, end: 0.5)
    return Embedded.largest_steps(law, np.zeros((2, 3)), np.ones((2, 3)), np.arange(2)).tolist()


def rounds_that_cut_bodies():
    """Steps of two bodies after two and after ten rounds of shorter ones."""
    return _cuts(3), _cuts(10)


@cache
def _blocks():
    """The law of two blocks that intersect, and its surfaces at rest."""
    with tempfile.TemporaryDirectory() as folder:
        return _intersecting(folder)[1]


def _exits(by):
    """Forces of springs between blocks of which the upper one is moved by so much [m], to the last bit."""
    law = _blocks()
    case = law._intersecting
    start = case.start_positions + np.where(case.owner == 1, 1.0, 0.0)[:, None] * by
    anew = SeparateIntersections(law._separated_law, law._complete_law, replace(case, start_positions=start))
    return anew.measure(start, 0.02).forces.tobytes()


def exits_of_blocks():
    """Springs of blocks of which one stands in the other almost in its middle, and at its border."""
    return [_exits(by) for by in ((0.003, -0.0095, -0.0913), (-0.0194, 0.0311, -0.1144))]


def points_beside_an_edge():
    """Normals of springs of points that are so far beside, and above, an edge [m]."""
    found = []
    for off in (1e-11, 1e-6):
        x = np.array([[0.5, -off, off], [0.0, 0.0, 0.0], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0]])
        near = SimpleNamespace(bodies=np.array([[0, 1]]), nodes=np.array([[0, 1, 2, 3]], np.int32), points=1)
        case = SimpleNamespace(surfaces=SimpleNamespace(find_near_pairs=lambda x, depth, near=near: near),
                               stiffness=np.ones(4), triangles=[], is_closed=[])
        law = SimpleNamespace(_intersecting=case, _depth=1.0, _exit_directions=np.zeros((2, 2, 3)),
                              on_face=SeparateIntersections.on_face, exit_cosine=0.7, spring_ratio=1.0)
        found.append(SeparateIntersections._find_near_springs(law, x)[0].normal.round(3).tolist())
    return found


UNITS = (
    layers_in_a_cell, layers_on_the_diagonal_of_a_cell, sizes_of_cells, edges_on_one_side, rows_near_those_that_moved,
    nodes_within_a_skin, samples_of_an_obstacle, samples_near_a_point, edges_or_faces_of_boxes, narrow_pairs,
    rounds_that_cut_bodies, exits_of_blocks, points_beside_an_edge)
