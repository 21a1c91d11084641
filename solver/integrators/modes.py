"""The lowest modes of a body at one state, on which additive methods use the exponential."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import scipy.linalg

from ..assembly.tangent import Tangent
from ..errors import StepFailed
from ..linear.block_krylov import largest
from ..state import Vec
from .krylov import Product
from .phi_functions import psi

GUARDS = 4  #: vectors more than modes: the last modes converge as fast as the first, and which are lowest may change
SHIFT = 1.0e-3  #: of 1/h²: how far under zero the spectrum is looked at from


@dataclass(frozen=True)
class Modes:
    """Vibration modes: s directions X with Xᵀ M X = 1, and P = X Xᵀ M. Signs and rotations of X change no result.
    [Ascher 24]"""

    basis: Vec  #: X, (3 f, s) [kg^−½]
    mass: Vec  #: of each row, (3 f,) [kg]

    @cached_property
    def weighted(self) -> Vec:
        """Return M X, (3 f, s) [kg^½]."""
        return self.mass[:, None] * self.basis

    @property
    def count(self) -> int:
        """Return the number of modes s."""
        return self.basis.shape[1]

    def amplitudes(self, field: Vec) -> Vec:
        """Return the modes' amplitudes Xᵀ M field, (s,), of a field of the free nodes, (3 f,)."""
        return self.weighted.T @ field

    def field(self, amplitudes: Vec) -> Vec:
        """Return the field X amplitudes of the free nodes, (3 f,), from amplitudes (s,)."""
        return self.basis @ amplitudes

    def across(self, field: Vec) -> Vec:
        """Return (I − P) field, the part of a field (3 f,) that is not in the modes, (3 f,)."""
        return field - self.field(self.amplitudes(field))

    def refine(self, solve: Callable[[Vec], Vec], stiffness: Callable[[Vec], Vec]) -> Vec:
        """Return the lowest modes in the span of X and (μM − K)⁻¹ M X, (3 f, s), for a K that has rotated a little
        since.

        solve: (μM − K)⁻¹ columns. stiffness: K columns. Without this update a former mode becomes stiff, and then gains
        energy.
        """
        if not 0 < self.count < len(self.mass):
            return self.basis
        root = np.sqrt(self.mass)[:, None]
        response = solve(self.weighted)
        new = response - self.basis @ (self.weighted.T @ response)
        span = np.linalg.qr(root * np.concatenate([self.basis, new], axis=1))[0] / root
        within = -span.T @ stiffness(span)
        vectors = scipy.linalg.eigh(0.5 * (within + within.T))[1]
        basis: Vec = span @ vectors[:, : self.count]
        return basis


def exponential(modes: Modes, tangent: Tangent, v: Vec, h: float) -> tuple[Vec, Vec, Vec]:
    """Return h φ₁(h J_G) G, with h² φ₂(h J_G) of the forces of moving nodes: the changes of the amplitudes and of their
    rates over h [s], (s,) each, and K X, (3 f, s).

    v: rates, (3 f,) [m/s]. Exact for any sign of the stiffness: six modes of a free body have none, a buckled one has
    unstable ones. [Ascher 18, 25]
    """
    if not modes.count:
        return np.zeros(0), np.zeros(0), modes.basis
    rate, force = modes.amplitudes(v), modes.amplitudes(tangent.acceleration)
    drift = np.zeros_like(rate) if tangent.pulled is None else modes.basis.T @ tangent.pulled
    columns = tangent.stiffness(modes.basis)
    stiffness = modes.basis.T @ columns
    stiffness = 0.5 * (stiffness + stiffness.T)
    if tangent.is_damped:
        reduced = modes.basis.T @ tangent.damping(modes.basis)
        return *_integrate_damped(stiffness, reduced, rate, force, drift, h), columns
    values, vectors = np.linalg.eigh(stiffness)
    rate, force, drift = vectors.T @ rate, vectors.T @ force, vectors.T @ drift
    z = h * h * values
    _, one, two, three = psi(z, 3)
    moved = h * one * rate + h * h * two * force + h**3 * three * drift
    gained = z * two * rate + h * one * force + h * h * two * drift
    return vectors @ moved, vectors @ gained, columns


def _integrate_damped(stiffness: Vec, damping: Vec, rate: Vec, force: Vec, drift: Vec, h: float) -> tuple[Vec, Vec]:
    """Return both changes, (s,) each, with a damping matrix (s, s), by the exponential of a matrix with two rows and
    columns more than both."""
    s = len(rate)
    big = np.zeros((2 * s + 2, 2 * s + 2))
    big[:s, s : 2 * s] = np.eye(s)
    big[s : 2 * s, :s], big[s : 2 * s, s : 2 * s] = stiffness, damping
    big[:s, -1], big[s : 2 * s, -1] = rate, force
    big[s : 2 * s, -2], big[-2, -1] = drift, 1.0
    last = scipy.linalg.expm(h * big)[:, -1]
    return last[:s], last[s : 2 * s]


def wide(count: int, size: int) -> int:
    """Return the number of columns that `lowest` has for `count` modes of `size` rows."""
    return min(count + GUARDS if count else 0, size)


def lowest(tangent: Tangent, count: int, h: float, start: Vec | None) -> Vec:
    """Return the `count` modes of lowest λ of −K X = M X Λ and a few more that are less exact, (3 f, at least s); all
    modes where these are fewer.

    K = ∂f/∂x is the true one: projection hides the modes that buckle, and stiffens those of a squeezed body. The modes
    nearest to a shift below zero are found by block Krylov spaces of (μM − K)⁻¹ M, from the modes `start`, (3 f, s), if
    any; blocks miss none of several equal λ, as single vectors do. Raises StepFailed where no shift makes that
    definite.
    """
    size = len(tangent.mass)
    root = np.sqrt(tangent.mass)
    columns = wide(count, size)
    if count == 0:
        return np.zeros((size, 0))
    if count >= size:
        return np.diag(1.0 / root)
    if 4 * columns >= size:
        dense = -tangent.stiffness(np.eye(size)) / root[:, None] / root
        basis: Vec = scipy.linalg.eigh(0.5 * (dense + dense.T))[1][:, :columns] / root[:, None]
        return basis
    solve = invert_shifted(tangent, h)
    first = np.random.default_rng(0).normal(size=(size, columns))
    if start is not None:
        first[:, : start.shape[1]] = root[:, None] * start
    modes: Vec = largest(lambda y: root[:, None] * solve(root[:, None] * y), first, count) / root[:, None]
    return modes


def invert_shifted(tangent: Tangent, h: float) -> Product:
    """Return the product with (μM − K)⁻¹, from columns (3 f, c), for the smallest of a few shifts μ that make it
    definite.

    Raises StepFailed where none does.
    """
    for power in range(0, 8, 2):
        shift = SHIFT / (h * h) * 10.0**power
        try:
            return tangent.shifted(shift)
        except StepFailed:
            continue
    raise StepFailed("the stiffness pushes harder than the modes can be found at")
