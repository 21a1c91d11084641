"""Measure the scenes of the ConJac paper: cost, required damping, and liveliness.

    python -m benchmarks.conjac_scenes twist               one of them: a row of its own in docs/benchmarks.md

A scene is a file of benchmarks/scenes; what the paper leaves open stands there. A row has, for each step h, for Vanilla
and for ConJac: the smallest stable β in steps of 0.1 from 0.1 on, milliseconds a step, liveliness (mean kinetic energy
from 0.1 to 1 s after release) and half-life of what swings. Stable: the run comes to its end and never has more energy
than it was let go with. Beside it stands SDIRK2 in small steps (benchmarks/scenes/reference.py).

ConJac on the dragon takes two corrections a step (`corrections`, docs/settings.md): with the paper's single step of
γ = 1/5 alone the release blows up at β = 0.5; the row `paper's stabilization` has that too. The dragon's rows are
five: `dragon`, `dragon_coarse` and `dragon_fine` have one h each, `dragon_nodes` each number of dynamic nodes,
`dragon_even` what takes a step of equal liveliness and what corrections are worth.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from dataclasses import asdict, dataclass, field, replace
from functools import cached_property, partial
from hashlib import sha256
from pathlib import Path
from typing import Any

from benchmarks import meshes

from solver import threads  # isort: skip  # first: it sets what numba and BLAS read

import numpy as np

from benchmarks.report import Claim, claim, emit
from benchmarks.run import PARTS
from benchmarks.scenes import aniso, armadillo, barcut, bunny, dragon, muscle, refactor
from benchmarks.scenes.motion import TimeIsUp, rest_energy, run
from benchmarks.scenes.reference import digest, of, reference
from benchmarks.scenes.residual import gains
from benchmarks.scenes.scene import Scene, at_rest, in_balance

BETAS = [round(0.1 * k, 1) for k in range(1, 61)]
STEPS = {"twist": (1e-2, 5e-3, 2e-3), "hetero": (1e-2, 5e-3), "aniso": (1e-2, 5e-3), "dragon": (5e-3,),
         "dragon_coarse": (1e-2,), "dragon_fine": (2e-3,)}
COUNTS = (0, 2, 4, 6, 8, 10)  #: of the dragon's dynamic nodes, in the paper's Fig. 7
CORRECTED = {"corrections": 2.0}
H, NODES = 5e-3, 8  #: of the paper's comparison on the dragon
BISECTIONS = 3
WARM, TIMED = 2, 20  #: steps of methods that take turns
GENTLE = 0.4  #: of the pull, where a single step of γ = 1/3 bears it too at h = 1/100


@dataclass(frozen=True)
class Found:
    """The smallest stable β, and how the run with it went."""

    beta: float
    ms: float  #: median of a step
    liveliness: float  #: [J]
    half_life: float  #: [s]

    def row(self, scale: float | None) -> dict[str, Any]:
        row = {"beta": self.beta, "ms_a_step": round(self.ms, 1),
                "liveliness_mJ": float(f"{1e3 * self.liveliness:.4g}"),
                "half_life_s": float(f"{self.half_life:.3g}")}
        return row if scale is None else row | {"of_reference": float(f"{self.liveliness / scale:.3g}")}


@dataclass
class Search:
    """Finds smallest stable β of one scene, each once; with a folder it keeps what it found for later calls too."""

    scene: Scene
    until: float = np.inf  #: when to stop, of time.perf_counter
    folder: Path | None = None
    seen: dict[str, Found | None] = field(default_factory=dict)

    @cached_property
    def rest(self) -> float:
        return rest_energy(self.scene)

    def smallest(self, method: str, count: int, h: float, **params: float) -> Found | None:
        """Tries β = 0.1, 0.2, … until the run is stable; None where none up to 6 is. Raises TimeIsUp."""
        label = "-".join([method, str(count), f"{h:g}", *(f"{key}{value:g}" for key, value in sorted(params.items()))])
        if label not in self.seen:
            self.seen[label] = self._searched(label, method, count, h, **params)
        return self.seen[label]

    def _searched(self, label: str, method: str, count: int, h: float, **params: float) -> Found | None:
        path = None if self.folder is None else self.folder / f"{self._key(count)}-{label}.json"
        if path is not None and path.exists():
            stored = json.loads(path.read_text(encoding="utf-8"))
            return None if stored is None else Found(**stored)
        if time.perf_counter() > self.until:
            raise TimeIsUp
        found = self._tried(path, method, count, h, **params)
        print(f"  {label}: {found}", file=sys.stderr, flush=True)
        if path is not None:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(json.dumps(None if found is None else asdict(found)), encoding="utf-8")
        return found

    def _key(self, count: int) -> str:
        """Return the key of all that a result depends on besides what was asked."""
        nodes = self.scene.dynamic(count).astype(np.int32).tobytes() if count else b""
        return f"{digest(self.scene)}-{sha256(nodes + repr(self.scene.gamma).encode()).hexdigest()[:6]}"

    def _tried(self, path: Path | None, method: str, count: int, h: float, **params: float) -> Found | None:
        for beta in BETAS:
            part = None if path is None else path.with_suffix(f".{beta:g}.npz")
            world = self.scene.world(method, count, beta=beta, **params)
            motion = run(self.scene, world, h, self.rest, to_the_end=False, part=part, until=self.until)
            if motion.is_stable:
                return Found(beta, motion.ms, motion.liveliness, motion.half_life)
        return None


def table(name: str, search: Search, **params: float) -> dict[str, Any]:
    """The row of a scene: Vanilla and ConJac at each step, and ConJac with each number of nodes at H."""
    scene = search.scene
    stored = reference(body_of(name), scene)
    scale = None if stored is None else stored["liveliness"]
    count = NODES if NODES in scene.counts else scene.counts[0]
    row: dict[str, Any] = {"vertices": len(scene.nodes), "tets": len(scene.tets), "n_d": count, "paper": scene.paper,
                           "ours": scene.ours, "reference": None if stored is None else
                           {key: stored[key] for key in ("h", "liveliness", "half_life", "checks")}}
    for h in STEPS[name]:
        for method, given in (("vanilla", {}), ("conjac", params)):
            found = search.smallest(method, count * (method == "conjac"), h, **given)
            row[f"{method} h {h:g}"] = None if found is None else found.row(scale)
    for nodes in () if body_of(name) == "dragon" else scene.counts:
        if nodes != count:
            found = search.smallest("conjac", nodes, H, **params)
            row[f"conjac n_d {nodes} h {H:g}"] = None if found is None else found.row(scale)
    return row


def equal_liveliness(search: Search, lively: Found, h: float) -> dict[str, float]:
    """The step at which Vanilla, at its smallest stable β, is as lively as ConJac at h, and how many it needs for one.

    Bisection in log h, and a straight line between the last two. What it finds is one place where the two are equal:
    the smallest stable β jumps with h.
    """
    low, high = h / 4.0, h
    inside: tuple[float, Found] | None = None  # lively enough
    outside: tuple[float, Found] | None = None
    for _ in range(BISECTIONS):
        step = 1.0 / round(1.0 / np.sqrt(low * high))
        found = search.smallest("vanilla", 0, step)
        if found is not None and found.liveliness >= lively.liveliness:
            low, inside = step, (step, found)
        else:
            high, outside = step, None if found is None else (step, found)
    if inside is None:
        return {"h": low, "beta": np.nan, "steps": np.nan}
    step, found = inside
    even = step
    if outside is not None:
        ends = np.log([outside[1].liveliness, found.liveliness])
        even = float(np.exp(np.interp(np.log(lively.liveliness), ends, np.log([outside[0], step]))))
    return {"h": step, "beta": found.beta, "liveliness_mJ": float(f"{1e3 * found.liveliness:.4g}"), "equal_at": even,
            "steps": h / even}


def step_ratio(scene: Scene, first: tuple[str, int, dict[str, float]], second: tuple[str, int, dict[str, float]],
               h: tuple[float, float]) -> tuple[float, float]:
    """Medians of a step of two methods that take turns, each with its own h, so that both see one machine [ms]."""
    worlds = [scene.world(method, count, **params) for method, count, params in (first, second)]
    states = [scene.start(world) for world in worlds]
    spent: list[list[float]] = [[], []]
    for _ in range(WARM + TIMED):
        for k, world in enumerate(worlds):
            began = time.perf_counter()
            states[k] = replace(world.step(states[k], h[k]), time=states[k].time + h[k])
            spent[k].append(1e3 * (time.perf_counter() - began))
    return float(np.median(spent[0][WARM:])), float(np.median(spent[1][WARM:]))


def dragon_claims(search: Search, row: dict[str, Any]) -> list[Claim]:
    vanilla, lively = search.smallest("vanilla", 0, H), search.smallest("conjac", NODES, H, **CORRECTED)
    if vanilla is None or lively is None or lively.beta == BETAS[0]:  # nothing smaller was tried
        return []
    return [claim("dragon_beta_ratio", vanilla.beta / lively.beta, "", ">= 2", 7.4),
            claim("dragon_liveliness", lively.liveliness / vanilla.liveliness, "", ">= 1.8")]


def dragon_nodes(search: Search) -> tuple[dict[str, Any], list[Claim]]:
    """Rows of the dragon by the number of dynamic nodes."""
    found = {count: search.smallest("conjac", count, H, **CORRECTED) for count in COUNTS}
    return {f"n_d {count}": None if one is None else one.row(None) for count, one in found.items()}, []


def dragon_even(search: Search) -> tuple[dict[str, Any], list[Claim]]:
    """Measure the price at which Vanilla is as lively as ConJac, and the worth of corrections."""
    claims, row = [], {}
    plain = search.smallest("conjac", NODES, H)
    row["paper's stabilization"] = None if plain is None else plain.row(None)
    lively = search.smallest("conjac", NODES, H, **CORRECTED)
    equal = equal_liveliness(search, lively, H) if lively else {"steps": np.nan}
    if lively and not np.isnan(equal["steps"]):
        one, other = step_ratio(search.scene, ("vanilla", 0, {"beta": equal["beta"]}),
                                ("conjac", NODES, {"beta": lively.beta, **CORRECTED}), (equal["h"], H))
        equal |= {"vanilla_ms": round(one, 1), "conjac_ms": round(other, 1), "ratio": equal["steps"] * one / other}
        claims.append(claim("time_at_equal_liveliness", equal["ratio"], "", ">= 2.2", "> 2"))
    row["equal liveliness"] = equal
    row["corrections, gentle pull"] = gained = gains(dragon.scene(GENTLE), NODES)
    # a single step of γ = 1/3 does not survive the whole pull, so the states are those of two corrections
    row["corrections, whole pull"] = gains(search.scene, NODES, motion="2 corrections")
    return row, [*claims,
                 claim("correction_median_gain", gained["median_gain"], "", ">= 10"),
                 claim("correction_worst_gain", gained["worst_gain"], "", ">= 2"),
                 claim("correction_time", gained["time"], "", "<= 1.2")]


def same_rest(scene: Scene) -> float:
    """How far ConJac comes to rest from Vanilla's balance, over the body's diagonal."""
    target = in_balance(scene.world("vanilla"), scene.nodes.copy())
    return float(np.linalg.norm(at_rest(scene) - target, axis=1).max() / np.linalg.norm(np.ptp(scene.nodes, axis=0)))


def turns() -> dict[str, float]:
    """Degrees by which the bottom of ANISO's bar turns in balance, by the direction of its fibers."""
    out = {}
    for direction in aniso.FIBERS:
        scene = aniso.scene(direction)
        out[direction] = float(np.degrees(aniso.turn(scene, in_balance(scene.world("vanilla"), scene.nodes.copy()))))
    return out


