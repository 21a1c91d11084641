"""Validation of a snapshot or a record of cuts before anything is computed from it: the file may come from a stranger.
"""

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
    """Raise ValueError where the arrays of a snapshot are not valid, or not those of its frame. seconds: time of the
    frame [s]. frame: duration of one [s]."""
    if not abs(state.time - seconds) <= LATE * frame:
        raise ValueError(f"it is of second {state.time:.9g} and not of {seconds:.9g}")
    for what, values, most in (("coordinates", state.q, FARTHEST), ("rates", state.u, FASTEST)):
        if values.dtype != np.float64 or values.ndim != 1:
            raise ValueError(f"its {what} are {values.dtype} of shape {values.shape}")
        if not (np.abs(values) <= most).all():
            raise ValueError(f"one of its {what} is no number, or beyond {most:g}")
    check_numbers(state.memory)


def check_numbers(arrays: Mapping[str, NDArray[Any]]) -> None:
    """Raise ValueError where an array contains anything else than booleans, integers or finite numbers in double
    precision."""
    for name, values in arrays.items():
        if values.dtype.kind not in "biuf" or (values.dtype.kind == "f" and values.dtype != np.float64):
            raise ValueError(f'"{name}" is {values.dtype}')
        if values.dtype.kind == "f" and not (np.abs(values) <= LARGEST).all():
            raise ValueError(f'"{name}" contains values that are not numbers')


@contextmanager
def fits_or_refused(frame: int, remedy: str = "Free the cache and bake again") -> Iterator[None]:
    """Raise BadInput in place of the errors that a snapshot's content causes in the block, where it is used for the
    first time.

    Errors of Python and numpy on missing keys or unequal shapes are no fault of the solver there. frame: of the
    snapshot. remedy: of the error.
    """
    try:
        yield
    except (LookupError, TypeError, ValueError, ArithmeticError, ConJacError) as error:
        if isinstance(error, ConJacError) and not isinstance(error, BadInput):
            raise
        what = error.what if isinstance(error, ConJacError) else str(error)
        raise BadInput(f"the snapshot of frame {frame}, or a cut before it, cannot be resumed from: {what}",
                       remedy) from error
