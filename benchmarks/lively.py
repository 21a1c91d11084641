"""Measure the visible motion that is preserved, and its cost, by method, integrator and step, relative to a reference.

    python -m benchmarks.lively                       all scenes and claims, a quarter of an hour
    python -m benchmarks.lively --only bar,ears       some scenes, without claims and pictures

Soft bodies (`lively_scenes`): TWIST's bar plucked, HETERO's bar plucked, the dragon pulled gently, a nodding head with
ears, a dropped jelly cube. Kept is the visible energy from 0.6 to 1 s after the release, for the cube the height of its
bounce, relative to the reference; `wobble` is the same for the other motion at the cube's highest point. Mechanisms
(`swing`): a pendulum and a chain of ten hinges, released level; kept is their energy from 0.6 to 1 s above that of
hanging, relative to the start, which frictionless hinges conserve. Cost is the thread's own processor seconds for a
second of motion, one thread, the median of runs until they add up to a second. `default_over_cheapest_half` is the cost
of the default of a new body relative to the cheapest setting that keeps at least half, in the worst scene: at the same
step, and `default_over_cheapest_half_any_step` at any. Draws docs/lively_SCENE.png and writes the settings of each
Pareto front into docs/integrators.md.

The dragon is chaotic: a perturbation of a micrometre changes the result of the default from .36 to .66 of the
reference, since it swings so far that stages with early stopping separate neighbouring motions within a tenth of a
second. Its default is therefore a mean over eight starts with such differences (.53, standard error .05), and its row
has the smallest and the largest; its other settings are single runs, equally subject to chance, and so may the
reference be, a single run of five minutes (`lively_scenes --nudged` adds others).

Omitted for time: solved stages and ConJac's linearised SDIRK2 on HETERO and the dragon. ConJac solved to its root is
only measured on the bar, at the two steps of `conjac_over_exact`.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

from solver import threads  # isort: skip  # first: it sets what numba and BLAS read

import numpy as np

from benchmarks.lively_picture import DOCS, draw, points, written
from benchmarks.lively_scenes import FROM, TIGHT, TO, WATCHED, Watched, half_life, late, mean_truth, stored_truth
from benchmarks.report import Claim, claim, emit
from benchmarks.swing import chain, drop
from solver.errors import Diverged, StepFailed
from solver.simulate import advance
from solver.state import State

STEPS = 1 / 24, 1 / 48, 1 / 96, 1 / 192  #: [s]
RUNS, LONG = 5, 1.0  #: of each setting, whose median counts; no more runs after so long [s]
NODES = 8  #: dynamic ones of ConJac
DEFAULT = "Vanilla, SDIRK2, Quick"  #: of a new soft body, at DEFAULT_STEP
DEFAULT_STEP = 1 / 48
SWINGS = "Leapfrog"  #: of a new mechanism, at SWING_STEP
SWING_STEP = 1 / 120
LINEAR, DYNAMIC, EXACT = "Vanilla, Semi-Implicit Euler", "ConJac, Swinging Nodes", "ConJac, SDIRK2 solved"
HALF = 0.5  #: of the truth: less than that is not lively
CLAIMED = (1 / 48, 1 / 96)  #: steps at which ConJac is held to what its solved stages keep

Row = dict[str, Any]


@dataclass(frozen=True)
class Setting:
    """One choice of an artist's."""

    method: str
    integrator: str
    stage_solver: dict[str, Any] | None = None
    beta: float | None = None


SETTINGS = {
    LINEAR: Setting("vanilla", "semi_implicit", beta=1.0),
    "Vanilla, Semi-Implicit SDIRK2": Setting("vanilla", "ssdirk2"),
    DEFAULT: Setting("vanilla", "sdirk2", {"kind": "quick"}),
    "Vanilla, SDIRK2 solved": Setting("vanilla", "sdirk2", TIGHT),
    "ConJac, Semi-Implicit Euler": Setting("conjac", "semi_implicit", beta=0.5),
    "ConJac, Semi-Implicit SDIRK2": Setting("conjac", "ssdirk2"),
    "ConJac, SDIRK2, Quick": Setting("conjac", "sdirk2", {"kind": "quick"}),
    DYNAMIC: Setting("conjac", "swinging", {"kind": "quick"}),
    EXACT: Setting("conjac", "sdirk2", {"kind": "newton_d", "params": {"tolerance": 1e-6}}),
}
#: integrators of mechanisms, by what the panel calls them
SWINGING = {"Semi-Implicit Euler": "semi_implicit", SWINGS: "leapfrog", "Backward Euler": "backward_euler",
            "BDF2": "bdf2", "SDIRK2": "sdirk2"}
MECHANISMS = {"pendulum": 1, "chain": 10}  #: links of each
SOME = dict.fromkeys((LINEAR, "Vanilla, Semi-Implicit SDIRK2", DEFAULT, "ConJac, Semi-Implicit Euler",
                      "ConJac, SDIRK2, Quick", DYNAMIC), STEPS)
