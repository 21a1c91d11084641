"""Semi-implicit leapfrog: jointed bodies swing without loss of amplitude, for two linear solves a step, at its middle
and at its end; with springs or motors for three, as the middle has two stages."""

from __future__ import annotations

from ..parts.stage import Momentum
from .semi_implicit import SemiImplicit


class Leapfrog(SemiImplicit):
    """Linearly implicit Euler, with the momentum of jointed bodies advanced by leapfrog. Soft bodies move as with
    linearly implicit Euler.

    [Thesis 3.6, changed: momentum is reflected where a step starts, so that rotating bodies conserve energy]
    """

    momentum = Momentum.REFLECTED


class SemiImplicitPrinted(SemiImplicit):
    """Linearly implicit Euler with the quadratic velocities of jointed bodies as published: long chains may blow up.

    [Thesis 3.6]
    """

    momentum = Momentum.PRINTED
