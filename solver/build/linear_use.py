"""The use that a scene makes of its linear solver, as far as it was measured which one is quickest for it."""

from __future__ import annotations

from .. import catalogue
from ..job.folder import Job
from .fields import Prepared


def linear_use(job: Job, prepared: list[Prepared], rides: bool, has_rows: bool) -> str | None:
    """A key of the table in `linear.quickest`, or None where no such scene was measured: where several methods meet,
    or pairs, friction, bones, forces or constraints share the factor, or what is solved is no whole solid.

    rides: whether nodes ride on rigid bodies. has_rows: whether constraints have rows.
    """
    scene = job.scene
    methods = {scene.method_of(one.body).kind for one in prepared}
    if rides or scene.contact is not None or scene.ground is not None or scene.forces or has_rows:
        return None
    if len(methods) != 1 or any(one.body.rope is not None or one.body.cloth is not None or one.body.is_reshaped
                                for one in prepared):
        return None
    solved = catalogue.find("integrator", scene.integrator.kind).able("iterates")
    return f"{methods.pop()} {scene.stage_solver.kind if solved else 'linearised'}"
