"""Validation of cloth: faces with area, at most two faces an edge, and a UV map without overlaps; and of wind."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from .. import catalogue
from ..errors import BadMesh
from . import schema
from .expect import check_array, check_choice, check_indices, check_vector
from .folder import FARTHEST, Job, refuse

FLAT = 1.0e-8  #: of a face's longest side squared: less than this is no area
TOUCH = 1.0e-6  #: of an edge's length in the UV map: faces that overlap by less only touch
SIDES = np.array([[0, 1], [1, 2], [2, 0]])

#: fields of a body that cloth does not support, and their names in messages
OF_VOLUMES = {"tets": "tetrahedra", "fiber_material": "fibers", "cuts": "cuts",
              "painted": "painted maps"}


def check_cloth(job: Job, body: schema.Body, cloth: schema.Cloth, where: str) -> None:
    """Check the settings of a body that is cloth. where: path of the body in scene.json. Raises BadScene."""
    if body.surface is None:
        raise refuse("cloth is the faces of its surface, and it has none", f"{where}.surface", "Give it a surface")
    for field, what in OF_VOLUMES.items():
        if getattr(body, field):
            raise refuse(f"it is cloth, which has no {what}", f"{where}.{field}",
                         "Leave them out, or leave out `cloth`")
    method = catalogue.find("method", job.scene.method_of(body).kind)
    if method.follows:
        raise refuse(f"it is cloth, whose nodes all move on their own, and {method.label} lets {method.follows}",
                     f"{where}.method", 'Use the method "vanilla"')
    check_choice("membrane", cloth.membrane, f"{where}.cloth.membrane")
    check_choice("bending", cloth.bending, f"{where}.cloth.bending")
    check_choice("damping", body.damping, f"{where}.damping")
    damping = catalogue.find("damping", body.damping.kind)
    if why := damping.why_not("cloth"):
        works = [entry.label for entry in catalogue.able("damping", "cloth")]
        raise refuse(f"it is cloth, which {damping.label} does not damp: {why}", f"{where}.damping",
                     f"Use {' or '.join(works)}")
    check_vector(cloth.warp, f"{where}.cloth.warp")
    if not np.linalg.norm(cloth.warp) > 1.0 / FARTHEST:
        raise refuse("the warp has no direction", f"{where}.cloth.warp")


def check_sharp_edges(job: Job, body: schema.Body, cloth: schema.Cloth, sharp: schema.Eulerian, where: str) -> None:
    """Check the settings of cloth with Sharp Edges, which is remeshed as it moves. Raises BadScene."""
    bending = catalogue.find("bending", cloth.bending.kind)
    if why := bending.why_not("remeshing"):
        works = [entry.label for entry in catalogue.able("bending", "remeshing")]
        raise refuse(f"its Sharp Edges remesh it, and {bending.label} cannot follow: {why}",
                     f"{where}.cloth.bending", f"Use {' or '.join(works)}")
    for field, what, has in (("pulls", "pulls", body.pulls), ("nails", "nails driven through it", body.nails),
                             ("pin.until", "pins that let go", body.pin.until is not None),
                             ("pin.stiffness", "soft pins", body.pin.stiffness is not None),
                             ("follow", "Follow", body.follow is not None),
                             ("wobble_half_life", "Wobble Half-Life", bool(body.wobble_half_life))):
        if has:
            raise refuse(f"cloth with Sharp Edges has no {what} yet", f"{where}.{field}",
                         "Pin it to what moves instead, or switch Sharp Edges off")
    if cloth.seams is not None:
        raise refuse("cloth with Sharp Edges does not support seams yet", f"{where}.cloth.seams",
                     "Switch Sewing or Sharp Edges off")
    if cloth.pressure:
        raise refuse("cloth with Sharp Edges does not support pressure yet", f"{where}.cloth.pressure",
                     "Set it to 0, or switch Sharp Edges off")
    if job.scene.time.tolerance:
        raise refuse("cloth with Sharp Edges does not estimate the error of its steps", "$.time.tolerance",
                     "Set it to 0: steps are then as long as `step`")
    if sharp.coarsest and sharp.finest > sharp.coarsest:
        raise refuse(f"its finest edges, {sharp.finest:.4g} m, are longer than its coarsest, {sharp.coarsest:.4g} m",
                     f"{where}.cloth.eulerian.finest", "Make them shorter, or 0 for what suits the mesh")


def check_triangles(job: Job, body: schema.Body, where: str) -> None:
    """Check the faces, quads, seams and UV map of a body that is cloth. Raises BadMesh, BadScene, NoSuchThing.

    where: path of the body's surface in scene.json.
    """
    surface, cloth = body.surface, body.cloth
    assert surface is not None and cloth is not None
    vertices = np.asarray(job.array(surface.vertices), dtype=float)
    triangles = np.asarray(job.array(surface.triangles))
    flat = _find_flat(vertices[triangles])
    if len(flat):
        raise refuse(f"{len(flat)} of its {len(triangles)} faces have no area, the first is triangle {flat[0]}",
                     f"{where}.triangles", "Dissolve them: in Blender Mesh > Clean Up > Degenerate Dissolve",
                     kind=BadMesh)
    ends = np.sort(triangles[:, SIDES].reshape(-1, 2), axis=1)
    edges, counts = np.unique(ends, axis=0, return_counts=True)
    if (counts > 2).any():
        crowded = edges[counts.argmax()]
        near = ", ".join(f"{c:.3g}" for c in vertices[crowded].mean(axis=0))
        raise refuse(f"{np.count_nonzero(counts > 2)} edges have more than two faces, one is at ({near}) m",
                     f"{where}.triangles", "Give each edge two faces at most: in Blender Select > All by Trait > Non "
                     "Manifold shows where", kind=BadMesh)
    if cloth.pressure:
        sides = triangles[:, SIDES].reshape(-1, 2)
        around = len(np.unique(sides, axis=0)) < len(sides)
        if (counts < 2).any() or around:
            what = ("its faces do not all run the same way around" if around else
                    f"it is open: {np.count_nonzero(counts < 2)} edges have one face alone")
            raise refuse(f"it has a pressure inside, and {what}", f"{where}.cloth.pressure",
                         "Close its holes, in Blender with Mesh > Clean Up > Fill Holes and Mesh > Normals > "
                         "Recalculate Outside, or set Pressure to 0", kind=BadMesh)
    if cloth.quads is not None:
        path = where.removesuffix("surface") + "cloth.quads"
        check_indices(check_array(job, cloth.quads, path, "i", (None, 4)), len(vertices), path, "vertices")
    if cloth.seams is not None:
        path = where.removesuffix("surface") + "cloth.seams"
        seams = check_array(job, cloth.seams, path, "i", (None, 2))
        check_indices(seams, len(vertices), path, "vertices")
        if (seams[:, 0] == seams[:, 1]).any():
            raise refuse("a seam joins a vertex to itself", path, "Leave it out")
    if cloth.uv is not None:
        path = where.removesuffix("surface") + "cloth.uv"
        _check_uv(check_array(job, cloth.uv, path, "f", (len(triangles), 3, 2)), path)


def check_wind(job: Job) -> None:
    """Check the wind of a scene, if it has one. Raises BadScene, NoSuchThing."""
    wind = job.scene.wind
    if wind is None:
        return
    check_vector(wind.velocity, "$.wind.velocity")
    if wind.motion is not None:
        check_array(job, wind.motion, "$.wind.motion", "f", (job.samples, 3))


def _check_uv(uv: NDArray[np.float64], where: str) -> None:
    flat = _find_flat(uv)
    if len(flat):
        raise refuse(f"{len(flat)} of its {len(uv)} faces have no area in the UV map, the first is triangle {flat[0]}",
                     where, "Unwrap it again: in Blender UV > Unwrap", kind=BadMesh)
    pair = _overlapping(np.asarray(uv, dtype=float))
    if pair is not None:
        raise refuse(f"its faces overlap in the UV map, triangles {pair[0]} and {pair[1]} among them", where,
                     "Unwrap it again, so that each place of the map belongs to one face", kind=BadMesh)


def _find_flat(corners: NDArray[np.float64]) -> NDArray[np.int64]:
    """Return indices of triangles without area. corners: (m, 3, 2) or (m, 3, 3)."""
    u, v = corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0]
    uu, vv, uv = (np.einsum("ij,ij->i", a, b) for a, b in ((u, u), (v, v), (u, v)))
    longest = np.maximum(np.maximum(uu, vv), uu + vv - 2.0 * uv)
    flat: NDArray[np.int64] = np.flatnonzero(np.sqrt(np.maximum(uu * vv - uv * uv, 0.0)) <= FLAT * longest)
    return flat


def _overlapping(uv: NDArray[np.float64]) -> tuple[int, int] | None:
    """Return the indices of two triangles of a UV map, (m, 3, 2), that overlap; None where none do."""
    from scipy.spatial import cKDTree  # imported only for jobs with a UV map

    centres = uv.mean(axis=1)
    reach = np.linalg.norm(uv - centres[:, None], axis=2).max(axis=1)
    order = np.argsort(reach)
    # triangles of similar size together, so that a few large ones do not make pairs of all small ones
    for group in np.array_split(order, max(1, min(16, len(order) // 64))):
        smaller = order[: np.searchsorted(reach[order], reach[group].max(), side="right")]
        near = cKDTree(centres[smaller]).query_ball_point(centres[group], reach[group] + reach[group].max())
        first = np.repeat(group, [len(pair) for pair in near])
        second = smaller[np.concatenate([np.asarray(pair, dtype=np.int64) for pair in near])]
        pairs = first != second
        first, second = first[pairs], second[pairs]
        for start in range(0, len(first), 1 << 18):
            one, two = first[start : start + (1 << 18)], second[start : start + (1 << 18)]
            overlaps = _depth(uv[one], uv[two]) > TOUCH * np.minimum(reach[one], reach[two])
            if overlaps.any():
                k = int(np.flatnonzero(overlaps)[0])
                return int(one[k]), int(two[k])
    return None


def _depth(one: NDArray[np.float64], two: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the overlaps of k pairs of triangles, (k,), negative where they are separate. one, two: (k, 3, 2).

    Overlaps are in the unit of the UV map.
    """
    least = np.full(len(one), np.inf)
    for corners in (one, two):
        for a, b in SIDES:
            side = corners[:, b] - corners[:, a]
            across = np.stack([-side[:, 1], side[:, 0]], axis=1) / np.linalg.norm(side, axis=1)[:, None]
            p, q = (np.einsum("kij,kj->ki", triangle, across) for triangle in (one, two))
            least = np.minimum(least, np.minimum(p.max(axis=1) - q.min(axis=1), q.max(axis=1) - p.min(axis=1)))
    return least
