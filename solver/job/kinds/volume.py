"""Solid bodies: a surface that is filled with tetrahedra, or tetrahedra that are given by hand."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from ... import catalogue
from .. import schema, stages
from ..body_size import BodySize, estimate_size
from ..folder import Job, parameters, refuse
from ..validate_volume import check_surface, check_tets
from .interface import BodyKind


class VolumeKind(BodyKind):
    """A solid: its material fills its surface."""

    noun: ClassVar[str] = "a solid"
    builder: ClassVar[str] = "build.fields:prepare"
    is_filled: ClassVar[bool] = True

    @classmethod
    def matches(cls, body: schema.Body) -> bool:
        """Return whether a body is of this kind: True, since it is the last of the table."""
        return True

    def check(self, job: Job, where: str) -> tuple[int, int | None]:
        """Check the surface and the given tetrahedra. Return the numbers of vertices and of nodes, 0 and None where
        there are none. Raises BadScene, BadMesh, NoSuchThing."""
        if self.body.surface is None and self.body.tets is None:
            raise refuse("the body has neither a surface nor tets", f"{where}.surface")
        vertices = check_surface(job, self.body, where) if self.body.surface is not None else 0
        return vertices, check_tets(job, self.body, where) if self.body.tets is not None else None

    def draft_conflicts(self, method: catalogue.Entry) -> list[tuple[str, str]]:
        """Return nothing: all methods that draft bodies support solids."""
        return []

    def size(self, job: Job, tets_hash: str) -> BodySize:
        """Return the numbers of vertices, nodes and tetrahedra: exact where these are given or already in the job,
        otherwise estimated from the surface and the edge length. tets_hash: hash of the body's stage "tets"."""
        body, vertices, triangles = self.body, np.zeros((0, 3)), np.zeros((0, 3))
        if body.surface is not None:
            vertices, triangles = job.array(body.surface.vertices), job.array(body.surface.triangles)
        of_surface = (body.name, len(vertices), len(triangles))
        made = stages.load_stage(job, "tets", body.name, tets_hash)
        if body.tets is not None:
            return BodySize.of_counts(*of_surface, len(job.array(body.tets.nodes)), len(job.array(body.tets.tets)))
        if made is not None and {"nodes", "tets"} <= made.keys():
            return BodySize.of_counts(*of_surface, len(made["nodes"]), len(made["tets"]))
        return estimate_size(body.name, vertices, triangles, parameters("mesher", body.mesher))

    @property
    def choices(self) -> list[tuple[str, str]]:
        """Return the material."""
        return [("material", self.body.material.kind)]
