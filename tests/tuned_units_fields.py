"""Small systems in which tuned constants of fields/ steer; see `tuned_units`."""

from types import SimpleNamespace

import numpy as np
from scipy.sparse import csr_matrix

from solver.errors import BadMesh
from solver.fields import harmonic, hold
from solver.fields.attach import find_attached_nodes
from solver.fields.dynamic import around_points, patches
from solver.fields.fibers.combed import Combed
from solver.fields.fibers.gradient import Gradient
from solver.fields.fibers.interface import Muscle, unit
from solver.fields.mirrored import images
from solver.fields.pins import follow
from solver.fields.spots import find_dynamic_nodes
from solver.fields.suggest import farthest_nodes, scale_to_equal_energy
from solver.job import schema, schema_values
from solver.meshing.grid import box_tets
from solver.meshing.volume import Volume, boundary_faces

NONE = np.zeros(0, np.int32)


def weights_that_attach():
    """Number of nodes with weights of 0.2 to 0.8 that follow a body."""
    body = SimpleNamespace(attach=[SimpleNamespace(weights="map", nodes=None, body="bone")])
    return len(find_attached_nodes(body, None, {"map": np.linspace(0.2, 0.8, 13)}, 13, NONE, [])[0])


def vertices_of_a_spot():
    """Number of vertices with weights of 0.2 to 0.8 in a strip that are one painted spot."""
    strip = np.arange(11)[:, None] + [0, 1, 2]
    return [len(spot) for spot in patches(np.linspace(0.2, 0.8, 13), strip)]


def nodes_midway_between_points():
    """Numbers of nodes of two points, with nodes that are nearer to the first by so much."""
    nodes = np.array([[-1.0, 0.0, 0.0], [1.0, 0.0, 0.0], [-1e-11, 0.5, 0.0], [-1e-7, 0.5, 0.0]])
    found = around_points(nodes[:2], np.full(2, 2.0), nodes, np.zeros(4, int), [0, 1], np.zeros(4, bool))
    return [len(of) for of in found]


def _muscle(weights=None, curves=None):
    nodes, tets = box_tets((12, 2, 2), (3.0, 1.0, 1.0))
    return Muscle(Volume(nodes, tets), weights(nodes) if weights else None, None, curves, np.eye(4), [])


def fibers_along_curves():
    """Directions of fibers, to six digits, beside curves that turn."""
    along = np.linspace(0.0, 3.0, 40)
    turning = np.stack([np.cos(along), np.sin(along), 0.0 * along], axis=1)
    points = np.stack([along, 0.5 + 0.3 * np.sin(5.0 * along), 0.5 + 0.3 * np.cos(7.0 * along)], axis=1)
    return np.abs(Combed({}).directions(_muscle(curves=np.stack([points, turning], axis=1)))).round(6).tolist()


def bellies_that_are_painted_too_little():
    """Notes on muscles whose belly is so much of their skin."""
    found = []
    for short in (0.51, 1.1):
        muscle = _muscle(lambda nodes, short=short: np.clip(0.5 + (nodes[:, 0] - 1.5) / short, 0.0, 1.0))
        Gradient({}).directions(muscle)
        found.append(len(muscle.notes))
    return found


def ends_of_a_muscle():
    """Gradient, to six digits, in a muscle that is painted with a ramp."""
    return Gradient({}).directions(_muscle(lambda nodes: nodes[:, 0] / 3.0)).round(6).tolist()


def directions_that_are_none():
    """Whether vectors so much shorter than others have a direction."""
    return unit(np.array([[1.0, 0, 0], [1e-8, 0, 0], [1e-4, 0, 0]])).any(axis=1).tolist()


def paint_on_both_sides_of_a_plate():
    """Values at nodes of a thin plate, which is painted 1 above and 0 below, with small triangles below."""
    nodes, tets = box_tets((3, 3, 1), (1.0, 1.0, 0.02))
    found = []
    for cells in (1, 40):
        fine, coarse = box_tets((cells, cells, 1), (1.0, 1.0, 0.02)), box_tets((1, 1, 1), (1.0, 1.0, 0.02))
        vertices, triangles, paint = [], [], []
        for (at, of), side in ((fine, 0.0), (coarse, 0.02)):
            faces = boundary_faces(of)[0]
            vertices.append(at)
            triangles.append(faces[(np.abs(at[faces][..., 2] - side) < 1e-9).all(axis=1)] + len(fine[0]) * (side > 0.0))
            paint.append(np.full(len(at), side))
        found.append(harmonic.on_border(nodes, tets, np.concatenate(vertices), np.concatenate(triangles),
                                        np.concatenate(paint)[:, None])[1].round(6).tolist())
    return found


def samples_of_large_triangles():
    """Number of samples of a square at distances of 1 / 1000 of its side."""
    corners = np.array([[0.0, 0, 0], [1, 0, 0], [1, 1, 0], [0, 1, 0]])
    return len(harmonic._spread_samples(corners, np.array([[0, 1, 2], [0, 2, 3]]), 1e-3)[0])


