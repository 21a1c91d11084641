"""Settings of a whole bake and of soft bodies, cloth and ropes, each declared once; and the list of all that are
declared. They are written into scene.json in this order, and those of one part of a panel are drawn in it.

All that is baked together has time, gravity and ground of the object that leads; steps are the shortest of all.
Blender's start reads this file and needs nothing of `members`, so each question is asked in a function.
"""

from __future__ import annotations

from typing import Any

import bpy

from ..solver import catalogue
from ..solver.catalogue import Param
from . import changes, contact, entries, first_solvers, members, parts, timeline
from .declared import (
    BOOL,
    FLOAT,
    INT,
    NONE,
    OWN_SOLVER,
    SCENE,
    SEVERAL,
    UNWRITTEN,
    JobField,
    Reading,
)
from .entry_properties import OVERRIDABLE, menu
from .menus import item

#: cloth's numbers that are not in its first part of the panel
CLOTH_PARTS = {"drag": "air", "air_friction": "air", "pressure": "pressure", "length_limit": "limits",
               "area_limit": "limits", "seam_stiffness": "seams", "seam_time": "seams"}


def _moved(reading: Reading) -> list[bpy.types.Object]:
    """Return the objects whose solver settings apply to the whole bake: the bodies, or only the mechanism."""
    obj = reading.obj
    return [obj] if members.is_mechanism(obj) else members.soft_bodies(obj, reading.scene)


def _of_each(reading: Reading, name: str) -> list[Any]:
    """Return a setting of the solver of each of them in SI."""
    return [reading.of(body, body.conjac.solver).number(name) for body in _moved(reading)]


def _shortest_step(reading: Reading) -> float:
    """Return the shortest of all steps, a whole fraction of a frame where it was meant to be one [s]."""
    return timeline.whole_steps(min(_of_each(reading, "step")), timeline.frame_rate(reading.scene))


def _least_deformation(reading: Reading) -> float:
    """Return the smallest of the limits on an edge's change per step; 0 without limits."""
    return min(filter(None, _of_each(reading, "largest_deformation")), default=0.0)


def _shared_choice(family: str) -> Any:
    """Return a function that reads the choice by which all move that touch each other."""
    def value(reading: Reading) -> dict[str, Any]:
        return reading.choice(family, first_solvers.shared(reading.obj, _moved(reading))[family])
    return value


def _gravity(reading: Reading) -> list[float]:
    """Return gravity [m/s²], (3,): Blender shows it in that unit, its number times the unit scale."""
    if not reading.scene.use_gravity:
        return [0.0, 0.0, 0.0]
    return [reading.shortest(component) * reading.unit_scale for component in reading.scene.gravity]


def _moves_by(obj: bpy.types.Object) -> Any:
    """Return the settings by whose steps an object moves while it touches nothing: its own, or those of its bake."""
    is_led = members.is_soft_body(obj) and members.is_mechanism(members.owner(obj))
    return members.shared_settings(obj) if is_led and not first_solvers.has_its_own(obj) else obj.conjac


def _shared(obj: bpy.types.Object) -> Any:
    return members.shared_settings(obj)


def _has_plain_stiffness(obj: bpy.types.Object) -> bool:
    return not members.shared_settings(obj).ground_stiffness_per_area or not members.is_soft_body(obj)


def _is_volume(obj: bpy.types.Object) -> bool:
    """Whether an object is baked as a volume: one that is nothing yet is looked at as that, too."""
    return not (members.is_cloth(obj) or members.is_rope(obj))


def _has_fibers(obj: bpy.types.Object) -> bool:
    return _is_volume(obj) and obj.conjac.fiber_material != NONE


def _is_cloth(obj: bpy.types.Object) -> bool:
    return members.is_cloth(obj)


def _is_sharp(obj: bpy.types.Object) -> bool:
    return members.is_sharp(obj)


def _is_rope(obj: bpy.types.Object) -> bool:
    return members.is_rope(obj)


def _keeps_its_mesh(obj: bpy.types.Object) -> bool:
    """Whether each frame has the same vertices: of all but cloth with Sharp Edges."""
    return not members.is_sharp(obj)


def _is_pinned_softly(obj: bpy.types.Object) -> bool:
    """Whether it has soft pins, or may have: their paint may be made on the way."""
    group = obj.conjac.pin_group
    return members.has_soft_pins(obj) and (
        group in obj.vertex_groups or group in obj.data.attributes  # type: ignore[union-attr]
        or any(modifier.type == "NODES" for modifier in obj.modifiers))


