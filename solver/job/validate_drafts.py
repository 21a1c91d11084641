"""Validation of bodies whose method is a draft on a subspace."""

from __future__ import annotations

from .. import catalogue
from . import schema
from .folder import refuse
from .kinds import kind_of

OTHER = "Remove that, or use the method Vanilla FEM for this body"


def check_drafts(scene: schema.Scene) -> None:
    """Check that bodies whose method is a draft have no settings that it does not support. Raises BadScene."""
    for i, body in enumerate(scene.bodies):
        method = catalogue.find("method", scene.method_of(body).kind)
        if not method.able("draft"):
            continue
        where, label = f"$.bodies[{i}]", method.label
        if method.steps and scene.integrator.kind not in method.steps:
            own = catalogue.find("integrator", scene.integrator.kind).label
            raise refuse(f"{label} cannot be stepped by {own}", "$.integrator.kind",
                         f"Use {catalogue.name_integrators(method)}")
        others = _not_touched(scene, body)
        moved = [attachment.body for attachment in body.attach
                 if getattr(scene.holder_of(attachment), "motion", None) is None]
        for is_unsupported, what, field in (
                *((True, what, field) for what, field in kind_of(body).draft_conflicts(method)),
                (bool(others), f'it touches {_name_touched(method)}, and not "{others[0] if others else ""}"',
                 "touches"),
                (bool(moved), f'it hangs on "{moved[0] if moved else ""}", which is simulated and would have '
                 "to react", "attach"),
                (body.is_reshaped, "it cannot be cut, nailed or released from its pins", "method"),
                (body.follow is not None, "it cannot follow an object", "follow"),
                (body.pins_yield, "its pins cannot yield", "pins_yield"),
                (any(body.name in names for names in scene.joins()), "no force or constraint can act on it",
                 "method")):
            if is_unsupported:
                raise refuse(f'"{body.name}" is drafted by {label}: {what}', f"{where}.{field}", OTHER)


def _name_touched(method: catalogue.Entry) -> str:
    """Return a noun phrase with the kinds of objects that bodies of a draft can touch."""
    if method.able("drafts together"):
        return f"the ground, colliders and what else moves by {method.label}"
    if method.able("touches bodies"):
        return "the ground, colliders, soft bodies and mechanisms"
    return "the ground and colliders"


def _not_touched(scene: schema.Scene, body: schema.Body) -> list[str]:
    """Return names of bodies and mechanisms that touch a body by its settings but not by the method of its draft."""
    if scene.contact is None:
        return []
    method = catalogue.find("method", scene.method_of(body).kind)
    staggered = method.able("touches bodies")

    def is_touched(one: schema.Body) -> bool:
        other = catalogue.find("method", scene.method_of(one).kind)
        if staggered:
            return not (other.able("draft") or kind_of(one).steps_by_itself)
        return method.able("drafts together") and other.key == method.key

    soft = [another.name for another in scene.bodies if another is not body
            and (another.touches is None or body.name in another.touches) and not is_touched(another)]
    names = [*soft, *(mechanism.name for mechanism in scene.mechanisms if not staggered)]
    return [name for name in names if body.touches is None or name in body.touches]
