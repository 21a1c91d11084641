"""Measure contact of surfaces in scenes of `scenes.touching`: Vanilla FEM, SDIRK2 by Quick, one thread.

    python -m benchmarks.contact PART

`self`: a folded mat of 20,000 faces whose halves hit each other, a step of 1/96 s with contact relative to one without.
Factors dominate the ratio: each iteration of an impact changes the active pairs and their forces and needs a factor of
its own, six a step, while a step without contact needs two thirds of one. Pairs, their stiffness and bounds are a fifth
of the step. docs/contact_measured.md lists attempts to reduce them.
`clock`: the same by the clock with two threads, the fastest of the runs that no other program disturbed.
`share`: a block that rests on a sheet with some 2,000 pairs; the share of a step spent on pairs, distances and bounds.
`ducks`: balls in a box, 10 and 100 of them, all in contact: the exponent of the cost of a step in their number.
`bowl`: ten jellies of 2,197 nodes that fall into a bowl, seconds for the frame at 24 a second, h = 1/96 s, in which the
first hits and nine fly. `heap`: one in which they lie on each other, after minutes. On one thread beside other programs
each factor takes twice as long as on idle cores, as do steps of the mat without contact, so rows of the heap are
compared by their factors a step. While all ten are in contact, the first stage of a step takes 3 to 8 factors, friction
a tenth of its time, and the second stage takes 15 to 20: it starts where nodes were stopped at a tenth of their
distance, with hundreds of joules to lose, and each of its first ten iterations advances by a tenth of its step. A
better start of second stages would save most of that; extrapolating the first stage's acceleration did not.
`fifty` and `hundred`: so many ducks that fall into a crate, in which Quick has piled them up: steps of 1/100 s with
NEWTON-D, HYBRID-L1, QLB and Quick from there on, and the share of NEWTON-D's time that HYBRID-L1 saves. It saves 29 %
for the ducks of the dissertation, whose contact is a damped penalty; ours is a barrier, whose stiffness changes by
orders of magnitude between iterations, so that an old factor hardly helps.
`reference_ms` of each row is one factor of a fixed matrix in the same run (`benchmarks/reference_factor.py`): times
relative to it can be compared between machines and loads. In turns on one machine, the code of 28 November (92dd4177)
takes 125 ms for a step of the mat without contact and 668 with, 6.33 factors; that of 30 November 116 and 635 with as
many. A heap of ten jellies of 729 nodes takes 674 ms and 6.25 factors a step with the older code, beside factors of 46
to 60 ms, and 719 and 5 with the newer one, beside 47 to 63. One of 2,197 nodes takes as many factors with both, 18.8 in
step 14 of the fall, and as long within a tenth, side by side; the row of 28 November, a factor of which took 130 ms, is
of another machine. The first factor of a pattern takes 1.1 s here and the next ones .3: it waits for a thousand pages
of memory.
Halves that meet at .16 to .26 m/s take 624 ms a step with the code of 28 November, 6.8 factors, 650 with that of
1 December, 5.8, and 627 since factors reuse more fronts and only stiffness that is recent, 5.6 (in turns beside other
programs); at .2 m/s 610, 689 and 653. What is left are 20 solves of 7 ms and 25 evaluations of 6 ms a step, where the
older code had 11 and 20: iterations that update friction's loads take 9 and 8 of them, 122 ms of a step.
The energy before a step is evaluated before its stages, while its pairs are known: to the same bits, 14 searches for a
list of pairs in three steps instead of 17. Seconds in turns beside other programs did not resolve that.
Of a step of the mat with contact (profile by thread time) 18 % are numeric factors, 14 % orders and symbolic parts,
21 % solves, 23 % evaluations; by iterations 22 % is friction's, five solves a stage, and 16 % a stage's start.
All times are the thread's own, for `self` and `ducks` the shortest of four runs, since some runs wait for memory that a
virtual machine has yet to provide (100 to 300 ms of three steps). Halved and linearised steps are counted.
"""

from __future__ import annotations

import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from solver import threads  # isort: skip  # first: it sets what numba and BLAS read

import numpy as np

from benchmarks.cores import all_work
from benchmarks.reference_factor import reference_ms
from benchmarks.report import Claim, claim, emit
from benchmarks.scenes import ducks, touching
from solver.contact.laws.barrier import Barrier
from solver.simulate import Halved, advance
from solver.state import State
from solver.world.nodes import Nodes

