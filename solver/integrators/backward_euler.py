"""Backward Euler, also BDF1."""

from __future__ import annotations

from ..parts.stage import Momentum
from .runge_kutta import RungeKutta


class BackwardEuler(RungeKutta):
    """Backward Euler, M (v − v⁰) = h f(x⁰ + h v). [Ascher 5] [Thesis C.1]"""

    order = 1
    table = ((1.0,),)


class ImpactEuler(BackwardEuler):
    """Backward Euler of a step in which jointed bodies strike something: their momentum continues straight on, which
    gains no energy however far they rotate.

    [Ascher 5, changed: M v⁰ of bodies is the momentum that flies straight on]
    """

    momentum = Momentum.STRAIGHT
