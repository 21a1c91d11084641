"""Skinning eigenmodes: a few weights, each with an affine map, that move a whole body, rotations included.

All three axes share one space of scalar functions Φ: positions are x = X + Φ y with y of (p, 3), so B of the paper has
the entry Φ_ik at row 3i + a and column 3k + a. For each weight w the functions are w, wX, wY and wZ, so that any affine
map of the rest shape, weighted, is in the span, and so is any rotation of a displacement in the span.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp
from scipy.sparse.csgraph import connected_components

from ...errors import BadInput, NoFreeNode
from ...linear.block_krylov import largest
from ...state import Index, Vec
from .operators import Substance, factor_with_shift, lump_mass, weight_operator

GUARDS = 4  #: eigenvectors beyond those requested, so that the last of these converge as well
TOLERANCE = 1.0e-7  #: of weights: less is not seen in what they span
SHIFT = 1.0e-3  #: of how far the slowest weight is from the constant, about
DEPENDENT = 1.0e-9  #: of a function: less left of it across all others is rounding
#: of stiffest to softest in the weights' own problem: what is stiffer moves rigidly to six digits as it is
MOST_RATIO = 1.0e6


@dataclass(frozen=True)
class Subspace:
    """Scalar functions at the nodes, orthonormal in mass: Φᵀ M Φ = 1."""

    functions: Vec  #: Φ, (n, p) [kg^−½]; zero where nodes are pinned
    prescribed: Vec  #: Ψ of groups of pins that move, (n, 4 g): w, wX, wY, wZ of each
    weights: Vec  #: W, (n, m), of which Φ is made; orthonormal in mass
    stiffnesses: Vec  #: Γ, (m,) [1/s²], of the weights
    mass: Vec  #: of the nodes [kg], (n,)
    groups: tuple[Index, ...]  #: nodes of each group of pins
    pinned: Index  #: nodes of all groups
    centre: Vec  #: centre of the mesh at rest [m], (3,)
    size: float  #: size of the mesh at rest [m]: X of the functions above is (x − centre)/size

    def affine(self, positions: Vec) -> Vec:
        """Return 1, X, Y and Z, (k, 4), at positions (k, 3) [m], X = (x − centre)/size."""
        return np.concatenate([np.ones((len(positions), 1)), (positions - self.centre) / self.size], axis=1)


def build_subspace(nodes: Vec, tets: Index, substance: Substance, pins: Sequence[Index], m: int) -> Subspace:
    """Return the subspace of the m lowest skinning eigenmodes. [MFEM 9] [MFEM 10]

    pins: nodes of each group that is prescribed together. Raises NoFreeNode where every node is pinned, BadInput.
    """
    if m < 1:
        raise BadInput(f"{m} weights move nothing", "Take at least one")
    n = len(nodes)
    mass = lump_mass(nodes, tets, substance.density)
    pinned = np.unique(np.concatenate([np.zeros(0, np.int32), *[np.asarray(pin, np.int32) for pin in pins]]))
    if len(pinned) and not (0 <= pinned[0] and pinned[-1] < n):
        raise BadInput(f"a pin names node {pinned[-1]}, but there are {n}", "Name nodes of this mesh")
    free = np.setdiff1d(np.arange(n), pinned)
    if not len(free):
        raise NoFreeNode("every node is pinned, so nothing can move", "Leave a part of it free")
    bounded = substance.limit_stiffness(MOST_RATIO)
    operator = weight_operator(nodes, tets, bounded)
    count, part = connected_components(operator, directed=False)
    parts = [np.flatnonzero(part == k) for k in range(count)]
    loose = [np.isin(np.arange(n), members).astype(float) for members in parts if not np.isin(members, pinned).any()]
    constants = np.stack(loose, axis=1) if loose else np.zeros((n, 0))
    weights, stiffnesses = _weights(operator, mass, free, constants, m)
    centre = nodes.mean(axis=0)
    size = float(np.ptp(nodes, axis=0).max()) or 1.0
    positions = (nodes - centre) / size
    affine = np.concatenate([np.ones((n, 1)), positions], axis=1)
    if 4 * m + GUARDS >= len(free):
        functions = np.zeros((n, len(free)))
        functions[free, np.arange(len(free))] = 1.0 / np.sqrt(mass[free])
    else:
        first = [_affine_that_vanish(affine, members, np.intersect1d(members, pinned)) for members in parts]
        made = (weights[:, :, None] * affine[:, None]).reshape(n, -1)
        functions = orthonormal(np.concatenate([*first, made], axis=1), mass)
    prescribed = _harmonic(operator, free, [np.asarray(pin, np.int32) for pin in pins], affine)
    return Subspace(functions, prescribed, weights, stiffnesses, mass,
                    tuple(np.asarray(pin, np.int32) for pin in pins), pinned.astype(np.int32), centre, size)


def _weights(operator: sp.csc_matrix, mass: Vec, free: Index, constants: Vec, m: int) -> tuple[Vec, Vec]:
    """Return the m lowest generalised eigenvectors (n, m) and eigenvalues (m,), first those constant on whole parts.
    [MFEM 9]"""
    n = len(mass)
    own, weight = operator[free][:, free].tocsc(), mass[free]
    root = np.sqrt(weight)[:, None]
    null = constants[free] * np.sqrt(weight)[:, None]
    null = null / np.linalg.norm(null, axis=0)
    if null.shape[1] > m:
        raise BadInput(f"the body has {null.shape[1]} parts that nothing holds, and {m} weights cannot move each",
                       f"Take at least {null.shape[1]} modes, or join the parts")
    m = min(m, len(free))
    columns = min(m + GUARDS, len(free))
    if 4 * columns >= len(free):
        dense = own.toarray() / root / root.T
        values, vectors = np.linalg.eigh(dense + null @ null.T * np.abs(dense).max())
        modes = vectors[:, : m - null.shape[1]]
    else:
        scale = float(np.median(own.diagonal() / weight)) * len(free) ** (-2.0 / 3.0)
        solve, _ = factor_with_shift(own, weight, SHIFT * scale)

        def product(columns_in: Vec) -> Vec:
            across: Vec = columns_in - null @ (null.T @ columns_in)
            inverse = root * solve(root * across)
            across = inverse - null @ (null.T @ inverse)
            return across

        first = np.random.default_rng(0).normal(size=(len(free), columns))
        modes = largest(product, first - null @ (null.T @ first), m, TOLERANCE)[:, : m - null.shape[1]]
    modes = np.concatenate([null, modes], axis=1) / root
    values = np.maximum(np.einsum("ij,ij->j", modes, own @ modes), 0.0)
    values[: null.shape[1]] = 0.0
    weights = np.zeros((n, modes.shape[1]))
    weights[free] = modes
    return weights, values


def _affine_that_vanish(affine: Vec, part: Index, pinned: Index) -> Vec:
    """Return affine functions of one part that vanish at its pins, (n, 0...4): all of a part without pins, rotations
    about a pinned point or line."""
    if not len(pinned):
        kernel = np.eye(4)
    else:
        _, sigma, rows = np.linalg.svd(affine[pinned], full_matrices=True)
        rank = int((sigma > 1e-9 * sigma[0]).sum())
        kernel = rows[rank:].T
    functions = np.zeros((len(affine), kernel.shape[1]))
    functions[part] = affine[part] @ kernel
    functions[pinned] = 0.0
    return functions


def _harmonic(operator: sp.csc_matrix, free: Index, groups: list[Index], affine: Vec) -> Vec:
    """Return functions by which groups of pins move the nodes between them, (n, 4 g): H_w w = 0, w = 1 on the group."""
    n = len(affine)
    weights = np.zeros((n, len(groups)))
    taken = np.zeros(n, dtype=bool)
    for column, group in enumerate(groups):
        own = group[~taken[group]]
        weights[own, column] = 1.0
        taken[own] = True
    if groups:
        own = operator[free][:, free].tocsc()
        solve, _ = factor_with_shift(own, own.diagonal(), 1e-10)
        weights[free] = solve(-(operator[free] @ weights))
    functions: Vec = (weights[:, :, None] * affine[:, None]).reshape(n, -1)
    return functions


def orthonormal(functions: Vec, mass: Vec, before: Vec | None = None, least: float | None = None) -> Vec:
    """Return a basis of the span of functions, (n, p), orthonormal in mass and to `before`, without dependent
    functions.

    functions: (n, k). mass: (n,). least: length of a function relative to its own that remains across all others, above
    which it is independent; `DEPENDENT` where it is None.
    """
    least = DEPENDENT if least is None else least
    root = np.sqrt(mass)[:, None]
    scaled = root * functions
    done = np.zeros((len(mass), 0)) if before is None else root * before
    first = done.shape[1]
    basis = np.empty((len(mass), first + scaled.shape[1]), order="F")
    basis[:, :first], filled = done, first
    for column in scaled.T:
        length = np.linalg.norm(column)
        if length == 0.0:
            continue
        one = column / length
        for _ in range(2):  # twice is enough
            one = one - basis[:, :filled] @ (basis[:, :filled].T @ one)
        left = np.linalg.norm(one)
        if left > least and filled < len(mass):
            one /= left
            one -= basis[:, :filled] @ (basis[:, :filled].T @ one)
            basis[:, filled] = one / np.linalg.norm(one)
            filled += 1
    vectors: Vec = np.ascontiguousarray(basis[:, first:filled]) / root
    return vectors
