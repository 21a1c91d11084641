"""Small systems in which tuned constants of contact/ steer; see `tuned_units`."""

import tempfile
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from solids import SHARP_ANGLE, box
from tuned_jobs import touching
from tuned_units import fails
from worlds import world_of

from solver.contact.find import (
    convex_kernels,
    distance_kernels,
    impact_times_kernels,
    pair_kernels,
    passing,
    sharp_kernels,
    through_kernels,
)
from solver.contact.find.bodies import Colliders, ContactSet
from solver.contact.find.convex import Convex, Shapes
from solver.contact.find.features import steep_normals
from solver.contact.find.obstacle_planes import ObstacleMesh
from solver.contact.find.sharp import bends_softly, find_sharp_features, wires
from solver.contact.laws import barrier_kernels
from solver.contact.laws.coulomb import Coulomb
from solver.contact.laws.gap import Gap
from solver.contact.laws.interface import SlidingNodes
from solver.coordinates.prescribed import Constant
from solver.job.load import load

THIN, DEEP, H = 1e-3, 0.05, 0.01


class Interpreted:
    """Modules of kernels run in Python, which reads their constants anew."""

    def __init__(self, *modules):
        self.modules, self._patch = modules, pytest.MonkeyPatch()

    def __enter__(self):
        for module in self.modules:
            for name, value in list(vars(module).items()):
                if hasattr(value, "py_func"):
                    self._patch.setattr(module, name, value.py_func)

    def __exit__(self, *_):
        self._patch.undo()


def _sliding(slip, load, compliance):
    """Impulses on sliding nodes, and how often the body's response was asked for."""
    count, asked = len(slip), []
    normal = np.tile([0.0, 0.0, 1.0], (count, 1))
    contacts = SlidingNodes(np.arange(count), normal, slip, load, 1.0, np.ones(count), np.zeros((count, 3)))

    def respond(impulses):
        asked.append(1)
        return (compliance @ impulses.ravel()).reshape(-1, 3)

    return Coulomb({"friction_coefficient": 0.4}).impulses(contacts, respond), len(asked)


def responses_of_a_body_that_sticks_in_part():
    """Impulses of friction, to the last bit, and the number of responses that they take."""
    rng = np.random.default_rng(3)
    half = rng.normal(size=(36, 36)) * np.geomspace(1.0, 30.0, 36)
    impulses, asked = _sliding(rng.normal(size=(12, 3)) * [1.0, 1.0, 0.0], rng.random(12), half @ half.T / 36.0)
    return impulses.tobytes(), asked


def slips_that_are_none():
    """Whether friction acts against slips of this size [m/s]."""
    return [bool(_sliding(np.array([[slip, 0.0, 0.0]]), np.ones(1), np.eye(3))[0].any()) for slip in (1e-11, 1e-7)]


def positions_at_which_forces_are_known():
    """Whether contact forces are known at displacements since they were found, relative to an edge."""
    law = SimpleNamespace(_last=(np.zeros((1, 4), int), np.zeros((1, 4, 3)), np.ones((1, 7))), edge=1.0,
                          negligible_step=Gap.negligible_step)
    return [len(Gap.contact_forces(law, np.full((1, 3), off))) for off in (1e-11, 1e-7)]


def _roof(degrees):
    """A ridge along y between two faces whose normals differ by so much."""
    drop = np.tan(np.deg2rad(0.5 * degrees))
    x = np.array([[0.0, 0.0, 0.0], [0.0, 1.0, 0.0], [-1.0, 0.5, -drop], [1.0, 0.5, -drop]])
    return x, np.array([[0, 1, 2], [1, 0, 3]], np.int32)


def ridges_that_are_marked_as_sharp():
    """Whether ridges of these angles [°] are features where they are marked."""
    return [len(find_sharp_features(*_roof(degrees), SHARP_ANGLE, marked=np.array([[0, 1]]), borders=False).edges)
            for degrees in (0.2, 5.0)]


