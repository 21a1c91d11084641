"""Charts: one position in material space for each vertex of a cloth, from its UV map or from its flat rest shape."""

from __future__ import annotations

import numpy as np

from ..errors import BadMesh
from ..state import Index, Vec

SEAM_TOLERANCE = 1.0e-5  #: relative to the cloth's size in material space: nearer corners of a vertex are equal
FLAT = 1.0e-3  #: relative to its size: a mesh with a larger distance from its plane must be unwrapped


def from_corners(x: Vec, faces: Index, corners: Vec) -> Vec:
    """Return the material positions of the vertices, (n, 2) [m], from a UV map.

    x: positions in the world, (n, 3) [m], for messages. faces: (m, 3). corners: UV of the faces' corners,
    (m, 3, 2) [m]; a map that is mirrored as a whole is mirrored back. Raises BadMesh where a vertex has two positions,
    at a seam.
    """
    around, uv = faces.ravel(), corners.reshape(-1, 2)
    many = np.maximum(np.bincount(around, minlength=len(x)), 1)
    material = np.stack([np.bincount(around, uv[:, axis], len(x)) for axis in (0, 1)], axis=1) / many[:, None]
    off = np.linalg.norm(uv - material[around], axis=1)
    size = float(np.ptp(uv, axis=0).max()) if len(uv) else 0.0
    torn = np.unique(around[~(off <= SEAM_TOLERANCE * size)])
    if len(torn):
        where = ", ".join(f"{value:.4g}" for value in x[torn[0]])
        raise BadMesh(f"the UV map has a seam: vertex {torn[0]} at ({where}) m has several places in it, and so have "
                      f"{len(torn) - 1} more", "Unwrap the cloth as one island without seams, or split it along the "
                      "seams into objects of their own")
    # the same corner for all faces of a vertex, to the last digit
    material[around[::-1]] = uv[::-1]
    return _upright(material, faces)


def of_flat(x: Vec, faces: Index, warp: Vec) -> Vec:
    """Return the material positions of the vertices, (n, 2) [m], of a mesh that is flat at rest.

    x: rest positions, (n, 3) [m]. faces: (m, 3). warp: direction of the first material axis, (3,). Raises BadMesh where
    the mesh is not flat.
    """
    corners = x[faces]
    normal = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0]).sum(axis=0)
    size = float(np.ptp(x, axis=0).max())
    length = float(np.linalg.norm(normal))
    unit = normal / length if length > 0.0 else normal
    off = np.abs((x - x.mean(axis=0)) @ unit)
    if length == 0.0 or off.max() > FLAT * size:
        raise BadMesh(f"the cloth is not flat (it stands {off.max():.3g} m off its own plane) and has no UV map",
                      "Unwrap it as one island, and choose the UV map as its material space")
    along = warp - (warp @ unit) * unit
    if np.linalg.norm(along) < 1e-2 * np.linalg.norm(warp):
        axis = np.eye(3)[np.abs(unit).argmin()]
        along = axis - (axis @ unit) * unit
    along = along / np.linalg.norm(along)
    return _upright(np.stack([x @ along, x @ np.cross(unit, along)], axis=1), faces)


def _upright(material: Vec, faces: Index) -> Vec:
    """Return the chart, (n, 2) [m], or its mirror image if the cloth's total area in it is negative. faces: (m, 3)."""
    a, b, c = (material[faces[:, k]] for k in range(3))
    one, two = b - a, c - a
    if (one[:, 0] * two[:, 1] - one[:, 1] * two[:, 0]).sum() < 0.0:
        material = material * [-1.0, 1.0]
    return material
