"""Faults of frames of cloth with Sharp Edges: cloth inside of colliders or through itself, thin or
inverted triangles.

    PYTHONPATH=.:tests python -m sound_sheets JOB
"""

from __future__ import annotations

import sys
from pathlib import Path

import ipctk
import numpy as np

from solver.frames.read import Cache
from solver.job.load import load
from solver.meshing.winding import winding_numbers
from solver.parts.eol.offset_surface import is_closed

CUT = 4  #: of each edge: places of a triangle that are looked at
SHARES = np.array([[i, j, CUT - i - j] for i in range(CUT + 1) for j in range(CUT + 1 - i)]) / CUT


def smallest_angle(material, faces):
    """Return the smallest angle of triangles in material space [degrees], negative where one is inverted."""
    corners = material[faces]
    least = np.inf
    for k in range(3):
        a, b = corners[:, (k + 1) % 3] - corners[:, k], corners[:, (k + 2) % 3] - corners[:, k]
        angle = np.degrees(np.arctan2(a[:, 0] * b[:, 1] - a[:, 1] * b[:, 0], np.einsum("ij,ij->i", a, b)))
        least = min(least, float(angle.min()))
    return least


def depth(points, x, triangles):
    """How deep the deepest of points (k, 3) is in a closed surface [m], 0 where none is."""
    low, high = x.min(axis=0), x.max(axis=0)
    points = points[((points > low) & (points < high)).all(axis=1)]
    if len(points):
        points = points[winding_numbers(points, x, triangles) > 0.5]
    return float(distances(points, x[triangles]).max()) if len(points) else 0.0


def distances(points, corners):
    """Return the distances of points (k, 3) to the nearest of triangles (t, 3, 3), (k,) [m]."""
    least = np.full(len(points), np.inf)
    for a, b, c in corners:
        n = np.cross(b - a, c - a)
        n = n / np.linalg.norm(n)
        above = np.abs((points - a) @ n)
        inside = np.ones(len(points), bool)
        for p, q in ((a, b), (b, c), (c, a)):
            inside &= (points - p) @ np.cross(n, q - p) >= 0.0
            t = np.clip((points - p) @ (q - p) / ((q - p) @ (q - p)), 0.0, 1.0)
            least = np.minimum(least, np.linalg.norm(points - p - t[:, None] * (q - p), axis=1))
        least = np.where(inside, np.minimum(least, above), least)
    return least


def crosses(x, faces):
    """Whether triangles (m, 3) between vertices at x (n, 3) [m] go through each other."""
    mesh = ipctk.CollisionMesh(x, ipctk.edges(faces), faces)
    return bool(ipctk.has_intersections(mesh, x))


def findings(folder):
    """Return for each frame and cloth: frame, name, faces, depth [m], smallest angle [degrees], speed of sliding [m/s],
    whether it goes through itself."""
    job, cache = load(folder), Cache(Path(folder) / "cache")
    scene = job.scene
    solids = []
    for one in scene.obstacles:
        if one.triangles is not None and is_closed(np.asarray(job.array(one.triangles))):
            motion = None if one.motion is None else job.array(one.motion)
            solids.append((np.asarray(job.array(one.vertices)), np.asarray(job.array(one.triangles)), motion))
    back = {}
    for body in scene.bodies:
        if body.surface is not None and body.surface.to_object is not None:
            back[body.name] = np.linalg.inv(np.asarray(job.array(body.surface.to_object)))
    for frame in cache.frames_done():
        for name, sheet in cache.sheets(frame).items():
            x = sheet.x.astype(float)
            if name in back:
                world = back[name][frame - scene.time.start]
                x = x @ world[:3, :3].T + world[:3, 3]
            points = np.einsum("sk,fki->fsi", SHARES, x[sheet.faces]).reshape(-1, 3)
            deepest = 0.0
            for vertices, triangles, motion in solids:
                here = vertices if motion is None else np.asarray(
                    motion[(frame - scene.time.start) * scene.time.samples_per_frame])
                deepest = max(deepest, depth(points, here, triangles))
            speed = float(np.linalg.norm(sheet.speed, axis=1).max(initial=0.0))
            yield (frame, name, len(sheet.faces), deepest, smallest_angle(sheet.material, sheet.faces), speed,
                   crosses(x, sheet.faces))


if __name__ == "__main__":
    for frame, name, faces, deep, angle, speed, through in findings(Path(sys.argv[1])):
        print(f"{name} frame {frame}: {faces} faces, {deep:.2e} m deep, {angle:.2f} degrees, slides {speed:.3f} m/s"
              + ", through itself" * through)
