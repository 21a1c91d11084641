"""Protocol of kinds of soft bodies: checks, size and properties that follow from the settings alone."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any, ClassVar

from ... import catalogue
from .. import schema
from ..body_size import BodySize
from ..folder import Job

#: beginnings of paths that only bodies of tetrahedra read
OF_VOLUMES = ("mesher.", "material.", "density", "carry.", "dynamic.")


class BodyKind(ABC):
    """Kind of a soft body, such as cloth, with the settings of one body.

    It checks these settings and determines the size of the body. `builder` makes the other half of a kind, the
    prepared body of solver/build, which has elements, surface, mass and contact. A new kind is a file of its own and an
    entry in `kinds.KINDS`.
    """

    noun: ClassVar[str]  #: for messages, as in "it is cloth"
    #: for messages about what this kind does not support, with the name of the body
    remedy: ClassVar[str] = "make {body} another kind of body"
    builder: ClassVar[str]  #: function of (job, body, volume, report) that returns a prepared body, "module.path:name"
    #: function of (job, prepared bodies, index of the first part in the world, their surroundings) that returns
    #: parts of the world with their interfaces, "module.path:name"; "": bodies are assembled with others
    separate_parts: ClassVar[str] = ""
    is_filled: ClassVar[bool] = False  #: whether tetrahedra carry the surface; else its vertices are the nodes
    is_remeshed: ClassVar[bool] = False  #: whether its elements differ from frame to frame
    is_sheet: ClassVar[bool] = False  #: whether the body is a surface with an areal density, which encloses no volume
    has_faces: ClassVar[bool] = True  #: whether its surface has triangles by which others touch it
    touches_wires: ClassVar[bool] = False  #: whether it collides with wires and nails of obstacles
    has_compliant_pins: ClassVar[bool] = True  #: whether obstacles may displace its pins
    attaches_to_bodies: ClassVar[bool] = False  #: whether its nodes may be attached to other soft bodies
    thickness_field: ClassVar[str] = ""  #: path of `thickness` in the body
    unread: ClassVar[tuple[str, ...]] = ()  #: beginnings of paths in the body that this kind does not read

    def __init__(self, body: schema.Body) -> None:
        self.body = body

    @property
    def name(self) -> str:
        """Return the name of the body."""
        return self.body.name

    @classmethod
    @abstractmethod
    def matches(cls, body: schema.Body) -> bool:
        """Return whether a body is of this kind, or of another one that precedes it in `kinds.KINDS`."""

    @abstractmethod
    def check(self, job: Job, where: str) -> tuple[int, int | None]:
        """Check the settings and arrays that only this kind reads. Return the number of vertices of the surface, and
        that of nodes, None where tetrahedra are made later. where: path of the body in scene.json. Raises BadScene,
        BadMesh, NoSuchThing."""

    @abstractmethod
    def draft_conflicts(self, method: catalogue.Entry) -> list[tuple[str, str]]:
        """Return what a method does not support that drafts bodies on few unknowns: clauses, each with a field of the
        body."""

    @abstractmethod
    def size(self, job: Job, tets_hash: str) -> BodySize:
        """Return the numbers of vertices, nodes and elements. tets_hash: hash of the body's stage "tets"."""

    @property
    @abstractmethod
    def choices(self) -> list[tuple[str, str]]:
        """Return families and keys of the entries of the catalogue from which the elements are made."""

    @property
    def thickness(self) -> float | None:
        """Return the thickness of a sheet [m]; None for other kinds."""
        return None

    @property
    def air_drag(self) -> tuple[float, float]:
        """Return the coefficients of drag of air across and along a face; 0 where air does not act."""
        return 0.0, 0.0

    @property
    def is_sewn(self) -> bool:
        """Whether seams pull parts of the body together."""
        return False

    @property
    def steps_by_itself(self) -> bool:
        """Whether bodies of this kind are parts of the world of their own, with steps of their own."""
        return bool(self.separate_parts)

    def simplify(self) -> schema.Body:
        """Return the body as a live preview simulates it, which may be of another kind."""
        return self.body

    def load_builder(self) -> Any:
        """Return the function that prepares bodies of this kind."""
        return catalogue.load_path(self.builder)

    def load_separate_parts(self) -> Any:
        """Return the function that makes parts of bodies of this kind, which step by themselves."""
        return catalogue.load_path(self.separate_parts)
