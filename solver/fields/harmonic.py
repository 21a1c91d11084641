"""Harmonic extension of painted maps from the surface into the volume."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import coo_matrix, csr_matrix
from scipy.sparse.linalg import LinearOperator, cg, splu
from scipy.spatial import cKDTree

from ..errors import BadMesh
from ..meshing.closest import closest_weights, vertex_normals
from ..meshing.volume import boundary_faces, shape_gradients
from ..state import Index, Vec

CANDIDATES = 12  #: samples whose triangles are compared for each boundary node
MOST_SAMPLES = 400_000  #: of all triangles, at most, unless these are more
UNSOLVED = 1e-6  #: largest residual, of the largest term of an equation


def harmonic_extension(nodes: Vec, tets: Index, vertices: Vec, triangles: Index, painted: Vec) -> Vec:
    """Return values at nodes, (k, maps), that agree with painted values on the surface and are harmonic inside.

    nodes: (k, 3) [m]. tets: (e, 4). vertices: (n, 3) [m]. triangles: (m, 3). painted: values at vertices, (n, maps).
    Boundary nodes have the value at the nearest point of the render mesh with a similar normal; all other nodes solve
    Laplace's equation with linear elements. Values are clipped to the range of the painted ones. Each part of the
    volume is independent. Raises BadMesh where tetrahedra are so flat that the equation has no numerical solution.
    """
    border, values = on_border(nodes, tets, vertices, triangles, painted)
    nodes = (nodes - nodes.mean(axis=0)) / float(np.ptp(nodes, axis=0).max())
    free = np.setdiff1d(np.arange(len(nodes)), border)
    if len(free):
        laplacian = p1_laplacian(nodes, tets)
        values[free] = solve(laplacian[free][:, free].tocsr(), -(laplacian[free][:, border] @ values[border]))
    return np.clip(values, painted.min(axis=0), painted.max(axis=0))


def solve(matrix: csr_matrix, known: Vec, tolerance: float = 1e-12) -> Vec:
    """Return X of matrix X = known, (f, maps), by conjugate gradients, or by a factor where these do not converge.

    matrix: (f, f). known: (f, maps). tolerance: of the relative residual. Raises BadMesh where neither solves it.
    """
    diagonal = matrix.diagonal()
    jacobi = LinearOperator(matrix.shape, lambda r: r.ravel() / diagonal)
    solution, factor = np.zeros_like(known), None
    for i in range(known.shape[1]):
        if np.isfinite(diagonal).all() and (diagonal > 0.0).all():
            solution[:, i], rounds = cg(matrix, known[:, i], rtol=tolerance, maxiter=20 * len(known), M=jacobi)
            if rounds == 0:
                continue
        try:
            factor = factor or splu(matrix.tocsc())
        except RuntimeError as error:  # exactly singular
            raise _too_flat() from error
        solution[:, i] = factor.solve(known[:, i])
        off = np.abs(matrix @ solution[:, i] - known[:, i]).max()
        size = max(np.abs(known[:, i]).max(), np.abs(diagonal * solution[:, i]).max())
        if not (np.isfinite(solution[:, i]).all() and off <= UNSOLVED * size):
            raise _too_flat()
    return solution


def _too_flat() -> BadMesh:
    return BadMesh("its tetrahedra are so flat that painted maps cannot be carried into it",
                   "Use better shaped tetrahedra, or tetrahedralize it again")


def on_border(nodes: Vec, tets: Index, vertices: Vec, triangles: Index, painted: Vec) -> tuple[Index, Vec]:
    """Return the boundary nodes, (b,), and values at all nodes, (k, maps), with painted values at these and zeros
    elsewhere.

    nodes: (k, 3) [m]. tets: (e, 4). vertices: (n, 3) [m]. triangles: (m, 3). painted: values at vertices, (n, maps).
    """
    centre, scale = nodes.mean(axis=0), float(np.ptp(nodes, axis=0).max())
    nodes, vertices = (nodes - centre) / scale, (vertices - centre) / scale
    faces, _ = boundary_faces(tets)
    border = np.unique(faces)
    values = np.zeros((len(nodes), painted.shape[1]))
    transfer = _from_vertices(nodes, faces, border, vertices, np.asarray(triangles).reshape(-1, 3), tets)
    values[border] = transfer @ painted
    return border, values


def p1_laplacian(nodes: Vec, tets: Index) -> csr_matrix:
    """Return the stiffness matrix ∫ ∇φ_i·∇φ_j of linear elements, (k, k), symmetric and positive semi-definite.

    nodes: (k, 3). tets: (e, 4).
    """
    gradients, six_volumes = shape_gradients(nodes, tets)
    blocks = np.einsum("eik,ejk->eij", gradients, gradients) * (six_volumes / 6.0)[:, None, None]
    rows, columns = np.repeat(tets, 4, axis=1).ravel(), np.tile(tets, (1, 4)).ravel()
    return coo_matrix((blocks.ravel(), (rows, columns)), shape=(len(nodes), len(nodes))).tocsr()


def _from_vertices(nodes: Vec, faces: Index, border: NDArray, vertices: Vec, triangles: Index,
                   tets: Index) -> csr_matrix:
    """Return weights (b, n) of the painted vertices at the point of the render mesh nearest to each boundary node."""
    ends = nodes[tets[:, :2]]
    edge = float(np.median(np.linalg.norm(ends[:, 0] - ends[:, 1], axis=1)))
    samples, triangle = _spread_samples(vertices, triangles, 0.5 * edge)
    rows = triangle[cKDTree(samples).query(nodes[border], np.arange(1, min(CANDIDATES, len(samples)) + 1))[1]]
    corners = vertices[triangles[rows]]
    points = nodes[border][:, None]
    weights = closest_weights(points, corners)
    away = np.linalg.norm(np.einsum("nkc,nkcd->nkd", weights, corners) - points, axis=-1)

    across = np.cross(corners[..., 1, :] - corners[..., 0, :], corners[..., 2, :] - corners[..., 0, :])
    side = np.einsum("nkd,nd->nk", across, vertex_normals(nodes, faces)[border])
    side *= -1.0 if side[np.arange(len(rows)), away.argmin(axis=1)].sum() < 0.0 else 1.0  # modelled inside out
    # a triangle with the opposite normal loses to one with a similar normal that is not much farther
    best = (away + np.where(side < 0.0, edge, 0.0)).argmin(axis=1)
    pick = np.arange(len(rows))
    columns = triangles[rows[pick, best]]
    starts = np.arange(len(rows) + 1) * 3
    return csr_matrix((weights[pick, best].ravel(), columns.ravel(), starts), shape=(len(rows), len(vertices)))


def _spread_samples(vertices: Vec, triangles: Index, spacing: float) -> tuple[Vec, NDArray]:
    """Return points over all triangles, about `spacing` apart, and the triangle of each."""
    a, b, c = (vertices[triangles[:, i]] for i in range(3))
    longest = np.sqrt(np.max([((p - q) ** 2).sum(axis=1) for p, q in ((a, b), (b, c), (c, a))], axis=0))
    while True:
        cuts = np.clip(np.ceil(longest / spacing), 1, 500).astype(np.int64)
        if (cuts**2).sum() <= max(MOST_SAMPLES, len(triangles)):
            break
        spacing *= 1.4
    triangle = np.repeat(np.arange(len(triangles)), cuts**2)
    rank = np.arange(len(triangle)) - np.repeat(np.cumsum(cuts**2) - cuts**2, cuts**2)
    n = cuts[triangle]
    # a square grid of n × n points, folded over the diagonal
    u, v = (rank // n + 1.0 / 3.0) / n, (rank % n + 1.0 / 3.0) / n
    fold = u + v > 1.0
    u, v = np.where(fold, 1.0 - u, u), np.where(fold, 1.0 - v, v)
    points = a[triangle] + u[:, None] * (b - a)[triangle] + v[:, None] * (c - a)[triangle]
    return points, triangle
