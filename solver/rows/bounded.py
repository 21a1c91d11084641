"""Small dense quadratic programs with bounds on every unknown, for impulses of contact and friction."""

from __future__ import annotations

import daqp
import numpy as np

from ..errors import StepFailed
from ..state import Vec
from .semismooth_kernels import UNSETTLED, semismooth_newton

ACTIVE_ABOVE, ACTIVE_BELOW = 1, 3  #: daqp's words for a bound that is thought to hold as an equation
NONE = np.zeros(0)
TINY = float(np.finfo(float).tiny)


class BoundedProgram:
    """min ½ xᵀ W x + xᵀ s over low ≤ x ≤ high, for one W and varying s and bounds.

    Newton's method on the set of active bounds is tried first and is fastest where few unknowns are free, as where
    bearings slide; where many are free or it does not converge, a dual active set finds the minimum. For the latter,
    unknowns are scaled so that W's diagonal is one and the largest of them about one, so tolerances do not depend on
    the size of the mechanism. A solution starts from the active bounds of the last one. [Kaufman 2008]
    """

    tolerance = 1.0e-11  #: error of the active set on bounds, relative to the largest unknown
    softening = 1.0e-6  #: on the scaled diagonal of ones, where rounding prevents a solution by the library
    #: distance from a bound, relative to the width between both, within which a warm start is on it
    on_bound = 1.0e-9
    newton_iterations = 12  #: iterations of Newton's method, after which an active set is taken
    few_free = 40  #: unknowns on no bound, above which the active set is as quick as Newton's method

    def __init__(self, W: Vec, slip: Vec, guess: Vec | None = None) -> None:
        """W: symmetric, positive definite, (k, k). slip: a typical s, (k,). guess: an earlier solution, (k,), whose
        active bounds are tried first; it saves time, the minimum does not depend on it. Raises ValueError where W is
        not finite or its diagonal not positive."""
        if not (np.isfinite(W).all() and (W.diagonal() > 0.0).all()):
            raise ValueError("a quadratic program needs a finite W with a positive diagonal")
        self._W: Vec = np.ascontiguousarray(W)
        self._typical = slip
        self._guess = guess
        self._side = np.zeros(len(W), dtype=np.int64)  #: active bound of the last solution, −1, 0 or 1
        self._few = True  #: whether Newton's method has converged so far
        self._model: daqp.Model | None = None
        self.iterations = 0  #: total number of both methods

    def solve(self, slip: Vec, low: Vec, high: Vec) -> Vec:
        """Return the minimum, exactly within its bounds, (k,). Raises StepFailed where there is none or numbers are not
        finite.

        slip: s. low, high: bounds, which may be infinite. All are (k,).
        """
        if not len(slip):
            return np.zeros(0)
        if not np.isfinite(slip).all() or np.isnan(low).any() or np.isnan(high).any():
            raise StepFailed("the impulses of contacts and joints are not finite")
        if self._few:
            start = np.zeros(len(slip)) if self._guess is None else self._guess
            x = np.where(self._side < 0, low, np.where(self._side > 0, high, np.clip(start, low, high)))
            taken = semismooth_newton(self._W, slip, low, high, NONE, self.newton_iterations, self.few_free, x,
                                      self._side)
            if taken != UNSETTLED:
                self.iterations += int(taken)
                self._guess = x
                return x
            self._few = False
        return self._by_active_set(slip, low, high)

    def _by_active_set(self, slip: Vec, low: Vec, high: Vec) -> Vec:
        """Return the impulses within bounds low and high, (r,) each, by an active set method (daqp). slip: velocities
        of the rows without these impulses, (r,) [m/s]. Raises StepFailed where none is found."""
        each: Vec = 1.0 / np.sqrt(self._W.diagonal())
        typical = max(float(np.abs(each * self._typical).max(initial=0.0)), TINY)
        size = typical * each
        s, above, below = each * slip / typical, high / size, low / size
        if self._model is None:
            self._model = self._model_of(each[:, None] * self._W * each, s, above, below, self._flag_active(low, high))
        else:
            self._model.update(f=s, bupper=above, blower=below)
        x, _, flag, info = self._model.solve()
        self.iterations += int(info["iterations"])
        if flag < 1:  # nearly dependent rows need a larger regularisation, without a warm start
            softer, none = each[:, None] * self._W * each, np.zeros(len(s), dtype=np.int32)
            softer += self.softening * np.eye(len(s))
            self._model = self._model_of(softer, s, above, below, none)
            x, _, flag, info = self._model.solve()
            self.iterations += int(info["iterations"])
        if flag < 1:
            raise StepFailed(f"the impulses of contacts and joints were not found (daqp's flag {flag})")
        # unknowns on active bounds are equal to them
        pressed = info["lam"]
        solution: Vec = np.where(pressed > 0.0, high, np.where(pressed < 0.0, low, np.clip(size * x, low, high)))
        return solution

    def _model_of(self, W: Vec, s: Vec, above: Vec, below: Vec, active: np.ndarray) -> daqp.Model:
        """Return a model of daqp for ½ xᵀ W x + sᵀ x within bounds, with an initial active set. Raises StepFailed where
        it has no minimum."""
        model = daqp.Model()
        flag, _ = model.setup(W, s, np.zeros((0, len(W))), above, below, active)
        if flag < 1:
            raise StepFailed(f"the impulses of contacts and joints have no minimum (daqp's flag {flag})")
        model.settings = {"primal_tol": self.tolerance}
        return model

    def _flag_active(self, low: Vec, high: Vec) -> np.ndarray:
        """Return the active bounds of the guess, (k,), as daqp's flags."""
        sense = np.zeros(len(low), dtype=np.int32)
        if self._guess is not None:
            near = self.on_bound * np.where(np.isfinite(high - low), high - low, 0.0)
            sense[self._guess >= high - near] = ACTIVE_ABOVE
            sense[self._guess <= low + near] = ACTIVE_BELOW
        return sense