def hetero_claims(search: Search, row: dict[str, Any]) -> list[Claim]:
    return [claim("hetero_rest", same_rest(search.scene), "of the diagonal", "<= 1e-6", "exactly the same")]


def aniso_claims(search: Search, row: dict[str, Any]) -> list[Claim]:
    row["turn_degrees"] = turned = turns()
    straight = max(abs(turned["horizontal"]), abs(turned["vertical"]))
    return [claim("straight_degrees", straight, "degrees", "<= 0.1", "does not twist"),
            claim("helix_degrees", abs(turned["helical"]), "degrees", ">= 20", "twists")]


#: what scenes of steps and β claim besides their row
CLAIMS = {"hetero": hetero_claims, "aniso": aniso_claims, "dragon": dragon_claims}
#: scenes of another kind: their row and claims
OTHERS = {"bunny": bunny.measured, "barcut": barcut.measured, "armadillo": armadillo.measured,
          "muscle": muscle.measured, **{row: partial(refactor.measured, row) for row in refactor.ROWS}}


#: rows of the dragon besides its own
MORE = {"dragon_nodes": dragon_nodes, "dragon_even": dragon_even}


def measure(name: str, until: float, folder: Path | None) -> tuple[dict[str, Any], list[Claim]]:
    """The row of one scene and what it claims. Raises TimeIsUp."""
    if name in OTHERS:
        return OTHERS[name]()
    if name in MORE:
        return MORE[name](Search(of("dragon"), until, folder))
    search = Search(of(body_of(name)), until, folder)
    row = table(name, search, **(CORRECTED if body_of(name) == "dragon" else {}))
    return row, CLAIMS[name](search, row) if name in CLAIMS else []


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("name", choices=PARTS["conjac_scenes"])
    parser.add_argument("--keep", type=Path, help="folder for what is found: the same command then goes on from there")
    parser.add_argument("--for", type=float, default=np.inf, dest="limit", metavar="SECONDS",
                        help="begin nothing new after that; exit code 75")
    chosen = parser.parse_args()
    threads.configure(None)
    if not needs(chosen.name):
        return 4
    try:
        row, claims = measure(chosen.name, time.perf_counter() + chosen.limit, chosen.keep)
    except TimeIsUp:
        return 75
    emit(f"conjac_scenes.{chosen.name}", claims, {chosen.name: row})
    return 0


def body_of(name: str) -> str:
    """The scene that a row belongs to."""
    return name.partition("_")[0]


def needs(name: str) -> bool:
    """Whether the mesh is there that a scene is made of."""
    scanned = {"dragon": "dragon", "refactor": "dragon", "bunny": "bunny", "armadillo": "armadillo"}
    return body_of(name) not in scanned or meshes.is_there(f"tets/{scanned[body_of(name)]}.npz")


if __name__ == "__main__":
    sys.exit(main())
