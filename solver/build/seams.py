"""Seams of cloth, from a job."""

from __future__ import annotations

import numpy as np

from ..errors import BadMesh
from ..forces.stencils import StencilForce
from ..job.folder import Job, blame
from ..state import Index, Vec
from .cloth import pieces
from .fields import Prepared


def seams_of(job: Job, prepared: list[Prepared], first: Index, rest: Vec) -> list[StencilForce]:
    """Return the forces of all seams of these bodies. first: first node of each body, (bodies + 1,). rest: positions of
    all nodes, (n, 3) [m]. Raises BadMesh where a seam is longer than the pieces of cloth that it joins."""
    sewn = [(prepared_body, prepared_body.body.cloth, int(start)) for prepared_body, start in zip(prepared, first)
            if prepared_body.body.cloth is not None and prepared_body.body.cloth.seams is not None]
    if not sewn:
        return []
    from ..forces.cloth.seams import Seams

    forces: list[StencilForce] = []
    for prepared_body, cloth, start in sewn:
        pairs = np.asarray(job.array(cloth.seams or ""))
        with blame(job.scene, prepared_body.body, "cloth.seams"):
            refuse_longer(pairs, prepared_body)
        forces.append(Seams(pairs + start, cloth.seam_stiffness, cloth.seam_time, rest))
    return forces


def refuse_longer(pairs: Index, one: Prepared) -> None:
    """Raise BadMesh where a seam is longer at rest than the larger of the two pieces of cloth that it joins. pairs:
    nodes at both ends of each seam, (k, 2)."""
    x = one.volume.nodes
    size = np.zeros(len(x))
    for piece in pieces(one.skin, len(x)):
        size[piece] = np.linalg.norm(one.volume.extents_of(x[piece]))
    length = np.linalg.norm(x[pairs[:, 0]] - x[pairs[:, 1]], axis=1)
    largest = size[pairs].max(axis=1)
    longer = np.flatnonzero(length > largest)
    if len(longer):
        worst = longer[np.argmax(length[longer] - largest[longer])]
        raise BadMesh(f"{len(longer)} of its {len(pairs)} seams are longer than the cloth that they join, one of "
                      f"{length[worst]:.3g} m on a piece of {largest[worst]:.3g} m", "Move the panels closer to where "
                      "they are sewn on, or delete loose edges that are no seams", where="cloth.seams")