def ridges_that_bend_softly():
    """Whether a surface with a ridge of this angle [°] is round."""
    return [bends_softly(*_roof(degrees), SHARP_ANGLE) for degrees in (0.05, 3.0)]


def normals_of_a_nail():
    """Whether the four normals of a nail's tip lean by more than 70°, and by less than 88°, to its direction."""
    leans = np.rad2deg(np.arccos(steep_normals(np.array([[0.0, 0.0, 1.0]]))[0, :, 2]))
    return bool((leans > 70.0).all()), bool((leans < 88.0).all())


def depths_inside_an_obstacle():
    """Whether points so deep inside of a cube, relative to its diagonal, have a plane."""
    vertices, triangles = box((0, 0, 0), (1, 1, 1))
    mesh = ObstacleMesh(triangles, Constant(vertices))

    def has_plane(depth):
        point = np.array([[0.5, 0.5, 1.0 - depth * 3.0**0.5]])
        return mesh.planes(point, point, 0.0, 0.02, 1.0, 0.001) is not None

    return [has_plane(depth) for depth in (0.05, 0.28)]


def points_on_an_obstacle():
    """Whether the normal at a point so far from a face, relative to the diagonal, is the face's."""
    vertices, triangles = box((0, 0, 0), (1, 1, 1))
    mesh = ObstacleMesh(triangles, Constant(vertices))
    near = SimpleNamespace(outward=np.array([[0.0, 0.0, 1.0]]))
    return [bool(mesh._normals(np.array([[off, 0.0, 0.0]]) * mesh.diagonal, near, 1.0)[0, 2] == 1.0)
            for off in (1e-11, 1e-6)]


def _two_boxes(gap):
    shape = Convex.box(np.ones(3))
    poses = np.tile(np.eye(4), (2, 1, 1))
    poses[1, 2, 3] = 1.0 + gap
    colliders = Colliders(Shapes.of([shape, shape]), np.array([0, 1], np.int32), np.tile(np.eye(4), (2, 1, 1)),
                          np.ones(2), np.array([-1, -1], np.int32), np.zeros(2, np.int32), np.array([True]),
                          np.zeros((0, 2), np.int32))
    return len(colliders.find(poses, np.zeros((2, 6)), 0.0, 1.0))


def gaps_between_bodies_at_rest():
    """Whether boxes with sides of 1 m touch at so many meters."""
    return [_two_boxes(gap) > 0 for gap in (1e-5, 1e-2)]


def overlaps_that_separate():
    """Whether bodies 10 cm in each other separate by more than 0.1 m/s and less than 10 m/s in a step, and keep more
    than a tenth and less than 10 mm/s."""
    contacts = SimpleNamespace(normals=SimpleNamespace(target=np.zeros(1)), gap=np.array([-0.1]), end=0.001, h=0.001,
                               N=np.ones((1, 1)), q=np.zeros(1), separation_speed=ContactSet.separation_speed,
                               negligible_speed=ContactSet.negligible_speed)
    after, within = ContactSet.split_targets(contacts, np.zeros(1), 0.001, 0.001)
    return 0.1 < within[0] < 10.0, 1e-4 < after[0] < 1e-2


def faces_of_a_hull_that_are_nearly_one():
    """Numbers of faces of a cube with a corner that is off by so much."""
    found = []
    for off in (1e-5, 1e-1):
        corners = np.stack(np.meshgrid(*[(0.0, 1.0)] * 3, indexing="ij"), axis=-1).reshape(-1, 3)
        corners[-1] += off
        found.append(len(Convex.hull(corners).faces))
    return found


def points_of_a_fine_hull():
    """Numbers of points of hulls of 40 and 90 points."""
    points = np.random.default_rng(0).normal(size=(90, 3))
    points /= np.linalg.norm(points, axis=1)[:, None]
    return [len(Convex.hull(points[:count]).points) for count in (40, 90)]


