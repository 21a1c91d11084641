"""First settings of a new soft body: the solver that keeps most of its motion for its price, a stiffness and a ground
that fit its size; and those of new cloth. Nothing that was set already is changed."""

from __future__ import annotations

from typing import Any

import bpy
import numpy as np
from mathutils import Vector

from ...solver import catalogue
from .. import kinds, members
from ..first_solvers import CLOTH_SOLVER, ROPE_SOLVER, SOLVER
from ..gather.cloth import seams
from ..gather.loose import any_apart
from ..settings import painted_default, unit_scale
from . import by_mesh
from .fineness import BOX_EDGES, edges, evaluated_mesh, filled_box, within_budget
from .remedies import lowest

FOLDS = 20.0  #: of a cloth's diagonal: how many edges it has that bends over each by its weight, at least

#: what new cloth stretches by before its threads are straight: cotton of 1000 N/m alone would let a man through
STRETCH_LIMIT = 0.1

SPOT = "turn"  #: how dynamic spots move once the method is ConJac: means alone know nothing of what twists
FRICTION = 0.5
GRAVITY = 9.81  #: [m/s²]
WATER = 1000.0  #: [kg/m³]: of what a ground bears that is as stiff for soft bodies that come later
WOBBLE = 2.5  #: of the slowest wobble of a block that lies free [Hz]
SLOWEST = 0.3  #: that wobble times its length over the speed of waves √(E/ρ)
#: share of its height by which a block on the ground is squeezed by its weight, at most: what is softer splashes
SAG = 0.06
LAYER = 0.147  #: slowest wobble of a layer that something holds from within, times its depth over √(E/ρ)
HANGS = 0.15  #: largest sag of such a layer from its support, relative to its depth
#: share of its height by which a block that is heavy all over sinks into the ground: what lands goes ten times as deep
#: and more. Were it half of that bodies of 20 cm that fall from 1 m would turn by degrees, docs/ground.md
SINK = 0.0003
GIVES = 6.0  #: 24 π (1 - ν) G r / (5 - 6 ν) over E r, of a stiff ball in an elastic body where ν is 0.45
WELD_FIRM = 10.0  #: stiffness of a weld relative to that of an edge of the body
HALF_LIFE = 0.75  #: of what wobbles [s]
TIED = 1.0e5  #: how firmly the end of a new rope is welded [N/m]


def has_floor(obj: bpy.types.Object, scene: bpy.types.Scene) -> bool:
    """Whether a collider below the whole object extends down to where a ground would be. Without one, the object may
    roll off a narrower collider, such as a bar, or a higher one, such as a table, and fall forever. A ground would hide
    a collider below it.
    """
    corners = [obj.matrix_world @ Vector(corner) for corner in obj.bound_box]
    ground = min(0.0, *(corner.z for corner in corners))
    for collider in members.colliders(obj, scene):
        box = [collider.matrix_world @ Vector(corner) for corner in collider.bound_box]
        covers = all(min(corner[axis] for corner in box) <= min(corner[axis] for corner in corners)
                     and max(corner[axis] for corner in corners) <= max(corner[axis] for corner in box)
                     for axis in range(2))
        if covers and min(corner.z for corner in box) <= ground:
            return True
    return False


def suit(obj: bpy.types.Object, scene: bpy.types.Scene, depth: float | None = None, bodies: int = 1) -> None:
    """Choose settings that the artist has not set. depth: of a body that does not fall, the extent of its soft part
    from its support, in Blender units. bodies: number of objects added at once, which share a budget of nodes."""
    settings, unit = obj.conjac, unit_scale(scene)
    _choose(settings.solver, SOLVER)
    if not settings.is_property_set("soft_pins"):
        settings.soft_pins = True
    if not settings.is_property_set("spot"):
        settings.spot = SPOT
    if not settings.is_property_set("suggest_spots"):
        settings.suggest_spots = True  # of ConJac: without any dynamic node nothing of it would swing
    density, sizes = settings.density, [size * unit for size in obj.dimensions]
    if depth is not None:
        stiffen_layer(obj, depth * unit)
    elif max(sizes) > 0.0:
        _stiffen(settings, density * max((WOBBLE * max(sizes) / SLOWEST) ** 2, GRAVITY * sizes[2] / SAG))
    shown = settings.edge_length or within_budget(*filled_box([*obj.dimensions], 0.0), bodies)
    if not settings.is_property_set("edge_length"):
        enough, by_box = edges(obj, bodies)
        if enough != by_box:
            settings.edge_length = float(f"{enough:.2g}")
    if depth is None and not settings.contact.is_property_set("collides_with"):
        settings.contact.collides_with = kinds.ALL
        if not settings.contact.is_property_set("itself"):
            settings.contact.itself = any_apart(evaluated_mesh(obj))
        if not settings.contact.is_property_set("by_mesh") and not len(settings.cuts):
            by_mesh.suit(obj, evaluated_mesh(obj), settings.edge_length or shown, shown)
    if not settings.is_property_set("wobble_half_life"):
        settings.wobble_half_life = HALF_LIFE
    if depth is None and not has_floor(obj, scene):
        stand_on_ground(obj, scene, density)


def _choose(solver: bpy.types.PropertyGroup, values: dict[str, Any]) -> None:
    """Set those values of a solver that the artist has not set."""
    for name, value in values.items():
        if not solver.is_property_set(name):
            setattr(solver, name, value)


def stiffen_layer(obj: bpy.types.Object, depth: float) -> None:
    """The stiffness of flesh that reaches so far [m] from the bones that hold it: it wobbles at 2.5 Hz, or as slowly as
    it may without hanging down by its weight, ρ g d² / 2 G with G = E / 2 (1 + ν)."""
    settings = obj.conjac
    if depth > 0.0:
        weight = GRAVITY * depth * (1.0 + settings.poisson_ratio) / HANGS
        _stiffen(settings, settings.density * max((WOBBLE * depth / LAYER) ** 2, weight))


