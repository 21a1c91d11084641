"""Makes a live performance the object's bake: frames in its cache, which play, resume and export as any."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import bpy
import numpy as np
from numpy.typing import NDArray

from ...solver.errors import NoSuchThing, printable
from ...solver.job.arrays import read_npz
from .. import members, status_line
from ..bake import session, watch
from ..redraw import redraw_panels
from ..timeline import frame_range
from . import as_played, pulled


class Performance(session.Bake):
    """A bake whose frames are there already: the scene is read as for any, and they are put into its cache."""

    def __init__(self, obj: bpy.types.Object, scene: bpy.types.Scene, performed: Path, frames: int) -> None:
        """performed: file of the solver with so many frames, deleted afterwards. The object's frame range is set to
        theirs. Raises ConJacError where it cannot begin."""
        self._performed, self._asked = performed, False
        if not performed.is_file():
            raise NoSuchThing("the recorded performance is missing", "Record it again", obj.name)
        settings = members.shared_settings(obj)
        start = frame_range(settings, scene)[0]
        super().__init__(obj, scene, keeps=True)
        settings.use_scene_range = False
        settings.frame_start, settings.frame_end = start, start + frames - 1

    def _command(self, resume: bool) -> list[str]:
        """Return the command that writes the performance. At the first attempt it does not replace an existing bake,
        which becomes a take."""
        replaces, self._asked = self._asked or not resume, True
        return ["record", str(self.folder), str(self._performed), "--json", *(["--replace"] if replaces else [])]

    def close(self) -> None:
        super().close()
        self._performed.unlink(missing_ok=True)


def keep(obj: bpy.types.Object, scene: bpy.types.Scene, performed: Path, frames: int, engine: str = "",
         bodies: Sequence[bpy.types.Object] = (), rest: Sequence[NDArray[np.float64]] = ()) -> None:
    """Make the performance the object's bake, behind the window, and show the progress. Raises ConJacError where it
    cannot begin. engine: of the performance, in the catalogue. bodies, rest: soft bodies that get the pulls of its
    hands, as in `pulled.keyframe`.
    """
    if bodies and performed.is_file():
        start = frame_range(members.shared_settings(obj), scene)[0]
        if pulled.keyframe(bodies, rest, read_npz(performed), scene, start):
            bpy.ops.ed.undo_push(message="Record Live")
    as_played.remember(obj, engine)
    one = Performance(obj, scene, performed, frames)

    def look() -> float | None:
        if one.tick():
            status_line.say(f"ConJac: {one.sentence()}")
            redraw_panels()
            return session.TICK
        status_line.clear()
        print(printable(one.progress.error or f"{one.name}: {one.progress.text}"), flush=True)
        watch.look()
        redraw_panels()
        return None

    bpy.app.timers.register(look)
