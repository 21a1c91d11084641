"""Bodies that follow the rigid motion of an object, which reduces their inertial forces relative to the object.

In the frame of a moving object, inertial forces −m a act on a body. On a body that follows by a fraction s, 1 − s of
them acts: at each step's start, its velocity changes by s times the change of velocity by the object's rigid motion,
so that for s = 1 its velocity relative to the object is unchanged. The object's velocity is the difference quotient of
the integrator, so a body with s = 1 that is at rest on the object remains there exactly.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from ..coordinates.prescribed import OverTime, transform_points
from ..state import State, Vec
from .half_life_damping import MovingNodes

TWO_STEP = "following.two_step"  #: memory: 1 where the last step was one of two-step differences, (1,)


@dataclass(frozen=True)
class Following:
    """Soft body that follows the rigid motion of an object by a fraction."""

    nodes: slice  #: of the body
    frames: OverTime  #: of the object, (4, 4) at a time, of which translation and rotation are used
    fraction: OverTime  #: in [0, 1], (1,) at a time

    def velocity_change(self, x: Vec, v: Vec, time: float, h: float, two_step: tuple[bool, bool]) -> Vec:
        """Return the change of the velocities of its nodes before a step of h seconds, (k, 3) [m/s].

        x, v: positions and velocities of its nodes, (k, 3) [m], [m/s]. two_step: whether the difference quotients of
        the previous step and of this step are (3 x₁ − 4 x₀ + x₋₁) / 2h, as in BDF2; else (x₁ − x₀) / h.
        """
        fraction = float(np.clip(self.fraction.at(time)[0], 0.0, 1.0))
        if fraction == 0.0:
            return np.zeros_like(v)
        # rigid motion of the object from now to other times; it is at rest before its first sample
        now = np.linalg.inv(extract_rigid_frame(self.frames.at(time)))
        before, back, after = (extract_rigid_frame(self.frames.at(time + k * h)) @ now for k in (-2, -1, 1))
        if two_step[0]:
            own = v - (3.0 * x - 4.0 * transform_points(back, x) + transform_points(before, x)) / (2.0 * h)
        else:
            shifted = x - h * v
            own = v - (transform_points(np.linalg.inv(back), shifted) - shifted) / h
        if two_step[1]:
            shifted = x + h * own
            moved, earlier = transform_points(after, shifted), transform_points(back, shifted)
            v_after = (3.0 * moved - 4.0 * shifted + earlier) / (2.0 * h)
        else:
            v_after = (transform_points(after, x) - x) / h
        change: Vec = fraction * (v_after + own @ after[:3, :3].T - v)
        return change


@dataclass(frozen=True)
class Followers:
    """All bodies that follow the motion of objects."""

    parts: Sequence[Following]

    def apply(self, system: MovingNodes, state: State, h: float, of_rates: Sequence[str]) -> State:
        """Return the state at the start of a step of h seconds, with velocities that follow the objects.

        of_rates: keys of the memory with earlier rates of an integrator, which change as well.
        """
        x = system.coordinates.positions(state.q, state.time, state.carrier_motion)
        earlier = [key for key in of_rates if key in state.memory and state.memory[key].shape == state.u.shape]
        two_step = TWO_STEP in state.memory and bool(state.memory[TWO_STEP][0]), bool(earlier)
        memory = {key: self._change_rates(system, replace(state, u=state.memory[key]), x, h, two_step)
                  for key in earlier}
        memory[TWO_STEP] = np.array([float(two_step[1])])
        return replace(state, u=self._change_rates(system, state, x, h, two_step), memory={**state.memory, **memory})

    def _change_rates(self, system: MovingNodes, state: State, x: Vec, h: float, two_step: tuple[bool, bool]) -> Vec:
        v, change = system.velocity(state), np.zeros_like(x)
        for part in self.parts:
            change[part.nodes] = part.velocity_change(x[part.nodes], v[part.nodes], state.time, h, two_step)
        changed: Vec = state.u + change[system.coordinates.free].ravel()
        return changed


def extract_rigid_frame(frame: Vec) -> Vec:
    """Return the translation and rotation of a frame, (4, 4), without its scale and shear."""
    left, _, right = np.linalg.svd(frame[:3, :3])
    left[:, 2] *= np.linalg.det(left @ right)
    out = np.eye(4)
    out[:3, :3], out[:3, 3] = left @ right, frame[:3, 3]
    return out