def equations_that_are_not_solved():
    """Whether a solution fails of which so few digits can be stored that its residual is 1e-4 and 1e-8."""
    found = []
    for known in (1e4, 1e8):
        try:
            harmonic.solve(csr_matrix([[-3.0]]), np.array([[known * 5e-324]]))
        except BadMesh:
            found.append(known)
    return found


def corners_that_hold_vertices():
    """Number of corners of a vertex that are prescribed."""
    prescribed = np.zeros(4, bool)
    hold._add_heaviest(np.array([[0, 1, 2, 3]]), np.array([[0.4, 0.3, 0.2, 0.1]]), prescribed, np.ones(4, bool))
    return int(prescribed.sum())


def _hinged(vertices, at_plane=0.0, cells=(2, 2, 2)):
    """Nodes that hold vertices of a box where those near an edge are prescribed, and how many moved."""
    nodes, tets = box_tets(cells, (1.0, 1.0, 1.0))
    corners = np.tile(tets[0], (len(vertices), 1))
    straight = (nodes[:, 0] < 0.1) & (nodes[:, 2] < 0.1)
    nodes = nodes + at_plane * np.outer(straight & (np.abs(nodes[:, 1] - 0.5) < 0.1), [0.0, 0.0, 1.0])
    held, moved = hold.firm_nodes(vertices, corners, np.full(corners.shape, 0.25), nodes, tets, straight,
                                  np.ones(len(nodes), bool))
    return np.flatnonzero(held).tolist(), int((moved != nodes).any(axis=1).sum())


def rows_of_vertices_that_are_hinges():
    """Nodes that hold three vertices of which the middle one is so far off their line."""
    return [_hinged(np.array([[0.1, 0.1, 0.1], [0.1, 0.5, 0.1 + off], [0.1, 0.9, 0.1]])) for off in (1e-4, 1e-2)]


def nodes_that_prevent_rotation():
    """Nodes that hold vertices on a line where prescribed nodes are off theirs by so much."""
    return [_hinged(np.array([[0.1, 0.1, 0.1], [0.1, 0.5, 0.1], [0.1, 0.9, 0.1]]), off) for off in (0.01, 0.1)]


def nodes_that_may_be_moved():
    """Nodes that are moved to a vertex across a gap between thin cells, of which so many are nearer, and one beyond."""
    found = []
    for count in (5, 20):
        nodes, tets = box_tets((2, 2, count + 3), (1.0, 1.0, 1.0))
        level = np.unique(nodes[:, 2]).searchsorted(nodes[:, 2] - 1e-9)
        nodes[:, 2] = np.where(level == count + 3, 1.0, 0.01 * level)
        column = np.flatnonzero((np.abs(nodes[:, :2] - 0.5) < 0.1).all(axis=1) & (level > 0) & (level != count + 2))
        chosen, moved = hold._move_to_vertices(np.array([[0.5, 0.5, 0.5]]), column[1:], nodes, tets)
        found += [chosen.tolist(), int((moved != nodes).sum())]
    return found


def nodes_that_shrink_tetrahedra():
    """Whether a node is moved so far towards the other end of its cell."""
    nodes, tets = box_tets((2, 2, 2), (1.0, 1.0, 1.0))
    return [bool((hold._move_to_vertices(np.array([[0.0, 0.0, off]]), np.array([0]), nodes, tets)[1] != nodes).any())
            for off in (0.04, 0.3, 0.45)]


def _images(nodes, motion=None, mass=None, edge=0.25):
    mass = np.ones(len(nodes)) if mass is None else mass
    motion = np.ones((len(nodes), 3, 1)) if motion is None else motion
    return [of.tolist() for of in images(nodes, mass, motion, edge)]


def mirrors_of_different_meshes():
    """Images of nodes where one lies so far from the next one's image, in edges."""
    nodes = box_tets((4, 2, 2), (1.0, 0.5, 0.5))[0]
    return [_images(nodes + np.outer(np.arange(len(nodes)) == 0, [-off * 0.25, 0, 0])) for off in (0.8, 3.0)]


def mirrors_of_different_motion():
    """Images of nodes of which half moves so much more."""
    nodes = box_tets((4, 2, 2), (1.0, 0.5, 0.5))[0]
    return [_images(nodes, np.where(nodes[:, :1] < 0.5, 1.0, 1.0 + more)[:, :, None] * np.ones((1, 3, 1)))
            for more in (0.02, 0.5)]


def _turned(size):
    nodes = box_tets((4, 4, 2), size)[0] - 0.5 * np.array(size)
    turn = np.array([[0.8, -0.6, 0.0], [0.6, 0.8, 0.0], [0.0, 0.0, 1.0]])
    return nodes @ turn.T


def axes_of_inertia_of_a_plate():
    """Numbers of mirrors of plates that are nearly square, and turned about their normal."""
    return [len(_images(_turned((1.0 + longer, 1.0, 0.3)), edge=0.01)) for longer in (0.001, 0.05)]


