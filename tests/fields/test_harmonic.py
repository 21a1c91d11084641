"""Paint on the surface reaches the inside smoothly, and each part counts for itself."""

from pathlib import Path

import numpy as np
import pytest
from scipy.sparse import csr_matrix, diags

from solver.errors import BadMesh
from solver.fields.harmonic import harmonic_extension, p1_laplacian, solve
from solver.meshing.grid import box_tets
from solver.meshing.volume import boundary_faces

DATA = Path(__file__).resolve().parents[1] / "data"


def test_laplacian_is_symmetric_and_kills_constants_and_its_energy_is_exact():
    nodes, tets = box_tets((3, 4, 2), (1.0, 2.0, 0.5))
    matrix = p1_laplacian(nodes, tets)
    assert abs(matrix - matrix.T).max() < 1e-14
    assert np.abs(matrix @ np.ones(len(nodes))).max() < 1e-13
    linear = nodes @ [1.0, -2.0, 3.0]
    assert linear @ (matrix @ linear) == pytest.approx(14.0 * 1.0)  # |gradient|² times volume


def test_a_linear_map_is_carried_exactly_where_the_surfaces_agree():
    nodes, tets = box_tets((6, 5, 4), (1.0, 1.0, 1.0))
    faces, _ = boundary_faces(tets)
    used, corners = np.unique(faces, return_inverse=True)
    vertices, triangles = nodes[used], corners.reshape(-1, 3)
    paint = np.stack([vertices[:, 0], 1.0 - 0.5 * vertices[:, 1] - 0.5 * vertices[:, 2]], axis=1)
    values = harmonic_extension(nodes, tets, vertices, triangles, paint)
    assert values[:, 0] == pytest.approx(nodes[:, 0], abs=1e-10)
    assert values[:, 1] == pytest.approx(1.0 - 0.5 * nodes[:, 1] - 0.5 * nodes[:, 2], abs=1e-10)


@pytest.mark.parametrize("size, origin", [(1.0, 0.0), (1e-6, 0.0), (1e3, 1e5)])
def test_coarse_paint_on_a_fine_volume(size, origin):
    """A box of 12 triangles carries a linear map to a volume with many nodes on each of them."""
    coarse, cell = box_tets((1, 1, 1), (size, size, size), (origin,) * 3)
    nodes, tets = box_tets((7, 7, 7), (size, size, size), (origin,) * 3)
    paint = (coarse[:, :1] - origin) / size
    values = harmonic_extension(nodes, tets, coarse, boundary_faces(cell)[0], paint)
    assert values[:, 0] == pytest.approx((nodes[:, 0] - origin) / size, abs=1e-9 + 1e-15 * origin / size)


def test_values_stay_within_the_paint_on_a_real_mesh():
    saved = np.load(DATA / "suzanne.npz")
    vertices = saved["vertices"]
    paint = (vertices[:, :1] > 0.02).astype(float)
    values = harmonic_extension(saved["nodes"], saved["tets"], vertices, saved["triangles"], paint)[:, 0]
    assert values.min() == 0.0 and values.max() == 1.0
    assert values[saved["nodes"][:, 0] > 0.045].min() > 0.5 and values[saved["nodes"][:, 0] < -0.01].max() < 0.5
    assert ((values > 0.05) & (values < 0.95)).any()


def needles(thin, cells=6):
    """A box of cells whose widths differ by so many powers of ten."""
    nodes, tets = box_tets((cells,) * 3, (1.0, 1.0, 1.0))
    random, places = np.random.default_rng(6), nodes.copy()
    for axis in range(3):
        edges = np.concatenate([[0.0], np.cumsum(10.0 ** (-thin * random.random(cells)))])
        places[:, axis] = (edges / edges[-1])[np.rint(nodes[:, axis] * cells).astype(int)]
    return places, tets


def test_what_conjugate_gradients_do_not_solve_is_factored():
    """A chain of conductors from 1 to 1e10, whose potentials are known: they give up, off by 0.28."""
    conductor = 10.0 ** (10 * np.random.default_rng(3).random(201))
    chain = diags([conductor[:-1] + conductor[1:], -conductor[1:-1], -conductor[1:-1]], [0, 1, -1]).tocsr()
    known = np.zeros((200, 1))
    known[-1] = conductor[-1]
    exact = np.cumsum(1.0 / conductor)[:-1] / np.sum(1.0 / conductor)
    assert solve(chain, known)[:, 0] == pytest.approx(exact, abs=1e-4)


@pytest.mark.parametrize("matrix", [[[1.0, np.nan], [np.nan, 1.0]], [[np.inf, 1.0], [1.0, 1.0]],
                                    [[1e-310, 0.0], [0.0, 1.0]]])
def test_what_a_factor_does_not_solve_either_is_refused(matrix):
    """The factor exists and reports no error, but its solution is not finite."""
    with np.errstate(all="ignore"), pytest.raises(BadMesh, match="so flat that painted maps"):
        solve(csr_matrix(matrix), np.ones((2, 1)))


def test_tetrahedra_that_no_number_can_tell_from_flat_ones_are_refused():
    nodes, tets = needles(17)
    faces, _ = boundary_faces(tets)
    used, corners = np.unique(faces, return_inverse=True)
    with np.errstate(all="ignore"), pytest.raises(BadMesh, match="so flat that painted maps"):
        harmonic_extension(nodes, tets, nodes[used], corners.reshape(-1, 3), nodes[used, :1])


def test_parts_count_alone():
    nodes, tets = box_tets((3, 3, 3), (1.0, 1.0, 1.0))
    both = np.concatenate([nodes, nodes + [1.01, 0.0, 0.0]])
    both_tets = np.concatenate([tets, tets + len(nodes)])
    faces, _ = boundary_faces(both_tets)
    paint = (both[:, :1] > 1.005).astype(float)
    values = harmonic_extension(both, both_tets, both, faces, paint)[:, 0]
    assert values == pytest.approx(paint[:, 0], abs=1e-10)


@pytest.mark.parametrize("turn", [1, -1])
def test_paint_does_not_cross_a_thin_sheet(turn):
    """A slab thinner than its tetrahedra are wide, painted on top only, whose two sides cross in the middle."""
    nodes, tets = box_tets((10, 10, 1), (1.0, 1.0, 0.02))
    faces, _ = boundary_faces(tets)
    middle = (np.abs(nodes[:, :2] - 0.5) < 0.25).all(axis=1)
    vertices = nodes + np.where(nodes[:, 2:] > 0.01, -0.015, 0.015) * middle[:, None] * [0.0, 0.0, 1.0]
    paint = (nodes[:, 2:] > 0.01).astype(float)
    inner = (np.abs(nodes[:, :2] - 0.5) < 0.45).all(axis=1)
    values = harmonic_extension(nodes, tets, vertices, faces[:, ::turn], paint)[:, 0]
    assert values[inner] == pytest.approx(paint[inner, 0], abs=1e-10)
