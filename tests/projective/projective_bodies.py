"""Cloth and blocks of projective constraints, for tests."""

import numpy as np

from solver.forces.cloth.sheet import Sheet
from solver.meshing.volume import tet_volumes
from solver.parts.projective.body import ProjectiveBody
from solver.parts.projective.building import cloth_constraints
from solver.parts.projective.constraints import Tets
from solver.world.bodies import lump_mass

WOVEN = {"stretch_warp": 1e3, "stretch_weft": 8e2, "shear": 3e2, "poisson_ratio": 0.2, "stretch_limit": 0.0}
BENDS = {"bending_stiffness": 1e-4}


def sheet(n=6, size=0.3):
    u = np.linspace(0.0, size, n)
    x = np.stack([*np.meshgrid(u, u, indexing="ij"), np.zeros((n, n))], axis=-1).reshape(-1, 3)
    i = np.arange(n * n).reshape(n, n)
    a, b, c, d = (corner.ravel() for corner in (i[:-1, :-1], i[1:, :-1], i[1:, 1:], i[:-1, 1:]))
    triangles = np.concatenate([np.stack([a, b, c], 1), np.stack([a, c, d], 1)]).astype(np.int32)
    return Sheet(x, triangles, np.ascontiguousarray(x[triangles][:, :, :2]))


def cloth(n=6, prescribed=(0,), woven=WOVEN, bends=BENDS, size=0.3, **how):
    made = sheet(n, size)
    mass = np.zeros(len(made.rest))
    np.add.at(mass, made.triangles.ravel(), np.repeat(0.2 * made.areas / 3.0, 3))
    return ProjectiveBody(made.rest, mass, cloth_constraints(made, woven, bends),
                          np.array(prescribed, dtype=np.int32), **how)


def block(nodes, tets, prescribed=(), mu=1e4, lam=0.0, **how):
    count = len(tets)
    mass = lump_mass(nodes, tets, tet_volumes(nodes, tets), np.full(count, 1000.0))
    return ProjectiveBody(nodes, mass, [Tets(nodes, tets, np.full(count, mu), np.full(count, lam))],
                          np.array(prescribed, dtype=np.int32), **how)