def _fiber_material(reading: Reading) -> Any:
    """Return the choice of fibers, without their activation if samples over time replace it."""
    made = reading.choice("fiber_material")
    if reading.may_be_animated:
        made["params"].pop(catalogue.ACTIVATION.key, None)
    return made


def _number(param: Param, place: str, prefix: str = "", **words: Any) -> JobField:
    """Declare a catalogue number that belongs to a part of a body, without the prefix of its key."""
    return JobField(f"{place}{param.key.removeprefix(prefix)}", param=param, **words)


TIME = [
    JobField("time.start", INT(
        name="Start", description="First frame, where the body still has its own shape", default=1,
        override=OVERRIDABLE), property_name="frame_start", of=SCENE, reads=("use_scene_range",), called="Start",
        value=lambda reading: reading.frames[0]),
    JobField("time.end", INT(
        name="End", description="Last frame that is baked", default=72, override=OVERRIDABLE),
        property_name="frame_end", of=SCENE, reads=("use_scene_range",), value=lambda reading: reading.frames[1]),
    JobField("time.fps", of=SCENE, called="Frame Rate", value=lambda reading: timeline.frame_rate(reading.scene)),
    JobField("time.samples_per_frame", INT(
        name="Samples per Frame", description="Samples of the animation of pins and ground in each frame",
        default=2, min=1, max=16, override=OVERRIDABLE), "samples", of=SCENE, whose=_shared, always=True),
    JobField("time.step", FLOAT(
        name="Time Step", description="Longest step of the simulation; a frame holds a whole number of steps",
        default=1.0 / 120.0, min=1.0e-6, max=1.0, soft_min=1.0e-3, soft_max=0.1, precision=5, unit="TIME_ABSOLUTE",
        override=OVERRIDABLE), "step", "solver", of=SCENE, whose=_moves_by, value=_shortest_step),
    JobField("time.tolerance", FLOAT(
        name="Accuracy", description="Shorten steps until the error of each is below this share of the body's size: "
        "0.001 is fine, 0.0001 exact; 0 makes every step as long as Time Step",
        default=0.0, min=0.0, max=1.0, soft_max=0.01, precision=5, override=OVERRIDABLE),
        "accuracy", "solver", "accuracy", of=SCENE, whose=_shared, always=True),
    JobField("time.largest_deformation", FLOAT(
        name="Largest Deformation", description="Halve steps that change an edge of the body by more than this share "
        "of its length, rotation included unless it is cloth; 0 accepts every step",
        default=0.5, min=0.0, soft_max=1.0, precision=2, override=OVERRIDABLE),
        "largest deformation", "solver", of=SCENE, whose=_moves_by, value=_least_deformation),
]

SOLVER = [
    JobField("method", of=SCENE, family="method"),
    JobField("integrator", of=SCENE, family="integrator", value=_shared_choice("integrator")),
    JobField("stage_solver", of=SCENE, family="stage_solver", value=_shared_choice("stage_solver")),
    JobField("linear_solver", menu(
        "linear_solver", "Linear Solver", "Which library factors the matrix of each step", "auto",
        (item("auto", "Automatic", "The faster one according to measurements; multigrid for very large meshes", 0),)),
        "linear solver", "solver", of=SCENE, whose=_shared, always=True),
    JobField("gravity", of=SCENE, value=_gravity),
    JobField("method", family="method", when=SEVERAL),
    # of a body that touches others, while it touches none that moves otherwise
    JobField("integrator", family="integrator", when=OWN_SOLVER),
    JobField("stage_solver", family="stage_solver", when=OWN_SOLVER),
    JobField("step", group="solver", when=OWN_SOLVER,
             value=lambda reading: timeline.whole_steps(reading.number("step"), timeline.frame_rate(reading.scene))),
    JobField("largest_deformation", group="solver", when=OWN_SOLVER, always=True),
]

