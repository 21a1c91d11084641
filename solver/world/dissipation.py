"""Kinetic energy that linearised steps dissipate in jointed bodies, measured in a sample of the steps."""

from __future__ import annotations

import math

import numpy as np

from ..errors import StepFailed
from ..parts.joints.interface import LinearizationPoint
from ..parts.joints.leapfrog_steps import LeapfrogSteps
from ..parts.stage import Momentum


class Dissipation:
    """Measurement of the dissipation of linearised steps: sums of the energy lost, and of the energy before."""

    first_sample = 15  #: number of linearised steps before dissipation is first measured
    sample_interval = 60  #: steps between two measurements: a measurement costs as much as two steps of ten joints
    reported_loss = 0.01  #: relative loss of kinetic energy per second above which it is reported

    def __init__(self) -> None:
        self._dissipated, self._seen = 0.0, 0.0  #: kinetic energy [J], and times seconds
        self._until = self.first_sample  #: linearised steps until the next measurement

    @property
    def due(self) -> bool:
        """Whether the step that begins is to be measured. Each access counts one step."""
        self._until -= 1
        if self._until >= 0:
            return False
        self._until = self.sample_interval
        return True

    def measure(self, leapfrog: LeapfrogSteps, lin: LinearizationPoint, h: float, momentum: Momentum) -> None:
        """Add the dissipation of a step of h seconds that starts at `lin`.

        Steps that fail or are not finite are ignored: they report their cause themselves.
        """
        if momentum is Momentum.PRINTED or not np.isfinite(lin.v).all():
            return
        try:
            taken, initial_energy = leapfrog.measure_dissipation(lin, h, momentum)
        except StepFailed:
            return
        self._dissipated, self._seen = self._dissipated + taken, self._seen + h * initial_energy

    @property
    def sentence(self) -> str:
        """Return a sentence with the percentage of kinetic energy that bodies lose per second; "" for a small loss."""
        fraction = 1.0 - math.exp(-self._dissipated / self._seen) if self._seen > 0.0 else 0.0
        if fraction <= self.reported_loss:
            return ""
        percent = float(f"{100.0 * fraction:.2g}")
        return f"Linearised steps took {percent:g} % a second of the energy with which jointed bodies moved"
