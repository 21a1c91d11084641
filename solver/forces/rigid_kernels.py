"""Forces on rigid bodies. Twists and wrenches [angular; linear] are in the body's own frame."""

from __future__ import annotations

from ..threads import inline, kernel

MOST = 8  #: iterations for a midpoint angular velocity


@inline
def midpoint_rates(I, i, x, y, z, h):  # type: ignore[no-untyped-def]
    """Return the midpoint angular velocity ω̄ (3,) [rad/s] after h [s] of a free body that starts at ω = (x, y, z).

    Newton's method on the midpoint rule 2 I (ω̄ − ω) + h ω̄ × I ω̄ = 0, which conserves angular momentum and energy for
    any h. I: inertias (n, 6, 6) [kg m²]. i: index of the body.
    """
    a, b, c = x, y, z
    for _ in range(MOST):
        p = I[i, 0, 0] * a + I[i, 0, 1] * b + I[i, 0, 2] * c
        q = I[i, 1, 0] * a + I[i, 1, 1] * b + I[i, 1, 2] * c
        r = I[i, 2, 0] * a + I[i, 2, 1] * b + I[i, 2, 2] * c
        d, e, f = a - x, b - y, c - z
        f0 = 2.0 * (I[i, 0, 0] * d + I[i, 0, 1] * e + I[i, 0, 2] * f) + h * (b * r - c * q)
        f1 = 2.0 * (I[i, 1, 0] * d + I[i, 1, 1] * e + I[i, 1, 2] * f) + h * (c * p - a * r)
        f2 = 2.0 * (I[i, 2, 0] * d + I[i, 2, 1] * e + I[i, 2, 2] * f) + h * (a * q - b * p)
        if abs(f0) + abs(f1) + abs(f2) <= 1.0e-14 * (abs(p) + abs(q) + abs(r)):
            break
        # 2 I + h ([ω̄] I − [I ω̄])
        j00 = 2.0 * I[i, 0, 0] + h * (b * I[i, 2, 0] - c * I[i, 1, 0])
        j01 = 2.0 * I[i, 0, 1] + h * (b * I[i, 2, 1] - c * I[i, 1, 1] + r)
        j02 = 2.0 * I[i, 0, 2] + h * (b * I[i, 2, 2] - c * I[i, 1, 2] - q)
        j10 = 2.0 * I[i, 1, 0] + h * (c * I[i, 0, 0] - a * I[i, 2, 0] - r)
        j11 = 2.0 * I[i, 1, 1] + h * (c * I[i, 0, 1] - a * I[i, 2, 1])
        j12 = 2.0 * I[i, 1, 2] + h * (c * I[i, 0, 2] - a * I[i, 2, 2] + p)
        j20 = 2.0 * I[i, 2, 0] + h * (a * I[i, 1, 0] - b * I[i, 0, 0] + q)
        j21 = 2.0 * I[i, 2, 1] + h * (a * I[i, 1, 1] - b * I[i, 0, 1] - p)
        j22 = 2.0 * I[i, 2, 2] + h * (a * I[i, 1, 2] - b * I[i, 0, 2])
        c00, c01, c02 = j11 * j22 - j12 * j21, j12 * j20 - j10 * j22, j10 * j21 - j11 * j20
        whole = j00 * c00 + j01 * c01 + j02 * c02
        a -= (c00 * f0 + (j02 * j21 - j01 * j22) * f1 + (j01 * j12 - j02 * j11) * f2) / whole
        b -= (c01 * f0 + (j00 * j22 - j02 * j20) * f1 + (j02 * j10 - j00 * j12) * f2) / whole
        c -= (c02 * f0 + (j01 * j20 - j00 * j21) * f1 + (j00 * j11 - j01 * j10) * f2) / whole
    return a, b, c


