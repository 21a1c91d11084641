"""Cloth with Sharp Edges, which is remeshed where it slides over edges and corners of obstacles, in steps of its own.
"""

from __future__ import annotations

from typing import ClassVar

from msgspec import structs

from ... import catalogue
from .. import schema
from ..folder import Job
from ..validate_cloth import check_sharp_edges
from .cloth import ClothKind


class EolClothKind(ClothKind):
    """Cloth with Eulerian-on-Lagrangian vertices, see `schema.Eulerian`."""

    noun: ClassVar[str] = "cloth with Sharp Edges"
    remedy: ClassVar[str] = "switch the Sharp Edges of {body} off"
    builder: ClassVar[str] = "build.prepared_eol_cloth:prepare_eol_cloth"
    separate_parts: ClassVar[str] = "build.eol_cloth:build_eol_cloth_parts"
    is_remeshed: ClassVar[bool] = True
    touches_wires: ClassVar[bool] = True
    has_compliant_pins: ClassVar[bool] = False
    attaches_to_bodies: ClassVar[bool] = True

    @classmethod
    def matches(cls, body: schema.Body) -> bool:
        """Return whether a body is cloth with Sharp Edges."""
        return body.cloth is not None and body.cloth.eulerian is not None

    @property
    def eulerian(self) -> schema.Eulerian:
        """Return the settings of Sharp Edges."""
        assert self.cloth.eulerian is not None
        return self.cloth.eulerian

    def check_settings(self, job: Job, where: str) -> None:
        """Check what does not need the mesh, and that nothing is set that remeshing does not support. Raises BadScene.
        """
        super().check_settings(job, where)
        check_sharp_edges(job, self.body, self.cloth, self.eulerian, where)

    def draft_conflicts(self, method: catalogue.Entry) -> list[tuple[str, str]]:
        """Return Sharp Edges themselves, after what else of cloth the method does not support."""
        return [*super().draft_conflicts(method), ("its cloth cannot slide over sharp edges", "cloth")]

    def simplify(self) -> schema.Body:
        """Return the body without Sharp Edges, which are too slow for a live preview and give another mesh at each
        frame."""
        return structs.replace(self.body, cloth=structs.replace(self.cloth, eulerian=None))
