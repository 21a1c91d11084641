"""One soft body of a job: its surface and maps at the start frame, and its animated data."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import bpy
import numpy as np

from ...solver.errors import BadInput
from .. import identity, members
from .. import settings as properties
from ..declared import BODY
from . import attach, cloth, fibers, fields, maps, pins, ropes, spots
from .cuts import Cuts, cut_settings
from .evaluation import Evaluation, coordinates
from .folder import JobFolder, JobPart
from .follow import Follow
from .ground import GroundPlane
from .let_go import LettingGo
from .mesh import check_left, check_stack, surface
from .motion import Motion
from .nails import Nails, nail_settings
from .pulls import Pulls, pull_settings

Report = Callable[[str], None]

_PACKAGE = __package__.rpartition(".")[0]  # conjac_addon, where the catalogue's paths of maps start


def body_settings(obj: bpy.types.Object, scene: bpy.types.Scene) -> dict[str, Any]:
    """Return the fields of scene.json's body that depend on settings only: no arrays, no evaluation, fast."""
    body: dict[str, Any] = {"name": obj.name, "uuid": identity.of(obj), "surface": {}, "damping": {}, "painted": {},
                            "dynamic": {}, "pin": {}}
    fields.add(body, fields.gathered(BODY, obj, scene))
    lists = {"cuts": cut_settings(obj, scene), "nails": nail_settings(obj, scene), "pulls": pull_settings(obj, scene),
             "attach": attach.attach_settings(obj)}
    return body | {key: entries for key, entries in lists.items() if entries}


class BodyReader:
    """Reader of one soft body: `begin` at the start frame, then read `motion`, and call `see` at whole frames."""

    def __init__(self, evaluation: Evaluation, job: JobFolder | JobPart, frames: tuple[int, int], samples: int,
                 report: Report, still: bool) -> None:
        self._evaluation, self._job, self._report, self._still = evaluation, job, report, still
        self._frames, self._samples = frames, samples
        self.body = body_settings(evaluation.object, evaluation.scene)

    def begin(self, ground: GroundPlane | None) -> None:
        """Surface and maps at the present frame. Raises BadInput where they cannot be used."""
        vertices, pinned = fill_body(self.body, self._evaluation, self._job, self._report)
        self._nails = None if self._still else Nails(self._evaluation, self._frames)
        self._pulls = None if self._still else Pulls(self._evaluation)
        self._follow = None if self._still else Follow(self._evaluation, self.body.get("follow", {}).get("share"))
        self.motion = Motion(self._evaluation, self._job, self._frames, self._samples, vertices, pinned, ground,
                             (self._nails, self._pulls, self._follow))
        self._let_go = LettingGo(self._evaluation, self._report) if "weights" in self.body["pin"] else None
        # what is played live is read at one frame, between which and the next nothing is cut
        cuts = not self._still and self._frames[0] < self._frames[1]
        self._cuts = Cuts(self._evaluation, self._job.array, self._frames) if cuts else None
        attach.fill(self.body, self._evaluation, self._job, self._still)

    def see(self, frame: int) -> None:
        """Read what happens at a whole frame, the present frame of the scene."""
        if self._cuts is not None:
            self._cuts.see(frame)
        if self._let_go is not None and not self._still:
            self._let_go.see(frame)

    def finish(self) -> dict[str, Any]:
        """Return the body of scene.json."""
        body = self.body
        body["surface"] |= self.motion.to_object()
        body["pin"] |= self.motion.pin_motion()
        if self._let_go is not None:
            body["pin"] |= self._let_go.fields(self._job.array)
        body["pin"] |= self.motion.pin_stiffness()
        body |= self.motion.activation() | self.motion.half_life()
        if "rope" in body:
            body["rope"] |= self.motion.twist()
        body.pop("cuts", None)
        body.pop("nails", None)
        body.pop("pulls", None)
        body.pop("follow", None)
        if self._nails is not None:
            body |= self._nails.fields(self._job.array)
        if self._pulls is not None:
            body |= self._pulls.fields(self._job.array)
        if self._follow is not None:
            body |= self._follow.fields(self._job.array)
        if self._cuts is not None:
            body |= self._cuts.fields()
        return body


def map_end(obj: bpy.types.Object, scene: bpy.types.Scene, name: str) -> float:
    """Return the number at one end of a map, in SI. Keyframes of an activation multiply the painted weights: from zero
    on."""
    return 0.0 if name == fibers.ACTIVATION and fibers.is_activated(obj) else properties.si(obj.conjac, name, scene)


def fill_body(body: dict[str, Any], evaluation: Evaluation, job: JobFolder | JobPart,
               report: Report) -> tuple[np.ndarray, np.ndarray]:
    """Surface and maps at the present frame. Returns the vertices [m], (n, 3), and the indices of those whose motion
    is the simulation's input, (s,)."""
    obj, settings = evaluation.object, evaluation.object.conjac
    mesh = evaluation.mesh(all_layers=True)
    is_cloth, is_rope = members.is_cloth(obj), members.is_rope(obj)
    thickened = is_cloth or is_rope or body["mesher"]["params"].get("sheet_thickness", 0.0) > 0.0
    if not len(mesh.vertices):
        evaluation.release()
        check_left(evaluation)
        mesh = evaluation.mesh(all_layers=True)
    if is_rope:
        vertices, edges = ropes.links(mesh, evaluation.to_world(), obj.name)
        triangles = np.zeros((0, 3), dtype=np.int32)
        body["rope"]["edges"] = job.array("edges", edges)
    else:
        vertices, triangles = surface(mesh, evaluation.to_world(), obj.name, flat=thickened)
    in_object = coordinates(mesh)
    check_stack(evaluation, len(vertices), settings.export)
    painted = maps.read(evaluation.evaluated(obj), mesh, settings, obj.name, report)
    if is_cloth or is_rope:
        # nothing is inside: what holds it is all that is read
        painted = [painted_map for painted_map in painted if painted_map.entry.key == "pin"]
        if is_cloth:
            cloth.fill_rest_shape(body["cloth"], evaluation, mesh, job)
    else:
        body |= fibers.directions(evaluation, mesh, job.array)
        spots.fill_painted(body, evaluation, mesh, job, report)
    evaluation.release()

    body["surface"] = {"vertices": job.array("vertices", vertices), "triangles": job.array("triangles", triangles)}
    if not np.array_equal(in_object, vertices):  # else it stands where it was made
        body["surface"]["object_vertices"] = job.array("object_vertices", in_object)
    number: Callable[[str], float] = lambda name: map_end(obj, evaluation.scene, name)  # noqa: E731
    animated = np.zeros(len(vertices), dtype=bool)
    may_change = pins.may_change(obj)
    for painted_map in painted:
        kind: maps.MapKind = painted_map.entry.load(_PACKAGE)()
        if kind.animated:
            animated |= pins.holds(obj, painted_map.weights) | may_change
            if not animated.any():
                least = 0 if members.has_soft_pins(obj) else maps.PAINTED
                raise BadInput(f'no vertex in its group "{painted_map.group}" is painted above {least}, so nothing is '
                               "pinned",
                               "Paint where the body is held, or remove the group", obj.name)
            pins.report_halves(obj, painted_map.weights, report)
        kind.fill(body, painted_map, job.array, number)
    if not (is_cloth or is_rope):
        spots.fill_handles(body, evaluation, job, report)
    return vertices, np.flatnonzero(animated).astype(np.int32)
