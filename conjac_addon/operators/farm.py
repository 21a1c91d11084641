"""Export Farm Job: the shot as a bundle that runs without Blender, on one machine, a queue or in the cloud."""

from __future__ import annotations

from pathlib import Path

import bpy

from ...solver.errors import BadInput
from .. import members
from . import still
from .light import Behaviour
from .on_worker import Doing, OnWorker
from .poll import to_read


class CONJAC_OT_export_farm_job(OnWorker, Behaviour):
    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        return to_read(cls, context) is not None

    def work(self, obj: bpy.types.Object, scene: bpy.types.Scene, wait: float) -> Doing[list[str]]:
        owner = members.owner(obj)
        options = [*(["--wedge", str(absolute(self.wedge))] if self.wedge else []),
                   *(["--chunk", self.chunk] if self.chunk else []),
                   *(["--blend", open_file()] if self.render else [])]
        return export(owner, scene, absolute(self.directory or f"//farm_{bpy.path.clean_name(owner.name)}"), options,
                      wait)


def export(owner: bpy.types.Object, scene: bpy.types.Scene, out: Path, options: list[str], wait: float
           ) -> Doing[list[str]]:
    """Write the bundle of an object and all that is baked with it: `OnWorker.work`.

    options: more of `solver farm`.
    """
    with still.still_job(owner) as job:
        asked = ["farm", "--out", str(out), "--name", owner.name, *options]
        found = yield from still.run(owner, scene, job, asked, wait, moves=True)
    return [*found["gathered"], *found["notes"], f"The bundle is in {out}"]


def open_file() -> str:
    """Return the path of the open .blend. Raises BadInput where it is not saved yet."""
    if not bpy.data.filepath:
        raise BadInput("the scene is not saved yet, so no farm can render it", "Save it, or leave the rendering out")
    return bpy.data.filepath


def absolute(path: str) -> Path:
    """Return a path that may be relative to the .blend. Raises BadInput where there is none yet."""
    if path.startswith("//") and not bpy.data.filepath:
        raise BadInput("the folder is relative to the .blend, which is not saved yet", "Save it, or choose a folder")
    return Path(bpy.path.abspath(path))
