"""Compare a strip that hangs over an edge without friction with Atwood's machine: acceleration, lift-off, and excess
path, by step.

    python -m benchmarks.sharp_atwood

Of a metre of cotton, two cells of twenty wide, 45 cm hang straight down from a box's edge; it is released with Sharp
Edges. The length x of the hanging part obeys x" = g x / L, so x = x₀ cosh(√(g/L) t), until the edge pressure vanishes:
the tension λ g x (L − x)/L is λ v² at x = (L + √(L² + 8 x₀²))/4, at .655 m.

The acceleration is that of the whole strip, the change of its mean speed along itself in a step, compared with g x / L
for x at the start of the step: a step evaluates the weight there, and as positions follow by h v at the step's end this
is the second difference of the strip's path around that position. The worst of all steps is reported. The strip lifts
off when the edge pressure first falls below a thousandth of the tension.

The path is compared after a quarter of a second, at .60 m. The velocity of a step is that of its middle, so steps that
start from rest run half a step ahead, 1/n of the path of n steps as in a free fall, 4.2 % at a cloth's own step of
1/96 s: the acceleration meets its goal and the path does not. With an initial velocity of half a step earlier, a h/2
the other way, the path does, too ("way begun"). The rotation at the edge in a step is that of its start as well, so it
lifts off a step late.
"""

from __future__ import annotations

from dataclasses import replace

from solver import threads  # isort: skip  # first: it sets what numba and BLAS read

import numpy as np

from benchmarks.report import claim, emit
from benchmarks.sharp_variants import SCENES, variant
from solver.parts.eol.sliding_cloth import SlidingCloth
from solver.sheet.sheet_mesh import SheetMesh

SCENE, CELLS, END, G = SCENES["strand_bent"], 20, 0.25, 9.81  #: cells a side, when it is looked at [s], [m/s²]
STEPS = (96, 192, 384)  #: of a second
NOTHING, NOWHERE = 1.0e-3, 1.0e-9  #: of the largest tension; [m]


def speed_along(mesh: SheetMesh) -> float:
    """Return the speed of the strip along itself, the mean of its material's [m/s]."""
    along = mesh.gradients[:, :, 0] / np.linalg.norm(mesh.gradients[:, :, 0], axis=1, keepdims=True)
    corners = mesh.v[mesh.faces] - np.einsum("mij,mkj->mki", mesh.gradients, mesh.slide[mesh.faces])
    return float(mesh.areas @ np.einsum("mki,mi->m", corners, along) / 3.0 / mesh.areas.sum())


def hanging(mesh: SheetMesh) -> float:
    """How much of it is past the edge [m]."""
    return float(mesh.material[:, 0].max() - mesh.material[mesh.on >= 0, 0].mean())


def record_pressing(steps: SlidingCloth, forces: list[float]) -> None:
    """Each solve of a step adds what the side of the edge that presses less does then [N s]."""
    solve_rows = steps._solving.solve_rows

    def solve_and_record(posed, rows, warm):  # type: ignore[no-untyped-def]
        answer, on_edge = solve_rows(posed, rows, warm), rows.on_features.rows
        pressed = answer.on_vertex[: len(on_edge)] @ on_edge.factor[:, :3]
        forces.append(float(pressed[[0, 2]].min()) if len(on_edge) else 0.0)
        return answer

    steps._solving.solve_rows = solve_and_record  # type: ignore[method-assign]


def moving_back(mesh: SheetMesh, speed: float) -> SheetMesh:
    """The bent strip, running back along itself [m/s]."""
    on_top, hangs = mesh.x[:, 2] > -NOWHERE, mesh.x[:, 0] > SCENE.at - NOWHERE
    ways = np.where(on_top[:, None], [1.0, 0.0, 0.0], 0.0) + np.where(hangs[:, None], [0.0, 0.0, -1.0], 0.0)
    return replace(mesh, v=-speed / np.sum([on_top, hangs], axis=0)[:, None] * ways)


def too_far(rate: int, back: float = 0.0) -> float:
    """By which share of Atwood's way it runs too far with steps of 1/rate seconds, begun running back by `back` [s] of
    its acceleration."""
    steps, cloth = variant("EOL", CELLS, SCENE)
    length, start = float(np.ptp(cloth.mesh.material[:, 0])), -float(cloth.mesh.x[:, 2].min())
    cloth = replace(cloth, mesh=moving_back(cloth.mesh, back * G * start / length))
    for k in range(round(END * rate)):
        cloth = steps.step(cloth, k / rate, 1.0 / rate)
    return (hanging(cloth.mesh) - start) / (start * (np.cosh(np.sqrt(G / length) * END) - 1.0)) - 1.0


def measured(rate: int) -> dict[str, float]:
    """With steps of 1/rate seconds: by which shares acceleration, place of lift-off and way are off Atwood's."""
    steps, cloth = variant("EOL", CELLS, SCENE)
    length, forces, off = float(np.ptp(cloth.mesh.material[:, 0])), list[float](), list[float]()
    start = -float(cloth.mesh.x[:, 2].min())
    leaves = (length + np.sqrt(length**2 + 8.0 * start**2)) / 4.0
    tension = steps.sheet_properties[0].density * float(np.ptp(cloth.mesh.material[:, 1])) * G * length / 4.0
    record_pressing(steps, forces)
    hangs, left, h = start, 0.0, 1.0 / rate
    for k in range(rate):
        had = speed_along(cloth.mesh)
        cloth = steps.step(cloth, k * h, h)
        if hangs < leaves:
            off.append((speed_along(cloth.mesh) - had) / h / (G * hangs / length) - 1.0)
        if forces[-1] / h < NOTHING * tension:
            left = hangs
            break
        hangs = hanging(cloth.mesh)
    return {"acceleration": float(np.abs(off).max()), "mean_acceleration": float(np.mean(off)),
            "lift_off": left / leaves - 1.0, "way": too_far(rate), "way_begun": too_far(rate, 0.5 * h)}


def main() -> None:
    threads.configure(1)
    rows = {rate: measured(rate) for rate in STEPS}
    worst = max(abs(row["acceleration"]) for row in rows.values())
    emit("sharp_atwood",
         [claim("atwood_acceleration", worst, "of it, the worst of all steps", "<= 0.02"),
          *(claim(f"atwood_{name}_{rate}", abs(rows[rate][key]), f"of {what}, steps of 1/{rate} s", "<= 0.02")
            for name, key, what in (("lift_off", "lift_off", "where it is due"), ("off", "way", "its way"))
            for rate in (96, 384)),
          claim("atwood_begun_96", abs(rows[96]["way_begun"]), "of its way, begun half a step before", "<= 0.02")],
         {"steps": {f"1/{rate} s": {f"{name}_%": round(100 * fraction, 3) for name, fraction in row.items()}
                    for rate, row in rows.items()}})


if __name__ == "__main__":
    main()
