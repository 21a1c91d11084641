"""The generalized-α method: a parameter sets how much of the high frequencies a step leaves."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from ..parts.stage import Stage
from ..state import State, Vec
from .interface import Integrator, P, System

ACCELERATION = "generalized_alpha.a"


class GeneralizedAlpha(Integrator):
    """Generalized-α: M a_(1−αm) = f at 1 − αf, Newmark's positions and velocities, order 2. [Chung 1993]

    The unknown is the velocity at 1 − αf of the step: a = (1 − αf) γ / (1 − αm) and b = β/γ of the stage. Writes memory
    of the accelerations, (f,).
    """

    order = 2
    remembers: tuple[str, ...] = (ACCELERATION,)

    def __init__(self, params: dict[str, float]) -> None:
        """params: spectral_radius, the fraction of an infinitely fast oscillation that remains after a step, in [0, 1].
        """
        rho = params["spectral_radius"]
        self.alpha_m, self.alpha_f = (2.0 * rho - 1.0) / (rho + 1.0), rho / (rho + 1.0)
        self.gamma = 0.5 - self.alpha_m + self.alpha_f
        self.beta = 0.25 * (1.0 - self.alpha_m + self.alpha_f) ** 2

    def step(self, system: System[P], state: State, h: float) -> State:
        """Return the state after a step of h seconds. Raises StepFailed; `state` stays as it is."""
        implicit = 1.0 - self.alpha_f
        old: Vec | None = state.memory.get(ACCELERATION)
        if old is None or old.shape != state.u.shape:
            old = system.acceleration(state)
        # v_(1−αf) = start + implicit h γ a¹ and x_(1−αf) = x⁰ + implicit (h v⁰ + h² ((½ − β) a⁰ + β a¹))
        start = state.u + implicit * h * (1.0 - self.gamma) * old
        b = self.beta / self.gamma
        base = state.q + h * (implicit * (state.u + h * (0.5 - self.beta) * old) - b * start)
        u_hat = start - implicit * h * self.gamma * self.alpha_m / (1.0 - self.alpha_m) * old
        a = implicit * self.gamma / (1.0 - self.alpha_m)
        stage = Stage(h, a, b, state.time + implicit * h, base, u_hat)
        inner = system.solve_stage(stage, state)

        new: Vec = (inner.u - start) / (implicit * h * self.gamma)
        u = state.u + h * ((1.0 - self.gamma) * old + self.gamma * new)
        rate = state.u + h * ((0.5 - self.beta) * old + self.beta * new)
        memory = {**state.memory, ACCELERATION: np.asarray(new)}
        return replace(inner, time=state.time + h, q=state.q + h * rate, u=u, memory=memory)
