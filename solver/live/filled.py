"""What a live body is filled with: the bake's own tetrahedra where these are kept, else cells that are made at once."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from msgspec import structs

from ..job import schema
from ..job.folder import Job
from ..job.hashes import hashes, settings
from ..job.schema_values import Choice
from ..job.stages import kept
from ..meshing.cells import cell_edge

MOST = 60_000  #: tetrahedra of a bake that are not too many to begin with


def filled(job: Job, cells: int, by_bake: bool) -> Job:
    """The job with about so many cells in place of its mesher.

    by_bake: as it is where its tetrahedra were kept, or given by hand.
    """
    return replace(job, scene=structs.replace(job.scene, bodies=[_filled(job, one, cells, by_bake)
                                                                 for one in job.scene.bodies]))


def _filled(job: Job, body: schema.Body, cells: int, by_bake: bool) -> schema.Body:
    if body.cloth is not None:  # what slides over sharp edges is too slow, and has a mesh of its own in each frame
        return structs.replace(body, cloth=structs.replace(body.cloth, eulerian=None))
    if body.surface is None or body.tets is not None or body.rope is not None:
        return body
    if by_bake:
        found = kept(job, "tets", body.name, hashes(settings(job)).bodies[body.name]["tets"])
        if found is not None and len(found.get("tets", ())) <= MOST:
            return body
    box = np.ptp(job.array(body.surface.vertices), axis=0)
    return structs.replace(body, mesher=Choice("cells", {"edge_length": cell_edge(box, cells)}))
