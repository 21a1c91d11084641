"""ARMADILLO and BUNNY of the dissertation's Table 5.2: stage solvers on bodies that move.

    python -m benchmarks.armadillo                       the ARMADILLO rows, 5,274 nodes
    python -m benchmarks.armadillo --only ROW,ROW        some of them, or `refined` and `bunny`
    python -m benchmarks.armadillo --shift 0.08          shaken harder
    python -m benchmarks.armadillo --solvers KEY,KEY

The armadillo (benchmarks/meshes.py), made as heavy as the dissertation's (1.37 kg at 1000 kg/m3, 27 cm tall), E = 1e7,
nu = 0.49. The lowest tenth of its height is held by a base that moves sideways by 2 cm (1 - cos(2 pi 5 t)), which is
ours, as are the 0.4 s: two swings of the base from rest. Gravity. Default: stable Neo-Hookean, no damping, BDF2,
h = 0.01 s; each row changes one thing. Green damping, 1e-6 s of E. `refined`: each tetrahedron cut into eight, four
steps of the default row. The bunny weighs 2.25 kg (22 cm): E = 5e4, nu = 0.49, Green damping 2e-2 s, h = 3e-3 s,
SDIRK2; it meets a penalty floor (1e3 N/m a node) at 2 m/s, without self-collision. Solved means what it does in
benchmarks/newton.py. Makes no claims.
"""

from __future__ import annotations

import argparse
import sys
from dataclasses import replace
from typing import Any

from benchmarks import meshes

from solver import threads  # isort: skip  # first: it sets what numba reads

import numpy as np

from benchmarks.newton import CLAIMED, compare, stage_solver
from benchmarks.report import emit
from solver import catalogue
from solver.contact.find.ground import NOWHERE, Ground
from solver.contact.laws.ground_penalty import GroundPenalty
from solver.coordinates.free_nodes import FreeNodes
from solver.coordinates.prescribed import Motion
from solver.forces.elastic import Elastic
from solver.linear.choose import choose
from solver.meshing.volume import face_parts, tet_volumes
from solver.parts.interface import Mesh
from solver.world.bodies import BodyInWorld, lump_mass
from solver.world.nodes import Nodes

SECONDS, H = 0.4, 0.01
SHIFT, PER_SECOND = 0.02, 5.0  #: half of how far the base moves [m], how often [1/s]
SAMPLE = 1 / 400
KILOGRAMS = {"armadillo": 1.37, "bunny": 2.25}
FALL, FLOOR, BUNNY_H, BUNNY_STEPS = 2.0, 1e3, 3e-3, 30  #: m/s, N/m, s
REFINED_STEPS = 4
CAP = 60.0  #: seconds of one solver on one row

#: what each row changes
ROWS: dict[str, dict[str, Any]] = {
    "default": {},
    "damping 1e-6": {"damping": 1e-6},
    "corotational": {"material": "corotational"},
    "StVK": {"material": "stvk"},
    "Baraff": {"integrator": "semi_implicit"},
    "BDF1": {"integrator": "backward_euler"},
    "h 5e-3": {"h": 5e-3},
    "h 2e-2": {"h": 2e-2},
}


def mesh_of(name: str) -> tuple[np.ndarray, np.ndarray]:
    """Nodes [m] and tetrahedra of a shared mesh, scaled to the dissertation's mass at 1000 kg/m³."""
    nodes, tets = meshes.tetrahedra(name)
    return nodes * np.cbrt(KILOGRAMS[name] / 1000.0 / tet_volumes(nodes, tets).sum()), tets


