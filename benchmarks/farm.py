"""Measure a farm: a chunk of a bake, four wedges on two workers, a thousand rows checked and made; and the error of a
bake that is resumed on other hardware.

    python -m benchmarks.farm [--small]

A beam of tetrahedra is baked by `solver task simulate`, each task a process of its own with one thread. A chunk's
overhead is the time of all chunks minus that of one task with all frames, divided among the chunks after the first:
start, restored state, snapshot, and the rebuilt world. Kernels are compiled before.

Other hardware is this one without its vector units: kernels compiled for any processor of its kind, the BLAS and numpy
as on one of 2008. The seam is the distance of the nodes of later snapshots from those of the unbroken bake, relative to
the beam's length.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np

from benchmarks import report
from solver.farm import wedge
from solver.job.load import load
from solver.meshing import grid

ROOT = Path(__file__).resolve().parent.parent
CHUNK, CHUNKS, WEDGES, ROWS, REPEATS = 20, 4, 4, 1000, 3
SNAPSHOTS = 10
SIZE = (0.3, 0.1, 0.1)  # m
OTHER_HARDWARE = {"NUMBA_CPU_NAME": "generic", "NUMBA_CPU_FEATURES": "", "OPENBLAS_CORETYPE": "Nehalem",
                  "NPY_DISABLE_CPU_FEATURES": "AVX2 FMA3 AVX512F AVX512CD AVX512_SKX"}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--small", action="store_true", help="a coarse beam, once: to see that it runs")
    small = parser.parse_args().small
    with tempfile.TemporaryDirectory(prefix="conjac_farm_") as folder:
        measure(Path(folder), (8, 3, 3) if small else (30, 10, 10), 1 if small else REPEATS)
    return 0


def measure(folder: Path, cells: tuple[int, int, int], repeats: int) -> None:
    """Runs the tasks and prints the JSON line."""
    job = beam(folder / "job", cells, 1 + CHUNK * CHUNKS)
    rows = folder / "rows.csv"
    rows.write_text("".join(f"bodies[0].density={900 + 50 * k}\n" for k in range(WEDGES)), encoding="utf-8")
    simulate(job, folder / "warm", rows, 1)  # compiles the kernels

    overheads, ratios = [], []
    for k in range(repeats):
        whole = simulate(job, folder / f"whole{k}", rows, 1)
        chunks = [simulate(job, folder / f"chunks{k}", rows, 1, (first, last)) for first, last in parts()]
        overheads.append((sum(chunks) - whole) / (CHUNKS - 1))
        one, two = (on_workers(count, job, folder / f"on{count}_{k}", rows) for count in (1, 2))
        ratios.append(one / two)
    again = [simulate(job, folder / "whole0", rows, 1) for _ in range(REPEATS)]
    first, *others = parts()
    simulate(job, folder / "moved", rows, 1, first)
    simulate(job, folder / "moved", rows, 1, (others[0][0], others[-1][1]),
             OTHER_HARDWARE | {"NUMBA_CACHE_DIR": str(folder / "kernels")})
    many = folder / "many.csv"
    many.write_text("".join(f"bodies[0].density={500 + k}\n" for k in range(ROWS)), encoding="utf-8")
    began, loaded = time.perf_counter(), load(job)
    found = wedge.read_rows(many)
    for row, made in zip(found, wedge.check_rows(loaded, found)):
        wedge.expand(loaded, row, folder / "many", made)
    rows_s = time.perf_counter() - began
    report.emit("farm", [
        report.claim("chunk_overhead_s", statistics.median(overheads), "s", "<= 2"),
        report.claim("two_nodes", statistics.median(ratios), "times", ">= 1.9"),
        report.claim("thousand_rows_s", rows_s, "s", "<= 5"),
        report.claim("done_chunk_s", statistics.median(again), "s", "<= 2"),
        report.claim("seam_other_hardware", seam(folder / "whole0", folder / "moved", first[1]), "of the box",
                     "<= 1e-6"),
    ], {"frames": 1 + CHUNK * CHUNKS, "chunk": CHUNK, "tets": int(np.prod(cells)) * 6, "overheads_s": overheads,
        "ratios": ratios})


def beam(folder: Path, cells: tuple[int, int, int], end: int) -> Path:
    """The job of a beam that is pinned at one end and falls."""
    nodes, tets = grid.box_tets(cells, SIZE)
    (folder / "arrays").mkdir(parents=True)
    arrays = {"nodes": nodes, "tets": tets, "pinned": np.flatnonzero(nodes[:, 0] == 0).astype(np.int32)}
    for name, values in arrays.items():
        np.save(folder / "arrays" / f"{name}.npy", values)
    body = {"name": "Beam", "tets": {"nodes": "arrays/nodes.npy", "tets": "arrays/tets.npy"},
            "material": {"kind": "stable_neo_hookean", "params": {"youngs_modulus": 1e5, "poisson_ratio": 0.4}},
            "pin": {"nodes": "arrays/pinned.npy"}, "method": {"kind": "vanilla"}}
    time_of = {"start": 1, "end": end, "fps": 24, "step": 1 / 48, "snapshot_every": SNAPSHOTS}
    (folder / "scene.json").write_text(json.dumps({"version": 1, "name": "beam", "time": time_of, "bodies": [body]}),
                                       encoding="utf-8")
    return folder


def parts() -> list[tuple[int, int]]:
    """The chunks; the start frame is part of the first."""
    return [(1 if k == 0 else 2 + CHUNK * k, 1 + CHUNK * (k + 1)) for k in range(CHUNKS)]


def seam(whole: Path, moved: Path, frame: int) -> float:
    """How far snapshots after a frame are apart in the first row of two folders, as a share of the beam's length."""
    after = [path for path in sorted((whole / "row-0001/cache/snapshots").iterdir()) if int(path.stem) > frame]
    return max(float(np.abs(np.load(path)["q"] - np.load(moved / "row-0001/cache/snapshots" / path.name)["q"]).max())
               for path in after) / max(SIZE)


def simulate(job: Path, out: Path, rows: Path, row: int, frames: tuple[int, int] | None = None,
             more: dict[str, str] | None = None) -> float:
    """Seconds of one task. more: of its environment. Raises CalledProcessError."""
    chunk = [] if frames is None else [f"--frames={frames[0]}-{frames[1]}"]
    began = time.perf_counter()
    subprocess.run([sys.executable, "-m", "solver", "task", "simulate", str(job), "--out", str(out), "--wedge",
                    str(rows), "--row", str(row), "--threads", "1", *chunk], check=True, cwd=ROOT,
                   env=os.environ | {"OMP_NUM_THREADS": "1"} | (more or {}), stdout=subprocess.DEVNULL)
    return time.perf_counter() - began


def on_workers(count: int, job: Path, out: Path, rows: Path) -> float:
    """Seconds until all rows are baked, by so many tasks at a time."""
    began = time.perf_counter()
    with ThreadPoolExecutor(count) as workers:
        list(workers.map(lambda row: simulate(job, out, rows, row), range(1, WEDGES + 1)))
    return time.perf_counter() - began


if __name__ == "__main__":
    sys.exit(main())
