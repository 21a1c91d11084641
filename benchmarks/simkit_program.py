"""Steps a reduced body with simkit: `subspace_simkit.py` runs it with the Python that has it.

    PYTHON simkit_program.py IN.npz OUT.npz

Needs numpy, scipy and simkit alone. IN: nodes (n, 3) [m], tets (e, 4), mu (e,) [Pa], and numbers: modes, points, h,
density, iterations. A free body starts stretched by a tenth along x and takes one step of backward Euler, ARAP, by
simkit's own `sqp_mfem` with its `skinning_eigenmodes` and `spectral_cubature`; the blocks of the quadratic program are
put together of its functions here, as it has no example of one. OUT: seconds of eigenmodes and cubature, milliseconds
of an iteration, Newton's decrement at the start of each, nodes' positions after the step.
"""

from __future__ import annotations

import sys
import time

import numpy as np
import scipy.sparse as sp
from simkit.deformation_jacobian import deformation_jacobian
from simkit.energies.arap import arap_energy_element_S, arap_gradient_element_S, arap_hessian_element_S
from simkit.massmatrix import massmatrix
from simkit.skinning_eigenmodes import skinning_eigenmodes
from simkit.solvers.sqpmfem import sqp_mfem
from simkit.spectral_cubature import spectral_cubature
from simkit.stretch import stretch
from simkit.stretch_gradient import stretch_gradient_dF
from simkit.symmetric_stretch_map import symmetric_stretch_map

TIMED = 15


def main(read: str, write: str) -> None:
    given = np.load(read)
    nodes, tets, mu, h = given["nodes"], given["tets"], given["mu"].reshape(-1, 1), float(given["h"])
    began = time.perf_counter()
    weights, _, basis = skinning_eigenmodes(nodes, tets, int(given["modes"]), mu)
    basis = np.linalg.qr(np.asarray(basis))[0]
    eigenmodes = time.perf_counter() - began
    began = time.perf_counter()
    chosen, volumes = spectral_cubature(nodes, tets, weights, int(given["points"]))
    cubature = time.perf_counter() - began
    count = len(chosen)
    jacobian = sp.csr_matrix(deformation_jacobian(nodes, tets[chosen]))
    jacobian.resize(jacobian.shape[0], nodes.size)  # it has no columns after the last node that is named
    slope = jacobian @ basis
    _, compact = symmetric_stretch_map(count, 3)
    w = np.repeat(volumes, 6)[:, None]
    twice = np.tile([1.0, 1.0, 1.0, 2.0, 2.0, 2.0], count)[:, None]
    own, mass = mu[chosen], massmatrix(nodes, tets, float(given["density"]))
    inertia = basis.T @ (np.repeat(mass.diagonal(), 3)[:, None] * basis) / h**2
    start = basis.T @ (nodes * [1.1, 1.0, 1.0]).reshape(-1, 1)
    size = len(start)
    g_z = sp.diags((-w * twice).ravel()).tocsc()
    g_zi = sp.diags((-1.0 / (w * twice)).ravel()).tocsc()
    decrements: list[float] = []

    def stretches(p: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        f = (slope @ p[:size]).reshape(-1, 3, 3)
        return f, compact @ stretch(f)

    def hessians(p: np.ndarray) -> tuple[object, ...]:
        f, _ = stretches(p)
        turned = sp.block_diag(list(stretch_gradient_dF(f).reshape(-1, 9, 9)))
        along = compact @ (turned @ slope)
        h_z = sp.block_diag(list(volumes[:, None, None] * arap_hessian_element_S(
            p[size : size + 6 * count].reshape(-1, 6), own))).tocsc()
        return inertia, h_z, (w * twice * along).T, g_z, g_zi

    def gradients(p: np.ndarray) -> tuple[np.ndarray, ...]:
        _, bar = stretches(p)
        z = p[size : size + 6 * count]
        f_z = w * arap_gradient_element_S(z.reshape(-1, 6), own).reshape(-1, 1)
        return inertia @ (p[:size] - start), f_z, w * twice * (bar - z)

    def energy(p: np.ndarray) -> float:
        _, bar = stretches(p)
        z, away = p[size : size + 6 * count], p[:size] - start
        elastic = float(volumes @ arap_energy_element_S(z.reshape(-1, 6), own).ravel())
        return (0.5 * float((away.T @ inertia @ away).item()) + elastic
                + float((p[size + 6 * count :].T @ (w * twice * (bar - z))).item()))

    first = np.vstack([start, stretches(start)[1], np.zeros((6 * count, 1))])
    spent = []
    for _ in range(TIMED):
        began = time.perf_counter()
        sqp_mfem(first, energy, hessians, gradients, max_iter=1)
        spent.append(1e3 * (time.perf_counter() - began))
    p, positions = first, []
    for _ in range(int(given["iterations"])):
        p = sqp_mfem(p, energy, hessians, gradients, max_iter=1)
        positions.append((basis @ p[:size]).reshape(-1, 3))
    decrements = [float(abs(b - a).max()) for a, b in zip(positions, positions[1:], strict=False)]
    np.savez(write, eigenmodes=eigenmodes, cubature=cubature, ms=np.median(spent), moves=decrements,
             places=positions[-1], points=count)


if __name__ == "__main__":
    main(*sys.argv[1:3])
