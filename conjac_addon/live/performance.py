"""What was performed live becomes the object's bake: frames in its cache, which play, resume and export as any."""

from __future__ import annotations

import os
from pathlib import Path

import bpy

from ...solver.errors import NoSuchThing
from .. import members
from ..bake import session
from ..bake.behind import BehindWindow
from ..operators.light import Behaviour
from ..timeline import frame_range


class Performance(session.Bake):
    """A bake whose frames are there already: the scene is read as for any, and they are put into its cache."""

    def __init__(self, obj: bpy.types.Object, scene: bpy.types.Scene, performed: Path, frames: int) -> None:
        """performed: file of the solver with so many frames; it goes afterwards. The object's frame range becomes
        theirs. Raises ConJacError where it cannot begin."""
        self._performed, self._asked = performed, False
        if not performed.is_file():
            raise NoSuchThing("what was performed is gone", "Record it again", obj.name)
        settings = members.shared_settings(obj)
        start = frame_range(settings, scene)[0]
        super().__init__(obj, scene, keeps=True)
        settings.use_scene_range = False
        settings.frame_start, settings.frame_end = start, start + frames - 1

    def _command(self, resume: bool) -> list[str]:
        """The first time a bake that is there is not replaced: it becomes a take."""
        replaces, self._asked = self._asked or not resume, True
        return ["record", str(self.folder), str(self._performed), "--json", *(["--replace"] if replaces else [])]

    def close(self) -> None:
        super().close()
        self._performed.unlink(missing_ok=True)


class CONJAC_OT_keep_performance(BehindWindow, Behaviour):
    def execute(self, context: bpy.types.Context) -> set[str]:
        obj = next((one for one in bpy.data.objects if one.session_uid == self.of), None)
        if obj is None:
            self.report({"ERROR"}, "What was played is gone: undo its deletion and record it again")
            return {"CANCELLED"}
        return self.begin(context, obj)

    def make(self, obj: bpy.types.Object, scene: bpy.types.Scene) -> session.Bake:
        return Performance(obj, scene, Path(os.fsdecode(self.filepath)), self.frames)
