"""Rigid motion of cloth whose pins jump."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from ...state import Vec
from .cloth import Cloth
from .step_log import StepLog, format_position

#: where pinned vertices are, (p, 3) [m], at a time [s]
Pins = Callable[[float], Vec]

#: [m/s]: so much may pins change their speed by in a step and the cloth still be drawn along. Tension goes through
#: cotton of 1000 N/m at √(k/ρ) = 70 m/s: at this it is stretched by a third at once, at more it goes through itself
DRAWN = 20.0
THROWN = 50.0  #: [m/s]: where pins are faster behind the jump it is not over, and the cloth keeps its own speed


def follow_rigid_jump(cloth: Cloth, pins: Pins, time: float, h: float, step_log: StepLog) -> tuple[Cloth, Pins]:
    """Return the cloth and its pins; where all pins jump alike in the next h seconds, the cloth is displaced rigidly to
    where they jump to, with their velocity there. pins: positions, (p, 3) [m], at a time. time: of the start [s]."""
    pinned = (cloth.pin >= 0).nonzero()[0]
    if not len(pinned):
        return cloth, pins
    mesh, end, after = cloth.mesh, pins(time + h)[cloth.pin[pinned]], pins(time + 2.0 * h)[cloth.pin[pinned]]
    displacements = end - mesh.x[pinned]
    jumps = displacements - h * mesh.v[pinned]
    jump = jumps.mean(axis=0)
    if np.linalg.norm(jump) <= DRAWN * h or (np.linalg.norm(jumps - jump, axis=1) > DRAWN * h).any():
        return cloth, pins
    now, later = mesh.v[pinned].mean(axis=0), (after - end).mean(axis=0) / h
    if np.linalg.norm(later) > THROWN:
        later = now
    step_log.once("carried", f"its pins jumped {np.linalg.norm(displacements.mean(axis=0)):.3g} m in {h:.3g} s from "
              f"{format_position(mesh.x[pinned].mean(axis=0))} on: it was moved rigidly, through anything between")
    # where it is at the step's end without any force; features stay behind
    made = mesh.replace(x=mesh.x + (displacements.mean(axis=0) - h * later), v=mesh.v + (later - now))
    arrived = pins(time + h)
    return (Cloth(made, cloth.pin, cloth.flat, cloth.free | (mesh.on >= 0), np.zeros_like(cloth.pressing)),
            lambda t: arrived - (time + h - t) * later)