@kernel("void(f8[:,:,::1], f8[:,::1], f8[:,::1], f8[:,::1], f8[:,:,::1], f8[::1], f8, f8[:,::1])", address=False)
def momentum(E, twist, drift, base_twist, inertia, gravity, ah, out):  # type: ignore[no-untyped-def]
    """Write M base_twist + ah (weight + ad() M  − M J̇u) of each body into out (n, 6) [N m s, N s].

    E: (n, 4, 4). twist: φ, (n, 6). drift: J̇u, (n, 6). base_twist: (n, 6). inertia: M, (n, 6, 6), blocks of an inertia
    and a mass. gravity: (3,) [m/s²]. ah: a h [s].
    """
    for i in range(E.shape[0]):
        mass = inertia[i, 3, 3]
        w0, w1, w2 = twist[i, 0], twist[i, 1], twist[i, 2]
        v0, v1, v2 = twist[i, 3], twist[i, 4], twist[i, 5]
        spin0 = inertia[i, 0, 0] * w0 + inertia[i, 0, 1] * w1 + inertia[i, 0, 2] * w2
        spin1 = inertia[i, 1, 0] * w0 + inertia[i, 1, 1] * w1 + inertia[i, 1, 2] * w2
        spin2 = inertia[i, 2, 0] * w0 + inertia[i, 2, 1] * w1 + inertia[i, 2, 2] * w2
        k0 = base_twist[i, 0] - ah * drift[i, 0]
        k1 = base_twist[i, 1] - ah * drift[i, 1]
        k2 = base_twist[i, 2] - ah * drift[i, 2]
        out[i, 0] = (inertia[i, 0, 0] * k0 + inertia[i, 0, 1] * k1 + inertia[i, 0, 2] * k2
                     - ah * (w1 * spin2 - w2 * spin1))
        out[i, 1] = (inertia[i, 1, 0] * k0 + inertia[i, 1, 1] * k1 + inertia[i, 1, 2] * k2
                     - ah * (w2 * spin0 - w0 * spin2))
        out[i, 2] = (inertia[i, 2, 0] * k0 + inertia[i, 2, 1] * k1 + inertia[i, 2, 2] * k2
                     - ah * (w0 * spin1 - w1 * spin0))
        g0 = E[i, 0, 0] * gravity[0] + E[i, 1, 0] * gravity[1] + E[i, 2, 0] * gravity[2]
        g1 = E[i, 0, 1] * gravity[0] + E[i, 1, 1] * gravity[1] + E[i, 2, 1] * gravity[2]
        g2 = E[i, 0, 2] * gravity[0] + E[i, 1, 2] * gravity[1] + E[i, 2, 2] * gravity[2]
        out[i, 3] = mass * (base_twist[i, 3] + ah * (g0 - (w1 * v2 - w2 * v1) - drift[i, 3]))
        out[i, 4] = mass * (base_twist[i, 4] + ah * (g1 - (w2 * v0 - w0 * v2) - drift[i, 4]))
        out[i, 5] = mass * (base_twist[i, 5] + ah * (g2 - (w0 * v1 - w1 * v0) - drift[i, 5]))


@kernel("void(f8[:,:,::1], f8[:,:,::1], f8[:,::1], f8[:,:,::1], f8[::1], f8, f8, f8[:,::1])", address=False)
def free_flight(E, earlier, moved, inertia, gravity, duration, h, out):  # type: ignore[no-untyped-def]
    """Write M V̂ + h weight of each body into out (n, 6) [N m s, N s], in its frame at E: its momentum without other
    forces.

    V̂ is the twist after `duration` seconds of free flight that began with the twist `moved` (n, 6) at `earlier` (n, 4,
    4): the centre moves straight on, the body turns by the midpoint rule, and both conserve energy. h: [s] of weight.
    """
    for i in range(E.shape[0]):
        mass = inertia[i, 3, 3]
        w0, w1, w2 = moved[i, 0], moved[i, 1], moved[i, 2]
        g0, g1, g2 = midpoint_rates(inertia, i, w0, w1, w2, duration)
        spin0 = inertia[i, 0, 0] * g0 + inertia[i, 0, 1] * g1 + inertia[i, 0, 2] * g2
        spin1 = inertia[i, 1, 0] * g0 + inertia[i, 1, 1] * g1 + inertia[i, 1, 2] * g2
        spin2 = inertia[i, 2, 0] * g0 + inertia[i, 2, 1] * g1 + inertia[i, 2, 2] * g2
        out[i, 0] = (inertia[i, 0, 0] * w0 + inertia[i, 0, 1] * w1 + inertia[i, 0, 2] * w2
                     - duration * (g1 * spin2 - g2 * spin1))
        out[i, 1] = (inertia[i, 1, 0] * w0 + inertia[i, 1, 1] * w1 + inertia[i, 1, 2] * w2
                     - duration * (g2 * spin0 - g0 * spin2))
        out[i, 2] = (inertia[i, 2, 0] * w0 + inertia[i, 2, 1] * w1 + inertia[i, 2, 2] * w2
                     - duration * (g0 * spin1 - g1 * spin0))
        v0, v1, v2 = moved[i, 3], moved[i, 4], moved[i, 5]
        p0 = earlier[i, 0, 0] * v0 + earlier[i, 0, 1] * v1 + earlier[i, 0, 2] * v2 + h * gravity[0]
        p1 = earlier[i, 1, 0] * v0 + earlier[i, 1, 1] * v1 + earlier[i, 1, 2] * v2 + h * gravity[1]
        p2 = earlier[i, 2, 0] * v0 + earlier[i, 2, 1] * v1 + earlier[i, 2, 2] * v2 + h * gravity[2]
        out[i, 3] = mass * (E[i, 0, 0] * p0 + E[i, 1, 0] * p1 + E[i, 2, 0] * p2)
        out[i, 4] = mass * (E[i, 0, 1] * p0 + E[i, 1, 1] * p1 + E[i, 2, 1] * p2)
        out[i, 5] = mass * (E[i, 0, 2] * p0 + E[i, 1, 2] * p1 + E[i, 2, 2] * p2)
