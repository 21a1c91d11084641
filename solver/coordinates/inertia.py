"""Mass, centre and inertia of solid shapes of one density. SI.

The shapes are entries of the catalogue's family "shape". Each takes the entry's parameters and arrays by their keys:
`catalogue.find("shape", kind).load()(**params, **arrays, density=density)`.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..errors import BadMesh, BadScene
from ..state import Index, Vec

FLAT = 1.0e-6  #: a surface is flat where its thinnest extent is below this fraction of its largest


@dataclass(frozen=True)
class Solid:
    """Mass, centre and inertia of a shape. Raises BadScene where a mass or moment vanishes in rounding."""

    mass: float  #: [kg]
    centre: Vec  #: centre of mass in the shape's own frame, (3,) [m]
    inertia: Vec  #: about the centre, along the axes of the shape's frame, (3, 3) [kg m²]

    def __post_init__(self) -> None:
        if not (self.mass > 0.0 and (np.diagonal(self.inertia) > 0.0).all() and np.isfinite(self.inertia).all()):
            raise BadScene("it is so small or so large that its mass or inertia is no number above zero",
                           "Check its size and the units")

    def weighing(self, mass: float) -> Solid:
        """Return the shape with this mass [kg]. Raises BadScene where the mass is not a positive number."""
        _check("mass", mass)
        return Solid(mass, self.centre, self.inertia * (mass / self.mass))

    def spatial(self) -> Vec:
        """Return the spatial inertia for twists [ω; ν] of a frame at the centre, (6, 6) [kg m², kg]."""
        out = np.zeros((6, 6))
        out[:3, :3] = self.inertia
        out[3:, 3:] = self.mass * np.eye(3)
        return out


def moments(mass: Vec, arm: Vec) -> Vec:
    """Return the moments of inertia of points about the origin of their arms (k, 3) [m], (3, 3) [kg m²]. mass: (k,)
    [kg]."""
    second = (mass[:, None] * arm).T @ arm
    inertia: Vec = float(np.trace(second)) * np.eye(3) - second
    return inertia


def box(size_x: float, size_y: float, size_z: float, density: float = 1.0) -> Solid:
    """Return the solid of a box with these edges [m] around the origin, density [kg/m³]. Raises BadScene for a value
    that is not above zero."""
    for length in (size_x, size_y, size_z):
        _check("edge", length)
    _check("density", density)
    x, y, z = size_x * size_x, size_y * size_y, size_z * size_z
    mass = density * size_x * size_y * size_z
    return Solid(mass, np.zeros(3), mass / 12.0 * np.diag([y + z, z + x, x + y]))


def sphere(radius: float, density: float = 1.0) -> Solid:
    """Return the solid of a ball of this radius [m] around the origin, density [kg/m³]. Raises BadScene for a value
    that is not above zero."""
    _check("radius", radius)
    _check("density", density)
    mass = density * 4.0 / 3.0 * np.pi * radius**3
    return Solid(mass, np.zeros(3), 0.4 * mass * radius * radius * np.eye(3))


def capsule(radius: float, length: float, density: float = 1.0) -> Solid:
    """Return the solid of a cylinder along Z around the origin, `length` [m] without its two half balls, density
    [kg/m³]. Raises BadScene for a radius or density that is not above zero, or a negative length."""
    _check("radius", radius)
    _check("density", density)
    if not (np.isfinite(length) and length >= 0.0):
        raise BadScene(f"its length is {length:g}", "Give it a length of zero or more")
    rod, ball = density * np.pi * radius**2 * length, density * 4.0 / 3.0 * np.pi * radius**3
    # a half ball's centre is 3/8 r from its disc
    across = (rod * (radius**2 / 4.0 + length**2 / 12.0)
              + ball * (0.4 * radius**2 + length**2 / 4.0 + 3.0 / 8.0 * radius * length))
    around = rod * radius**2 / 2.0 + ball * 0.4 * radius**2
    return Solid(rod + ball, np.zeros(3), np.diag([across, across, around]))


def hull(vertices: Vec, density: float = 1.0) -> Solid:
    """Return the smallest convex solid around vertices (k, 3) [m], density [kg/m³]. Raises BadMesh where the vertices
    are flat."""
    return mesh(*hull_surface(vertices), density)


def hull_surface(vertices: Vec) -> tuple[Vec, Index]:
    """Return the vertices of the convex hull of vertices (k, 3) [m], (c, 3) [m], and its triangles (t, 3), facing
    outwards.

    Raises BadMesh where fewer than four vertices are given, or they are in a plane, or one is not finite.
    """
    from scipy.spatial import ConvexHull, QhullError

    _check_points(vertices)
    try:
        hull = ConvexHull(vertices)
    except (QhullError, ValueError) as failure:
        raise _report_flat_surface() from failure
    corners = vertices[hull.simplices]
    normal = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    inwards = np.einsum("ta,ta->t", normal, hull.equations[:, :3]) < 0.0
    triangles = np.where(inwards[:, None], hull.simplices[:, ::-1], hull.simplices)
    used, numbered = np.unique(triangles, return_inverse=True)
    return vertices[used], numbered.reshape(-1, 3).astype(np.int32)


def mesh(vertices: Vec, triangles: Index, density: float = 1.0) -> Solid:
    """Return the solid inside a closed surface, exactly: vertices (k, 3) [m], triangles (t, 3) facing outwards, density
    [kg/m³].

    A surface inside another, facing inwards, is a hollow. Raises BadMesh where a vertex is not finite, a triangle has
    an unknown vertex, the surface is open, two neighbours face in different directions, or it is flat or inside out.
    [Tonon 2004]
    """
    _check_points(vertices)
    _check("density", density)
    if len(triangles) == 0 or triangles.min() < 0 or triangles.max() >= len(vertices):
        raise BadMesh("its triangles name vertices that are not there", "Correct the triangles")
    _check_closed(triangles)

    # tetrahedra from the middle of the vertices to each triangle, their volumes signed
    middle = vertices.mean(axis=0)
    corners = (vertices - middle)[triangles]
    a, b, c = corners[:, 0], corners[:, 1], corners[:, 2]
    normal = np.cross(b - a, c - a)
    six = np.einsum("ta,ta->t", a, np.cross(b, c))
    volume = six.sum() / 6.0
    thin = FLAT * np.ptp(vertices, axis=0).max() * np.linalg.norm(normal, axis=1).sum() / 6.0
    if abs(volume) <= thin:
        raise _report_flat_surface()
    if volume < 0.0:
        raise BadMesh("its surface is inside out", "Flip its normals")
    centre = six @ corners.sum(axis=1) / (24.0 * volume)
    total = corners.sum(axis=1)
    second = (np.einsum("t,tia,tib->ab", six, corners, corners) + np.einsum("t,ta,tb->ab", six, total, total)) / 120.0
    second -= volume * np.outer(centre, centre)
    if np.linalg.eigvalsh(second)[0] <= 0.0:
        raise BadMesh("parts of its surface are inside out", "Recalculate its normals")
    return Solid(density * volume, centre + middle, density * (np.trace(second) * np.eye(3) - second))


def _check(what: str, value: float) -> None:
    if not (np.isfinite(value) and value > 0.0):
        raise BadScene(f"its {what} is {value:g}", "Give it a value above zero")


def _report_flat_surface() -> BadMesh:
    return BadMesh("its surface is flat and encloses no volume", "Give it some thickness")


def _check_points(vertices: Vec) -> None:
    if not np.isfinite(vertices).all():
        raise BadMesh("a vertex is not a finite number", "Correct its position")
    if len(vertices) < 4:
        raise _report_flat_surface()
    extents = np.linalg.svd(vertices - vertices.mean(axis=0), compute_uv=False)
    if extents[2] <= FLAT * extents[0]:
        raise _report_flat_surface()


def _check_closed(triangles: Index) -> None:
    """Raise BadMesh unless each side of a triangle occurs as often in the opposite direction."""
    sides = triangles[:, [[0, 1], [1, 2], [2, 0]]].reshape(-1, 2).astype(np.int64)
    forward, backward = (np.sort(sides[:, i] << 32 | sides[:, 1 - i]) for i in (0, 1))
    if (forward == backward).all():
        return
    ends = np.sort(sides, axis=1)
    _, uses = np.unique(ends[:, 0] << 32 | ends[:, 1], return_counts=True)
    if (uses % 2).any():
        raise BadMesh("its surface is open", "Close its holes, or take its convex hull")
    raise BadMesh("neighbours on its surface face different ways", "Recalculate its normals")
