"""φ₁ of a damped system, whose Jacobian is not symmetric, by Arnoldi's method on positions and velocities together."""

from __future__ import annotations

import numpy as np
import scipy.linalg

from ..errors import StepFailed
from ..state import Vec
from .krylov import LARGEST, MOST_PRODUCTS, Product

FAR = 500.0  #: hJ beyond which no space of this size reaches a step's end, and its exponential may overflow


def integrate_damped(stiffness: Product, damping: Product, velocity: Vec, acceleration: Vec, drift: Vec | None,
                     h: float, tolerance: float) -> tuple[Vec, Vec, int]:
    """Integrate δ̈ = S δ + D (δ̇ − velocity) + acceleration + t drift over h [s]; return δ, δ̇ − velocity, (m,) each,
    and the number of products.

    At the start δ = 0 and δ̇ = velocity; `acceleration` includes the damping at that time. stiffness, damping: S and D
    times (m, c). velocity, acceleration, drift: (m,). tolerance: of the error, relative to the change. Raises
    StepFailed where the products are too many. [Ascher 18]
    """
    size = len(velocity)
    drift = np.zeros(size) if drift is None else drift
    rate = _fastest(stiffness, velocity + h * acceleration, 1.0 / h)

    def slope(z: Vec) -> Vec:
        """Return d/dt of (rate δ, change of δ̇, time): both parts in one unit, and time as a coordinate for the drift.
        """
        moved, gained = z[:size, None] / rate, z[size:-1, None]
        force = stiffness(moved) + damping(gained)
        return np.concatenate([rate * z[size:-1], force[:, 0] + z[-1] * drift, [0.0]])

    start = np.concatenate([rate * velocity, acceleration, [1.0]])
    z, done, products = np.zeros(2 * size + 1), 0.0, 0
    while done < h:
        part, change, used = _in_one_space(slope, slope(z) + start, h - done, tolerance)
        z, products = z + change, products + used + 1
        if products > MOST_PRODUCTS:
            raise StepFailed(f"the exponential took more than {MOST_PRODUCTS} products with the stiffness")
        done = h if part == h - done else done + part
    return z[:size] / rate, z[size:-1], products


def _fastest(stiffness: Product, vector: Vec, slowest: float) -> float:
    """Return about the highest frequency [1/s], at least `slowest`: with another unit of length J is far from normal.
    """
    square = 0.0
    for _ in range(4):
        norm = float(np.linalg.norm(vector))
        if norm == 0.0:
            break
        vector = stiffness(vector[:, None] / norm)[:, 0]
        square = float(np.linalg.norm(vector))
    return max(slowest, float(np.sqrt(square)))


def _in_one_space(slope: Product, first: Vec, h: float, tolerance: float) -> tuple[float, Vec, int]:
    """Return the time up to h that one Krylov space reaches, h φ₁(hJ) first at that time, and the number of products.
    """
    norm = float(np.linalg.norm(first))
    if norm == 0.0:
        return h, np.zeros_like(first), 0
    basis, square = np.zeros((LARGEST + 1, len(first))), np.zeros((LARGEST + 1, LARGEST))
    basis[0] = first / norm
    part, next_check = h, 4
    for m in range(1, LARGEST + 1):
        out = slope(basis[m - 1])
        for _ in range(2):
            along = basis[:m] @ out
            square[:m, m - 1] += along
            out -= along @ basis[:m]
        leaves = float(np.linalg.norm(out))
        if leaves <= 1e-14 * np.abs(square[:m, :m]).max():
            leaves = 0.0
        square[m, m - 1] = leaves
        basis[m] = out / leaves if leaves else 0.0
        if m < next_check and m < LARGEST and leaves:
            continue
        next_check = m + max(3, m // 4)
        while True:
            if part * np.abs(square[:m, :m]).max() <= FAR:
                one, two = _phi(part * square[:m, :m])
                if part * leaves * abs(two[-1]) <= tolerance * part / h or leaves == 0.0:
                    return part, part * norm * (one @ basis[:m]), m
            if m < LARGEST and leaves:
                break
            part *= 0.5
    raise AssertionError("a short enough step is always reached")


def _phi(matrix: Vec) -> tuple[Vec, Vec]:
    """Return φ₁ and φ₂ of a small matrix (m, m), times the first unit vector, (m,) each."""
    m = len(matrix)
    big = np.zeros((m + 2, m + 2))
    big[:m, :m], big[0, m], big[m, m + 1] = matrix, 1.0, 1.0
    columns = scipy.linalg.expm(big)[:m, m:]
    return columns[:, 0], columns[:, 1]
