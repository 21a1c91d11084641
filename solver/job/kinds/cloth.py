"""Cloth: the vertices of the surface are the nodes, and its triangles and hinges the elements."""

from __future__ import annotations

from typing import ClassVar

from ... import catalogue
from .. import schema
from ..body_size import BodySize
from ..folder import Job
from ..validate_cloth import check_cloth, check_triangles
from ..validate_volume import check_surface
from .interface import OF_VOLUMES, BodyKind


class ClothKind(BodyKind):
    """Cloth whose elements are the faces of its surface."""

    noun: ClassVar[str] = "cloth"
    builder: ClassVar[str] = "build.cloth:prepare_cloth"
    is_sheet: ClassVar[bool] = True
    thickness_field: ClassVar[str] = "cloth.thickness"
    unread: ClassVar[tuple[str, ...]] = OF_VOLUMES

    @classmethod
    def matches(cls, body: schema.Body) -> bool:
        """Return whether a body is cloth."""
        return body.cloth is not None

    @property
    def cloth(self) -> schema.Cloth:
        """Return the settings of the cloth."""
        assert self.body.cloth is not None
        return self.body.cloth

    def check(self, job: Job, where: str) -> tuple[int, int | None]:
        """Check the settings, faces, seams and UV map. Return the number of vertices twice. Raises BadScene, BadMesh,
        NoSuchThing."""
        self.check_settings(job, where)
        vertices = check_surface(job, self.body, where)
        check_triangles(job, self.body, f"{where}.surface")
        return vertices, vertices

    def check_settings(self, job: Job, where: str) -> None:
        """Check what does not need the mesh. Raises BadScene."""
        check_cloth(job, self.body, self.cloth, where)

    def draft_conflicts(self, method: catalogue.Entry) -> list[tuple[str, str]]:
        """Return pressure and seams, and all cloth where the method cannot draft any."""
        conflicts = [] if method.able("drafts cloth") else [("cloth has no weights to be moved by", "cloth")]
        conflicts += [("its cloth cannot have a pressure inside", "cloth")] if self.cloth.pressure else []
        return [*conflicts, *([("its cloth cannot have seams", "cloth")] if self.is_sewn else [])]

    def size(self, job: Job, tets_hash: str) -> BodySize:
        """Return the numbers of vertices, which are the nodes, and of triangles, which are the elements."""
        surface = self.body.surface
        assert surface is not None
        vertices, triangles = len(job.array(surface.vertices)), len(job.array(surface.triangles))
        return BodySize.of_counts(self.body.name, vertices, triangles, vertices, triangles, is_cloth=True)

    @property
    def choices(self) -> list[tuple[str, str]]:
        """Return the membrane and the bending."""
        return [("membrane", self.cloth.membrane.kind), ("bending", self.cloth.bending.kind)]

    @property
    def air_drag(self) -> tuple[float, float]:
        """Return the coefficients of drag of air across and along a face."""
        return self.cloth.drag, self.cloth.air_friction

    @property
    def is_sewn(self) -> bool:
        """Whether seams pull parts of the cloth together."""
        return self.cloth.seams is not None

    @property
    def thickness(self) -> float:
        """Return the thickness of the cloth [m]."""
        return self.cloth.thickness
