"""Fibers of one body: a model, a direction in each element and an activation over time."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from .. import catalogue
from ..materials.lanes import MAX_CONSTANTS
from ..state import Vec
from .activation import Activation

OVER_TIME = catalogue.ACTIVATION.key  #: the one parameter that may have samples over time


class Fibers:
    """Fibers of a body's elements. Their directions are material directions, which rotate with the material."""

    def __init__(self, material: Any, directions: Vec, params: Mapping[str, Vec],
                 activation: Activation | None = None) -> None:
        """material: of the family "fiber_material". directions: (e, 3), unit length, or zero in elements without a
        fiber. params: of the material by key, (e,) each, SI. activation: a factor over time of the activation in
        `params`.

        Raises ValueError where the model has no activation to vary, or too many constants.
        """
        self.material, self._directions, self.params = material, directions, dict(params)
        self._activation = activation
        if activation is not None and OVER_TIME not in self.params:
            raise ValueError("these fibers cannot be activated")
        self._active = 0.0 if activation is None else activation.at(0.0)
        if len(self.constants) > MAX_CONSTANTS:
            raise ValueError(f"a fiber model may have {MAX_CONSTANTS - 3} constants, not {len(self.constants) - 3}")

    def activate(self, time: float) -> bool:
        """Set the activation to that at `time` [s]; return whether that changed the constants."""
        if self._activation is None:
            return False
        before, self._active = self._active, self._activation.at(time)
        return self._active != before

    @property
    def constants(self) -> Vec:
        """Return the directions and the constants of the model, (3 + c, e)."""
        params = dict(self.params)
        if self._activation is not None:
            params[OVER_TIME] = params[OVER_TIME] * self._active
        return np.concatenate([self._directions.T, self.material.constants(**params)])
