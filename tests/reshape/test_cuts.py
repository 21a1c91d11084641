"""Which faces each kind of cut opens, and where it meets a segment."""

import msgspec
import numpy as np
import pytest
from small_jobs import box_tets

from solver import catalogue
from solver.job.schema import Cut
from solver.meshing.volume import face_parts
from solver.reshape.cuts.interface import Shape
from solver.reshape.cuts.sheet import CuttingSheet
from solver.reshape.split import separate

NODES, TETS = box_tets((6, 3, 3), (0.6, 0.3, 0.3))
SHAPE = Shape(NODES, TETS, np.arange(len(NODES), dtype=np.int32))


def cut(kind, shape=SHAPE, **given):
    arrays = {name: value for name, value in given.items() if isinstance(value, np.ndarray)}
    fields = {name: name + ".npy" if name in arrays else value for name, value in given.items()}
    made = msgspec.convert({"frame": 1, "kind": kind, **fields}, Cut)
    return catalogue.find("cut", kind).load()(made, lambda name: arrays[name[:-4]], shape)


def square(x, low, high):
    vertices = np.array([[x, low, low], [x, high, low], [x, high, high], [x, low, high]], float)
    return vertices, np.array([[0, 1, 2], [0, 2, 3]], np.int32)


def parts(mask):
    return face_parts(separate(TETS, SHAPE.inner, mask)[0])[0]


@pytest.mark.parametrize("x", [0.2, 0.25, 0.33])
@pytest.mark.parametrize("normal", [(1, 0, 0), (-3, 0, 0), (1, 0.2, -0.3)])
def test_a_large_sheet_is_the_plane(x, normal):
    plane = cut("plane", point=[x, 0.1, 0.15], normal=list(map(float, normal)))
    n = np.array(normal) / np.linalg.norm(normal)
    u = np.cross(n, [0, 1, 0.5])
    w = np.cross(n, u)
    vertices = np.array([x, 0.1, 0.15]) + 3 * np.stack([-u - w, u - w, u + w, w - u])
    sheet = cut("sheet", vertices=vertices, triangles=np.array([[0, 1, 2], [0, 2, 3]], np.int32))
    assert parts(plane.faces(SHAPE)[0]) == 2
    if normal == (1, 0.2, -0.3):  # no corner or middle lies in it
        assert np.array_equal(plane.faces(SHAPE)[0], sheet.faces(SHAPE)[0])
    else:
        assert parts(sheet.faces(SHAPE)[0]) == 2
    rng = np.random.default_rng(2)
    a, b = rng.uniform(-0.2, 0.8, (2, 4000, 3))
    assert np.allclose(plane.intersections(a, b), sheet.intersections(a, b), atol=1e-6, equal_nan=True)
    fraction = plane.intersections(a, b)
    here = ~np.isnan(fraction)
    assert 500 < here.sum() < 3500
    assert np.abs((a + fraction[:, None] * (b - a) - [x, 0.1, 0.15])[here] @ n).max() < 1e-8


