"""Kinds of scenes for which it was measured which linear solver is quickest."""

from __future__ import annotations

from .. import catalogue
from ..job.folder import Job
from .fields import Prepared


def linear_use(job: Job, prepared: list[Prepared], is_attached: bool, has_rows: bool) -> str | None:
    """Return the key of a scene in the table of `linear.quickest`; None where no scene of its kind was measured: with
    several methods, contact, ground, forces, constraints with rows, nodes on rigid bodies, cloth, ropes, cuts or nails.

    is_attached: whether nodes are attached to rigid bodies. has_rows: whether constraints have rows.
    """
    scene = job.scene
    methods = {scene.method_of(prepared_body.body).kind for prepared_body in prepared}
    if is_attached or scene.contact is not None or scene.ground is not None or scene.forces or has_rows:
        return None
    if len(methods) != 1 or any(not prepared_body.kind.is_filled or prepared_body.body.is_reshaped
                                for prepared_body in prepared):
        return None
    solved = catalogue.find("integrator", scene.integrator.kind).able("iterates")
    return f"{methods.pop()} {scene.stage_solver.kind if solved else 'linearised'}"