def _stiffen(settings: bpy.types.PropertyGroup, stiffness: float) -> None:
    """Young's modulus [Pa], and where its map is painted 1, unless they were set."""
    if settings.is_property_set("youngs_modulus"):
        return
    settings.youngs_modulus = float(f"{stiffness:.3g}")  # more digits would suggest an accuracy that is not there
    if not settings.is_property_set("youngs_modulus_high"):
        settings.youngs_modulus_high = painted_default(catalogue.YOUNGS_MODULUS, settings.youngs_modulus)


def stand_on_ground(obj: bpy.types.Object, scene: bpy.types.Scene, density: float) -> None:
    """Add a ground at height zero, or below the lowest object, unless the artist has set the ground. density: of the
    body on it [kg/m³]."""
    settings = obj.conjac
    if settings.is_property_set("use_ground"):
        return
    settings.use_ground = True
    if not settings.is_property_set("ground_height"):
        below = [(collider.matrix_world @ Vector(corner)).z for collider in members.colliders(obj, scene)
                 for corner in collider.bound_box]
        settings.ground_height = min(0.0, lowest(obj, scene), *below)
    if not settings.is_property_set("friction"):
        settings.friction, settings.friction_coefficient = "coulomb", FRICTION
    if not (settings.is_property_set("ground_stiffness") or settings.is_property_set("ground_stiffness_per_area")):
        settings.ground_stiffness_per_area = density * GRAVITY / SINK


def suit_cloth(obj: bpy.types.Object, scene: bpy.types.Scene) -> None:
    """Choose settings of new cloth that the artist has not set."""
    settings, contact = obj.conjac, obj.conjac.contact
    _choose(settings.solver, CLOTH_SOLVER)
    if not settings.is_property_set("wobble_half_life"):
        settings.wobble_half_life = HALF_LIFE
    if not settings.is_property_set("soft_pins"):
        settings.soft_pins = True
    if not settings.is_property_set("stretch_limit"):
        settings.stretch_limit = STRETCH_LIMIT
    if not contact.is_property_set("collides_with"):
        contact.collides_with = kinds.ALL
    if not contact.is_property_set("itself"):
        contact.itself = True
    if not settings.is_property_set("use_sewing"):
        settings.use_sewing = len(seams(evaluated_mesh(obj))) > 0
    if not settings.is_property_set("bending_stiffness"):
        settings.bending_stiffness = max(settings.bending_stiffness, _bends_over_an_edge(obj, scene))
    if not has_floor(obj, scene):
        stand_on_ground(obj, scene, WATER)



def suit_rope(obj: bpy.types.Object) -> None:
    """Choose settings of a new rope that the artist has not set."""
    settings, contact = obj.conjac, obj.conjac.contact
    _choose(settings.solver, ROPE_SOLVER)
    if not settings.is_property_set("soft_pins"):
        settings.soft_pins = True
    if not contact.is_property_set("collides_with"):
        contact.collides_with = kinds.ALL
    if not contact.is_property_set("itself"):
        contact.itself = True


def _bends_over_an_edge(obj: bpy.types.Object, scene: bpy.types.Scene) -> float:
    """Bending stiffness B [N m] of cloth whose weight bends it over the length of its edges, (B / ρ g)^(1/3): what is
    limper folds from one face to the next, into saw teeth, as no mesh has finer folds than its faces."""
    mesh = evaluated_mesh(obj)
    if not mesh.edges:
        return 0.0
    ends, at = np.empty(2 * len(mesh.edges), np.int32), np.empty(3 * len(mesh.vertices), np.float32)
    mesh.edges.foreach_get("vertices", ends)
    mesh.vertices.foreach_get("co", at)
    at = at.reshape(-1, 3) @ np.array(obj.matrix_world.to_3x3(), np.float32).T
    edge = np.linalg.norm(np.diff(at[ends.reshape(-1, 2)], axis=1), axis=2).mean()
    turned = np.array(obj.matrix_world.to_quaternion().to_matrix(), np.float32)
    diagonal = np.linalg.norm(np.ptp(at @ turned, axis=0))  # along its own axes
    length = float(min(edge, diagonal / FOLDS)) * unit_scale(scene)
    return float(f"{obj.conjac.area_density * GRAVITY * length ** 3:.2g}")


def pull_stiffness(obj: bpy.types.Object, radius: float) -> float:
    """Return the stiffness of a pull [N/m] that a body follows.

    A ball of this radius [m], moved inside of a much larger body of the same stiffness, meets a stiffness of about
    GIVES E r. What is pulled by it hangs down by a twentieth of its height.
    """
    settings = obj.conjac
    stiffness = settings.stretch_warp if members.is_cloth(obj) else GIVES * settings.youngs_modulus * radius
    return float(f"{stiffness:.2g}")


def weld_stiffness(obj: bpy.types.Object, scene: bpy.types.Scene) -> float:
    """Return the stiffness of a weld [N/m³] that yields far less than the body: ten times that of an edge of its
    tetrahedra, E / edge, or of a strip of its cloth."""
    settings, size = obj.conjac, max(*obj.dimensions, 1.0e-3) * unit_scale(scene)
    if members.is_rope(obj):  # of each half of a link
        half = 0.5 * size / max(1, len(obj.data.edges))
        return float(f"{TIED / half ** 2:.2g}")
    edge = size / BOX_EDGES
    stiffness = settings.stretch_warp / edge if members.is_cloth(obj) else settings.youngs_modulus
    return float(f"{WELD_FIRM * stiffness / edge:.2g}")