H = 1 / 96
STEPS = {"self": 3, "clock": 3, "share": 6, "ducks": 4, "bowl": 4, "heap": 4, "fifty": 1, "hundred": 1}
#: steps until a jelly hits, and until they lie on each other; [m/s] at which they begin
FALLEN, SPEED = {"bowl": 6, "heap": 40}, 1.5
BOWL_CLAIMS = {"bowl": "bowl_frame_s", "heap": "bowl_heap_frame_s"}
DUCKS = (10, 100)
RUNS, MOST_RUNS = 4, 8  #: of `self`, `clock` and `ducks`
QUIET = 0.1  #: of a core, by other programs
HEAPED = {"fifty": 36, "hundred": 48}  #: steps of 1/100 s after which most ducks lie on each other
SOLVERS = ("newton_d", "hybrid_l1", "qlb", "quick")
TIMED = ("measure", "fill", "largest_step", "largest_steps", "lag_friction")  #: of a law: what contact costs


def clocked(spent: list[float], function: Callable[..., Any]) -> Callable[..., Any]:
    """Return a function that calls `function` and adds its thread time [s] to spent[0]."""
    def call(*arguments: Any) -> Any:
        began = time.thread_time()
        try:
            return function(*arguments)
        finally:
            spent[0] += time.thread_time() - began
    return call


def stepped(part: Nodes, state: State, steps: int, h: float = H) -> tuple[State, dict[str, Any]]:
    """Take steps of length h [s] and return the last state and a row.

    The row has thread milliseconds a step, those of contact, factors a step, and active pairs at the end.
    """
    spent, halved = [0.0], Halved()
    laws = [law for law in part.contacts if isinstance(law, Barrier)]
    for law in laws:
        for name in TIMED:
            setattr(law, name, clocked(spent, getattr(law, name)))
    factors = part.factored
    began = time.thread_time()
    for _ in range(steps):
        state = advance(part, state, h, 1, halved=halved)
    whole = time.thread_time() - began
    for law in laws:
        for name in TIMED:
            delattr(law, name)
    x = part.coordinates.positions(state.q, state.time)
    row = {"ms": round(1e3 * whole / steps, 1), "contact_ms": round(1e3 * spent[0] / steps, 1),
            "factors": round((part.factored - factors) / steps, 2), "halved": len(halved),
            "pairs": sum(len(law.find_active_pairs(x).nodes) for law in laws), "nodes": len(part.coordinates.free)}
    print(row, file=sys.stderr, flush=True)
    return state, row


def quicker(one: dict[str, Any] | None, other: dict[str, Any]) -> dict[str, Any]:
    """Return the faster of two rows of the same steps."""
    return other if one is None or other["ms"] < one["ms"] else one


def against_itself(folder: Path) -> tuple[list[Claim], dict[str, Any]]:
    """Measure the part `self`: a folded mat, whose upper half moves down."""
    rows: dict[str, dict[str, Any]] = {}
    for run in range(RUNS):
        for contact in (False, True):
            part = touching.folded_mat(folder / f"{run}{contact}", H, contact)
            state = part.initial_state()
            upper = part.coordinates.positions(state.q, 0.0)[part.coordinates.free, 2] > 0.0
            state.u.reshape(-1, 3)[upper, 2] -= 0.2
            which = "with" if contact else "without"
            rows[which] = quicker(rows.get(which), stepped(part, state, STEPS["self"])[1])
    return [claim("self_contact", rows["with"]["ms"] / rows["without"]["ms"], "", "<= 3")], rows


