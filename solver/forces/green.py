"""Green damping: viscous damping of the rate of Green strain, for any material."""

from __future__ import annotations

from collections.abc import Mapping

from ..materials.lanes import CONSTANT, GRADIENT, LANES, MATERIAL_KERNEL, TANGENT
from ..state import Vec
from ..threads import kernel
from .elastic import Elastic
from .stencils import BodyElements


@kernel(MATERIAL_KERNEL)
def _nothing(work, project):  # type: ignore[no-untyped-def]
    """Write nothing: viscosity has neither energy nor stress at rest."""


@kernel(MATERIAL_KERNEL)
def _viscosity(work, project):  # type: ignore[no-untyped-def]
    """Add ∂P_ij/∂Ḟ_kl = η/2 ((F Fᵀ)_ik δ_jl + F_il F_kj) of P = η F Ė to the tangent."""
    for block in range(6):
        # (j, other) of the six blocks: the diagonal ones, then (1, 0), (2, 0), (2, 1)
        j = block if block < 3 else (1 if block == 3 else 2)
        other = block if block < 3 else (1 if block == 5 else 0)
        for i in range(3):
            for k in range(3):
                out = (TANGENT + 9 * block + 3 * i + k) * LANES
                il, kj = (GRADIENT + i + 3 * other) * LANES, (GRADIENT + k + 3 * j) * LANES
                for lane in range(LANES):
                    rate = work[il + lane] * work[kj + lane]
                    if j == other:
                        for m in range(3):
                            column = (GRADIENT + 3 * m) * LANES + lane
                            rate += work[column + i * LANES] * work[column + k * LANES]
                    work[out + lane] += 0.5 * work[CONSTANT * LANES + lane] * rate


class Viscosity:
    """Viscosity as a material of the element loop: its tangent is ∂P/∂Ḟ of P = η F Ė."""

    energy, stress, tangent = _nothing, _nothing, _viscosity


class Green:
    """Damping D = ∂f/∂v of the dissipation ½ η |Ė|², with the rate of Green strain Ė = sym(Fᵀ Ḟ) and η = α E.

    D is negative semi-definite at any F. A rigid rotation is not damped, not even under load, since Ė is zero. With α
    in seconds as for Rayleigh damping, a stretched bar dissipates as much with both. [Thesis Table 5.2]
    """

    def __init__(self, nodes: Vec, elastic: BodyElements, modulus: Vec, params: Mapping[str, float]) -> None:
        """nodes: rest positions of all nodes [m], (n, 3). modulus: Young's, (e,) [Pa].
        params: stiffness_damping, α [s]; mass_damping, β [1/s]."""
        stiffness_damping = params["stiffness_damping"]
        self.stiffness_damping: float | None = None if stiffness_damping else 0.0
        self.drag = params["mass_damping"]
        self._viscous = Elastic(nodes, elastic.tets[: len(modulus)], Viscosity, stiffness_damping * modulus[None])

    def within(self, h: float) -> Green:
        """Return the damping law for steps of h [s]: this object, for any h."""
        return self

    def fill(self, x: Vec, time: float, forces: Vec, blocks: Vec) -> None:
        """Write the element blocks of D, (p, 6, 9) [N s/m], at positions x (n, 3) [m]; forces (p, 4, 3) are scratch.

        D does not depend on `time`.
        """
        self._viscous.fill(x, True, forces, blocks)
