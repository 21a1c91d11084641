"""Projective dynamics: energies that are squared distances to what elements project to, and one constant factor.

    W(x) = Σ min_p ½ w |A x − p|²,  p on a constraint's manifold: a length, a rotation, a volume, a half-space.

With p fixed the potential of a step, ½ κ |x − y|²_M + W(x) − fᵀx, is quadratic in x with the matrix κ M + Σ w AᵀA, the
same one for all three axes and for all steps. An iteration projects each element by itself and solves with that factor.
[Notes, Projective Dynamics]
"""
