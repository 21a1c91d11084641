"""Shows the tetrahedra that a bake would use, as a wire object. They are kept, so the bake need not make them again."""

from __future__ import annotations

import json
import shutil
import tempfile
import zipfile
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import bpy
import numpy as np
from numpy.typing import NDArray

from ...solver.errors import ConJacError, Environment
from .. import gather
from ..bake import place
from ..bake.worker import Worker
from .setup import PREVIEW, link_beside, remove_preview, soft_body_to_read

#: seconds between looks at the worker
TICK = 0.1

#: objects whose preview is being made, by session_uid
_running: set[int] = set()


class CONJAC_OT_preview_tets(bpy.types.Operator):
    """Fill the active soft body with tetrahedra now and show them as a wire object; the bake uses the same ones"""

    bl_idname = "conjac.preview_tets"
    bl_label = "Tetrahedralize"
    bl_options = {"UNDO"}

    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        obj = soft_body_to_read(cls, context)
        if obj is not None and obj.session_uid in _running:
            cls.poll_message_set("Its tetrahedra are being made")
            return False
        return obj is not None

    def invoke(self, context: bpy.types.Context, _event: bpy.types.Event) -> set[str]:
        if bpy.app.background:
            return self.execute(context)
        self._uid = context.active_object.session_uid
        _running.add(self._uid)
        self._steps = preview(context.active_object, context.scene, wait=0.0)
        self._timer = context.window_manager.event_timer_add(TICK, window=context.window)
        context.window_manager.modal_handler_add(self)
        return {"RUNNING_MODAL"}

    def modal(self, context: bpy.types.Context, event: bpy.types.Event) -> set[str]:
        if event.type == "ESC" and event.value == "PRESS":
            self.cancel(context)
            return {"CANCELLED"}
        if event.type != "TIMER":
            return {"PASS_THROUGH"}
        try:
            text = next(self._steps)
        except StopIteration as end:
            self.cancel(context)
            return self._told(end.value)
        except ConJacError as error:
            self.cancel(context)
            self.report({"ERROR"}, str(error))
            return {"CANCELLED"}
        except Exception:
            self.cancel(context)  # a defect must not leave the button grey and the timer running
            raise
        if context.workspace is not None:
            context.workspace.status_text_set(f"ConJac: {text}. Esc cancels")
        return {"PASS_THROUGH"}

    def cancel(self, context: bpy.types.Context) -> None:
        """End it, whether it is done, cancelled or another file is loaded: no process is left behind."""
        self._steps.close()
        _running.discard(self._uid)
        context.window_manager.event_timer_remove(self._timer)
        if context.workspace is not None:
            context.workspace.status_text_set(None)

    def execute(self, context: bpy.types.Context) -> set[str]:
        steps = preview(context.active_object, context.scene, wait=TICK)
        told = ""
        try:
            while True:
                text = next(steps)
                if text != told:
                    print(text, flush=True)
                    told = text
        except StopIteration as end:
            return self._told(end.value)
        except ConJacError as error:
            self.report({"ERROR"}, str(error))
            return {"CANCELLED"}

    def _told(self, notes: list[str]) -> set[str]:
        for note in notes:
            self.report({"INFO"}, note)
        return {"FINISHED"}


def preview(obj: bpy.types.Object, scene: bpy.types.Scene, wait: float) -> Iterator[str]:
    """Make the tetrahedra and their wire object, giving what is being done; each step waits up to `wait` seconds.

    Returns sentences for the artist. Raises ConJacError. Closing it early ends the worker.
    """
    uid, name, stages = obj.session_uid, obj.name, place.job_folder(obj) / "stages"
    with tempfile.TemporaryDirectory(prefix="conjac_preview_", dir=bpy.app.tempdir) as temporary:
        job = Path(temporary)
        with closing(gather.write_job_steps(obj, scene, job, still=True)) as reading:
            for _, text in reading:
                yield text
        made = yield from _run_mesher(job, name, wait)
        kept = Path(made["path"])
        try:
            with np.load(kept, allow_pickle=False) as volume:
                nodes, tets = volume["nodes"], volume["tets"]
            stages.mkdir(parents=True, exist_ok=True)
            shutil.move(kept, stages / kept.name)
        except (OSError, ValueError, zipfile.BadZipFile) as error:
            raise Environment(f"its tetrahedra cannot be kept in {stages} ({error})",
                              "Choose another cache folder or make room on the disk", name) from error
        to_object = _to_object(job)
    # undo may have moved the object in memory while the mesher ran
    owner = next((one for one in bpy.data.objects if one.session_uid == uid), None)
    if owner is not None:
        show_wire(owner, nodes @ to_object[:3, :3].T + to_object[:3, 3], tets)
    return [f'"{name}": {made["nodes"]} nodes, {made["tets"]} tetrahedra', *made["notes"]]


def _run_mesher(job: Path, name: str, wait: float) -> Iterator[str]:
    """Let the solver fill the job's body. Returns its message "tets". Raises Environment or what the solver said."""
    worker = Worker("solver", ["tets", str(job), "--json"])
    made, failure, text = None, None, "Starting"
    try:
        while not worker.ended():
            for message in worker.messages(wait):
                if message["event"] == "tets":
                    made = message
                elif message["event"] == "error":
                    failure = message
                elif message["event"] == "stage":
                    text = message["text"] or text
            yield text
    finally:
        if worker.exit_code is None:
            worker.stop()
    if failure is not None:
        raise _Told(failure["text"])
    if made is None:
        raise Environment(f"the mesher's process ended by itself (exit code {worker.exit_code})",
                          "Look at the console and try again", name)
    return made


class _Told(ConJacError):
    """What the solver refused, in its own words."""

    def __str__(self) -> str:
        return self.what


def _to_object(job: Path) -> NDArray[np.float64]:
    """World [m] → object space at the start frame, (4, 4)."""
    document = json.loads((job / "scene.json").read_text(encoding="utf-8"))
    path = document["bodies"][0]["surface"].get("to_object")
    return np.load(job / path)[0] if path else np.eye(4)


def show_wire(obj: bpy.types.Object, nodes: NDArray[np.float64], tets: NDArray[np.int32]) -> bpy.types.Object:
    """The edges of tetrahedra as a child of the object, in its space; an earlier preview is replaced.

    nodes: (n, 3) in object space; tets: (m, 4).
    """
    remove_preview(obj)
    pairs = np.sort(tets[:, [[0, 1], [0, 2], [0, 3], [1, 2], [1, 3], [2, 3]]].reshape(-1, 2), axis=1)
    edges = np.unique(pairs, axis=0).astype(np.int32)
    mesh = bpy.data.meshes.new(f"{obj.name} Tets")
    mesh.vertices.add(len(nodes))
    mesh.vertices.foreach_set("co", np.ascontiguousarray(nodes, dtype=np.float32).ravel())
    mesh.edges.add(len(edges))
    mesh.edges.foreach_set("vertices", edges.ravel())
    mesh.update()
    wire: Any = bpy.data.objects.new(f"{obj.name} Tets", mesh)
    wire[PREVIEW] = len(tets)
    wire.hide_render = wire.hide_select = True
    wire.display_type = "WIRE"
    link_beside(wire, obj)
    wire.parent = obj
    return wire


classes = (CONJAC_OT_preview_tets,)
