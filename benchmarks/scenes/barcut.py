"""BARCUT: a bar held at both ends is cut through twice while it moves. [ConJac Fig. 6, Table 1]

49 x 10 x 10 cells, stretched by 8 cm in 0.4 s; a first plane parts it in the middle, a second one frees the piece with
the right dynamic node and leaves the right end without any. Sizes, times and the pull are ours.
"""

from __future__ import annotations

import json
import tempfile
import time
from dataclasses import replace
from pathlib import Path
from typing import Any, cast

import numpy as np

from benchmarks.report import Claim, claim
from solver.build.world import build
from solver.job.load import load
from solver.meshing.grid import box_tets
from solver.meshing.volume import face_parts
from solver.reshape.reshape import Reshape
from solver.world.nodes import Nodes

CELLS, EDGE = (49, 10, 10), 0.01  #: [m]
YOUNG, POISSON = 3.0e4, 0.40  #: [Pa]; with the paper's 1e4 a bar of this size hangs far down
HANDLES = (0.17, 0.31)  #: places of the dynamic nodes along X [m]
CUTS = {12: 0.245, 20: 0.39}  #: frame and place along X [m]
FPS, STEPS, END = 24.0, 4, 28  #: steps a frame; last frame
PULL, PULLED = 0.08, 10  #: of the right end [m], in so many frames


def job(folder: Path, cells: tuple[int, int, int] = CELLS) -> None:
    """Write the scene into `folder`."""
    nodes, tets = box_tets(cells, tuple(EDGE * np.array(CELLS)))
    nodes = nodes - [0.0, EDGE * CELLS[1] / 2, EDGE * CELLS[2] / 2]
    length = EDGE * CELLS[0]
    pinned = np.flatnonzero((nodes[:, 0] < 1e-9) | (nodes[:, 0] > length - 1e-9))
    samples = 2 * (END - 1) + 1
    motion = np.repeat(nodes[None, pinned], samples, axis=0)
    motion[:, nodes[pinned, 0] > 0.5 * length, 0] += PULL * np.clip(np.arange(samples) / (2 * PULLED), 0, 1)[:, None]
    dynamic = [int(np.argmin(np.linalg.norm(nodes - [x, 0.0, 0.0], axis=1))) for x in HANDLES]
    arrays = {"nodes": nodes, "tets": tets.astype(np.int32), "pinned": pinned.astype(np.int32), "motion": motion,
              "dynamic": np.array(dynamic, dtype=np.int32)}
    cuts = [{"frame": frame, "kind": "plane", "point": [x * (1.0 + PULL / length), 0.0, 0.0], "normal": [1.0, 0.0, 0.0]}
            for frame, x in CUTS.items()]
    body = {"name": "Bar", "tets": {"nodes": "arrays/nodes.npy", "tets": "arrays/tets.npy"}, "cuts": cuts,
            "material": {"kind": "stable_neo_hookean",
                         "params": {"youngs_modulus": YOUNG, "poisson_ratio": POISSON}},
            "dynamic": {"nodes": "arrays/dynamic.npy"},
            "pin": {"nodes": "arrays/pinned.npy", "node_motion": "arrays/motion.npy"}}
    scene = {"version": 1, "name": "barcut", "bodies": [body],
             "time": {"start": 1, "end": END, "fps": FPS, "step": 1.0 / FPS / STEPS, "samples_per_frame": 2}}
    (folder / "arrays").mkdir(parents=True)
    for key, array in arrays.items():
        np.save(folder / "arrays" / f"{key}.npy", array)
    (folder / "scene.json").write_text(json.dumps(scene), encoding="utf-8")


def row(cells: tuple[int, int, int] = CELLS) -> dict[str, Any]:
    """Measure a step before, between and after the cuts, and a cut; how the pieces move in the last frames."""
    with tempfile.TemporaryDirectory(prefix="conjac-scene-") as name:
        folder = Path(name) / "job"
        job(folder, cells)
        loaded = load(folder)
        world, prepared, soft = build(loaded, lambda *_: None)
        reshape = Reshape(loaded, prepared, soft)
        before = {"vertices": len(soft[0].part.rest), "tets": sum(len(one.volume.tets) for one in prepared)}
        state, spent, cut = world.initial_state(), [], []
        h = 1.0 / FPS / STEPS
        ms: list[float] = []
        for frame in range(1, END):
            for fraction in reshape.moments(frame):
                ms.append(float(np.median(spent)))
                began = time.perf_counter()
                done = reshape.at(frame, fraction, world, state)
                cut.append(time.perf_counter() - began)
                world, state, spent = done.world, done.state, []
            for k in range(STEPS):
                began = time.perf_counter()
                state = world.step(replace(state, time=(frame - 1) / FPS + k * h), h)
                spent.append(1e3 * (time.perf_counter() - began))
        ms.append(float(np.median(spent)))
    body = cast(Nodes, world.parts[0])
    x, speed = body.coordinates.positions(state.q, state.time), np.linalg.norm(body.velocity(state), axis=1)
    parts, piece_of = face_parts(body.tets)
    pieces = [np.unique(body.tets[piece_of == number]) for number in range(parts)]
    pieces.sort(key=lambda piece: float(x[piece, 0].mean()))
    return {**before, "n_d": len(HANDLES), "pieces": parts, "vertices_after": len(body.rest),
            "ms_a_step": [round(one, 1) for one in ms], "seconds_a_cut": [round(one, 2) for one in cut],
            "mean_speed_of_pieces": [float(f"{speed[piece].mean():.3g}") for piece in pieces],
            "height_of_pieces": [float(f"{x[piece, 2].mean():.3g}") for piece in pieces],
            "ours": "size, times, pull, E; the paper: two cuts at run time"}


def measured() -> tuple[dict[str, Any], list[Claim]]:
    """The row, and that the right end, without a dynamic node, rests while the piece beside it falls."""
    made = row()
    claims = [claim("barcut_pieces", made["pieces"], "", ">= 3", 3)]
    if made["pieces"] == 3:
        _, fell, rests = made["mean_speed_of_pieces"]
        claims.append(claim("barcut_rests_over_falls", rests / fell, "speed", "<= 1e-6", "quasistatic"))
    return made, claims
