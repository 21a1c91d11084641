"""Seams of cloth."""

from __future__ import annotations

import numpy as np

from ..forces.stencils import StencilForce
from ..job.folder import Job
from ..state import Index, Vec
from .fields import Prepared


def seams_of(job: Job, prepared: list[Prepared], first: Index, rest: Vec) -> list[StencilForce]:
    """The seams of these bodies. first: of each body's nodes, (bodies + 1,). rest: of all, (n, 3) [m]."""
    sewn = [(one.body.cloth, int(start)) for one, start in zip(prepared, first)
            if one.body.cloth is not None and one.body.cloth.seams is not None]
    if not sewn:
        return []
    from ..forces.cloth.seams import Seams

    return [Seams(np.asarray(job.array(cloth.seams or "")) + start, cloth.seam_stiffness, cloth.seam_time, rest)
            for cloth, start in sewn]
