"""Ropes: the vertices of the surface are the nodes, and edges between them the elements."""

from __future__ import annotations

from typing import ClassVar

from ... import catalogue
from .. import schema
from ..body_size import BodySize
from ..folder import Job
from ..schema_ropes import Rope
from ..validate_ropes import check_rope
from .interface import OF_VOLUMES, BodyKind


class RopeKind(BodyKind):
    """Ropes, wires, strings, chains or nets, see `schema_ropes.Rope`."""

    noun: ClassVar[str] = "a rope"
    builder: ClassVar[str] = "build.ropes:prepare_rope"
    has_faces: ClassVar[bool] = False
    unread: ClassVar[tuple[str, ...]] = OF_VOLUMES

    @classmethod
    def matches(cls, body: schema.Body) -> bool:
        """Return whether a body is ropes."""
        return body.rope is not None

    @property
    def rope(self) -> Rope:
        """Return the settings of the ropes."""
        assert self.body.rope is not None
        return self.body.rope

    def check(self, job: Job, where: str) -> tuple[int, int | None]:
        """Check the settings and edges. Return the number of vertices twice. Raises BadScene, BadMesh, NoSuchThing."""
        vertices = check_rope(job, self.body, self.rope, where)
        return vertices, vertices

    def draft_conflicts(self, method: catalogue.Entry) -> list[tuple[str, str]]:
        """Return all ropes where the method cannot draft any."""
        return [] if method.able("drafts ropes") else [("ropes have no weights to be moved by", "rope")]

    def size(self, job: Job, tets_hash: str) -> BodySize:
        """Return the numbers of vertices, which are the nodes, and of links, which are the elements."""
        surface = self.body.surface
        assert surface is not None
        vertices, links = len(job.array(surface.vertices)), len(job.array(self.rope.edges))
        return BodySize.of_counts(self.body.name, vertices, len(job.array(surface.triangles)), vertices, links,
                                  is_cloth=True)

    @property
    def choices(self) -> list[tuple[str, str]]:
        """Return the law of the lengths of links."""
        return [("rope", self.rope.length.kind)]
