"""A scene of the paper as data: mesh, material, pins, dynamic nodes and initial motion.

`world` writes it as a job folder and has the solver build it, so what is measured is what a user's job does. Only
moduli that differ from element to element come afterwards: a job has maps on surfaces, and these are sharp layers.
"""

from __future__ import annotations

import json
import tempfile
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np

from solver import catalogue
from solver.build.soft_bodies import assemble, prepare_all
from solver.forces.elastic import Elastic
from solver.job.load import load
from solver.nonlinear.equilibrium import equilibrium
from solver.state import State
from solver.world.nodes import Nodes

FPS = 25.0
SETTLING = 150  #: steps of 1/24 s until a damped body rests
NONE = np.zeros(0, dtype=np.int32)


@dataclass(frozen=True)
class Scene:
    """Numbers of the paper's Table 1 and text, and what they leave open."""

    nodes: np.ndarray  #: (n, 3) [m]
    tets: np.ndarray  #: (e, 4)
    pinned: np.ndarray  #: nodes that are held
    dynamic: Callable[[int], np.ndarray]  #: which nodes are dynamic when there are so many
    counts: tuple[int, ...]  #: of dynamic nodes, that are measured
    young: float  #: [Pa]
    poisson: float
    gamma: float = 1.0 / 3.0
    seconds: float = 1.0  #: after it is let go
    release_time: float = 0.0  #: when the prescribed nodes come to rest [s]
    fibers: dict[str, Any] = field(default_factory=dict)  #: fiber_material and fiber_field of the job's body
    element_young: np.ndarray | None = None  #: (e,) [Pa] in place of `young`
    pulled: np.ndarray | None = None  #: positions from which it is let go, (n, 3) [m]; None: its rest shape
    motion: np.ndarray | None = None  #: where pinned nodes are at each sample, (T, p, 3) [m]
    samples: int = 4  #: of the motion, a frame
    ground: dict[str, Any] | None = None  #: of the job
    gravity: tuple[float, float, float] = (0.0, 0.0, -9.81)  #: [m/s²]
    damping: dict[str, Any] = field(default_factory=dict)  #: damping and wobble_half_life of the job's body
    paper: dict[str, Any] = field(default_factory=dict)  #: what the paper says of it
    ours: str = ""  #: what it does not say and we chose

    def world(self, method: str = "conjac", count: int = 0, *, integrator: str = "semi_implicit",
              stage_solver: dict[str, Any] | None = None, step: float = 1.0 / FPS, **params: float) -> Nodes:
        """The scene with `count` dynamic nodes. params: of the method, such as beta."""
        arrays = {"nodes": self.nodes, "tets": self.tets.astype(np.int32), "pinned": self.pinned.astype(np.int32)}
        body: dict[str, Any] = {
            "name": "body", "tets": {"nodes": "arrays/nodes.npy", "tets": "arrays/tets.npy"},
            "material": {"kind": "stable_neo_hookean",
                         "params": {"youngs_modulus": self.young, "poisson_ratio": self.poisson}},
            "pin": {"nodes": "arrays/pinned.npy"}, **self.fibers, **self.damping}
        if self.motion is not None:
            arrays["motion"] = self.motion
            body["pin"]["node_motion"] = "arrays/motion.npy"
        if method == "conjac":
            arrays["dynamic"] = self.dynamic(count).astype(np.int32)
            body["dynamic"] = {"nodes": "arrays/dynamic.npy"}
            params = {"gamma": self.gamma} | params
        frames = 2 if self.motion is None else 1 + (len(self.motion) - 1) // self.samples
        scene = {"version": 1, "name": "scene", "bodies": [body], "method": {"kind": method, "params": params},
                 "gravity": list(self.gravity), "integrator": {"kind": integrator},
                 "stage_solver": stage_solver or {"kind": "newton_d"},
                 "time": {"start": 1, "end": frames, "fps": FPS, "step": step, "samples_per_frame": self.samples}}
        if self.ground is not None:
            scene["ground"] = self.ground
        with tempfile.TemporaryDirectory(prefix="conjac-scene-") as name:
            folder = Path(name)
            (folder / "arrays").mkdir()
            for key, array in arrays.items():
                np.save(folder / "arrays" / f"{key}.npy", array)
            (folder / "scene.json").write_text(json.dumps(scene), encoding="utf-8")
            loaded = load(folder)
            world = assemble(loaded, prepare_all(loaded, lambda *_: None))
        if self.element_young is not None:
            world = replace(world, elastic=[self._layered(world)])
        return world

    def _layered(self, world: Nodes) -> Elastic:
        assert self.element_young is not None
        model = catalogue.find("material", "stable_neo_hookean").load()
        constants = model.constants(self.element_young, np.full(len(self.tets), self.poisson))
        return Elastic(world.rest, world.tets[: len(self.tets)], model, constants)

    def start(self, world: Nodes) -> State:
        """At rest where it is let go, or in its rest shape."""
        state = world.initial_state()
        if self.pulled is None:
            return state
        return replace(state, q=self.pulled[world.coordinates.free].ravel())


def in_balance(world: Nodes, x: np.ndarray, prescribed: np.ndarray = NONE, time: float = 0.0,
               tolerance: float = 1e-9) -> np.ndarray:
    """Positions where all but the `prescribed` and the prescribed nodes carry no net force, (n, 3) [m]."""
    free = np.setdiff1d(world.coordinates.free, prescribed).astype(np.int32)
    return equilibrium(world, x, time, free, world.tets, type(world.linear)(), tolerance=tolerance)


def at_rest(scene: Scene) -> np.ndarray:
    """Return where ConJac comes to rest after large, damped steps, (n, 3) [m]."""
    world = scene.world("conjac", scene.counts[0], beta=1.0, corrections=2)
    state = scene.start(world)
    for _ in range(SETTLING):
        state = world.step(state, 1.0 / 24.0)
    return world.coordinates.positions(state.q, state.time)


def farthest(nodes: np.ndarray, among: np.ndarray, first: list[int], count: int) -> np.ndarray:
    """`count` nodes: the first ones, then always the one of `among` that is farthest from those before it."""
    chosen = list(first[:count])
    away = np.full(len(among), np.inf)
    for node in chosen:
        away = np.minimum(away, np.linalg.norm(nodes[among] - nodes[node], axis=1))
    while len(chosen) < count:
        chosen.append(int(among[np.argmax(away)]))
        away = np.minimum(away, np.linalg.norm(nodes[among] - nodes[chosen[-1]], axis=1))
    return np.array(chosen, dtype=np.int32)