def directions_of_an_edge():
    """Whether directions that lean so far out of a box's edge are between the normals of its faces."""
    planes, edge = np.array([[1.0, 0.0, 0.0, 0.0], [0.0, 1.0, 0.0, 0.0]]), np.array([0, 1, 0, 1])
    return [bool(convex_kernels.is_of_edge.py_func(np.array([1.0, -lean, 0.0]), planes, edge)) for lean in (1e-5, 1e-1)]


def edges_beside_a_face():
    """Whether edges so far above a triangle, relative to its size, may pass through it."""
    with Interpreted(through_kernels):
        return [bool(through_kernels.may_intersect(
            np.array([[0.0, 0.0, 0.0], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.2, 0.2, far], [0.3, 0.3, far]]),
            np.array([[3, 4, 4], [0, 1, 2]], np.int32), np.array([[0, 1]], np.int32))) for far in (1e-11, 1e-7)]


def contacts_of_a_pair():
    """Number of contacts that are left of a pair's six."""
    contacts = np.random.default_rng(0).random((6, 7))
    return pair_kernels.reduce_contacts.py_func(6, contacts)


def _cube():
    x, triangles = box()
    return find_sharp_features(x, triangles, SHARP_ANGLE).at(x, np.zeros_like(x))


def _wire():
    x = np.array([[1.0, 0.0, 1.0], [1.0, 1.0, 1.0]])
    return wires(x, np.array([[0, 1]]), SHARP_ANGLE).at(x, np.zeros_like(x))


def _edge_passes(ends, features, move=(0.0, 0.0, 0.0), deep=DEEP):
    x = np.array(ends, float)
    with Interpreted(sharp_kernels, passing):
        return len(passing.passing_edges(x, np.tile(np.array(move), (2, 1)), np.array([[0, 1]], np.int32), features, H,
                                         THIN, deep).of)


def edges_that_end_at_a_feature():
    """Whether edges of cloth pass a wire that end so far before it."""
    return [_edge_passes([[0.5, 0.5, 1.0], [1.0 - short, 0.5, 1.0]], _wire()) for short in (1e-11, 1e-6)]


def edges_along_a_feature():
    """Fractions of edges that cross at such an angle [rad], −1 where they are parallel."""
    out, found = np.empty(6), []
    with Interpreted(sharp_kernels):
        for angle in (1e-7, 1e-3):
            sharp_kernels._nearest(np.array([0.0, -angle, 0.0]), np.array([1.0, angle, 0.0]), np.zeros(3),
                                   np.array([1.0, 0.0, 0.0]), out)
            found.append(out[0])
    return found


def edges_that_cut_a_corner():
    """Whether edges pass a box's edge whose ends are so deep in its faces, relative to the admissible depth."""
    return [_edge_passes([[1.0 - wide, 0.5, 1.0 - deep * DEEP], [1.0 - deep * DEEP, 0.5, 1.0 - wide]], _cube())
            for wide, deep in ((0.06, 0.1), (0.04, 0.4))]


def edges_deep_in_a_small_obstacle():
    """Whether edges so deep in a cube of 1 m pass its edge where any depth is admissible."""
    return [_edge_passes([[1.0 - wide, 0.5, 1.0], [1.0, 0.5, 1.0 - wide]], _cube(), deep=10.0) for wide in (0.1, 0.9)]


def edges_that_approach_a_wire():
    """Whether edges pass a wire whose gap is so many times the approach of a step."""
    return [_edge_passes([[0.5, 0.5, 1.01], [1.5, 0.5, 1.01]], _wire(), (0.0, 0.0, -0.009 / times))
            for times in (1.1, 5.0)]


def edges_that_recede():
    """Whether edges pass a box's edge that move away by so much of the thickness in a step."""
    return [_edge_passes([[0.9, 0.3, 1.0], [1.2, 0.6, 1.0]], _cube(), (0.0, 0.0, much * THIN)) for much in (1e-5, 0.5)]


