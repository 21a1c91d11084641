"""Job of an object that is played live: as for a bake, of the start frame alone, in steps that keep pace."""

from __future__ import annotations

import json
from collections.abc import Generator
from pathlib import Path
from typing import Any

import bpy
import numpy as np
from numpy.typing import NDArray

from ...solver.errors import BadInput, NoSuchThing
from ...solver.job.arrays import read_npy
from ...solver.job.files import open_regular, write_whole
from .. import gather, members, settings
from ..gather.body import body_settings
from ..gather.job import job_settings
from .bumps import to_metres

STEP = 1.0 / 60.0  #: [s]
RIGID_STEP = 1.0 / 72.0  #: of mechanisms alone, at most [s]: shown sixty times a second though timers come late

#: how it is played, whatever a bake of it takes
METHOD: dict[str, Any] = {
    "method": {"kind": "vanilla", "params": {"beta": 1.0, "quasistatic_start": False}},
    "integrator": {"kind": "sdirk2", "params": {}}, "stage_solver": {"kind": "quick", "params": {}},
    "linear_solver": "auto",
}

#: of a body's settings, those that take effect at once
AT_ONCE = ("material", "density", "damping", "wobble_half_life")
CLOTH_AT_ONCE = ("membrane", "bending", "area_density", "drag", "air_friction", "pressure")
GROUND_AT_ONCE = ("stiffness", "stiffness_per_area", "tangential_share", "friction")


class LiveJob:
    """A job folder, and its settings that follow the artist's."""

    def __init__(self, folder: Path) -> None:
        """Raises OSError or ValueError where it is none."""
        self.folder = folder
        with open_regular(folder / "scene.json") as stream:
            self._document: dict[str, Any] = json.loads(stream.read())
        self.names = [str(body["name"]) for body in self._bodies]  #: of the soft bodies, cloth and ropes
        self.places: list[NDArray[np.float64]] = []  #: of each at the start [m], (n, 3)
        self.to_object: list[NDArray[np.float64]] = []  #: of each, world [m] to object space at the start, (4, 4)
        for body in self._bodies:
            surface = body["surface"]
            self.places.append(read_npy(folder / surface["vertices"], folder))
            to_object = surface.get("to_object")
            self.to_object.append(np.eye(4) if to_object is None else read_npy(folder / to_object, folder)[0])
        #: rigid bodies of the first mechanism, which is the object's own, and how many there are of all
        self.rigid = [str(body["name"]) for body in next(iter(self._mechanisms), {"bodies": []})["bodies"]]
        self.rigid_count = sum(len(mechanism["bodies"]) for mechanism in self._mechanisms)
        self.start = int(self._document["time"]["start"])
        self._text = ""

    @property
    def _bodies(self) -> list[dict[str, Any]]:
        bodies: list[dict[str, Any]] = self._document["bodies"]
        return bodies

    @property
    def _mechanisms(self) -> list[dict[str, Any]]:
        mechanisms: list[dict[str, Any]] = self._document.get("mechanisms", [])
        return mechanisms

    def pinned(self) -> list[NDArray[np.int64]]:
        """Return which vertices of each body are painted as pinned, hard or softly."""
        found = []
        for body in self._bodies:
            weights = body.get("pin", {}).get("weights")
            found.append(np.zeros(0, np.int64) if weights is None
                         else np.flatnonzero(read_npy(self.folder / weights, self.folder) > 0.0))
        return found

    def suit(self) -> None:
        """Make it one that keeps pace: large steps of soft bodies, which all move in one way."""
        time = self._document["time"]
        time["step"] = min(time["step"], RIGID_STEP)  # a mechanism's own, where that is shown often enough
        if self._bodies:
            self._document |= METHOD
            time["step"] = STEP
        self._document["time"]["tolerance"] = 0.0
        for body in self._bodies:
            body.pop("method", None)
        self._write()

    def follow(self, obj: bpy.types.Object, scene: bpy.types.Scene) -> bool:
        """Read the present settings of everything played with the object. Returns whether any has changed."""
        for body, soft_body in zip(self._bodies, bodies(obj, scene, self.names)):
            own = body_settings(soft_body, scene)
            for key in AT_ONCE:
                if key in own:
                    body[key] = own[key]
                else:
                    body.pop(key, None)
            softly = own.get("pin", {}).get("stiffness")
            if softly is not None and "stiffness" in body.get("pin", {}):
                body["pin"]["stiffness"] = softly
            if "friction" in body:
                body["friction"] = settings.shortest(soft_body.conjac.contact.friction)
            if "cloth" in body:
                body["cloth"] |= {key: own["cloth"][key] for key in CLOTH_AT_ONCE if key in own["cloth"]}
        shared = job_settings(obj, scene)
        if "ground" in self._document and "ground" in shared:
            ground = self._document["ground"]
            for key in GROUND_AT_ONCE:
                ground.pop(key, None)
            ground |= {key: shared["ground"][key] for key in GROUND_AT_ONCE if key in shared["ground"]}
        return self._write()

    def _write(self) -> bool:
        text = json.dumps(self._document)
        if text == self._text:
            return False
        self._text = text
        write_whole(self.folder / "scene.json", text.encode("utf-8", "surrogatepass"), self.folder)
        return True


def bodies(obj: bpy.types.Object, scene: bpy.types.Scene, names: list[str]) -> list[bpy.types.Object]:
    """Return the soft bodies of these names that are played with an object. Raises NoSuchThing where one is missing."""
    there = {body.name: body for body in members.soft_bodies(obj, scene)}
    for name in names:
        if name not in there:
            raise NoSuchThing("it was renamed or removed while it was played live", "Press Play Live again", name)
    return [there[name] for name in names]


def read(obj: bpy.types.Object, scene: bpy.types.Scene, folder: Path, notes: list[str]
         ) -> Generator[str, None, LiveJob]:
    """Write the job of an owner and everything baked with it; yields progress texts. Raises ConJacError."""
    for member in members.members(obj, scene):
        check(member)
    steps = gather.write_job_steps(obj, scene, folder, notes.append, at_start=True)
    try:
        for _, text in steps:
            yield text
    finally:
        steps.close()
    job = LiveJob(folder)
    job.suit()
    return job


def ground(obj: bpy.types.Object, scene: bpy.types.Scene, unit: float) -> NDArray[np.float64]:
    """Return a point of the present ground plane [m] and its normal, (2, 3); zeros without a ground."""
    found, shared = np.zeros((2, 3)), members.shared_settings(obj)
    if not shared.use_ground:
        return found
    plane = shared.ground_object
    if plane is None:
        found[0, 2], found[1, 2] = settings.si(shared, "ground_height", scene), 1.0
        return found
    matrix = to_metres(plane, unit)
    normal = np.cross(matrix[:3, 0], matrix[:3, 1])
    normal *= np.sign(normal @ matrix[:3, 2])
    found[0] = matrix[:3, 3]
    found[1] = normal / max(float(np.linalg.norm(normal)), 1e-300)
    return found


def check(obj: bpy.types.Object) -> None:
    """Raises BadInput where an object is not to be played live."""
    if not (members.is_soft_body(obj) or members.is_mechanism(obj)):
        raise BadInput("it is neither a ConJac body nor a mechanism", "Add one to it in the ConJac tab", obj.name)
    gather.check_mode(obj)
