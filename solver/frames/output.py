"""Output of a world at a frame, written into the cache."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from ..errors import StepFailed
from ..state import State
from .group_record import GroupRecord
from .needles import LONGEST
from .origins import Origins
from .write import FrameStore

if TYPE_CHECKING:  # a finished bake is reported without it
    from ..world.world import World


def write(world: World, state: State, frame: int, store: FrameStore, origins: Origins | None = None,
          log: Callable[[str], None] = lambda _: None, record: GroupRecord | None = None) -> None:
    """Write the output of a world at a frame into the cache.

    origins: of the bodies' frames; None: positions are written as they are. log: receives messages on bodies too far
    from their origin. record: the groups of the frame; None where bodies are not in groups. Raises StepFailed where the
    output is not finite, and CacheUnwritable; the frame itself is written last, so it is complete where it exists.
    """
    vertices = world.output(state, frame)
    if origins is not None:
        vertices = origins.relative(world.bodies, vertices)
    with np.errstate(over="ignore"):
        finite = np.isfinite(vertices.astype(np.float32)).all()
    if not finite:
        raise world.explain(StepFailed("the output is not finite"), state, frame)
    longest = world.longest(state)
    # before the frame, so that they exist for each frame on disk
    if record is None:
        touched = world.contact_forces(state)
    else:
        from ..world.shown_bodies import all_contacts  # a finished bake is reported without it

        by_part = world.contact_forces_by_part(state)
        touched = all_contacts(by_part)
        store.write_groups(frame, replace(record, longest=longest.astype(np.float32), contacts=np.array(
            [-1 if rows is None else len(rows) for rows in by_part], dtype=np.int32)))
    activity = world.liveliness(state)
    if activity is not None:
        store.write_liveliness(frame, activity)
    if touched is not None:
        store.write_contact_forces(frame, touched)
    stress = world.stress(state)
    if stress is not None:
        store.write_stress(frame, stress)
    if longest.max(initial=0.0) > LONGEST:
        store.write_needles(frame, longest)
    sheets = world.sheets(state, frame)
    if sheets:
        if not all(np.isfinite(sheet.x.astype(np.float32)).all() for sheet in sheets.values()):
            raise world.explain(StepFailed("the output is not finite"), state, frame)
        store.write_sheets(frame, {k: sheet if origins is None
                                   else replace(sheet, x=sheet.x - origins.of[world.bodies[k][0]])
                                   for k, sheet in sheets.items()})
    poses = world.poses(state)
    if poses is not None:
        if not all(np.isfinite(values).all() for values in poses.values()):
            raise world.explain(StepFailed("the output is not finite"), state, frame)
        store.write_poses(frame, poses)
    store.write(frame, vertices)
    if origins is not None:
        for sentence in origins.imprecise(world.bodies, vertices, frame):
            log(sentence)
