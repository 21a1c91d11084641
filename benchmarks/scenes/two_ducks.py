"""Two ducks fly into each other: which of ConJac's velocities must include the contact?

    python -m benchmarks.scenes.two_ducks        # a minute

Free, without gravity or friction, 1/96 s, SDIRK2 and NEWTON-D; all nodes dynamic is Vanilla FEM, the undivided system.
"Undivided J": V of both ducks as the stiffness of what touches has it, cross terms in it. "Touched region": the nodes
where they meet are dynamic as well. Told of each: how far the left duck's middle is from Vanilla's at most, kinetic
energy besides that of the middles in the second half, and the largest rise of all energy in a step.
"""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any

from solver import threads  # isort: skip  # noqa: F401  # first: it sets what numba and BLAS read

import numpy as np

from solver.state import State, Vec

from .ducks import duck
from .touching import made

H, SECONDS = 1.0 / 96.0, 0.3
SPEED, GAP = 0.75, 0.012  #: of each [m/s], and how far apart they start [m]
BESIDE = (0.012, 0.004)  #: the right one's middle, across [m]
REGION = 0.03  #: how deep what meets is, from the beak's end [m]


def spread(nodes: Vec, count: int) -> np.ndarray:
    """The end of the beak and so many nodes in all, each as far as can be from those before."""
    picked = [int(nodes[:, 0].argmax())]
    far = np.linalg.norm(nodes - nodes[picked[0]], axis=1)
    while len(picked) < count:
        picked.append(int(far.argmax()))
        far = np.minimum(far, np.linalg.norm(nodes - nodes[picked[-1]], axis=1))
    return np.array(sorted(picked))


def flown(dynamic: np.ndarray | None, h: float = H, undivided: bool = False) -> list[tuple[Vec, float, float]]:
    """After each step the left duck's middle (3,) [m], what swings and all energy [J]. dynamic: None for Vanilla."""
    nodes, tets = duck()
    count = len(nodes)
    other = nodes * [-1.0, 1.0, 1.0] + [2.0 * nodes[:, 0].max() + GAP, *BESIDE]
    scene: dict[str, Any] = {"gravity": [0.0, 0.0, 0.0], "stage_solver": {"kind": "newton_d"},
                             "method": {"kind": "vanilla" if dynamic is None else "conjac"}}
    with tempfile.TemporaryDirectory() as folder:
        part = made(Path(folder) / "job", {"Left": (nodes, tets, 4e4), "Right": (other, tets, 4e4)}, {}, h,
                    {"friction_coefficient": 0.0, "distance": 0.004}, dynamic=dynamic, **scene)
    if undivided:
        part.linearise_without_contact = lambda x, v, time: part.linearise_at(x, v, time, True)  # type: ignore[method-assign]
    v = np.repeat([[SPEED, 0.0, 0.0], [-SPEED, 0.0, 0.0]], count, axis=0)
    state, steps, mass = State(0.0, part.initial_state().q, v.ravel()), [], part.mass
    for _ in range(round(SECONDS / h)):
        state = part.step(state, h)
        x, v = part.coordinates.positions(state.q, state.time), part.velocity(state)
        kinetic = 0.5 * float(mass @ (v**2).sum(axis=1))
        paces = [mass[own] @ v[own] / mass[own].sum() for own in (slice(count), slice(count, None))]
        going = sum(0.5 * float(mass[:count].sum() * (pace @ pace)) for pace in paces)
        steps.append((mass[:count] @ x[:count] / mass[:count].sum(), kinetic - going,
                     kinetic + part.evaluate(x, state.time)[1]))
    return steps


def main() -> None:
    nodes, _ = duck()
    touched = np.flatnonzero(nodes[:, 0] > nodes[:, 0].max() - REGION)
    vanilla = flown(None)
    cases = {"Vanilla FEM": vanilla, "at a quarter of the step": flown(None, H / 4)[3::4],
             "4 nodes": flown(spread(nodes, 4)), "8 nodes": flown(spread(nodes, 8)),
             "8 nodes, undivided J": flown(spread(nodes, 8), undivided=True),
             f"8 nodes and the {len(touched)} of the touched region": flown(np.union1d(spread(nodes, 8), touched)),
             "40 nodes": flown(spread(nodes, 40))}
    print("| | path off, mm | swing, mJ | a step's rise, mJ |\n| --- | --- | --- | --- |")
    for name, steps in cases.items():
        off = max(np.linalg.norm(one[0] - other[0]) for one, other in zip(steps, vanilla))
        swing = np.mean([one[1] for one in steps[len(steps) // 2 :]])
        rise = max(np.diff([one[2] for one in steps]).max(), 0.0)
        print(f"| {name} | {1e3 * off:.1f} | {1e3 * swing:.0f} | {1e3 * rise:.2f} |", flush=True)


if __name__ == "__main__":
    main()
