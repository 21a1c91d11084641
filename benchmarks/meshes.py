"""Folder in which benchmarks look for scanned meshes that this repository may not distribute."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import numpy as np

#: file in the folder of meshes: what it is, and who hands it out
SOURCES = {
    "tets/dragon.npz": "surfaces/dragon.obj, filled by fTetWild",
    "tets/bunny.npz": "surfaces/bunny.obj, filled by fTetWild",
    "tets/armadillo.npz": "surfaces/armadillo.obj, filled by fTetWild",
    "surfaces/dragon.obj": "the dragon of the Stanford 3D Scanning Repository, 20,000 faces, 15 cm long, z up",
    "surfaces/bunny.obj": "the bunny of the Stanford 3D Scanning Repository, 7,000 faces, 12 cm long, z up",
}

FOLDER = Path(os.environ.get("CONJAC_MESHES", Path(__file__).resolve().parents[2] / "shared" / "meshes"))


class MissingMesh(Exception):
    """One sentence: which mesh is missing, what it is, and where it belongs."""


def find(name: str) -> Path:
    """Path of a mesh of SOURCES. Raises MissingMesh where the file is not there."""
    path = FOLDER / name
    if not path.is_file():
        raise MissingMesh(f"{name} is missing ({SOURCES[name]}; its terms allow no copy in this repository): put it "
                          "into a folder and name that in the environment variable CONJAC_MESHES")
    return path


def is_there(name: str) -> bool:
    """Whether a mesh of SOURCES is there; where it is not, a sentence about it goes to stderr."""
    try:
        find(name)
    except MissingMesh as missing:
        print(missing, file=sys.stderr)
        return False
    return True


def tetrahedra(name: str) -> tuple[np.ndarray, np.ndarray]:
    """Nodes (n, 3) [m] and tetrahedra (m, 4) of "dragon", "bunny" or "armadillo". Raises MissingMesh."""
    with np.load(find(f"tets/{name}.npz")) as stored:
        return stored["vertices"].astype(float), stored["tets"].astype(np.int32)


def skin(name: str) -> np.ndarray:
    """Boundary triangles (k, 3) of "dragon", "bunny" or "armadillo", outward. Raises MissingMesh."""
    with np.load(find(f"tets/{name}.npz")) as stored:
        return stored["tris"].astype(np.int32)
