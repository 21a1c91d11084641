"""A body of one material as a world of Vanilla FEM, for benchmarks of integrators. Makes no claims itself."""

from __future__ import annotations

import numpy as np

from solver import catalogue
from solver.contact.laws.ground_penalty import GroundPenalty
from solver.coordinates.free_nodes import FreeNodes
from solver.forces.elastic import Elastic
from solver.linear.choose import choose
from solver.meshing.volume import face_parts, tet_volumes
from solver.nonlinear.newton import NewtonDirect
from solver.parts.interface import Mesh
from solver.parts.nodes.full import Full
from solver.world.bodies import BodyInWorld, lump_mass
from solver.world.nodes import Nodes


def vanilla(nodes: np.ndarray, tets: np.ndarray, pinned: np.ndarray, young: float, poisson: float, *,
            integrator: str, params: dict[str, float], beta: float = 1.0) -> Nodes:
    """Stable Neo-Hookean, 1000 kg/m³, gravity; stages are solved to 1e-8."""
    count = len(tets)
    material = catalogue.find("material", "stable_neo_hookean").load()
    elastic = Elastic(nodes, tets, material, material.constants(np.full(count, young), np.full(count, poisson)))
    volumes = tet_volumes(nodes, tets)
    mass = lump_mass(nodes, tets, volumes, np.full(count, 1000.0))
    coordinates = FreeNodes(nodes, pinned.astype(np.int32), None)
    number, labels = face_parts(tets)
    parts = [np.unique(tets[labels == part]) for part in range(number)]
    linear = choose()
    mesh = Mesh(elastic.tets, nodes, mass, parts, coordinates, np.zeros(0, dtype=np.int32),
                young * float(np.cbrt(6.0 * volumes.mean())))
    entry = catalogue.find("integrator", integrator)
    method = entry.load()({param.key: param.default for param in entry.params} | params)
    body = BodyInWorld("body", slice(0, len(nodes)), float(np.linalg.norm(np.ptp(nodes, axis=0))), None, None)
    return Nodes([body], [elastic], coordinates, nodes, mass, np.array([0.0, 0.0, -9.81]),
                 GroundPenalty.nowhere(coordinates.is_free), 1,
                 condensation=Full(mesh, linear, {"beta": beta}), integrator=method, linear=linear,
                 stage_solver=NewtonDirect({"tolerance": 1e-8, "iterations": 100}))
