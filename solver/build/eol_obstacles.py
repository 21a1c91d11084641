"""Obstacles of cloth with Sharp Edges, from a job: objects, the ground, and surfaces of other parts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ..contact.find.ground import combine_friction
from ..contact.find.sharp import bends_softly, find_sharp_features, nails, outwards, wires
from ..coordinates.prescribed import Constant, OverTime
from ..job import schema
from ..job.folder import Job, parameters
from ..job.kinds.eol_cloth import EolClothKind
from ..parts.eol.obstacles import FeatureObstacles, Obstacle, SmoothSurface
from ..parts.eol.offset_surface import ExtrapolatedPath, OffsetSurface, is_closed
from ..state import Vec
from .cloth_interfaces import CoupledSurface
from .ground import ground_of
from .inputs import positions_over_time

NO_FACES = np.zeros((0, 3), np.int32)
SHARED = ("{what} counts as {value:.3g} {unit}, for all cloth with Sharp Edges that touches each other: the {which} of "
          "theirs")

#: [rad]: edges of bevels bend by no more, such as the two of a right angle
BEVEL = np.deg2rad(60.0)


@dataclass(frozen=True)
class SheetSettings:
    """Contact settings of all sheets of one cloth."""

    thickness: float  #: largest thickness of the sheets [m]
    angle: float  #: smallest feature angle of the sheets [rad]
    at_edges: Sequence[float | None]  #: friction of each sheet on sharp edges; None: that of the obstacle

    @classmethod
    def of(cls, sheets: Sequence[EolClothKind]) -> SheetSettings:
        """Return the settings that hold for all sheets of a cloth: largest thickness, smallest feature angle."""
        sharp = [sheet.eulerian for sheet in sheets]
        return cls(max(sheet.thickness for sheet in sheets), min(edge_settings.angle for edge_settings in sharp),
                   [edge_settings.friction for edge_settings in sharp])

    def changes(self, sheet: EolClothKind) -> list[str]:
        """Return a sentence for each setting of a sheet that the setting of another sheet replaces."""
        settings = (("Thickness", 1e3 * self.thickness, 1e3 * sheet.thickness, "mm", "largest"),
                    ("Feature Angle", np.degrees(self.angle), np.degrees(sheet.eulerian.angle), "degrees", "smallest"))
        return [SHARED.format(what=what, value=value, unit=unit, which=which)
                for what, value, own, unit, which in settings if value != own]


def feature_obstacles(job: Job, bodies: Sequence[schema.Body], settings: SheetSettings,
              surfaces: Sequence[CoupledSurface] = ()) -> FeatureObstacles:
    """Return all that a cloth touches: the scene's obstacles, its ground, and surfaces of other parts. bodies: sheets
    of the cloth. settings: their contact settings."""
    scene, obstacles, touches = job.scene, list[Obstacle](), bodies[0].touches
    if scene.contact is not None:
        usual = float(parameters("contact", scene.contact.law)["friction_coefficient"])
        own = np.array([usual if body.friction is None else body.friction for body in bodies])
        for obstacle in scene.obstacles:
            if touches is None or obstacle.name in touches:
                obstacles += _obstacle(job, obstacle, settings, own,
                                       usual if obstacle.friction is None else obstacle.friction)
    for surface in surfaces:
        nowhere, smooth = Constant(np.zeros((0, 3))), nails(NO_FACES[:, :2])
        obstacles.append(Obstacle(surface.name, nowhere, NO_FACES, False, smooth, 0.0, 0.0, 0.0,
                                  SmoothSurface(surface.motion, surface.triangles, surface.friction)))
    return FeatureObstacles(obstacles, ground_of(job), settings.thickness)


def _obstacle(job: Job, one: schema.Obstacle, settings: SheetSettings, own: Vec, its: float) -> list[Obstacle]:
    """Return the faces, the wires and the nails of an obstacle as one obstacle each. own, its: friction coefficients of
    the sheets, (s,), and of the obstacle."""
    x = np.asarray(job.array(one.vertices), dtype=float)
    motion = positions_over_time(job, one.motion, x)
    mu = combine_friction(own, its)
    at_edges = np.array([usual if edge is None else edge for usual, edge in zip(mu.tolist(), settings.at_edges)])
    obstacles = list[Obstacle]()
    if one.triangles is not None:
        obstacles.append(_faces(job, one, x, motion, settings, (mu, at_edges), its))
    if one.wires is not None:
        lines = wires(x, np.asarray(job.array(one.wires), dtype=np.int32), settings.angle)
        obstacles.append(Obstacle(one.name, motion, NO_FACES, False, lines, mu, at_edges, 0.0))
    if one.nails is not None:
        ends = np.asarray(job.array(one.nails), dtype=np.int32)
        tips = ExtrapolatedPath(motion, ends, settings.thickness)
        obstacles.append(Obstacle(one.name, tips, NO_FACES, False, nails(ends), mu, at_edges, 0.0))
    return obstacles


def _faces(job: Job, one: schema.Obstacle, x: Vec, motion: OverTime, settings: SheetSettings, friction: tuple[Vec, Vec],
           its: float) -> Obstacle:
    """Return the faces of an obstacle with their sharp edges. friction: coefficients of the sheets on faces and on
    edges, (s,) each. its: coefficient of the obstacle."""
    assert one.triangles is not None
    triangles = outwards(x, np.asarray(job.array(one.triangles), dtype=np.int32))
    marked = None if one.sharp_edges is None else np.asarray(job.array(one.sharp_edges), dtype=np.int32)
    closed = is_closed(triangles)
    is_smooth = bends_softly(x, triangles, settings.angle if closed else max(settings.angle, BEVEL))
    # the barrier keeps cloth off both sides of an smooth open surface, and rounds its borders; so of one that is
    # bevelled: cloth that sits on both edges of a bevel would lie in its face, from where it has to leave to both sides
    edges = find_sharp_features(x, triangles, settings.angle, marked, borders=closed or not is_smooth)
    has_sides = closed or is_smooth
    offset: OverTime = OffsetSurface(motion, triangles, settings.thickness) if has_sides else motion
    thickness = 0.0 if has_sides else settings.thickness
    if is_smooth:
        # pairs with rows over several vertices would be hundreds there
        return Obstacle(one.name, offset, NO_FACES, closed, edges, *friction, thickness,
                        SmoothSurface(motion, triangles, its))
    return Obstacle(one.name, offset, triangles, closed, edges, *friction, thickness)
