"""References for `benchmarks.subspace_figures`: the whole mesh at rest, and two other subspaces.

Modal derivatives (Barbič and James 2005) and bounded biharmonic weights (Jacobson 2011) are only references: the solver
has neither.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
from scipy.sparse.linalg import eigsh

from solver.assembly.pattern import PAIR_COLUMNS, PAIR_ROWS
from solver.forces.elastic import Elastic
from solver.parts.modes.body import ReducedBody, Stepping
from solver.parts.modes.cubature import build_cubature
from solver.parts.modes.operators import Substance, factor, lump_mass, stiffness_operator, weight_operator
from solver.parts.modes.points import CubaturePoints
from solver.parts.modes.skinning import Subspace, build_subspace, orthonormal
from solver.state import Index, Vec

SETTLED = 1e-6  #: of the mesh's size: a step of Newton's method of less is the last
NEWTON, HALVINGS = 200, 30
ROUNDS = 1500  #: of the splitting that bounds weights
DIFFERENCE = 1e-3  #: of the mesh's size, by which modes are moved to see forces bend


@dataclass(frozen=True)
class Springs:
    """From nodes to places."""

    nodes: Index
    targets: Vec  #: [m], (k, 3)
    stiffness: float  #: of each [N/m]


class Whole:
    """A mesh with all its tetrahedra, brought to rest by Newton's method with projected stiffness."""

    def __init__(self, nodes: Vec, tets: Index, substance: Substance, pinned: Index | None = None) -> None:
        substance = ReducedBody.substance_of(substance, len(tets))
        self.nodes, self.tets, self.mass = nodes, tets, lump_mass(nodes, tets, substance.density)
        self._elastic = Elastic(nodes, tets, substance.material, substance.constants)
        self._free = np.setdiff1d(np.arange(len(nodes)), [] if pinned is None else pinned)
        self._size = float(np.ptp(nodes, axis=0).max())

    def force(self, x: Vec) -> tuple[float, Vec]:
        """Elastic energy [J] and forces (n, 3) [N] at x (n, 3) [m]."""
        corners, total = np.empty((len(self._elastic.tets), 4, 3)), np.zeros((len(x), 3))
        energy = self._elastic.measure(x, corners)
        np.add.at(total, self.tets, corners[: len(self.tets)])
        return energy, total

    def stiffness(self, x: Vec) -> sp.csc_matrix:
        """−K, projected, (3 n, 3 n) [N/m]."""
        count, n = len(self._elastic.tets), len(x)
        corners, blocks = np.empty((count, 4, 3)), np.empty((count, 6, 9))
        self._elastic.fill(x, True, corners, blocks)
        off = -blocks[: len(self.tets)].reshape(-1, 6, 3, 3)
        own = np.zeros((n, 3, 3))
        for pair, (a, b) in enumerate(zip(PAIR_ROWS, PAIR_COLUMNS, strict=True)):
            np.add.at(own, self.tets[:, a], -off[:, pair])
            np.add.at(own, self.tets[:, b], -off[:, pair].transpose(0, 2, 1))
        axis = np.arange(3)
        rows = np.broadcast_to((3 * self.tets[:, PAIR_ROWS])[:, :, None, None] + axis[:, None], off.shape)
        columns = np.broadcast_to((3 * self.tets[:, PAIR_COLUMNS])[:, :, None, None] + axis, off.shape)
        low = sp.coo_matrix((off.ravel(), (rows.ravel(), columns.ravel())), shape=(3 * n, 3 * n)).tocsr()
        return (low + low.T + sp.bsr_matrix((own, np.arange(n), np.arange(n + 1))).tocsr()).tocsc()

    def at_rest(self, x: Vec, load: Vec | None = None, springs: Springs | None = None) -> tuple[Vec, float]:
        """Return its rest from x (n, 3) [m] on, under forces (n, 3) [N] and springs, and its potential there [J]."""
        load = np.zeros_like(x) if load is None else load
        own = (3 * self._free[:, None] + np.arange(3)).ravel()

        def potential(x: Vec) -> tuple[float, Vec]:
            energy, force = self.force(x)
            energy, force = energy - float(np.vdot(load, x)), force + load
            if springs is not None:
                away = x[springs.nodes] - springs.targets
                energy += 0.5 * springs.stiffness * float(np.vdot(away, away))
                np.add.at(force, springs.nodes, -springs.stiffness * away)
            return energy, force

        springs_diagonal = np.zeros(3 * len(x))
        if springs is not None:
            springs_diagonal[(3 * springs.nodes[:, None] + np.arange(3)).ravel()] = springs.stiffness
        energy, force = potential(x)
        for _ in range(NEWTON):
            matrix = (self.stiffness(x) + sp.diags(springs_diagonal))[own][:, own].tocsc()
            step = np.zeros(3 * len(x))
            step[own] = factor(matrix)(force.ravel()[own][:, None])[:, 0]
            slope, taken = float(step @ force.ravel()), 1.0
            for _ in range(HALVINGS):
                there = x + taken * step.reshape(-1, 3)
                energy_there, force_there = potential(there)
                if energy_there <= energy - 1e-4 * taken * slope + 1e-12 * abs(energy):
                    break
                taken *= 0.5
            x, energy, force = there, energy_there, force_there
            if abs(step).max() < SETTLED * self._size:
                break
        return x, energy


