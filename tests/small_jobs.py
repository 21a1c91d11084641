"""Small job folders written by hand, as a pipeline would: a soft box of given tetrahedra that hangs from one end."""

import json
from pathlib import Path

import numpy as np

from solver.meshing import grid


def box_tets(cells=(4, 2, 2), size=(0.2, 0.1, 0.1)):
    """(nodes (k, 3), tets (e, 4) positively oriented) of a box, six tetrahedra a cell."""
    return grid.box_tets(cells, size)


def write_job(folder: Path, scene: dict, arrays: dict) -> Path:
    """A job folder from plain values."""
    (folder / "arrays").mkdir(parents=True, exist_ok=True)
    for name, array in arrays.items():
        np.save(folder / "arrays" / f"{name}.npy", array)
    (folder / "scene.json").write_text(json.dumps(scene, ensure_ascii=False), encoding="utf-8")
    return folder


def box_job(folder: Path, *, name="Ear", end=25, step=1 / 96, cells=(4, 2, 2), motion=True, **scene) -> Path:
    """A box pinned at its left face, which swings, with one dynamic node at the far end; frames 1 to `end`, 24 fps."""
    nodes, tets = box_tets(cells)
    pinned = np.flatnonzero(nodes[:, 0] == 0).astype(np.int32)
    arrays = {"nodes": nodes, "tets": tets, "pinned": pinned,
              "dynamic": np.array([np.argmax(nodes @ [1.0, 0.1, 0.01])], np.int32)}
    body = {"name": name, "tets": {"nodes": "arrays/nodes.npy", "tets": "arrays/tets.npy"},
            "material": {"kind": "stable_neo_hookean", "params": {"youngs_modulus": 2e4, "poisson_ratio": 0.4}},
            "dynamic": {"nodes": "arrays/dynamic.npy"}, "pin": {"nodes": "arrays/pinned.npy"}}
    if motion:
        times = np.arange((end - 1) * 2 + 1) / 48
        swing = 0.02 * np.sin(2 * np.pi * 1.5 * times)
        arrays["pin_motion"] = nodes[pinned] + swing[:, None, None] * np.array([0.0, 0.0, 1.0])
        body["pin"]["node_motion"] = "arrays/pin_motion.npy"
    time = {"start": 1, "end": end, "fps": 24, "step": step, "snapshot_every": 10}
    return write_job(folder, {"version": 1, "name": "box", "time": time, "bodies": [body], **scene}, arrays)


def change(job: Path, path: str, value) -> None:
    """Set one field of scene.json by its dotted path; numbers index lists."""
    scene = json.loads((job / "scene.json").read_text(encoding="utf-8"))
    at, keys = scene, path.split(".")
    for key in keys[:-1]:
        at = at[int(key)] if isinstance(at, list) else at.setdefault(key, {})
    at[int(keys[-1]) if isinstance(at, list) else keys[-1]] = value
    (job / "scene.json").write_text(json.dumps(scene, ensure_ascii=False), encoding="utf-8")


def surface_job(folder: Path, **body) -> Path:
    """A tetrahedron-shaped surface without a volume, for what is checked before any meshing; two frames."""
    vertices = np.array([[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1.0]])
    triangles = np.array([[0, 2, 1], [0, 1, 3], [1, 2, 3], [0, 3, 2]], np.int32)
    time = {"start": 1, "end": 2, "fps": 24, "step": 1 / 96}
    surface = {"vertices": "arrays/vertices.npy", "triangles": "arrays/triangles.npy"}
    bodies = [{"name": "Ear", "surface": surface, **body}]
    return write_job(folder, {"version": 1, "name": "small", "time": time, "bodies": bodies},
                     {"vertices": vertices, "triangles": triangles, "weights": np.array([0, 0.5, 1, 1.0]),
                      "motion": np.zeros((3, 2, 3)), "two": np.array([1, 2], np.int32)})