def time_of_a_contact():
    """When an edge touches another one, to the last bit."""
    rng = np.random.default_rng(5)
    points = np.zeros(3), np.array([1.0, 0, 0]), np.array([0, 1.0, 0]), np.array([0.2, 0.2, 1.0])
    moves = [0.1 * rng.random(3) for _ in range(3)] + [np.array([0.0, 0.0, -2.0])]
    with Interpreted(sharp_kernels):
        return sharp_kernels._time_of_contact(*points, *moves)


def times_of_nearly_touching():
    """Fraction of its displacement after which a point nearly touches a triangle, to the last bit."""
    x = np.array([[0.2, 0.2, 1.0], [0.0, 0.0, 0.0], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0]])
    out = np.empty(1)
    with Interpreted(impact_times_kernels, distance_kernels):
        impact_times_kernels.impact_times(0, 1, x, x - [[0.0, 0.0, 2.0], *np.zeros((3, 3))],
                                          np.array([[0, 1, 2, 3]], np.int32), 1, 100, out)
    return float(out[0])


def edges_that_are_mollified():
    """Whether the barrier of edges that cross at such an angle [rad] is reduced."""
    nodes, found = np.array([[0, 1, 2, 3]], np.int32), []
    with Interpreted(barrier_kernels, distance_kernels):
        for angle in (0.01, 0.1):
            x = np.array([[0.0, 0.0, 0.0], [1.0, 0.0, 0.0], [0.0, -0.5 * angle, 0.1], [1.0, 0.5 * angle, 0.1]])
            stiffness, rest, out = np.empty(1), np.empty(1), np.empty(4)
            barrier_kernels.pair_stiffness(0, 1, nodes, 0, np.ones(4), np.zeros(4), np.zeros(4), x, stiffness, rest)
            barrier_kernels.mollify(x, nodes[0], rest[0], out)
            found.append(bool(out[0] < 1.0))
    return found


def _intersecting(folder, by=(0.0, 0.0, -0.012)):
    job = touching({"law": {"kind": "barrier", "params": {"push_apart": 0.25}}})(Path(folder) / "job")
    upper = np.load(job / "arrays" / "B_nodes.npy")
    np.save(job / "arrays" / "B_nodes.npy", upper + by)
    [part] = world_of(load(job)).parts
    return part, part.contacts[0]


def springs_of_intersecting_bodies():
    """Energy of springs and dashpots that separate two blocks, at the start, later and near the end."""
    with tempfile.TemporaryDirectory() as folder:
        part, law = _intersecting(folder)
        found, x = [], part.rest.copy()
        for time in (0.02, 0.1, 0.2):
            law.begin(x, time)
            x = x + 1e-4 * np.cos(np.arange(x.size)).reshape(x.shape)
            found.append(law.measure(x, time + 0.01).energy)
        return found


def times_after_which_bodies_still_intersect():
    """Whether bodies that intersect so long after the start, relative to the given time, fail."""
    with tempfile.TemporaryDirectory() as folder:
        part, law = _intersecting(folder)
        return [fails(law.begin, part.rest, times * 0.25) for times in (1.2, 6.0)]


UNITS = (
    responses_of_a_body_that_sticks_in_part, slips_that_are_none, positions_at_which_forces_are_known,
    ridges_that_are_marked_as_sharp, ridges_that_bend_softly, normals_of_a_nail, depths_inside_an_obstacle,
    points_on_an_obstacle, gaps_between_bodies_at_rest, overlaps_that_separate,
    faces_of_a_hull_that_are_nearly_one, points_of_a_fine_hull, directions_of_an_edge, edges_beside_a_face,
    contacts_of_a_pair, edges_that_end_at_a_feature, edges_along_a_feature, edges_that_cut_a_corner,
    edges_deep_in_a_small_obstacle, edges_that_approach_a_wire, edges_that_recede, time_of_a_contact,
    springs_of_intersecting_bodies, times_of_nearly_touching, edges_that_are_mollified,
    times_after_which_bodies_still_intersect)
