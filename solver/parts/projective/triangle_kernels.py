"""Kernel of triangles: forces of all directions and of |F − R|², for sixteen triangles side by side.

With F = (f, g) all forces are −A F S, where S depends on f · f, f · g and g · g alone: a direction e with stiffness p
adds p/|F e| e eᵀ.
"""

from __future__ import annotations

import math

from ...forces.cloth.membrane_kernels import split_rotation_and_strain
from ...materials.lanes import LANES, put, vector
from ...threads import inline, kernel

FLAT = 1.0e-8  #: fraction of its value at right angles, below which (det F)² does not determine the rotation of F
POINT = 1.0e-7  #: length of F e below which rounding has its direction
#: lane array: f and g, 3 slots each; f · f, f · g, g · g; S by 11, 12, 22 [N/m]; energy [J/m²]; 1 where (det F)² says
#: how F is rotated, else 0
ALONG, ACROSS, SQUARES, STIFF, DENSITY, REGULAR = 0, 3, 6, 9, 12, 13
SCRATCH = 14 * LANES  #: where 12 values of one triangle stand
WORK = SCRATCH + 12


@inline
def _load_columns(x, nodes, gradients, block, work):  # type: ignore[no-untyped-def]
    """Write F of a block's triangles and the products of its columns into the lane array."""
    for lane in range(LANES):
        i, j, k = nodes[block, 0, lane], nodes[block, 1, lane], nodes[block, 2, lane]
        bu, bv = gradients[block, 0, 0, lane], gradients[block, 0, 1, lane]
        cu, cv = gradients[block, 1, 0, lane], gradients[block, 1, 1, lane]
        b0, b1, b2 = x[j, 0] - x[i, 0], x[j, 1] - x[i, 1], x[j, 2] - x[i, 2]
        c0, c1, c2 = x[k, 0] - x[i, 0], x[k, 1] - x[i, 1], x[k, 2] - x[i, 2]
        f0, f1, f2 = b0 * bu + c0 * cu, b1 * bu + c1 * cu, b2 * bu + c2 * cu
        g0, g1, g2 = b0 * bv + c0 * cv, b1 * bv + c1 * cv, b2 * bv + c2 * cv
        put(work, ALONG, lane, (f0, f1, f2))
        put(work, ACROSS, lane, (g0, g1, g2))
        put(work, SQUARES, lane, (f0 * f0 + f1 * f1 + f2 * f2, f0 * g0 + f1 * g1 + f2 * g2,
                                  g0 * g0 + g1 * g1 + g2 * g2))
        put(work, STIFF, lane, (0.0, 0.0, 0.0))
        work[DENSITY * LANES + lane], work[REGULAR * LANES + lane] = 0.0, 1.0


@inline
def _add_direction(e0, e1, w, s, most, work):  # type: ignore[no-untyped-def]
    """Add the stiffness and energy of one direction across all triangles of a block."""
    for lane in range(LANES):
        ff, fg, gg = vector(work, SQUARES, lane)
        length = math.sqrt(max(e0 * e0 * ff + 2.0 * e0 * e1 * fg + e1 * e1 * gg, 0.0))
        over, beyond = length - 1.0, max(length - most, 0.0)
        work[DENSITY * LANES + lane] += 0.5 * (w * over * over + s * beyond * beyond)
        pull = (w * over + s * beyond) / max(length, POINT)
        pull = pull if length > POINT else 0.0
        s00, s01, s11 = vector(work, STIFF, lane)
        put(work, STIFF, lane, (s00 + pull * e0 * e0, s01 + pull * e0 * e1, s11 + pull * e1 * e1))


@inline
def _add_corotated(modulus, work):  # type: ignore[no-untyped-def]
    """Add the stiffness and energy of F − R of all triangles of a block, except those without area.

    S = (C + √(det C) 1)/√(tr C + 2 √(det C)) of C = FᵀF, and F − R = F (1 − S⁻¹).
    """
    for lane in range(LANES):
        ff, fg, gg = vector(work, SQUARES, lane)
        square = ff * gg - fg * fg
        regular = 1.0 if square > max(FLAT * ff * gg, FLAT * FLAT) else 0.0
        area = math.sqrt(max(square, FLAT * FLAT))
        one = 1.0 / (math.sqrt(ff + gg + 2.0 * area) * area)
        r00, r01, r11 = 1.0 - (gg + area) * one, fg * one, 1.0 - (ff + area) * one
        stiff = regular * modulus
        work[REGULAR * LANES + lane] = regular
        work[DENSITY * LANES + lane] += 0.5 * stiff * (
            ff * (r00 * r00 + r01 * r01) + 2.0 * fg * r01 * (r00 + r11) + gg * (r01 * r01 + r11 * r11))
        s00, s01, s11 = vector(work, STIFF, lane)
        put(work, STIFF, lane, (s00 + stiff * r00, s01 + stiff * r01, s11 + stiff * r11))


