"""Checks that all kinds of fields share: choices of the catalogue, limits of numbers, shapes of arrays.

`where` is the path of the field in scene.json, for messages.
"""

from __future__ import annotations

from typing import Any

import msgspec
from numpy.typing import NDArray

from .. import catalogue
from . import schema, schema_values
from .folder import FARTHEST, Job, parameters, parts, refuse

MOST = 20_000_000  #: rows of an array whose length is free: as many tetrahedra need 100 GB


def check_vector(vector: schema_values.Vector, where: str) -> None:
    """Check that no component of a vector is beyond `FARTHEST`. Raises BadScene. where: its path in scene.json."""
    if not all(abs(value) <= FARTHEST for value in vector):
        raise refuse(f"{max(vector, key=abs):g} is beyond {FARTHEST:g}", where)


def check_numbers(part: Any, where: str, is_entry: bool = False) -> None:
    """Check that all numbers of a struct, list or mapping are small and large enough to multiply. Raises BadScene.

    where: path of `part` in scene.json. is_entry: whether `part` is an entry of a vector or matrix, which may be as
    close to 0 as rounding leaves it.
    """
    if isinstance(part, float):
        if not (part == 0.0 or (is_entry and abs(part) < 1.0) or 1 / FARTHEST <= abs(part) <= FARTHEST):
            raise refuse(f"{part:g} is {'closer to 0 than' if abs(part) < 1 else 'beyond'} what can be computed with",
                         where, f"Use a number between {1 / FARTHEST:g} and {FARTHEST:g}")
    elif isinstance(part, msgspec.Struct):
        for name in part.__struct_fields__:
            check_numbers(getattr(part, name), f"{where}.{name}")
    elif isinstance(part, dict):
        for name, value in part.items():
            check_numbers(value, f"{where}.{name}")
    elif isinstance(part, list):
        for i, value in enumerate(part):
            check_numbers(value, f"{where}[{i}]", is_entry=True)
    elif isinstance(part, tuple):
        for value in part:
            check_numbers(value, where, is_entry=True)


def check_choice(family: str, choice: schema_values.Choice, where: str) -> None:
    """Check that a choice is an entry of a family of the catalogue and that its parameters are known and in range.
    Raises BadScene. where: path of the choice in scene.json."""
    known = catalogue.family(family)
    if choice.kind not in known:
        raise refuse(f'there is no {family.replace("_", " ")} "{choice.kind}"', f"{where}.kind",
                     f"Use one of {', '.join(known)}" if known else "There is none yet")
    params = {param.key: param for param in known[choice.kind].params}
    for key, value in choice.params.items():
        path = f"{where}.params.{key}"
        if key not in params:
            raise refuse(f'{family} "{choice.kind}" has no parameter "{key}"', path,
                         f"It has {', '.join(params) or 'none'}")
        if isinstance(value, bool) != isinstance(params[key].default, bool):
            expected = "true or false" if isinstance(params[key].default, bool) else "a number"
            raise refuse(f"{params[key].label} is {expected}", path)
        check_limits(params[key], value, path)


def check_limits(param: catalogue.Param, value: float | bool, where: str) -> None:
    """Check that a value is within the limits of a parameter, and whole where that is a whole number. Raises BadScene.
    where: path of the value in scene.json."""
    if isinstance(value, bool):
        return
    if isinstance(param.default, int) and not float(value).is_integer():
        raise refuse(f"{param.label} is a whole number, not {value:g}", where)
    unit = f" {param.unit}" if param.unit else ""
    if param.low is not None and value < param.low:
        raise refuse(f"{param.label} is {value:g} and cannot be below {param.low:g}{unit}", where)
    if param.high is not None and value > param.high:
        raise refuse(f"{param.label} is {value:g} and cannot be above {param.high:g}{unit}", where)


