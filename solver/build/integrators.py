"""Integrators of a scene: each subsystem of a world owns one, by which all that is solved with it is stepped."""

from __future__ import annotations

from .. import catalogue
from ..integrators.interface import Integrator
from ..job.folder import parameters
from ..job.schema import Scene


def integrator_of(scene: Scene, **params: float) -> Integrator:
    """Return an integrator with the settings of a scene. params: settings that replace those of the scene."""
    own = parameters("integrator", scene.integrator)
    made: Integrator = catalogue.find("integrator", scene.integrator.kind).load()({**own, **params})
    return made
