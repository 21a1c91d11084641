"""Small systems in which tuned constants of embedding/ steer; see `tuned_units`."""

from types import SimpleNamespace

import numpy as np
import pytest
from small_jobs import box_tets
from tuned_units_contact import Interpreted

from solver.contact.find.ground import Ground
from solver.embedding import bind, locate, locate_faces, tears
from solver.embedding.above_ground import AboveGround
from solver.embedding.fused import find_fused_pairs
from solver.embedding.pinned import PinnedVertices
from solver.embedding.sheets import ShownSheet

NO_VERTICES = np.zeros(0, np.int32)
ONE = np.zeros(1, np.int32)
CORNER = np.array([[0.0, 0.0, 0.0], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0]])  #: a triangle whose normal is z


def depths_that_are_drawn():
    """Whether vertices 1 m in the ground are drawn more than 1 µm, and less than 1 mm, below it."""
    ground = AboveGround(Ground(np.zeros(3), np.array([0.0, 0.0, 1.0])), np.ones((1, 3)), NO_VERTICES, 1.0)
    low = -float(ground.apply(np.array([[0.0, 0.0, -1.0]]), 0)[0, 2])
    return low > 1e-6, low < 1e-3


def _slab(thickness):
    """Whether the tetrahedron of a vertex is that of the face that it looks to, as it is almost through a slab."""
    nodes, tets = box_tets((3, 3, 1))
    nodes = nodes / nodes.max(axis=0) * [3.0, 3.0, thickness]
    grid = np.stack(np.meshgrid(np.linspace(0.0, 3.0, 7), np.linspace(0.0, 3.0, 7), [thickness], indexing="ij"),
                    axis=-1).reshape(-1, 3)
    grid[24] = [1.6, 1.4, 0.02 * thickness]
    first = np.array([7 * i + j for i in range(6) for j in range(6)])
    triangles = np.concatenate([np.stack([first, first + 7, first + 8], axis=1),
                                np.stack([first, first + 8, first + 1], axis=1)])
    tet = bind.bind(nodes, tets, grid, triangles).tet[24]
    return bool((nodes[tets[tet]][:, 2] > 0.5 * thickness).sum() == 3)


def vertices_that_slip_through_a_slab():
    """Whether vertices that are nearly through slabs of these thicknesses, relative to edges, are of the far side."""
    return [_slab(thickness) for thickness in (0.06, 0.5)]


def _faces(count, facing):
    """A point over many small triangles that face down, and one that faces up: whether the nearest face, or the one
    that it looks to, is the last one."""
    heights = 0.1 + 1e-3 * np.arange(count)
    small = 0.02 * CORNER[[0, 2, 1] if facing else [0, 1, 2]]
    nodes = np.concatenate([*(small + [0.0, 0.0, -height] for height in heights),
                            CORNER * (0.02 if facing else 3.0) - [0.0, 0.0, 2.0 if facing else 0.05],
                            *(CORNER + [x, 5.0, 0.0] for x in (3.0, 5.0, 7.0))])
    faces = np.arange(len(nodes)).reshape(-1, 3)
    points = np.array([[0.0, 0.0, 0.0], [3.1, 5.0, 0.1], [5.1, 5.0, 0.1], [7.1, 5.0, 0.1]])
    triangles = np.array([[0, 1, 2], [0, 2, 3], [1, 3, 2]])
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(bind, "vertex_normals", lambda *_: np.tile([0.0, 0.0, 1.0], (4, 1)))
        near, _, looks_to, far = bind._nearest_faces(
            nodes, faces, np.zeros(len(faces), int), points, triangles, np.zeros(4, int), np.ones((1, 1), bool))
    return bool(far[0] < 3.0) if facing else bool(near[0] == count)


def large_faces_among_small_ones():
    """Whether a large face is found whose middle is farther than that of 6 and of 40 small ones."""
    return [_faces(count, False) for count in (6, 40)]


def faces_that_look_the_right_way():
    """Whether a face is found behind 60 and 400 that look the wrong way."""
    return [_faces(count, True) for count in (60, 400)]


