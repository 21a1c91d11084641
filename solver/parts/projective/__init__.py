"""Projective dynamics: quadratic energies of the distance to each element's projection, and one constant factor.

    W(x) = Σ min_p ½ w |A x − p|²,  p on a constraint's manifold: a length, a rotation, a volume, a half-space.

For fixed p the potential of a step, ½ κ |x − y|²_M + W(x) − fᵀx, is quadratic in x with the matrix κ M + Σ w AᵀA, which
is equal for all three axes and all steps. An iteration projects each element separately and solves with that factor.
[Notes, Projective Dynamics]
"""
