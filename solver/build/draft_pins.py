"""Nodes of a draft with a prescribed motion: pinned nodes, and nodes that animated bones carry."""

from __future__ import annotations

import numpy as np

from ..coordinates.prescribed import Concatenated, OverTime, Transformed
from ..job.folder import Job
from ..state import Index
from .fields import Prepared
from .inputs import over_time, positions_over_time


def draft_pins(job: Job, one: Prepared) -> tuple[Index, OverTime]:
    """Return the prescribed nodes of a draft, (p,), and their positions over time, (p, 3) [m]. All bones that the body
    is attached to are animated."""
    nodes, fields = one.volume.nodes, one.fields
    groups, motions = [fields.pinned], [positions_over_time(job, fields.motion, nodes[fields.pinned])]
    for k, attach in enumerate(one.body.attach):
        bone = job.scene.holder_of(attach)
        assert bone is not None and bone.motion is not None  # `check_drafts` has refused others
        own = fields.attached[fields.attached_by == k]
        groups.append(own)
        motions.append(Transformed(over_time(job, bone.motion), nodes[own]))
    return np.concatenate(groups).astype(np.int32), Concatenated(motions) if one.body.attach else motions[0]