def check_weights(job: Job, name: str, where: str, vertices: int) -> None:
    """Check that an array of the job has a weight in [0, 1] for each of `vertices` vertices. Raises BadScene,
    NoSuchThing. where: path of the field that names the array."""
    if not vertices:
        raise refuse("weights need the surface that they were painted on", where)
    array = check_array(job, name, where, "f", (vertices,))
    if array.min() < -1e-6 or array.max() > 1 + 1e-6:
        raise refuse(f"weights lie in [0, 1]; these reach from {array.min():g} to {array.max():g}", where)


def check_indices(array: NDArray[Any], count: int, where: str, items: str) -> None:
    """Check that indices are in [0, count). Raises BadScene. items: plural for the message, such as "nodes"."""
    for part in parts(array):
        if part.size and (part.min() < 0 or part.max() >= count):
            raise refuse(f"an index does not fit the {count} {items}", where)


def check_array(job: Job, name: str, where: str, kind: str, shape: tuple[int | None, ...]) -> NDArray[Any]:
    """Return an array of the job after checking its type and shape. Raises BadScene, NoSuchThing.

    name: path of its file in the job folder. where: path of the field that names it. kind: "f" for float64, "i" for
    int32. shape: expected lengths; None permits any length.
    """
    # checked before the array is read: one that does not fit may be of any size
    actual, lengths = job.describe_array(name, where)
    if actual not in "fi":
        raise refuse(f'"{name}" does not hold plain numbers', where)
    if actual != kind:
        raise refuse(f'"{name}" holds {"whole numbers" if kind == "f" else "fractions"}, '
                     f'not {"float64" if kind == "f" else "int32"}', where)
    if not (len(lengths) == len(shape)
            and all(expected in (None, length) for expected, length in zip(shape, lengths))):
        text = ", ".join("any" if length is None else str(length) for length in shape)
        raise refuse(f'"{name}" has shape {lengths} and should have ({text})', where)
    if lengths and lengths[0] > MOST and shape[0] is None:
        raise refuse(f'"{name}" has {lengths[0]} rows; {MOST} is the most that can be baked', where,
                     "Use a coarser mesh")
    return job.array(name, where)


def check_joined_methods(scene: schema.Scene, names: list[str], where: str) -> None:
    """Check that soft bodies of different methods have no settings that prevent a force between them. Raises BadScene.

    names: the soft bodies that a force or constraint joins. where: path of the field that names them.
    """
    bodies = [body for body in scene.bodies if body.name in names]
    methods = [scene.method_of(body) for body in bodies]
    if all((method.kind, parameters("method", method)) == (methods[0].kind, parameters("method", methods[0]))
           for method in methods):
        return
    check_one_damping(scene, bodies, "are joined by a force")
    named, same = " and ".join(f'"{body.name}"' for body in bodies), "Give all the same method and settings"
    integrator = catalogue.find("integrator", scene.integrator.kind)
    if not integrator.able("contact"):
        raise refuse(f"{named} have different methods, and {integrator.label} does not solve its stages where a force "
                     "joins these", where, same)
    joined = scene.find_joined_bodies(bodies[0].name)
    hanging = next((body.name for body in scene.bodies if body.name in joined and body.attach), None)
    if hanging is not None:
        raise refuse(f'{named} have different methods, and "{hanging}", which forces join to them, is attached to '
                     "bones", where,
                     same)


def check_one_damping(scene: schema.Scene, bodies: list[schema.Body], do: str) -> None:
    """Check that soft bodies in one linearised step have equal Damping, since they share a matrix. Raises BadScene.

    do: verb phrase of the message that says why the bodies are solved together.
    """
    integrator = catalogue.find("integrator", scene.integrator.kind)
    if not integrator.able("beta"):
        return
    bodies = [body for body in bodies if not catalogue.find("method", scene.method_of(body).kind).able("draft")]
    betas = [parameters("method", scene.method_of(body))["beta"] for body in bodies]
    for body, beta in zip(bodies, betas):
        if beta != betas[0]:
            raise refuse(f'"{bodies[0].name}" and "{body.name}" {do} and have a Damping of {betas[0]:g} and {beta:g}, '
                         f"and {integrator.label} takes one step of both",
                         f"$.bodies[{scene.bodies.index(body)}].method",
                         "Give both the same Damping, or use SDIRK2, which needs none")
