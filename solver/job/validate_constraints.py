"""Validation of constraints between points: two ends, at least one of which can move, and their points."""

from __future__ import annotations

import math

import numpy as np

from .. import catalogue
from . import schema
from .expect import check_array, check_choice, check_indices, check_joined_methods, check_vector
from .folder import Job, refuse
from .kinds import kind_of
from .schema_constraints import Constraint, ConstraintEnd


def check_constraints(job: Job) -> None:
    """Check the constraints of a scene. Raises BadScene, NoSuchThing."""
    for i, constraint in enumerate(job.scene.constraints):
        _check_constraint(job, constraint, f"$.constraints[{i}]")


def name_constraint(one: Constraint) -> str:
    """Return the noun phrase that denotes a constraint in messages."""
    label = catalogue.find("constraint", one.kind.kind).label
    return f'the {label} constraint "{one.name}"' if one.name else f"a {label} constraint"


def _check_constraint(job: Job, one: Constraint, where: str) -> None:
    """Check a constraint between two points of bodies. Raises BadScene."""
    check_choice("constraint", one.kind, f"{where}.kind")
    scene, entry, subject = job.scene, catalogue.find("constraint", one.kind.kind), name_constraint(one)
    if len(one.ends) != 2:
        raise refuse(f"{subject} has {len(one.ends)} ends, and joins two", f"{where}.ends", "Give it two")
    for k, end in enumerate(one.ends):
        _check_end(job, end, f"{where}.ends[{k}]", subject)
        if end.point is None and (k == 0 or "point" in entry.reads):
            raise refuse(f"{subject} has no points where it holds", f"{where}.ends[{k}].point", "Give it a point")
    if all(end.vertices is not None for end in one.ends):
        raise refuse(f"{subject} joins two objects that are both animated", f"{where}.ends",
                     "Join one of them to a soft body, cloth or rope")
    if all(end.mechanism for end in one.ends) or (one.ends[0].mechanism or one.ends[1].mechanism) and not (
            one.ends[0].body in _list_soft(scene) or one.ends[1].body in _list_soft(scene)):
        raise refuse(f"{subject} joins no soft body, cloth or rope", f"{where}.ends",
                     "Join rigid bodies by joints and loops of their mechanism")
    if "axis" in entry.reads:
        if one.axis is None or not math.hypot(*one.axis) > 0.0:
            raise refuse(f"{subject} has an axis of no length, so it has no direction to turn about", f"{where}.axis",
                         "Make it as long as the hinge")
        check_vector(one.axis, f"{where}.axis")
    for name in ("length", "compliance", "strength"):
        value = getattr(one, name)
        if isinstance(value, str):
            array = check_array(job, value, f"{where}.{name}", "f", (job.samples,))
            low, high = (0.0, np.inf) if name != "strength" else (0.0, 1.0)
            if array.min() < low or array.max() > high or (name == "length" and array.min() <= 0.0):
                raise refuse(f"the {name} of {subject} reaches from {array.min():g} to {array.max():g}",
                             f"{where}.{name}",
                             "Keep it in [0, 1]" if name == "strength" else "Keep it above 0")
    hard = not isinstance(one.compliance, str) and one.compliance == 0.0
    hard = hard or isinstance(one.compliance, str) and float(job.array(one.compliance).min()) == 0.0
    integrator = catalogue.find("integrator", scene.integrator.kind)
    if hard and not integrator.able("iterates"):
        works = [integrator.label for integrator in catalogue.able("integrator", "iterates")]
        raise refuse(f"{subject} is hard, and {integrator.label} linearises its steps, so that it would not hold",
                     "$.integrator.kind", f"Use {', '.join(works[:-1])} or {works[-1]}, or make it soft")
    check_joined_methods(scene, [end.body for end in one.ends if end.body in _list_soft(scene)], f"{where}.ends")


def _check_end(job: Job, end: ConstraintEnd, where: str, subject: str) -> None:
    """Check an end of a constraint. subject: the constraint, for messages. Raises BadScene."""
    scene = job.scene
    if bool(end.body) == (end.vertices is not None):
        raise refuse(f"an end of {subject} has to be a body or the vertices of an object", where, "Give it one of them")
    if end.point is not None:
        check_vector(end.point, f"{where}.point")
    if end.mechanism:
        mechanism = next((candidate for candidate in scene.mechanisms if candidate.name == end.mechanism), None)
        if mechanism is None or all(body.name != end.body for body in mechanism.bodies):
            raise refuse(f'{subject} holds "{end.body}" of "{end.mechanism}", which the scene does not have',
                         f"{where}.body", "Name a rigid body of a mechanism")
    elif end.body:
        if end.body not in _list_soft(scene):
            raise refuse(f'{subject} holds "{end.body}", which is no soft body of the scene', f"{where}.body",
                         f"Use {', '.join(_list_soft(scene)) or 'a soft body'}")
        body = next(body for body in scene.bodies if body.name == end.body)
        kind = kind_of(body)
        if kind.is_remeshed:
            raise refuse(f'{subject} holds "{end.body}", {kind.noun}, which is remeshed as it moves',
                         f"{where}.body", 'Name another body, or ' + kind.remedy.format(body=f'"{end.body}"'))
    if end.vertices is not None:
        count = len(check_array(job, end.vertices, f"{where}.vertices", "f", (None, 3)))
        for name, width in (("edges", 2), ("triangles", 3)):
            if getattr(end, name) is not None:
                check_indices(check_array(job, getattr(end, name), f"{where}.{name}", "i", (None, width)), count,
                              f"{where}.{name}", "vertices")
        if end.motion is not None:
            check_array(job, end.motion, f"{where}.motion", "f", (job.samples, count, 3))


def _list_soft(scene: schema.Scene) -> list[str]:
    return [body.name for body in scene.bodies]
