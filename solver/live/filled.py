"""Interior of a live body: the bake's own tetrahedra where these are cached, else cells that are made at once."""

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
from ..meshing.surface import enclosed_volumes

MOST = 60_000  #: tetrahedra of a bake that are not too many to begin with
HOLLOW = 0.3  #: of its box, that a mesh encloses at least as cells are counted: at its surface they are only cut


def filled(job: Job, cells: int, by_bake: bool, inside: bool = False) -> Job:
    """The job with about so many cells in place of its mesher.

    by_bake: as it is where its tetrahedra were kept, or given by hand. inside: so many as its mesh encloses, and not as
    its box does.
    """
    return replace(job, scene=structs.replace(job.scene, bodies=[_filled(job, one, cells, by_bake, inside)
                                                                 for one in job.scene.bodies]))


def _filled(job: Job, body: schema.Body, cells: int, by_bake: bool, inside: bool) -> schema.Body:
    if body.cloth is not None:  # what slides over sharp edges is too slow, and has a mesh of its own in each frame
        return structs.replace(body, cloth=structs.replace(body.cloth, eulerian=None))
    if body.surface is None or body.tets is not None or body.rope is not None:
        return body
    if by_bake:
        found = kept(job, "tets", body.name, hashes(settings(job)).bodies[body.name]["tets"])
        if found is not None and len(found.get("tets", ())) <= MOST:
            return body
    vertices = job.array(body.surface.vertices)
    box = np.ptp(vertices, axis=0)
    if inside:
        middle = vertices.mean(axis=0)  # an open mesh encloses what it does with that
        volume = abs(float(enclosed_volumes(vertices - middle, job.array(body.surface.triangles)).sum()))
        cells = round(cells / min(max(volume / max(float(np.prod(box)), 1e-300), HOLLOW), 1.0))
    return structs.replace(body, mesher=Choice("cells", {"edge_length": cell_edge(box, cells)}))