ALL = {label: STEPS for label in SETTINGS if label != EXACT}
SCENES = {
    "bar": "A bar of 1,029 nodes between two held ends, its middle moved by 4 cm and turned by 40 degrees, let go",
    "hetero": "A standing bar of stiff and soft layers, 5,915 nodes, its top moved by 2 cm and turned by 20 degrees, "
              "let go",
    "dragon": "The gallery's dragon, 9,932 nodes, pulled by 0.35 of the gallery's pull and let go",
    "ears": "A head with two ears, 2,169 nodes, whose core nods by 30 degrees within a quarter of a second",
    "cube": "A jelly cube of one metre, 343 nodes, dropped by 0.6 m: how high its middle comes again",
    "pendulum": "A rod on a hinge, let go level", "chain": "A chain of ten rods on hinges, let go level"}
#: which settings are tried at which steps
TRIED = {"bar": ALL | {EXACT: CLAIMED}, "hetero": SOME, "dragon": SOME, "ears": ALL, "cube": ALL}


def timed(step: Callable[[State], State], start: Callable[[], State], look: Callable[[State], float], steps: int,
          seconds: float) -> tuple[np.ndarray, float]:
    """Return what `look` sees at each step, and processor seconds a second. Raises StepFailed."""
    step(start())  # kernels are compiled before anything is timed
    costs: list[float] = []
    while len(costs) < RUNS and sum(costs) < LONG:
        state, spent = start(), 0.0
        seen = [look(state)]
        for _ in range(steps):
            began = time.thread_time()
            state = step(state)
            spent += time.thread_time() - began
            seen.append(look(state))
        costs.append(spent / seconds)
    return np.array(seen), float(np.median(costs))


def soft(name: str, watched: Watched) -> dict[str, Row]:
    """Return the share of the truth that each setting keeps at each step, where that is known, and its cost."""
    look, out = watched.look(watched.scene), dict[str, Row]()
    try:
        known = stored_truth(name, watched)
    except ValueError as missing:
        print(missing, file=sys.stderr, flush=True)
        known = {}
    true = mean_truth(known) if known else None
    for label, steps in TRIED[name].items():
        for h in steps:
            out[row_key(label, h)] = row = describe(label, h)
            starts = watched.starts if (label, h) == (DEFAULT, DEFAULT_STEP) else 1
            try:
                runs = [ran(watched.nudged(k), SETTINGS[label], h, look) for k in range(starts)]
            except (StepFailed, Diverged) as failure:
                row["failed"] = str(failure)
            else:
                (seen, _, notes), cost = runs[0], float(np.median([one[1] for one in runs]))
                release = watched.scene.release_time / watched.seconds
                row |= {} if true is None else mean_ratio([watched.measured(one[0]) / true for one in runs])
                row |= {"cpu_s_s": float(f"{cost:.3g}"),
                        "half_life_s": lived(seen, release) if watched.measure is late else None, "notes": notes}
                if watched.wobble is not None and "wobble" in known:
                    row["wobble"] = round(watched.wobble(seen) / known["wobble"], 3)
            print(name, row, file=sys.stderr, flush=True)
    return out


def mean_ratio(of_starts: list[float]) -> Row:
    """Return the mean share of the truth over the starts, and the least and the most of several."""
    row = {"kept": round(float(np.mean(of_starts)), 3)}
    return row if len(of_starts) == 1 else row | {"kept_least": round(min(of_starts), 3),
                                                  "kept_most": round(max(of_starts), 3)}


def ran(watched: Watched, setting: Setting, h: float, look: Callable[..., float]) -> tuple[np.ndarray, float, str]:
    """One setting at one step: what is seen, its cost, and what the log's end says of linearised steps."""
    params = {} if setting.beta is None else {"beta": setting.beta}
    scene = watched.scene
    world = scene.world(setting.method, NODES, integrator=setting.integrator, stage_solver=setting.stage_solver,
                        **params)

    def start() -> State:
        world.forget_past()
        return scene.start(world)

    seen, cost = timed(lambda state: advance(world, state, h, 1), start, lambda state: look(world, state),
                       round(watched.seconds / h), watched.seconds)
    return seen, cost, " ".join(world.summary)


def lived(energies: np.ndarray, release_time: float) -> float | None:
    found = half_life(energies, release_time)
    return float(f"{found:.3g}") if np.isfinite(found) else None


