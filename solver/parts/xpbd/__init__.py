"""Extended position based dynamics: compliant constraints, projected one at a time in short steps.

    (J M⁻¹ Jᵀ + α/h²) Δλ = −φ − (α/h²) λ,  Δx = M⁻¹ Jᵀ Δλ,

by Gauss-Seidel over colours of constraints that share no node, with J updated for each constraint. λ starts at 0 in
each step, and α = 1/k of a potential ½ k φ². This is the system of compliant constraints without geometric stiffness.
[Macklin 2016] [Notes, Compliant Constraints]
"""
