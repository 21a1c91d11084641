"""What is played of an object: its job as for a bake, of the start frame alone, in steps that keep pace."""

from __future__ import annotations

import json
from collections.abc import Generator
from pathlib import Path
from typing import Any

import bpy
import numpy as np
from numpy.typing import NDArray

from ...solver.errors import BadInput
from ...solver.job.arrays import read_npy
from ...solver.job.files import open_regular, write_whole
from .. import gather, members
from ..gather.body import body_settings
from ..gather.job import job_settings

STEP = 1.0 / 60.0  #: [s]

#: how it is played, whatever a bake of it takes
METHOD: dict[str, Any] = {
    "method": {"kind": "vanilla", "params": {"beta": 1.0, "quasistatic_start": False}},
    "integrator": {"kind": "sdirk2", "params": {}}, "stage_solver": {"kind": "quick", "params": {}},
    "linear_solver": "auto",
}

#: of a body's settings, those that take effect at once
AT_ONCE = ("material", "density", "damping", "wobble_half_life")
GROUND_AT_ONCE = ("stiffness", "stiffness_per_area", "tangential_share", "friction")


class LiveJob:
    """A job folder, and what of it follows the artist's settings."""

    def __init__(self, folder: Path) -> None:
        """Raises OSError or ValueError where it is none."""
        self.folder = folder
        with open_regular(folder / "scene.json") as stream:
            self._document: dict[str, Any] = json.loads(stream.read())
        surface = self._body["surface"]
        self.places: NDArray[np.float64] = read_npy(folder / surface["vertices"], folder)  #: at the start [m], (n, 3)
        to_object = surface.get("to_object")
        #: world [m] to object space at the start, (4, 4)
        self.to_object = np.eye(4) if to_object is None else read_npy(folder / to_object, folder)[0]
        self._text = ""

    @property
    def _body(self) -> dict[str, Any]:
        body: dict[str, Any] = self._document["bodies"][0]
        return body

    def suit(self) -> None:
        """Make it one that keeps pace: large steps, and nothing that moves."""
        self._document |= METHOD
        self._document["time"] |= {"step": STEP, "tolerance": 0.0}
        self._body.pop("method", None)
        self._write()

    def follow(self, obj: bpy.types.Object, scene: bpy.types.Scene) -> bool:
        """Take the object's settings as they are now. Returns whether any of them has changed."""
        own, shared = body_settings(obj, scene), job_settings(obj, scene)
        for key in AT_ONCE:
            if key in own:
                self._body[key] = own[key]
            else:
                self._body.pop(key, None)
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


def read(obj: bpy.types.Object, scene: bpy.types.Scene, folder: Path, notes: list[str]
         ) -> Generator[str, None, LiveJob]:
    """Write the job of the object into a folder, giving what is being read. Raises ConJacError."""
    check(obj)
    steps = gather.write_job_steps(obj, scene, folder, notes.append, still=True)
    try:
        for _, text in steps:
            yield text
    finally:
        steps.close()
    job = LiveJob(folder)
    job.suit()
    return job


def check(obj: bpy.types.Object) -> None:
    """Raises BadInput where an object is not to be played live."""
    if not members.is_soft_body(obj):
        raise BadInput("it is not a ConJac soft body", "Add one to it in the ConJac tab", obj.name)
    if members.is_cloth(obj):
        raise BadInput("cloth cannot be played live yet", "Bake it", obj.name)
    if members.mechanism_of(obj) is not None:
        raise BadInput("it hangs on a mechanism, which cannot be played live yet", "Bake it", obj.name)
    gather.check_mode(obj)
