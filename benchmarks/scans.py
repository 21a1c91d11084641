"""Mesh artists' models and scans with fTetWild and its defaults.

    python -m benchmarks.scans

Every .obj of the folders `nasty` and `surfaces` beside the meshes of benchmarks/meshes.py. A closed surface's volume is
compared; of the others, the box around them.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.meshes import FOLDER
from benchmarks.report import claim, emit
from solver import threads
from solver.errors import ConJacError
from solver.meshing.tetrahedralize import tetrahedralize
from solver.meshing.volume import tet_volumes


def read_obj(path: Path) -> tuple[np.ndarray, np.ndarray]:
    """Vertices (n, 3) and triangles (m, 3) of an .obj file; polygons become fans."""
    vertices, triangles = [], []
    for line in path.read_text(encoding="utf-8").splitlines():
        kind, *rest = line.split() or [""]
        if kind == "v":
            vertices.append([float(number) for number in rest[:3]])
        elif kind == "f":
            corners = [int(corner.split("/")[0]) for corner in rest]
            corners = [c - 1 if c > 0 else len(vertices) + c for c in corners]
            triangles += [(corners[0], corners[i], corners[i + 1]) for i in range(1, len(corners) - 1)]
    return np.array(vertices), np.array(triangles, dtype=np.int32)


def is_closed(triangles: np.ndarray) -> bool:
    """Whether every edge has one triangle on either side."""
    edges = np.concatenate([triangles[:, [0, 1]], triangles[:, [1, 2]], triangles[:, [2, 0]]])
    forth = {tuple(edge) for edge in edges.tolist()}
    return len(forth) == len(edges) and all((b, a) in forth for a, b in forth)


def fill(path: Path) -> dict[str, Any]:
    """Counts, the volume's and the box's error (shares) of one mesh, or the sentence that refuses it."""
    vertices, triangles = read_obj(path)
    try:
        volume = tetrahedralize(vertices, triangles, "tetwild", {}, name=path.stem)
    except ConJacError as error:
        return {"refused": str(error)}
    found: dict[str, Any] = {"nodes": len(volume.nodes), "tets": len(volume.tets)}
    size = np.ptp(vertices, axis=0)
    found["box_error"] = round(float(np.abs(np.ptp(volume.nodes, axis=0) - size).max() / size.max()), 4)
    if is_closed(triangles):
        a, b, c = (vertices[triangles[:, i]] for i in range(3))
        enclosed = abs(np.einsum("ij,ij->", a, np.cross(b, c))) / 6
        found["volume_error"] = round(float(abs(tet_volumes(volume.nodes, volume.tets).sum() / enclosed - 1)), 4)
    return found


def main() -> int:
    threads.configure(None)
    paths = sorted([*FOLDER.glob("nasty/*.obj"), *FOLDER.glob("surfaces/*.obj")])
    if not paths:
        print("no .obj lies in the folders nasty and surfaces of CONJAC_MESHES (benchmarks/meshes.py)", file=sys.stderr)
        return 4
    rows = {path.stem: fill(path) for path in paths}
    filled = [row for row in rows.values() if "refused" not in row]
    emit("scans", [
        claim("scans_filled", len(filled) / len(rows), "of all", ">= 1"),
        claim("scans_volume_error", max((row.get("volume_error", 0.0) for row in filled), default=1.0), "", "<= 0.05"),
        claim("scans_box_error", max((row["box_error"] for row in filled), default=1.0), "", "<= 0.1"),
    ], {"meshes": rows})
    return 0


if __name__ == "__main__":
    sys.exit(main())
