"""Worlds for tests, made of the solver's own parts without a job folder."""

import numpy as np

from solver import catalogue, threads  # noqa: F401
from solver.contact.find.ground import NOWHERE, Ground
from solver.contact.laws.ground_penalty import GroundPenalty
from solver.coordinates.free_nodes import FreeNodes
from solver.forces.elastic import Elastic
from solver.linear.choose import choose
from solver.meshing.grid import box_tets
from solver.meshing.volume import face_parts, tet_volumes
from solver.nonlinear.newton import NewtonDirect
from solver.parts.interface import Mesh
from solver.world.bodies import BodyInWorld, lump_mass
from solver.world.nodes import Nodes

MATERIAL = catalogue.find("material", "stable_neo_hookean").load()
NONE = np.zeros(0, dtype=np.int32)


def box(cells=(8, 2, 2), size=(0.16, 0.04, 0.04)):
    volume = box_tets(cells, size)
    return np.ascontiguousarray(volume[0]), np.ascontiguousarray(volume[1])


def make(nodes, tets, *, young=3e4, poisson=0.4, density=1000.0, dynamic=NONE, pinned=NONE, motion=None,
         method="conjac", beta=0.5, gamma=1 / 3, corrections=0, settle_time=0.0,
         gravity=(0, 0, -9.81), ground=None, linear="auto",
         quasistatic_start=False, project=True, integrator="semi_implicit", tolerance=1e-6, damping=None, friction=None,
         adaptive=False, solve_impacts=True, threshold=0.02, window=0.1, attached=None, rates=0, patches=(), **params):
    """attached: nodes that rigid bodies carry, moved by so many rates of joints.
    damping: (kind, α, β), or a list of such for as many equal pieces of the tets. friction: (kind, μ).
    ground: (height, stiffness of a node, its tangential share if any). params: of the integrator."""
    young = np.broadcast_to(np.asarray(young, float), len(tets))
    poisson = np.broadcast_to(np.asarray(poisson, float), len(tets))
    laws = [] if damping is None else damping if isinstance(damping, list) else [damping]
    pieces = np.array_split(np.arange(len(tets)), max(1, len(laws)))
    elastic = [Elastic(nodes, tets[piece], MATERIAL, MATERIAL.constants(young[piece], poisson[piece]))
               for piece in pieces]
    laws = [catalogue.find("damping", kind).load()(nodes, one, young[piece],
                                                   {"stiffness_damping": alpha, "mass_damping": mu})
            for (kind, alpha, mu), one, piece in zip(laws, elastic, pieces)]
    volumes = tet_volumes(nodes, tets)
    mass = lump_mass(nodes, tets, volumes, np.full(len(tets), float(density)))
    count, labels = face_parts(tets)
    parts = [np.unique(tets[labels == k]) for k in range(count)]
    pinned = np.asarray(pinned, dtype=np.int32)
    coordinates = (FreeNodes(nodes, pinned, motion) if attached is None else
                   FreeNodes(nodes, pinned, motion, attached, rates))
    solver = choose(linear)
    mesh = Mesh(np.concatenate([one.tets for one in elastic]), nodes, mass, parts, coordinates,
                np.asarray(dynamic, dtype=np.int32), float(young.max() * np.cbrt(6 * volumes.mean())), tuple(patches))
    choice = {"beta": beta, "gamma": gamma, "corrections": corrections, "settle_time": settle_time,
              "solve_impacts": solve_impacts, "adaptive": adaptive, "liveliness_threshold": threshold,
              "liveliness_window": window}
    condensation = catalogue.find("method", method).load()(mesh, solver, choice)
    law = friction and catalogue.find("friction", friction[0]).load()({"friction_coefficient": friction[1]})
    plane = NOWHERE if ground is None else Ground(np.array([0, 0, ground[0]]), np.array([0, 0, 1.0]))
    stiffness = np.full(len(nodes), 0.0 if ground is None else float(ground[1]))
    standing = GroundPenalty(plane, stiffness, coordinates.is_free, law, *(ground or ())[2:])
    body = BodyInWorld("box", slice(0, len(nodes)), float(np.linalg.norm(np.ptp(nodes, axis=0))), None, None)
    return Nodes([body], elastic, coordinates, nodes, mass, np.asarray(gravity, float), standing, 1,
                 condensation=condensation, integrator=find_integrator(integrator, params), linear=solver,
                 stage_solver=NewtonDirect({"tolerance": tolerance, "iterations": 100}),
                 balanced=[body] if quasistatic_start else [], project=project, damping_laws=laws)


def find_integrator(kind, params=None):
    return catalogue.find("integrator", kind).load()(params or {})


def run(world, steps, h=1 / 120, state=None):
    state = world.initial_state() if state is None else state
    for _ in range(steps):
        state = world.step(state, h)
    return state


def settled(world, most, h=1 / 120, state=None, moves=1e-12):
    """The state after `most` steps, or once a step changes no coordinate by more than `moves` [m] any more."""
    state = world.initial_state() if state is None else state
    for _ in range(most):
        before, state = state, world.step(state, h)
        if max(np.abs(state.q - before.q).max(), h * np.abs(state.u).max()) <= moves:
            break
    return state


def positions(world, state):
    return world.coordinates.positions(state.q, state.time)


def nearest(nodes, point):
    return int(np.argmin(np.linalg.norm(nodes - np.asarray(point), axis=1)))


def stiffness(world, x, time=0.0):
    """Dense K = ∂f/∂x and f of all nodes at positions x, assembled from element blocks one by one."""
    from solver.assembly.pattern import PAIR_COLUMNS, PAIR_ROWS

    lin = world.linearise_at(x, None, time, world.project)
    dense = np.zeros((3 * len(x), 3 * len(x)))
    for corners, blocks in zip(world.tets, lin.blocks):
        for a, b, block in zip(PAIR_ROWS, PAIR_COLUMNS, blocks):
            i, j = 3 * corners[a], 3 * corners[b]
            block = block.reshape(3, 3)
            dense[i:i + 3, j:j + 3] += block
            dense[j:j + 3, i:i + 3] += block.T
            dense[i:i + 3, i:i + 3] -= block.T
            dense[j:j + 3, j:j + 3] -= block
    for i, block in enumerate(lin.node_blocks):
        dense[3 * i:3 * i + 3, 3 * i:3 * i + 3] += block
    return dense, lin.force.ravel().copy()


def damping(world, x):
    """Dense D = ∂f/∂v of all nodes at positions x: its law's elements, one column at a time."""
    damped = world._damping.at(x, np.zeros_like(x), 0.0)
    return np.stack([damped.force(unit.reshape(-1, 3)).ravel() for unit in np.eye(x.size)], axis=1)


def rows(nodes):
    return (3 * np.asarray(nodes)[:, None] + np.arange(3)).ravel()