def test_a_plane_through_nodes_and_middles_gives_a_smooth_cut():
    """Middles of the grid's tetrahedra stand at quarters of a cell: in the plane they all go to one side."""
    for x in (0.3, 0.35, 0.325):
        mask = cut("plane", point=[x, 0, 0], normal=[1.0, 0.0, 0.0]).faces(SHAPE)[0]
        near = SHAPE.centres[SHAPE.inner[mask] // 4][..., 0]
        assert ((near.min(axis=1) < x - 1e-6) & (near.max(axis=1) > x - 1e-9)).all() and parts(mask) == 2


def test_a_sheet_that_ends_inside_cuts_a_part_of_the_way():
    vertices, triangles = square(0.31, -1.0, 0.16)
    mask = cut("sheet", vertices=vertices, triangles=triangles).faces(SHAPE)[0]
    assert mask.any() and parts(mask) == 1
    assert SHAPE.centres[SHAPE.inner[mask] // 4].mean(axis=1)[:, 1:].max() < 0.2


def test_what_a_segment_meets_twice_stays_together():
    """Two layers of a folded sheet between the same tetrahedra."""
    vertices, triangles = square(0.3333, -1.0, 1.0)
    both = np.concatenate([vertices, vertices + [1e-4, 0, 0]])
    folded = cut("sheet", vertices=both, triangles=np.concatenate([triangles, triangles[:, ::-1] + 4]).astype(np.int32))
    assert not folded.faces(SHAPE)[0].any()
    assert cut("sheet", vertices=vertices, triangles=triangles).faces(SHAPE)[0].any()


def test_nothing_slips_through_between_two_triangles():
    """Segments through the edges and vertices that triangles of a bent sheet share are met just once."""
    grid = np.stack(np.meshgrid(np.arange(5.0), np.arange(5.0), indexing="ij"), -1).reshape(-1, 2)
    vertices = np.column_stack([grid, 0.1 * np.sin(grid.sum(axis=1))])
    corner = (np.arange(4)[:, None] * 5 + np.arange(4)).ravel()
    triangles = np.concatenate([np.stack([corner, corner + 5, corner + 6], 1),
                                np.stack([corner, corner + 6, corner + 1], 1)]).astype(np.int32)
    sheet = CuttingSheet.of(vertices, triangles, 1.0)
    inner = vertices[(grid > 0).all(axis=1) & (grid < 4).all(axis=1)]
    edges = vertices[triangles[:16, [0, 2]]].mean(axis=1)  # the diagonals, all of them inside
    points = np.concatenate([inner, edges])
    fraction = sheet.intersections(points - [0, 0, 0.5], points + [0, 0, 0.5])
    assert np.abs(fraction - 0.5).max() < 1e-6
    assert np.isnan(sheet.intersections(points + [0, 0, 0.2], points + [0, 0, 0.5])).all()


def test_a_piece_thinner_than_a_tetrahedron_is_no_piece():
    """A slanted plane just below a corner leaves the tetrahedra that it scrapes where they are."""
    low = cut("plane", point=[0.53, 0.24, 0.23], normal=[1.0, 1.0, 1.0])
    raw = ~np.isnan(low.intersections(*SHAPE.centres[SHAPE.inner // 4].transpose(1, 0, 2)))
    assert raw.any() and parts(raw) > 1 and not low.faces(SHAPE)[0].any()
    rng = np.random.default_rng(5)
    for _ in range(20):
        normal = rng.normal(size=3)
        mask = cut("plane", point=[0.3, 0.15, 0.15], normal=normal.tolist()).faces(SHAPE)[0]
        assert parts(mask) == 2


def test_listed_faces_open_after_an_earlier_cut_too():
    """Nodes are numbered as in the uncut volume, whatever their present numbers."""
    faces = np.unique(np.sort(TETS[:, [[1, 2, 3], [0, 2, 3], [0, 1, 3], [0, 1, 2]]].reshape(-1, 3), axis=1), axis=0)
    listed = faces[(np.abs(NODES[faces][..., 0] - 0.2) < 1e-9).all(axis=1)].astype(np.int32)
    other = faces[(np.abs(NODES[faces][..., 0] - 0.4) < 1e-9).all(axis=1)].astype(np.int32)
    mask = cut("faces", faces=listed[:, ::-1].copy()).faces(SHAPE)[0]
    assert mask.sum() == len(listed) == 18 and parts(mask) == 2
    tets, source = separate(TETS, SHAPE.inner, mask)
    after = Shape(NODES[source], tets, source)
    assert not cut("faces", shape=after, faces=listed).faces(after)[0].any()
    again = cut("faces", shape=after, faces=other).faces(after)[0]
    assert again.sum() == 18 and face_parts(separate(tets, after.inner, again)[0])[0] == 3


def test_listed_faces_go_on_beyond_the_skin():
    listed = np.unique(np.sort(TETS[:, [[1, 2, 3], [0, 2, 3], [0, 1, 3], [0, 1, 2]]].reshape(-1, 3), axis=1), axis=0)
    listed = listed[(np.abs(NODES[listed][..., 0] - 0.2) < 1e-9).all(axis=1)].astype(np.int32)
    made = cut("faces", faces=listed)
    outside = np.array([[0.19, -0.02, 0.1], [0.19, 0.15, 0.32], [0.19, 0.15, 0.15], [0.19, 0.9, 0.15]])
    assert np.array_equal(np.isnan(made.intersections(outside, outside + [0.02, 0, 0])), [False, False, False, True])