def _plates(gap, size=0.5, count=5, tilt=0.0, bridge=0.0):
    """Number of pairs between two plates that share all tetrahedra. gap: between them, relative to an edge. bridge:
    length of a way along the mesh that joins them."""
    axis = np.linspace(0.0, size, count)
    grid = np.stack(np.meshgrid(axis, axis, [0.0], indexing="ij"), axis=-1).reshape(-1, 3)
    first = np.array([count * i + j for i in range(count - 1) for j in range(count - 1)])
    top = np.concatenate([np.stack([first, first + count, first + count + 1], axis=1),
                          np.stack([first, first + count + 1, first + 1], axis=1)])
    border = [*range(0, count * count, count), *range(count * (count - 1) + 1, count * count),
              *range(count * count - 1 - count, 0, -count), *range(count - 2, 0, -1)]
    whole = len(grid)
    sides = [[k, whole + n, n] for k, n in zip(border, border[1:] + border[:1])]
    sides += [[k, whole + k, whole + n] for k, n in zip(border, border[1:] + border[:1])]
    plate = np.concatenate([grid, grid - [0.0, 0.0, 0.2]])
    triangles = np.concatenate([top, whole + top[:, ::-1], np.array(sides)])
    c, s = np.cos(tilt), np.sin(tilt)
    upper = (plate + [0.0, 0.0, 0.2]) @ np.array([[1, 0, 0], [0, c, s], [0, -s, c]]) + [0.0, 0.0, gap]
    vertices = np.concatenate([plate, upper])
    triangles = np.concatenate([triangles, 2 * whole + triangles])
    if bridge:
        vertices = np.concatenate([vertices, [[0.5 * size, size + 0.5 * bridge, 0.5 * gap]]])
        middle, tip = count * (count // 2) + count - 1, len(vertices) - 1
        triangles = np.concatenate([triangles, [[middle, tip, tip], [3 * whole + middle, tip, tip]]])
    embedding = SimpleNamespace(corners=np.zeros((len(vertices), 4), int))
    return len(find_fused_pairs(embedding, vertices, triangles, 1.0))


def plates_across_air():
    """Whether plates are fused across so much air, relative to an edge."""
    return [_plates(gap) > 0 for gap in (0.5, 1.8)]


def plates_that_lean():
    """Numbers of pairs of plates that lean to each other by these angles [rad]."""
    return [_plates(0.3, tilt=tilt) for tilt in (0.5, 1.0)]


def plates_that_are_joined():
    """Whether plates are fused that are joined along the mesh by such ways, relative to an edge."""
    return [_plates(0.3, bridge=bridge) > 0 for bridge in (2.5, 7.0)]


def pairs_of_large_plates():
    """Numbers of pairs between small and large plates."""
    return _plates(0.5, 1.0, 9), _plates(0.5, 5.0, 21)


def points_beside_a_tetrahedron():
    """Whether points so far outside of a tetrahedron, relative to its size, are in it."""
    nodes = np.concatenate([np.zeros((1, 3)), np.eye(3)])
    with Interpreted(locate):
        return locate.containing_tets(nodes, np.array([[0, 1, 2, 3]], np.int32), ONE,
                                      np.array([[0.2, 0.2, -off] for off in (1e-11, 1e-7)]), np.zeros(2, np.int32),
                                      np.ones((1, 1), bool)).tolist()


def cells_of_uneven_tetrahedra():
    """Number of entries of the grid of many small tetrahedra within large ones."""
    small = np.concatenate([np.zeros((1, 3)), np.eye(3)])
    nodes = np.concatenate([0.05 * small + [0.05 * k, 0.1, 0.1] for k in range(18)] + 4 * [small])
    tets, found = np.arange(len(nodes), dtype=np.int32).reshape(-1, 4), []
    with pytest.MonkeyPatch.context() as patch:
        counted = locate._tets_of_cells

        def count(*given):
            starts, entries = counted(*given)
            found.append(len(entries))
            return starts, entries

        patch.setattr(locate, "_tets_of_cells", count)
        locate.containing_tets(nodes, tets, np.zeros(len(tets), np.int32), np.full((1, 3), 0.1), ONE,
                               np.ones((1, 1), bool))
    return found


def points_beside_a_face():
    """Whether points so far outside of a face, beside another one in the next cell, are of it."""
    deep = 0.5 * (1.0 + 5.0**0.5)  # so that cells end where the second face begins
    material = np.array([[0.0, -deep], [1.0, -deep], [0.0, 0.0], [1.0, 0.0], [-1.0, 1e-12], [1.0, 1e-12], [0.0, 1.0]])
    faces = np.array([[0, 1, 2], [4, 5, 6]], np.int32)
    with Interpreted(locate_faces):
        return locate_faces.containing_faces(np.array([[-off, -1e-12] for off in (1e-11, 1e-6)]), material,
                                             faces).tolist()


def vertices_around_a_pinned_one():
    """Number of vertices of a ribbon that follow a pinned one."""
    line = np.arange(0.0, 6.0, 0.25)
    rest = np.concatenate([np.stack([line, np.full_like(line, y), np.zeros_like(line)], axis=1) for y in (0.0, 0.25)])
    first, many = np.arange(len(line) - 1), len(line)
    triangles = np.concatenate([np.stack([first, first + 1, first + many], axis=1),
                                np.stack([first + 1, first + many + 1, first + many], axis=1)])
    return len(PinnedVertices([SimpleNamespace(vertices=np.zeros(1, int))], rest, triangles, 1.0)._around)


def corners_beside_a_seam():
    """Triangles of the artist's mesh to which the corners of a face belong that is so far across a seam."""
    material = np.array([[0.0, 0.0], [1.0, 0.0], [0.0, 1.0], [-1.0, 0.0]])
    sheet = ShownSheet(np.zeros((4, 3)), material, np.array([[0, 1, 2], [0, 2, 3]]))
    found = []
    for off in (1e-4, 0.05):
        corners = np.array([[-off, 0.3], [0.4, 0.2], [0.4, 0.3]])
        mesh = SimpleNamespace(material=corners, faces=np.array([[0, 1, 2]]), on=np.full(3, -1), x=np.zeros((3, 3)),
                               polar_gradients=np.zeros((3, 3, 2)), slide=np.zeros((3, 2)))
        found.append(sheet.record(mesh, 0).source.tolist())
    return found


def rounds_that_mend_tears():
    """Number of vertices that are still torn off, of eight that are mended one by one."""
    count = 8
    nodes, tets = np.zeros((8, 3)), np.array([[0, 1, 2, 3], [4, 5, 6, 7]])
    triangles = np.array([[3 * k, 3 * k + 1, 3 * k + 2] for k in range(count)])
    tet = np.tile([1, 0, 0], count)

    def mend(torn, tet, *_):
        tet = tet.copy()
        tet[torn[0, 0]] = 0
        return tet

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(tears, "_nearest_to_neighbours", mend)
        mended = tears.mend_tears(tet, nodes, tets, np.array([[0, 1, 2]]), ONE, np.zeros((3 * count, 3)), triangles,
                                  1.0)
    return int((mended != 0).sum())


def faces_of_a_neighbour():
    """Whether a torn vertex is bound to a face close to its neighbour that is the 30th, and the 120th, nearest."""
    found = []
    for rank in (30, 120):
        nodes = np.concatenate([CORNER + [0.0, 0.0, float(height)] for height in range(200)])
        faces = np.arange(len(nodes)).reshape(-1, 3)
        tree = tears.cKDTree(nodes[faces].mean(axis=1))
        moved = tears._nearest_to_neighbours(
            np.array([[0, 1]]), np.array([500, 501]), nodes, faces, np.arange(200), np.zeros((2, 3)), tree,
            lambda first, second, rank=rank: first == rank)
        found.append(int(moved[0]))
    return found


def faces_that_are_as_near():
    """Which of two faces is nearest, of which the second one, with a lower index, is so much farther."""
    return [int(tears.nearest_of(np.array([[5, 2]]), np.array([[0.1, 0.1 + off]]))[0][0]) for off in (1e-7, 1e-3)]


UNITS = (
    depths_that_are_drawn, vertices_that_slip_through_a_slab, large_faces_among_small_ones,
    faces_that_look_the_right_way, plates_across_air, plates_that_lean, plates_that_are_joined, pairs_of_large_plates,
    points_beside_a_tetrahedron, cells_of_uneven_tetrahedra, points_beside_a_face, vertices_around_a_pinned_one,
    corners_beside_a_seam, rounds_that_mend_tears, faces_of_a_neighbour, faces_that_are_as_near)