def mechanism(name: str) -> dict[str, Row]:
    """Return it of a mechanism, whose truth is that nothing is lost."""
    out: dict[str, Row] = {}
    for label, integrator in SWINGING.items():
        for h in (*STEPS, SWING_STEP) if label == SWINGS else STEPS:
            out[row_key(label, h)] = row = describe(label, h)
            world = chain(MECHANISMS[name], integrator)
            first = world.energy(world.initial_state())
            try:
                seen, cost = timed(partial(world.step, h=h), world.initial_state, world.energy, round(TO / h), TO)
            except (StepFailed, Diverged) as failure:
                row["failed"] = str(failure)
            else:
                lost = (first - seen[round(FROM / h):].mean()) / drop(MECHANISMS[name])
                row |= {"kept": round(1.0 - float(lost), 3), "cpu_s_s": float(f"{cost:.3g}")}
            print(name, row, file=sys.stderr, flush=True)
    return out


def row_key(label: str, h: float) -> str:
    return f"{label}, 1/{round(1 / h)} s"


def describe(label: str, h: float) -> Row:
    return {"setting": label, "steps_a_second": round(1 / h)}


def defaults(found: dict[str, dict[str, Row]]) -> dict[str, Row]:
    """Return for each scene the row of what a new body or mechanism begins with."""
    return {name: rows[row_key(SWINGS, SWING_STEP) if name in MECHANISMS else row_key(DEFAULT, DEFAULT_STEP)]
            for name, rows in found.items()}


def over_cheapest(found: dict[str, dict[str, Row]], any_step: bool) -> dict[str, float]:
    """Return for each soft body what the default costs over the cheapest setting that keeps half of the truth, at the
    default's step or at any; no entry where nothing does."""
    out = {}
    for name, rows in found.items():
        costs = [row["cpu_s_s"] for row in rows.values() if row.get("kept", 0.0) >= HALF
                 and (any_step or row["steps_a_second"] == round(1 / DEFAULT_STEP))]
        if name not in MECHANISMS and costs:
            out[name] = rows[row_key(DEFAULT, DEFAULT_STEP)].get("cpu_s_s", np.inf) / min(costs)
    return out


def claims(found: dict[str, dict[str, Row]]) -> tuple[list[Claim], dict[str, Any]]:
    """Return the motion and price of the defaults in the worst scene, and ConJac's step; and which scene that was.

    Nothing is claimed of what they keep where a scene has no truth.
    """
    known = {name: any("kept" in row for row in rows.values()) for name, rows in found.items()}
    keep = {name: row.get("kept", 0.0) for name, row in defaults(found).items() if known[name]}
    half, any_step = over_cheapest(found, False), over_cheapest(found, True)
    bar, beast = found["bar"], found["dragon"]
    ratios = {f"at 1/{round(1 / h)} s": bar[row_key(DYNAMIC, h)].get("kept", 0.0) / bar[row_key(EXACT, h)]["kept"]
              for h in CLAIMED if "kept" in bar[row_key(EXACT, h)]}
    linear, dynamic = (beast[row_key(label, CLAIMED[1])].get("cpu_s_s", np.inf) for label in (LINEAR, DYNAMIC))
    made = [claim(key, max(of.values()), "", "<= 1.0") for key, of in
            (("default_over_cheapest_half", half), ("default_over_cheapest_half_any_step", any_step)) if of]
    if all(known.values()):
        made.insert(0, claim("visible_default", min(keep.values()), "of the truth", ">= 0.5"))
    if len(ratios) == len(CLAIMED):
        made.append(claim("conjac_over_exact", min(ratios.values()), "of what solved stages keep", ">= 0.9"))
    if np.isfinite(dynamic):
        made.append(claim("conjac_cost", dynamic / linear, "steps of Vanilla Semi-Implicit Euler", "<= 1.5"))
    details = {name: {"visible_default": keep.get(name), "over_cheapest_that_keeps_half": half.get(name),
                      "the_same_at_any_step": any_step.get(name)} for name in found}
    return made, {"by_scene": details, "conjac_over_exact": ratios}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    names = (*WATCHED, *MECHANISMS)
    parser.add_argument("--only", default=",".join(names), help=f"of: {', '.join(names)}")
    chosen = parser.parse_args().only.split(",")
    threads.configure(1)
    watched = {name: WATCHED[name]() for name in chosen if name in WATCHED}
    found = {name: soft(name, watched[name]) if name in watched else mechanism(name) for name in chosen}
    if {*chosen} != {*names}:
        return
    made, details = claims(found)
    emit("lively", made, details | found)
    page = DOCS / "integrators.md"
    page.write_text(written(page.read_text(encoding="utf-8"), SCENES, found), encoding="utf-8")
    for name, rows in found.items():
        if not points([*rows.values()]):
            continue
        seen = watched[name].seen if name in watched else "energy, 0.6 to 1 s"
        bold, settings = (DEFAULT, [*SETTINGS]) if name in watched else (SWINGS, [*SWINGING])
        draw(name, f"{seen}: share kept", [*rows.values()], bold, settings)


if __name__ == "__main__":
    main()
