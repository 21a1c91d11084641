"""Rotations by exponential coordinates: kernels, and functions over arrays where speed matters less.

exp([r]) = 1 + s [r] + a [r]², the right Jacobian J = 1 − a [r] + b [r]² (ω = J ṙ in the moving frame), with
s = sin θ/θ, a = (1 − cos θ)/θ², b = (θ − sin θ)/θ³, θ = |r|.
"""

from __future__ import annotations

import math

import numpy as np

from ...state import Vec
from ...threads import inline

#: series in θ² below 1, where the closed forms cancel: (−1)^k/(2k+2)! and (−1)^k/(2k+3)!
_A = tuple((-1.0) ** k / math.factorial(2 * k + 2) for k in range(9))
_B = tuple((-1.0) ** k / math.factorial(2 * k + 3) for k in range(9))


@inline
def coefficients(square):  # type: ignore[no-untyped-def]
    """Return s, a, b, and a', b' with ȧ = a' r·ṙ, ḃ = b' r·ṙ, from θ²."""
    if square < 1.0:
        a, b, da, db = _A[8], _B[8], 8.0 * _A[8], 8.0 * _B[8]
        for k in range(7, 0, -1):
            a = a * square + _A[k]
            b = b * square + _B[k]
            da = da * square + k * _A[k]
            db = db * square + k * _B[k]
        return (1.0 - (b * square + _B[0]) * square, a * square + _A[0], b * square + _B[0], 2.0 * da, 2.0 * db)
    angle = math.sqrt(square)
    s = math.sin(angle) / angle
    a = (1.0 - math.cos(angle)) / square
    b = (1.0 - s) / square
    return s, a, b, (s - 2.0 * a) / square, (a - 3.0 * b) / square


@inline
def cross3(ax, ay, az, bx, by, bz):  # type: ignore[no-untyped-def]
    """Return a × b of two vectors, as three numbers."""
    return ay * bz - az * by, az * bx - ax * bz, ax * by - ay * bx


@inline
def fill_rotation(i, first, q, u, centre, centres, pose, subspace, bend):  # type: ignore[no-untyped-def]
    """Write R = R_c exp([r]), the three columns of J(r), and J̇ ṙ of joint i, whose r starts at `first` of q."""
    x, y, z = q[first], q[first + 1], q[first + 2]
    s, a, b, da, db = coefficients(x * x + y * y + z * z)
    # exp([r])
    e00, e01, e02 = 1.0 - a * (y * y + z * z), a * x * y - s * z, a * x * z + s * y
    e10, e11, e12 = a * x * y + s * z, 1.0 - a * (x * x + z * z), a * y * z - s * x
    e20, e21, e22 = a * x * z - s * y, a * y * z + s * x, 1.0 - a * (x * x + y * y)
    w, p, o, n = centres[centre], centres[centre + 1], centres[centre + 2], centres[centre + 3]
    for row in range(3):
        if row == 0:
            c0, c1, c2 = 1.0 - 2.0 * (o * o + n * n), 2.0 * (p * o - w * n), 2.0 * (p * n + w * o)
        elif row == 1:
            c0, c1, c2 = 2.0 * (p * o + w * n), 1.0 - 2.0 * (p * p + n * n), 2.0 * (o * n - w * p)
        else:
            c0, c1, c2 = 2.0 * (p * n - w * o), 2.0 * (o * n + w * p), 1.0 - 2.0 * (p * p + o * o)
        pose[i, row, 0] = c0 * e00 + c1 * e10 + c2 * e20
        pose[i, row, 1] = c0 * e01 + c1 * e11 + c2 * e21
        pose[i, row, 2] = c0 * e02 + c1 * e12 + c2 * e22
    # columns of J are written as rows
    subspace[first, 0], subspace[first, 1], subspace[first, 2] = (
        1.0 - b * (y * y + z * z), b * x * y - a * z, b * x * z + a * y)
    subspace[first + 1, 0], subspace[first + 1, 1], subspace[first + 1, 2] = (
        b * x * y + a * z, 1.0 - b * (x * x + z * z), b * y * z - a * x)
    subspace[first + 2, 0], subspace[first + 2, 1], subspace[first + 2, 2] = (
        b * x * z - a * y, b * y * z + a * x, 1.0 - b * (x * x + y * y))
    # J̇ ṙ = −ȧ r×ṙ + ḃ r×(r×ṙ) + b ṙ×(r×ṙ)
    vx, vy, vz = u[first], u[first + 1], u[first + 2]
    along = x * vx + y * vy + z * vz
    px, py, pz = cross3(x, y, z, vx, vy, vz)
    qx, qy, qz = cross3(x, y, z, px, py, pz)
    tx, ty, tz = cross3(vx, vy, vz, px, py, pz)
    bend[i, 0] = along * (db * qx - da * px) + b * tx
    bend[i, 1] = along * (db * qy - da * py) + b * ty
    bend[i, 2] = along * (db * qz - da * pz) + b * tz


def product(left: Vec, right: Vec) -> Vec:
    """Return the quaternions of the rotations left · right, (k, 4); all quaternions are (w, x, y, z)."""
    w, v, ww, vv = left[:, :1], left[:, 1:], right[:, :1], right[:, 1:]
    scalar = w * ww - (v * vv).sum(axis=1, keepdims=True)
    return np.concatenate([scalar, w * vv + ww * v + np.cross(v, vv)], axis=1)


def quaternion(r: Vec) -> Vec:
    """Return the quaternion (w, x, y, z) of exp([r]), (k, 4), from rotation vectors r (k, 3) [rad]."""
    half = 0.5 * np.linalg.norm(r, axis=1, keepdims=True)
    return np.concatenate([np.cos(half), 0.5 * np.sinc(half / np.pi) * r], axis=1)


def logarithm(rotation: Vec) -> Vec:
    """Return the rotation vector r, |r| ≤ π, (k, 3) [rad], for which exp([r]) is the rotation of a quaternion, (k, 4).
    """
    rotation = np.where(rotation[:, :1] < 0.0, -rotation, rotation)
    sine = np.linalg.norm(rotation[:, 1:], axis=1, keepdims=True)
    angle = 2.0 * np.arctan2(sine, rotation[:, :1])
    r: Vec = np.where(sine > 1.0e-150, angle / np.maximum(sine, 1.0e-150), 2.0) * rotation[:, 1:]
    return r


def jacobian(r: Vec) -> Vec:
    """Return the right Jacobian J(r), (k, 3, 3), of rotation vectors r (k, 3) [rad]: ω = J ṙ in the moving frame."""
    square = (r * r).sum(axis=1)
    large = np.maximum(square, 1.0)
    angle = np.sqrt(large)
    a = np.where(square < 1.0, np.polyval(_A[::-1], np.minimum(square, 1.0)), (1.0 - np.cos(angle)) / large)
    b = np.where(square < 1.0, np.polyval(_B[::-1], np.minimum(square, 1.0)), (1.0 - np.sin(angle) / angle) / large)
    skew = cross_matrix(r)
    out: Vec = np.eye(3) - a[:, None, None] * skew + b[:, None, None] * (skew @ skew)
    return out


def cross_matrix(r: Vec) -> Vec:
    """Return the matrix [r], (k, 3, 3), of vectors r (k, 3): [r] v = r × v."""
    out = np.zeros((len(r), 3, 3))
    out[:, 2, 1], out[:, 0, 2], out[:, 1, 0] = r.T
    out[:, 1, 2], out[:, 2, 0], out[:, 0, 1] = -r.T
    return out