def axes_at_right_angles():
    """Numbers of mirrors of square plates whose normals lean so little to an axis of the world."""
    found = []
    for lean in (1e-8, 1e-4):
        nodes = box_tets((4, 4, 2), (1.0, 1.0, 0.5))[0] - [0.5, 0.5, 0.25]
        turn = np.array([[1.0, 0.0, 0.0], [0.0, 1.0, -lean], [0.0, lean, 1.0]])
        found.append(len(_images(nodes @ turn.T, edge=1e-3)))
    return found


def pins_that_follow_a_bent_sheet():
    """Positions of pinned nodes, to nine digits, beside a sheet that is bent."""
    sheet = np.stack([*np.meshgrid(*[np.linspace(0.0, 1.0, 9)] * 2, indexing="ij"), np.zeros((9, 9))], -1)
    rest = sheet.reshape(-1, 3)
    bent = rest + np.stack([0.0 * rest[:, 0], 0.0 * rest[:, 0], 0.3 * rest[:, 0] ** 2], axis=1)
    return follow(np.array([[0.3, 0.4, 0.1], [0.8, 0.2, -0.2]]), rest, bent[None]).round(9).tolist()


def nodes_of_a_spot_around_a_point():
    """Number of nodes of a bar that move as one around a point."""
    nodes, tets = box_tets((20, 2, 2), (2.0, 0.2, 0.2))
    body = schema.Body(name="bar", spot=schema_values.Choice(kind="mean"), dynamic=schema.Dynamic(points="p"))
    found = find_dynamic_nodes(body, lambda name: np.array([[1.0, 0.1, 0.1]]), Volume(nodes, tets), None, NONE, [])
    return [len(patch.nodes) for patch in found[1]]


def _bends(nodes, size, sharp):
    """Motion of nodes in a few smooth modes, most of it around the middle."""
    rng, at = np.random.default_rng(0), (nodes - 0.5 * np.array(size)) / np.array(size)
    waves = np.cos(at @ rng.normal(size=(3, 6)) * 4.0 + rng.random(6) * 6.0)
    return waves[:, None] * rng.normal(size=(1, 3, 6)) * np.exp(-sharp * (at**2).sum(axis=1))[:, None, None]


def _near(cells, count, sharp):
    nodes, tets = box_tets(cells, cells)
    return farthest_nodes(nodes, tets, np.ones(len(nodes)), _bends(nodes, cells, sharp), count, NONE, NONE, 1).tolist()


def two_nodes_near_each_other():
    """Two nodes that are suggested in a bar that moves most in its middle."""
    return _near((12, 8, 8), 2, 60.0)


def many_nodes_near_each_other():
    """As many nodes as there is room for in a bar that moves most in its middle."""
    return _near((8, 4, 4), 20, 8.0)


def nodes_that_are_equally_good():
    """Node that is suggested where the last one moves by so much more than the first."""
    nodes, tets = box_tets((4, 4, 4), (1.0, 1.0, 1.0))
    found = []
    for more in (1e-5, 0.1):
        motion = np.zeros((len(nodes), 3, 1))
        motion[31], motion[93] = 1.0, 1.0 + more
        found.append(farthest_nodes(nodes, tets, np.ones(len(nodes)), motion, 1, NONE, NONE).tolist())
    return found


def _symmetric(lopsided, count):
    nodes, tets = box_tets((8, 4, 4), (1.0, 0.4, 0.4))
    at = nodes - [0.5, 0.2, 0.2]
    motion = np.stack([at**2, np.abs(at) ** 3, np.cos(7.0 * at)], axis=2) + lopsided * at[:, :, None] * at[:, :1, None]
    return farthest_nodes(nodes, tets, np.ones(len(nodes)), motion, count, NONE, NONE).tolist()


def nodes_in_sets_that_mirror_each_other():
    """Nodes that are suggested in a bar whose motion is symmetric but for so much."""
    return [_symmetric(lopsided, count) for lopsided in (0.0, 0.1) for count in (3, 4)]


def modes_that_are_rigid():
    """Motion in modes of such stiffness, to six digits."""
    return scale_to_equal_energy(np.ones((1, 3, 4)), np.array([1e-9, 1e-4, 1e-2, 1.0])).round(6).tolist()


UNITS = (
    weights_that_attach, vertices_of_a_spot, nodes_midway_between_points, fibers_along_curves,
    bellies_that_are_painted_too_little, ends_of_a_muscle, directions_that_are_none, paint_on_both_sides_of_a_plate,
    samples_of_large_triangles, equations_that_are_not_solved, corners_that_hold_vertices,
    rows_of_vertices_that_are_hinges, nodes_that_prevent_rotation, nodes_that_may_be_moved,
    nodes_that_shrink_tetrahedra, mirrors_of_different_meshes, mirrors_of_different_motion, axes_of_inertia_of_a_plate,
    axes_at_right_angles, pins_that_follow_a_bent_sheet, nodes_of_a_spot_around_a_point, two_nodes_near_each_other,
    many_nodes_near_each_other, nodes_that_are_equally_good, nodes_in_sets_that_mirror_each_other, modes_that_are_rigid)