def by_the_clock(folder: Path) -> tuple[list[Claim], dict[str, Any]]:
    """Measure the part `clock`: self-contact by the clock with two threads.

    Raises RuntimeError where other programs had the second core in all runs.
    """
    threads.configure(2)
    rows: dict[str, list[float]] = {"with": [], "without": []}
    for run in range(MOST_RUNS):
        for which, spent in rows.items():
            part = touching.folded_mat(folder / f"{run}{which}", H, which == "with")
            state = part.initial_state()
            upper = part.coordinates.positions(state.q, 0.0)[part.coordinates.free, 2] > 0.0
            state.u.reshape(-1, 3)[upper, 2] -= 0.2
            others, worked, began = all_work(), time.process_time(), time.perf_counter()
            for _ in range(STEPS["clock"]):
                state = advance(part, state, H, 1)
            clock = time.perf_counter() - began
            if all_work() - others - time.process_time() + worked <= QUIET * clock:
                spent.append(1e3 * clock / STEPS["clock"])
        if min(map(len, rows.values())) >= RUNS:
            break
    if not all(rows.values()):
        raise RuntimeError("other programs took the second core in all runs; measure again once they are done")
    least = {which: min(spent) for which, spent in rows.items()}
    return [claim("self_contact_clock", least["with"] / least["without"], "", "<= 3")], {"ms": least}


def at_rest(folder: Path) -> tuple[list[Claim], dict[str, Any]]:
    """Measure the part `share`: a block after it has come to rest on a sheet."""
    part = touching.resting_block(folder, (27, 27, 6), H, True)
    state, _ = stepped(part, part.initial_state(), STEPS["share"])
    _, row = stepped(part, state, STEPS["share"])
    return [claim("contact_share", row["contact_ms"] / row["ms"], "", "<= 0.25")], row


def many(folder: Path) -> tuple[list[Claim], dict[str, Any]]:
    """Measure the part `ducks`: steps of few and of many balls in a box."""
    rows: dict[str, dict[str, Any]] = {}
    for run in range(RUNS):
        for count in DUCKS:
            part = touching.balls_in_a_box(folder / f"{run} {count}", count, 4, H)
            rows[str(count)] = quicker(rows.get(str(count)), stepped(part, part.initial_state(), STEPS["ducks"])[1])
    few, all_of_them = (rows[str(count)]["ms"] for count in DUCKS)
    exponent = float(np.log(all_of_them / few) / np.log(DUCKS[1] / DUCKS[0]))
    return [claim("ducks_exponent", exponent, "", "<= 1.1")], rows


def ten_in_a_bowl(name: str) -> Callable[[Path], tuple[list[Claim], dict[str, Any]]]:
    """Return a benchmark of a frame of ten jellies in a bowl. name: its part; its row has the steps before, too."""
    def ran(folder: Path) -> tuple[list[Claim], dict[str, Any]]:
        part = touching.ten_jellies(folder, 12, H)
        state = part.initial_state()
        state.u.reshape(-1, 3)[:, 2] = -SPEED
        state, before = stepped(part, state, FALLEN[name])
        _, row = stepped(part, state, STEPS[name])
        return [claim(BOWL_CLAIMS[name], 1e-3 * row["ms"] * STEPS[name], "s", "<= 4")], {"before": before, name: row}

    return ran


def heaped(name: str, count: int) -> Callable[[Path], tuple[list[Claim], dict[str, Any]]]:
    """Return a benchmark of stage solvers on a heap of ducks in a crate. name: of its row. count: number of ducks."""
    def ran(folder: Path) -> tuple[list[Claim], dict[str, Any]]:
        part = ducks.falling(folder / "heap", count, 0.01)
        state, _ = stepped(part, part.initial_state(), HEAPED[name], 0.01)
        rows = {}
        for kind in SOLVERS:
            part = ducks.falling(folder / kind, count, 0.01, stage_solver={"kind": kind})
            rows[kind] = stepped(part, state, STEPS[name], 0.01)[1]
        saved = 1.0 - rows["hybrid_l1"]["ms"] / rows["newton_d"]["ms"]
        return [claim(f"ducks_{count}_hybrid_saves", saved, "", ">= 0.29", 0.29)], rows

    return ran


PARTS = {"self": against_itself, "clock": by_the_clock, "share": at_rest, "ducks": many, "bowl": ten_in_a_bowl("bowl"),
         "heap": ten_in_a_bowl("heap"), "fifty": heaped("fifty", 50), "hundred": heaped("hundred", 100)}


def main() -> None:
    part = sys.argv[1]
    threads.configure(1)
    reference = reference_ms()
    with tempfile.TemporaryDirectory(prefix="conjac-contact-") as name:
        claims, details = PARTS[part](Path(name) / part)
    emit(f"contact.{part}", claims, {**details, "steps": STEPS[part],
                                     "reference_ms": round(0.5 * (reference + reference_ms()), 1)})


if __name__ == "__main__":
    main()
