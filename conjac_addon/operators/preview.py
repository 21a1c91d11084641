"""Operators that preview the input of a bake: its tetrahedra, its fibers, and the values of maps. Tetrahedra are
kept."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

import bpy
import numpy as np

from ...solver.errors import BadInput, Environment
from ...solver.job import arrays as files
from .. import dials, identity
from ..menus import FIBERS
from ..settings import fields_in_use, painted_params
from . import previews, still
from .light import Behaviour
from .on_worker import Doing, OnWorker
from .poll import active_soft_body, unless

if TYPE_CHECKING:
    from numpy.typing import NDArray


class CONJAC_OT_preview_tets(OnWorker, Behaviour):
    def work(self, obj: bpy.types.Object, scene: bpy.types.Scene, wait: float) -> Doing[list[str]]:
        return preview_tets(obj, scene, wait)


class CONJAC_OT_preview_field(OnWorker, Behaviour):
    @classmethod
    def description(cls, _context: bpy.types.Context, properties: bpy.types.OperatorProperties) -> str:
        if properties.field == FIBERS:
            return "Show which way the fibers run, a line for each tetrahedron"
        return f"Show {painted_params()[properties.field].label} as colors, dark where it is lowest"

    def work(self, obj: bpy.types.Object, scene: bpy.types.Scene, wait: float) -> Doing[list[str]]:
        return preview_field(obj, scene, self.field, wait)


class CONJAC_OT_remove_previews(Behaviour):
    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        return unless(cls, active_soft_body(cls, context), lambda obj: not previews.is_shown(obj),
                      "Nothing is shown for it") is not None

    def execute(self, context: bpy.types.Context) -> set[str]:
        previews.remove(context.object)
        return {"FINISHED"}


def preview_tets(obj: bpy.types.Object, scene: bpy.types.Scene, wait: float) -> Doing[list[str]]:
    """Make the tetrahedra and show their edges: `OnWorker.work`."""
    uid, name = obj.session_uid, obj.name
    with still.still_job(obj) as job:
        made = yield from still.run(obj, scene, job, ["tets"], wait)
        arrays, matrix = _arrays(made["path"], name), still.to_object(job)
    owner = identity.still_there(bpy.data.objects, uid)
    if owner is not None:
        across = np.array(made["fused"], dtype=float).reshape(-1, 3)
        previews.remove(owner, previews.FUSED)
        if len(across):
            previews.show_fused(owner, previews.transformed(across, matrix))
        if made["to_world"] is not None:
            matrix = matrix @ made["to_world"]
        previews.show_wire(owner, previews.transformed(arrays["nodes"], matrix), arrays["tets"])
    return [f'"{name}": {made["nodes"]} nodes, {made["tets"]} tetrahedra', *made["notes"]]


def preview_field(obj: bpy.types.Object, scene: bpy.types.Scene, field: str, wait: float) -> Doing[list[str]]:
    """Show the lines of fibers, or a surface in the colours of a parameter: `OnWorker.work`.

    field: "fibers" or the parameter's key. Raises BadInput where the body has none.
    """
    uid, name = obj.session_uid, obj.name
    if field == FIBERS and obj.conjac.fiber_material == "none":
        raise BadInput("it has no fibers", "Choose fibers first", name)
    if field != FIBERS and field not in fields_in_use(obj.conjac):
        raise BadInput(f"its material has no {painted_params()[field].label}", "Choose another map", name)
    with still.still_job(obj) as job:
        made = yield from still.run(obj, scene, job, ["fields"], wait)
        arrays, matrix = _arrays(made["path"], name), still.to_object(job)
    owner = identity.still_there(bpy.data.objects, uid)
    notes = [*made["gathered"], *(f'"{name}": {note}' for note in made["notes"])]
    if owner is None:
        return notes
    if field == FIBERS:
        previews.show_fibers(owner, arrays["nodes"], arrays["tets"], arrays["fibers"], matrix)
        return notes
    param, values = painted_params()[field], arrays[field]
    nodes = previews.transformed(arrays["nodes"], matrix)
    previews.show_field(owner, param, nodes, arrays["faces"], values[arrays["face_tets"]])
    title, low, high = dials.on_a_legend(param, float(values.min()), float(values.max()))
    return [*notes, f'"{name}": {title} from {low} (dark) to {high} (bright)']


def _arrays(path: str, name: str) -> "dict[str, NDArray[Any]]":
    try:
        return files.read_npz(Path(path))
    except (OSError, files.Unreadable) as error:
        raise Environment(f"the solver's result cannot be read ({error})", "Try again", name) from error
