"""Tetrahedra of a body for live play, or for a bake like it: those of the bake where they are cached, else similar ones
that are made quickly, else cells, which are made at once."""

from __future__ import annotations

from collections.abc import Container
from dataclasses import replace

import numpy as np
from msgspec import structs

from .. import catalogue
from ..errors import BadMesh, Environment
from ..job import schema
from ..job.folder import Job, parameters
from ..job.hashes import hashes, settings
from ..job.kinds import kind_of
from ..job.object_pose import vertices_to_fill
from ..job.schema_values import Choice
from ..job.stages import load_stage
from ..meshing.cells import cell_edge
from ..meshing.surface import measure_enclosed_volumes
from ..meshing.tetrahedralize import EDGE_FRACTION
from ..meshing.volume import Volume
from ..state import Vec
from .volumes import Stage, volume_of, volumes_of

CELLS = 2000  #: inside of a body of which no tetrahedra are made in time, about
MOST = 60_000  #: tetrahedra of a bake that are not too many to begin with
QUICK = {"tetwild": "tetwild_quick"}  #: meshers of tetrahedra like those of a bake, made sooner
FINEST = 6000  #: of these, about: a bake with more is played in coarser ones
PER_CUBE = 6.0 * np.sqrt(2.0)  #: regular tetrahedra in the cube of their edge
HOLLOW = 0.3  #: of its box, that a mesh encloses at least as cells are counted: at its surface they are only cut


def replace_meshers(job: Job, cells: int, by_bake: bool, inside: bool = False) -> Job:
    """Return the job with the mesher of each body replaced by one that makes about `cells` cells.

    by_bake: a body whose tetrahedra a bake has cached is not changed. inside: the cells inside of the mesh are counted,
    not those of its box. Tetrahedra given by hand and ropes are not changed; cloth is without Sharp Edges.
    """
    return replace(job, scene=structs.replace(job.scene, bodies=[_replace_mesher(job, body, cells, by_bake, inside)
                                                                 for body in job.scene.bodies]))


def fill_quickly(job: Job, cells: int, report: Stage, chosen: Job | None = None,
                 some: Container[str] | None = None) -> tuple[Job, list[Volume]]:
    """Return the job with meshers that fill bodies quickly, and the tetrahedra of every body: those of the bake where
    they are cached, else similar ones, else about `cells` cells inside of a body where those cannot be made in time.

    chosen: the job as filled before, whose meshers are taken again. some: names of the bodies to fill quickly; None:
    all. Raises a ConJacError that names the body.
    """
    bodies, volumes = [], []
    for k, body in enumerate(job.scene.bodies):
        if some is not None and body.name not in some:
            tries = [body]
        elif chosen is not None and kind_of(body).is_filled:
            tries = [structs.replace(body, mesher=chosen.scene.bodies[k].mesher)]
        else:
            tries = [_like_bake(job, body), _replace_mesher(job, body, cells, True, True)]
        for attempt in tries:
            isolated = replace(job, scene=structs.replace(job.scene, bodies=[attempt]))
            try:
                volumes.append(volume_of(isolated, attempt, hashes(settings(isolated)).bodies[attempt.name]["tets"],
                                         report))
            except (BadMesh, Environment):
                if attempt is tries[-1]:
                    raise
                continue
            bodies.append(attempt)
            break
    return replace(job, scene=structs.replace(job.scene, bodies=bodies)), volumes


def fill_for_bake(job: Job, report: Stage) -> tuple[Job, list[Volume]]:
    """Return the job with the meshers that fill its bodies, and the tetrahedra of every body. A body is filled by its
    own mesher, or by a quicker one where its method fills quickly. Raises a ConJacError that names the body."""
    quick = {body.name for body in job.scene.bodies
             if catalogue.find("method", job.scene.method_of(body).kind).able("fills quickly")}
    return fill_quickly(job, CELLS, report, some=quick) if quick else (job, volumes_of(job, report))


def _like_bake(job: Job, body: schema.Body) -> schema.Body:
    """Return a body with the tetrahedra of its bake where these are cached or soon made; else with similar ones."""
    if not kind_of(body).is_filled:
        return kind_of(body).simplify()
    if _replace_mesher(job, body, 1, True, True) is body or body.surface is None:
        return body
    own = parameters("mesher", body.mesher)
    box, volume = _sizes(job, body.surface)
    edge = float(own["edge_length"]) or EDGE_FRACTION * float(np.linalg.norm(box))
    least = float(np.cbrt(max(volume, HOLLOW * float(np.prod(box))) * PER_CUBE / FINEST))
    kind = QUICK.get(body.mesher.kind, body.mesher.kind)
    return structs.replace(body, mesher=Choice(kind, {**own, "edge_length": max(edge, least)}))


def _sizes(job: Job, surface: schema.Surface) -> tuple[Vec, float]:
    """Return the sides of the box around a surface, along the axes of its object [m], (3,), and the volume that it
    encloses [m³], closed towards its middle where it is open."""
    vertices = vertices_to_fill(job, surface)
    inside = measure_enclosed_volumes(vertices - vertices.mean(axis=0), job.array(surface.triangles))
    return np.ptp(vertices, axis=0), abs(float(inside.sum()))


def _replace_mesher(job: Job, body: schema.Body, cells: int, by_bake: bool, inside: bool) -> schema.Body:
    """Return a body to be filled with about `cells` cells, or as it is. by_bake, inside: as of `replace_meshers`."""
    kind = kind_of(body)
    if not kind.is_filled or body.surface is None or body.tets is not None:
        return kind.simplify()
    if by_bake:
        stage = load_stage(job, "tets", body.name, hashes(settings(job)).bodies[body.name]["tets"])
        if stage is not None and len(stage.get("tets", ())) <= MOST:
            return body
    box, volume = _sizes(job, body.surface)
    if inside:
        cells = round(cells / min(max(volume / max(float(np.prod(box)), 1e-300), HOLLOW), 1.0))
    return structs.replace(body, mesher=Choice("cells", {"edge_length": cell_edge(box, cells)}))