def of_weights(nodes: Vec, tets: Index, substance: Substance, weights: Vec) -> Subspace:
    """The subspace of any skinning weights (n, m) of a body that nothing holds. [MFEM 10]"""
    mass = lump_mass(nodes, tets, substance.density)
    centre, size = nodes.mean(axis=0), float(np.ptp(nodes, axis=0).max())
    affine = np.concatenate([np.ones((len(nodes), 1)), (nodes - centre) / size], axis=1)
    functions = orthonormal((weights[:, :, None] * affine[:, None]).reshape(len(nodes), -1), mass)
    operator, none = weight_operator(nodes, tets, substance), np.zeros(0, np.int32)
    stiffness = np.einsum("ij,ij->j", weights, operator @ weights) / np.einsum("ij,ij,i->j", weights, weights, mass)
    return Subspace(functions, np.zeros((len(nodes), 0)), weights, stiffness, mass, (), none, centre, size)


def bare(nodes: Vec, tets: Index, substance: Substance, subspace: Subspace, points: int,
         stepping: Stepping, exponent: float = 0.0) -> ReducedBody:
    """A body as the paper builds it: no vibrations are added, and points weigh their clusters' volumes."""
    cubature = build_cubature(nodes, tets, substance.stiffness, subspace, points, exponent)
    return ReducedBody(nodes, tets, substance, subspace, CubaturePoints(nodes, tets, substance, subspace, cubature),
                       stepping=stepping)


def skinned(nodes: Vec, tets: Index, substance: Substance, m: int, points: int, stepping: Stepping,
            pins: Any = ()) -> ReducedBody:
    """Return it on skinning eigenmodes."""
    return bare(nodes, tets, substance, build_subspace(nodes, tets, substance, pins, m), points, stepping)


def bounded_biharmonic(nodes: Vec, tets: Index, handles: Index, alike: Substance) -> Vec:
    """Weights (n, k) of least ½ wᵀ L M⁻¹ L w with 0 ≤ w ≤ 1, one on their own handle and zero on others, that sum to
    one; alike: the same material everywhere, so that stiffness is no part of it. [Jacobson 2011]"""
    laplacian, mass = weight_operator(nodes, tets, alike), lump_mass(nodes, tets, alike.density)
    square = (laplacian @ sp.diags(1.0 / mass) @ laplacian).tocsc()
    free = np.setdiff1d(np.arange(len(nodes)), handles)
    own, fixed = square[free][:, free].tocsc(), np.eye(len(handles))
    scale = float(np.median(own.diagonal()))
    own, pull = own / scale, -(square[free][:, handles] @ fixed) / scale
    rho = 1e-2
    solve = factor((own + rho * sp.eye(len(free))).tocsc())
    bounded, dual = np.zeros_like(pull), np.zeros_like(pull)
    for _ in range(ROUNDS):  # alternating directions: the quadratic, then the bounds
        smooth = solve(pull + rho * (bounded - dual))
        bounded = np.clip(smooth + dual, 0.0, 1.0)
        dual += smooth - bounded
    weights = np.zeros((len(nodes), len(handles)))
    weights[handles], weights[free] = fixed, bounded
    found: Vec = weights / weights.sum(axis=1, keepdims=True)
    return found


def modal_derivatives(nodes: Vec, tets: Index, substance: Substance, modes: int) -> Vec:
    """Rigid motions as they begin, the slowest modes and all derivatives of these, orthonormal in mass, (3 n, r).

    A derivative is K⁻¹ D²f[Φ_i, Φ_j]: how forces of two modes together bend. [Barbič and James 2005]
    """
    stiffness, whole = stiffness_operator(nodes, tets, substance).tocsc(), Whole(nodes, tets, substance)
    mass = np.repeat(whole.mass, 3)
    scale = float(np.median(stiffness.diagonal() / mass))
    _, found = eigsh(stiffness, 6 + modes, sp.diags(mass).tocsc(), sigma=-1e-8 * scale)
    rigid, swinging = found[:, :6], found[:, 6:]
    solve = factor((stiffness + 1e-9 * scale * sp.diags(mass)).tocsc())
    columns = [rigid, swinging]
    size = DIFFERENCE * float(np.ptp(nodes, axis=0).max())
    moved = [(size / abs(one).max() * one).reshape(-1, 3) for one in swinging.T]
    for i, first in enumerate(moved):
        for second in moved[: i + 1]:
            bent = sum(s * t * whole.force(nodes + s * first + t * second)[1] for s in (-1, 1) for t in (-1, 1))
            rhs = np.asarray(bent).reshape(-1, 1)
            rhs = rhs - mass[:, None] * (rigid @ (rigid.T @ rhs))
            columns.append(solve(rhs))
    root = np.sqrt(mass)[:, None]
    scaled = root * np.concatenate(columns, axis=1)
    left, sigma, _ = np.linalg.svd(scaled / np.linalg.norm(scaled, axis=0), full_matrices=False)
    basis: Vec = left[:, sigma > 1e-10 * sigma[0]] / root
    return basis