def refined(nodes: np.ndarray, tets: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Each tetrahedron cut into eight through the middles of its edges."""
    pairs = np.array([[0, 1], [0, 2], [0, 3], [1, 2], [1, 3], [2, 3]])
    edges, edge = np.unique(np.sort(tets[:, pairs], axis=2).reshape(-1, 2), axis=0, return_inverse=True)
    a, b, c, d = tets.T
    ab, ac, ad, bc, bd, cd = (len(nodes) + edge.reshape(-1, 6)).T
    parts = np.stack([np.stack(corners, axis=1) for corners in (
        (a, ab, ac, ad), (ab, b, bc, bd), (ac, bc, c, cd), (ad, bd, cd, d),
        (ab, cd, ac, ad), (ab, cd, ad, bd), (ab, cd, bd, bc), (ab, cd, bc, ac))], axis=1)
    finer = np.concatenate([nodes, nodes[edges].mean(axis=1)])
    small = parts.reshape(-1, 4).astype(np.int32)
    wrong = np.linalg.det(finer[small[:, 1:]] - finer[small[:, :1]]) < 0.0
    small[wrong, 2:] = small[wrong, 3:1:-1]
    return finer, small


def shaken(nodes: np.ndarray, pinned: np.ndarray, shift: float) -> Motion:
    times = np.arange(0.0, SECONDS + 0.1, SAMPLE)
    moved = np.repeat(nodes[pinned][None], len(times), axis=0)
    moved[:, :, 0] += shift * (1.0 - np.cos(2 * np.pi * PER_SECOND * times))[:, None]
    return Motion(moved, SAMPLE)


def world_of(nodes: np.ndarray, tets: np.ndarray, *, young: float, integrator: str, on_base: bool,
             material: str = "stable_neo_hookean", damping: float = 0.0, shift: float = SHIFT) -> Nodes:
    """On a shaken base, or over a floor at z = 0. damping: Green's, [s]. shift: half of how far the base moves [m]."""
    moduli = np.full(len(tets), young)
    model = catalogue.find("material", material).load()
    elastic = Elastic(nodes, tets, model, model.constants(moduli, np.full(len(tets), 0.49)))
    volumes = tet_volumes(nodes, tets)
    mass = lump_mass(nodes, tets, volumes, np.full(len(tets), 1000.0))
    low = nodes[:, 2] < nodes[:, 2].min() + 0.1 * np.ptp(nodes[:, 2])
    pinned = np.flatnonzero(low & on_base).astype(np.int32)
    coordinates = FreeNodes(nodes, pinned, shaken(nodes, pinned, shift) if on_base else None)
    number, labels = face_parts(tets)
    linear = choose()
    mesh = Mesh(elastic.tets, nodes, mass, [np.unique(tets[labels == part]) for part in range(number)], coordinates,
                np.zeros(0, dtype=np.int32), young * float(np.cbrt(6.0 * volumes.mean())))
    full = catalogue.find("method", "vanilla").load()(mesh, linear, {"beta": 1.0})
    entry = catalogue.find("integrator", integrator)
    method = entry.load()({param.key: param.default for param in entry.params})
    law = catalogue.find("damping", "green").load()
    laws = [law(nodes, elastic, moduli, {"stiffness_damping": damping, "mass_damping": 0.0})] if damping else []
    floor = NOWHERE if on_base else Ground(np.zeros(3), np.array([0.0, 0.0, 1.0]))
    ground = GroundPenalty(floor, np.full(len(nodes), FLOOR), coordinates.is_free)
    body = BodyInWorld("body", slice(0, len(nodes)), float(np.linalg.norm(np.ptp(nodes, axis=0))), None, None)
    return Nodes([body], [elastic], coordinates, nodes, mass, np.array([0.0, 0.0, -9.81]), ground, 1, laws,
                 condensation=full, integrator=method, stage_solver=stage_solver("newton_d"), linear=linear)


def armadillo(names: list[str], fine: bool = False, h: float = H, steps: int | None = None,
              **changed: Any) -> dict[str, dict[str, Any]]:
    """Rows by stage solver; a semi-implicit step never asks for one."""
    nodes, tets = refined(*mesh_of("armadillo")) if fine else mesh_of("armadillo")
    choice = {"young": 1e7, "integrator": "bdf2", "on_base": True} | changed
    world = world_of(nodes, tets, **choice)
    print(f"{len(nodes)} nodes, {len(tets)} tetrahedra", file=sys.stderr)
    world.step(world.initial_state(), h)  # kernels are loaded and arrays touched before anything is timed
    if choice["integrator"] == "semi_implicit":
        names = ["newton_d"]
    return compare(world, names, round(SECONDS / h) if steps is None else steps, h=h, cap=CAP)


def bunny(names: list[str], steps: int | None = None) -> dict[str, dict[str, Any]]:
    nodes, tets = mesh_of("bunny")
    world = world_of(nodes, tets, young=5e4, integrator="sdirk2", on_base=False, damping=2e-2)
    rest = world.initial_state()
    world.step(rest, BUNNY_H)
    thrown = replace(rest, u=np.tile([0.0, 0.0, -FALL], len(nodes)))
    return compare(world, names, steps or BUNNY_STEPS, h=BUNNY_H, start=thrown, cap=CAP)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--only", default=",".join(ROWS), help=f"of: {', '.join([*ROWS, 'refined', 'bunny'])}")
    parser.add_argument("--solvers", default=",".join(CLAIMED))
    parser.add_argument("--steps", type=int, help="instead of the whole time")
    parser.add_argument("--shift", type=float, default=SHIFT, help="half of how far the base moves [m]")
    chosen = parser.parse_args()
    threads.configure(None)
    solvers = chosen.solvers.split(",")
    details: dict[str, Any] = {}
    for name in chosen.only.split(","):
        print(f"-- {name}", file=sys.stderr, flush=True)
        if name == "bunny":
            details[name] = bunny(solvers, chosen.steps)
        elif name == "refined":
            details[name] = armadillo(solvers, fine=True, steps=chosen.steps or REFINED_STEPS, shift=chosen.shift)
        else:
            details[name] = armadillo(solvers, steps=chosen.steps, shift=chosen.shift, **ROWS[name])
    emit("armadillo", [], details)


if __name__ == "__main__":
    main()
