"""A strip that hangs over an edge without friction, against Atwood's machine: how far it runs too far, by step.

    python -m benchmarks.sharp_atwood

Of a metre of cotton, two cells of twenty wide, 45 cm hang straight down from a box's edge; let go, with Sharp Edges. x
of what hangs obeys x" = g x / L, so x = x₀ cosh(√(g/L) t), until it flies off at .66 m; it is looked at after a quarter
of a second, at .60 m. Backward Euler errs by an order of the step: a cloth's own step of 1/96 s does not meet the goal,
a quarter of it does.
"""

from __future__ import annotations

from solver import threads  # isort: skip  # first: it sets what numba and BLAS read

import numpy as np

from benchmarks.report import claim, emit
from benchmarks.sharp_variants import SCENES, variant

CELLS, END, G = 20, 0.25, 9.81  #: a side, when it is looked at [s], [m/s²]
STEPS = (96, 192, 384)  #: of a second


def too_far(rate: int) -> float:
    """By which share of Atwood's way the strip runs too far with steps of 1/rate seconds."""
    steps, cloth = variant("EOL", CELLS, SCENES["strand_bent"])
    length = float(np.ptp(cloth.mesh.material[:, 0]))
    hung = -float(cloth.mesh.x[:, 2].min())
    for k in range(round(END * rate)):
        cloth = steps.step(cloth, k / rate, 1.0 / rate)
    on_edge = cloth.mesh.material[cloth.mesh.on >= 0, 0]
    hangs = float(cloth.mesh.material[:, 0].max() - on_edge.mean())
    return (hangs - hung) / (hung * (np.cosh(np.sqrt(G / length) * END) - 1.0)) - 1.0


def main() -> None:
    threads.configure(1)
    off = {rate: too_far(rate) for rate in STEPS}
    emit("sharp_atwood", [claim("atwood_off_96", abs(off[96]), "of its way, steps of 1/96 s", "<= 0.02"),
                          claim("atwood_off_384", abs(off[384]), "of its way, steps of 1/384 s", "<= 0.02")],
         {"steps": {f"1/{rate} s": {"too_far_%": round(100 * share, 2)} for rate, share in off.items()}})


if __name__ == "__main__":
    main()
