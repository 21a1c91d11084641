"""Prescribed values over time: samples at sub-frames, interpolated with a continuous velocity.

Used for pins, colliders, the ground, targets of drives and motors, activations, forces and nails.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

import numpy as np
from scipy.sparse import csr_matrix

from ..state import Vec


class OverTime(Protocol):
    """A value as a function of time."""

    @property
    def moves(self) -> bool:
        """Whether the value changes at any time."""

    def at(self, time: float) -> Vec:
        """Return the value at `time` [s]."""

    def velocity(self, time: float) -> Vec:
        """Return the rate of change of the value at `time` [1/s]."""


def has_ended(time: float, until: float) -> bool:
    """Whether a constraint that ends at `until` has ended by `time` [s], up to rounding."""
    return time >= until * (1.0 - 1.0e-12)


class Motion:
    """A cubic Hermite curve through equally spaced samples, its slopes of fourth order.

    Velocities that are constant between samples would shake the body at every sample. Before the first and after the
    last sample the curve is constant.
    """

    moves = True

    def __init__(self, samples: Vec, interval: float) -> None:
        """samples: (T, ...) at 0, interval, 2 interval, … [s]; may be mapped from a file."""
        self.samples, self.interval = samples, interval

    def at(self, time: float) -> Vec:
        """Return the value at `time` [s], of one sample's shape."""
        i, s = self._interval_of(time)
        if len(self.samples) == 1 or s == 0.0:
            return np.array(self.samples[i], dtype=float)
        p, r = self.samples[i], self.samples[i + 1]
        m, n = self._slope(i), self._slope(i + 1)
        square, cube = s * s, s * s * s
        value: Vec = (
            (2.0 * cube - 3.0 * square + 1.0) * p + (cube - 2.0 * square + s) * m
            + (3.0 * square - 2.0 * cube) * r + (cube - square) * n
        )
        return value

    def velocity(self, time: float) -> Vec:
        """Return the rate of change of the value at `time` [1/s], of one sample's shape."""
        i, s = self._interval_of(time)
        if len(self.samples) == 1 or not 0.0 <= time <= (len(self.samples) - 1) * self.interval * (1.0 + 1e-12):
            return np.zeros(self.samples[0].shape)
        p, r = self.samples[i], self.samples[i + 1]
        m, n = self._slope(i), self._slope(i + 1)
        rate: Vec = (6.0 * s * (1.0 - s) * (r - p) + (1.0 - s) * (1.0 - 3.0 * s) * m + s * (3.0 * s - 2.0) * n)
        return rate / self.interval

    def _interval_of(self, time: float) -> tuple[int, float]:
        """Return the index of the sample before `time`, and the fraction of the interval to the next one, in [0, 1]."""
        last = len(self.samples) - 1
        intervals = min(max(time / self.interval, 0.0), float(last))
        i = min(int(intervals), max(last - 1, 0))
        return i, intervals - i

    def _slope(self, i: int) -> Vec:
        """Return the change per interval at sample i: the slope of the polynomial through the five samples around it.
        """
        count = min(5, len(self.samples))
        first = min(max(i - count // 2, 0), len(self.samples) - count)
        around = self.samples[first : first + count]
        slope: Vec = _SLOPES[count][i - first] @ around.reshape(count, -1)
        return slope.reshape(around.shape[1:])


class Constant:
    """A constant value."""

    moves = False

    def __init__(self, value: Vec) -> None:
        self._value = np.asarray(value, dtype=float)

    def at(self, time: float) -> Vec:
        """Return the constant value, for any time."""
        return self._value

    def velocity(self, time: float) -> Vec:
        """Return zeros of the value's shape."""
        return np.zeros_like(self._value)


class StepMotion:
    """Points moved by another part: on straight lines between their positions at both ends of its step, once these are
    known."""

    moves = True

    def __init__(self, positions: Vec) -> None:
        """positions: at the start, (k, 3) [m]."""
        self._time, self._length = 0.0, 1.0
        self._start = self._end = positions

    def set_step(self, time: float, h: float, start: Vec, end: Vec) -> None:
        """Set the positions at the start and the end of a step of h seconds from `time` [s] on, (k, 3) [m] each."""
        self._time, self._length, self._start, self._end = time, h, start, end

    def at(self, time: float) -> Vec:
        """Return positions at `time` [s], (k, 3) [m]."""
        fraction = min(max((time - self._time) / self._length, 0.0), 1.0)
        return self._start + fraction * (self._end - self._start)

    def velocity(self, time: float) -> Vec:
        """Return the points' velocities in the step, (k, 3) [m/s]."""
        return (self._end - self._start) / self._length


class Interpolated:
    """Points interpolated between others that move."""

    moves = True

    def __init__(self, motion: OverTime, within: csr_matrix) -> None:
        """motion: positions of the others over time, (p, 3) [m]. within: weights, (k, p), whose rows sum to 1."""
        self._motion, self._within = motion, within

    def at(self, time: float) -> Vec:
        """Return positions at `time` [s], (k, 3) [m]."""
        positions: Vec = self._within @ self._motion.at(time)
        return positions

    def velocity(self, time: float) -> Vec:
        """Return velocities at `time` [s], (k, 3) [m/s]."""
        velocity: Vec = self._within @ self._motion.velocity(time)
        return velocity


class Displaced:
    """Points at a displacement from others, which changes over time."""

    def __init__(self, motion: OverTime, displacement: OverTime, sign: float) -> None:
        """motion: positions of the others over time, (k, 3) [m]. displacement: over time, (k, 3) [m]. sign: of the
        displacement, 1 or −1."""
        self._motion, self._displacement, self._sign = motion, displacement, sign
        self.moves = motion.moves or displacement.moves

    def at(self, time: float) -> Vec:
        """Return positions at `time` [s], (k, 3) [m]."""
        positions: Vec = self._motion.at(time) + self._sign * self._displacement.at(time)
        return positions

    def velocity(self, time: float) -> Vec:
        """Return velocities at `time` [s], (k, 3) [m/s]."""
        velocity: Vec = self._motion.velocity(time) + self._sign * self._displacement.velocity(time)
        return velocity


class Transformed:
    """Points p fixed in a moving frame: E(t) E(0)⁻¹ p."""

    moves = True

    def __init__(self, frames: OverTime, positions: Vec) -> None:
        """frames: poses E over time, (4, 4). positions: at time 0, (k, 3) [m]."""
        self._frames, self._positions, self._from_start = frames, positions, np.linalg.inv(frames.at(0.0))

    def at(self, time: float) -> Vec:
        """Return positions at `time` [s], (k, 3) [m]."""
        return transform_points(self._frames.at(time) @ self._from_start, self._positions)

    def velocity(self, time: float) -> Vec:
        """Return velocities at `time` [s], (k, 3) [m/s]."""
        return transform_points(self._frames.velocity(time) @ self._from_start, self._positions)


class Concatenated:
    """Several tables of points over time as one, their rows concatenated."""

    def __init__(self, tables: Sequence[OverTime]) -> None:
        """tables: positions over time, (k, 3) [m] each."""
        self._tables = list(tables)
        self.moves = any(table.moves for table in tables)

    @property
    def if_moving(self) -> Concatenated | None:
        """Return the table itself; None where no row ever moves."""
        return self if self.moves else None

    def at(self, time: float) -> Vec:
        """Return positions of all rows at `time` [s], (Σ k, 3) [m]."""
        return np.concatenate([table.at(time) for table in self._tables])

    def velocity(self, time: float) -> Vec:
        """Return velocities of all rows at `time` [s], (Σ k, 3) [m/s]."""
        return np.concatenate([table.velocity(time) for table in self._tables])


def transform_points(frames: Vec, positions: Vec) -> Vec:
    """Return points (k, 3) [m] moved by frames (…, 4, 4), (…, k, 3) [m]."""
    moved: Vec = positions @ np.swapaxes(frames[..., :3, :3], -1, -2) + frames[..., None, :3, 3]
    return moved


def _slope_weights(count: int) -> Vec:
    """Return a matrix (count, count) whose row k has the weights of equally spaced samples in the slope at sample k of
    the polynomial through them."""
    positions = np.arange(count, dtype=float)
    powers = np.vander(positions, count, increasing=True)
    slopes = np.zeros_like(powers)
    slopes[:, 1:] = powers[:, :-1] * np.arange(1, count)
    return slopes @ np.linalg.inv(powers)


_SLOPES = {count: _slope_weights(count) for count in range(1, 6)}