GROUND = [
    JobField("ground.stiffness", FLOAT(
        name="Stiffness", description="Stiffness of the ground at each node, in N/m",
        default=1.0e3, precision=1, min=1.0e-6, soft_min=1.0, soft_max=1.0e6, override=OVERRIDABLE),
        "ground", property_name="ground_stiffness", of=SCENE, needs="use_ground", whose=_shared, always=True,
        shows=_has_plain_stiffness),
    JobField("ground.tangential_share", FLOAT(
        name="Tangential Share", description="Share of the stiffness along the ground, which slows contacts under any "
        "load; 0.1 in the ConJac paper", default=0.0, min=0.0, max=1.0, override=OVERRIDABLE),
        "ground", property_name="ground_tangential_share", of=SCENE, needs="use_ground", whose=_shared, always=True),
    JobField("ground.stiffness_per_area", FLOAT(
        name="Stiffness per Area", description="Stiffness of the ground for each square meter of skin, in N/m³: a "
        "body sinks equally deep with any mesh. 0 uses Stiffness, which is per node",
        default=0.0, precision=1, min=0.0, soft_max=1.0e8, override=OVERRIDABLE),
        "ground on skin", property_name="ground_stiffness_per_area", of=SCENE, needs="use_ground", whose=_shared,
        shows=lambda obj: members.is_soft_body(obj)),
    JobField("ground.friction", of=SCENE, family="friction", needs="use_ground"),
]

CLOTH = [
    *(JobField(f"cloth.{family}", family=family, suits=_is_cloth) for family in ("membrane", "bending")),
    *(_number(param, "cloth.", fold=CLOTH_PARTS.get(param.key, "cloth"), suits=_is_cloth, always=True,
              grey_without="use_sewing" if param.key.startswith("seam_") else "") for param in catalogue.CLOTH_NUMBERS),
    *(_number(param, "cloth.eulerian.", "sharp_", suits=_is_sharp, always=True) for param in catalogue.SHARP_NUMBERS),
    *(_number(param, "cloth.eulerian.", "sharp_", suits=_is_sharp, needs=param.needs, always=bool(param.needs),
              grey="Own Edge Friction or Sharp Edges is off" if param.needs else "")
      for param in catalogue.SHARP_OPTIONS if param.key not in {option.needs for option in catalogue.SHARP_OPTIONS}),
]

ROPE = [
    JobField("rope.length", family="rope", suits=_is_rope),
    *(_number(param, "rope.", "rope_", fold="rope", suits=_is_rope, always=True, keyed=param.key == "rope_twist")
      for param in catalogue.ROPE_NUMBERS),
]

VOLUME = [
    *(JobField(family, family=family, suits=_is_volume) for family in ("mesher", "material", "carry")),
    JobField("density", fold="density", param=catalogue.DENSITY, suits=_is_volume, always=True),
    JobField("fiber_material", family="fiber_material", suits=_has_fibers, value=_fiber_material),
    JobField("fiber_field", family="fiber_field", suits=_has_fibers, reads=("fiber_material",)),
    JobField("spot", family="spot", suits=_is_volume),
]

ANY = [
    JobField("wobble_half_life", fold="half-life", param=catalogue.WOBBLE_HALF_LIFE, keyed=True, suits=_keeps_its_mesh,
             shows=lambda obj: members.is_soft_body(obj)),
    JobField("pin.stiffness", param=catalogue.PIN_STIFFNESS, keyed=True, always=True, suits=_is_pinned_softly,
             reads=("soft_pins",)),
    JobField("follow.share", FLOAT(
        name="Follow", description="Share of that object's motion that carries the body along, can be animated: at 0 "
        "all of it acts on the body as inertia, at 100 nothing, as if the object stood still", default=100.0, min=0.0,
        max=100.0, precision=0, subtype="PERCENTAGE", override=OVERRIDABLE),
        property_name="follow_share", keyed=True,
        suits=lambda obj: _keeps_its_mesh(obj) and obj.conjac.follow_object is not None,
        value=lambda reading: round(reading.holder.follow_share / 100.0, 6) or UNWRITTEN),
    JobField("stress_output", BOOL(
        name="Stress Output", description="Keep stress, stretch, pressure and speed of each vertex, which can be shown "
        "as colors and read by shaders", default=False, update=changes.note, override=OVERRIDABLE),
        "output", suits=lambda obj: members.is_soft_body(obj) and not members.is_sharp(obj)),
]

#: those of bodies: material and shape first
BODIES = [JobField("damping", family="damping"), *CLOTH, *ROPE, *VOLUME, *ANY]

FIELDS: list[JobField] = [*TIME, *SOLVER, *GROUND, *BODIES, *contact.FIELDS, *parts.FIELDS, *entries.FIELDS]
