"""Output of a world at a frame, written into the cache."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from ..errors import StepFailed
from ..state import State
from .needles import LONGEST
from .origins import Origins
from .write import FrameStore

if TYPE_CHECKING:  # a finished bake is reported without it
    from ..world.world import World


def write(world: World, state: State, frame: int, store: FrameStore, origins: Origins | None = None,
          log: Callable[[str], None] = lambda _: None) -> None:
    """Write the output of a frame; one that is not finite is never written. log: receives bodies too far from their
    origin."""
    vertices = world.output(state, frame)
    if origins is not None:
        vertices = origins.relative(world.bodies, vertices)
    with np.errstate(over="ignore"):
        finite = np.isfinite(vertices.astype(np.float32)).all()
    if not finite:
        raise world.explain(StepFailed("the output is not finite"), state, frame)
    # before the frame, so that a frame that stands has it
    activity = world.liveliness(state)
    if activity is not None:
        store.liveliness(frame, activity)
    touched = world.contact_forces(state)
    if touched is not None:
        store.contact_forces(frame, touched)
    stress = world.stress(state)
    if stress is not None:
        store.stress(frame, stress)
    longest = world.longest(state)
    if longest.max(initial=0.0) > LONGEST:
        store.needles(frame, longest)
    sheets = world.sheets(state, frame)
    if sheets:
        if not all(np.isfinite(sheet.x.astype(np.float32)).all() for sheet in sheets.values()):
            raise world.explain(StepFailed("the output is not finite"), state, frame)
        store.sheets(frame, {k: sheet if origins is None else replace(sheet, x=sheet.x - origins.of[world.bodies[k][0]])
                             for k, sheet in sheets.items()})
    poses = world.poses(state)
    if poses is not None:
        if not all(np.isfinite(values).all() for values in poses.values()):
            raise world.explain(StepFailed("the output is not finite"), state, frame)
        store.poses(frame, poses)
    store.write(frame, vertices)
    if origins is not None:
        for sentence in origins.lost(world.bodies, vertices, frame):
            log(sentence)