@kernel("void(i8, i8, f8[:,::1], i4[:,:,::1], f8[:,:,:,::1], f8[:,::1], f8[:,::1], f8, i4[:,::1], f8[:,:,::1], "
        "f8[:,::1], f8[:,:,::1], f8[::1])")
def project_triangles(  # type: ignore[no-untyped-def]
        start, stop, x, nodes, gradients, areas, directions, modulus, corners, whole, works, pulls, out):
    """Write −A (Σ (w (|d| − 1) + s max(|d| − most, 0)) d/|d| eᵀ + m (F − R)) ∇N_a at the corners, (16 b, 3, 3) [N], and
    ½ A (Σ w (|d| − 1)² + s max(|d| − most, 0)² + m |F − R|²), (16 b,) [J], of directions e across triangles, d = F e
    and F = Σ x_a ∇N_aᵀ, R the nearest 3 × 2 matrix with orthonormal columns.

    x: (n, 3) [m]. nodes: (b, 3, 16). gradients: of corners 1 and 2 [1/m], (b, 2, 2, 16), with the corner as the first
    index after the block. areas: A, (b, 16) [m²]. directions: e, w [N/m], s [N/m] and most of each direction, (k, 5).
    modulus: m [N/m]. corners, whole: nodes (16 b, 3) and gradients of all corners (16 b, 3, 2). works: lane arrays, one
    for each piece of the work.
    """
    blocks, pieces = nodes.shape[0], works.shape[0]
    for piece in range(start, stop):
        work = works[piece]
        for block in range(piece * blocks // pieces, (piece + 1) * blocks // pieces):
            _load_columns(x, nodes, gradients, block, work)
            for d in range(directions.shape[0]):
                _add_direction(directions[d, 0], directions[d, 1], directions[d, 2], directions[d, 3],
                               directions[d, 4], work)
            if modulus > 0.0:
                _add_corotated(modulus, work)
            for lane in range(LANES):
                row, area = block * LANES + lane, areas[block, lane]
                f0, f1, f2 = vector(work, ALONG, lane)
                g0, g1, g2 = vector(work, ACROSS, lane)
                s00, s01, s11 = vector(work, STIFF, lane)
                p0, p1, p2 = f0 * s00 + g0 * s01, f1 * s00 + g1 * s01, f2 * s00 + g2 * s01
                q0, q1, q2 = f0 * s01 + g0 * s11, f1 * s01 + g1 * s11, f2 * s01 + g2 * s11
                energy = work[DENSITY * LANES + lane]
                if work[REGULAR * LANES + lane] == 0.0:
                    frame, strain = work[SCRATCH : SCRATCH + 9], work[SCRATCH + 9 : SCRATCH + 12]
                    split_rotation_and_strain(x, corners[row], whole[row], frame, strain)
                    d0, d1, d2 = f0 - frame[0], f1 - frame[1], f2 - frame[2]
                    t0, t1, t2 = g0 - frame[3], g1 - frame[4], g2 - frame[5]
                    energy += 0.5 * modulus * (d0 * d0 + d1 * d1 + d2 * d2 + t0 * t0 + t1 * t1 + t2 * t2)
                    p0, p1, p2 = p0 + modulus * d0, p1 + modulus * d1, p2 + modulus * d2
                    q0, q1, q2 = q0 + modulus * t0, q1 + modulus * t1, q2 + modulus * t2
                out[row] = area * energy
                bu, bv = -area * gradients[block, 0, 0, lane], -area * gradients[block, 0, 1, lane]
                cu, cv = -area * gradients[block, 1, 0, lane], -area * gradients[block, 1, 1, lane]
                b0, b1, b2 = p0 * bu + q0 * bv, p1 * bu + q1 * bv, p2 * bu + q2 * bv
                c0, c1, c2 = p0 * cu + q0 * cv, p1 * cu + q1 * cv, p2 * cu + q2 * cv
                pulls[row, 0, 0], pulls[row, 0, 1], pulls[row, 0, 2] = -b0 - c0, -b1 - c1, -b2 - c2
                pulls[row, 1, 0], pulls[row, 1, 1], pulls[row, 1, 2] = b0, b1, b2
                pulls[row, 2, 0], pulls[row, 2, 1], pulls[row, 2, 2] = c0, c1, c2
