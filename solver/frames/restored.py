"""Validation of a snapshot or a record of cuts before anything is computed from it: it may come from a stranger."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..errors import BadInput, ConJacError
from ..state import State

FARTHEST, FASTEST = 1.0e9, 1.0e9  #: coordinates [m, rad] and rates [m/s, rad/s]: what is beyond was never simulated
LARGEST = 1.0e30  #: of what parts remember
LATE = 1.0e-6  #: of a frame: how far its time may be off


def check_state(state: State, seconds: float, frame: float) -> None:
    """Check the arrays of a snapshot. seconds: time of its frame; frame: duration of one, both [s]. Raises ValueError
    with the error."""
    if not abs(state.time - seconds) <= LATE * frame:
        raise ValueError(f"it is of second {state.time:.9g} and not of {seconds:.9g}")
    for what, values, most in (("coordinates", state.q, FARTHEST), ("rates", state.u, FASTEST)):
        if values.dtype != np.float64 or values.ndim != 1:
            raise ValueError(f"its {what} are {values.dtype} of shape {values.shape}")
        if not (np.abs(values) <= most).all():
            raise ValueError(f"one of its {what} is no number, or beyond {most:g}")
    check_numbers(state.memory)


def check_numbers(arrays: Mapping[str, NDArray[Any]]) -> None:
    """Raises ValueError where one of these holds something else than booleans, integers or numbers in double
    precision, or one that is not finite."""
    for name, values in arrays.items():
        if values.dtype.kind not in "biuf" or (values.dtype.kind == "f" and values.dtype != np.float64):
            raise ValueError(f'"{name}" is {values.dtype}')
        if values.dtype.kind == "f" and not (np.abs(values) <= LARGEST).all():
            raise ValueError(f'"{name}" contains values that are not numbers')


@contextmanager
def fits_or_refused(frame: int, remedy: str = "Free the cache and bake again") -> Iterator[None]:
    """Inside, what a snapshot holds is used for the first time: what does not fit there is no fault of the solver.

    Raises BadInput in place of what Python and numpy raise where a key is missing or two shapes do not fit.
    """
    try:
        yield
    except (LookupError, TypeError, ValueError, ArithmeticError, ConJacError) as error:
        if isinstance(error, ConJacError) and not isinstance(error, BadInput):
            raise
        what = error.what if isinstance(error, ConJacError) else str(error)
        raise BadInput(f"the snapshot of frame {frame}, or a cut before it, cannot be resumed from: {what}",
                       remedy) from error
