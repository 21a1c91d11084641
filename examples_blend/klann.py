"""klann.blend: a walker on six Klann linkages, of rigid body objects that Empties join. [Thesis Fig. 3.3]

Bodies, hinges and where they stand are those of `benchmarks/scenes`. Each leg closes two rings, whose hinges are told
so ("Closes Planar Ring"); two cranks are driven along keyframes, and all bearings rub. Frame and cranks are drawn by
bars that hang on the bodies, as are the pins.
"""

from __future__ import annotations

import tempfile
from math import cos, pi, sin
from pathlib import Path
from typing import Any

import bpy
import numpy as np
from mathutils import Vector

from . import stage

FRICTION = 0.2  #: of all bearings
END = 97
RAMP = 12  #: frames until the cranks have their speed
SHEET = (1, 13, 25, 37, 52, 67, 82, 97)

#: half the thickness across its plane, for what each link's name ends with [m]: none of them lies in another's faces
THICK = {"rod": 0.010, "lower rocker": 0.012, "upper rocker": 0.0125, "leg": 0.008}
COLOURS = {"rod": (0.05, 0.30, 0.36), "rocker": (0.42, 0.43, 0.45), "leg": (0.55, 0.24, 0.07),
           "Metal": (0.30, 0.31, 0.33)}
BOX = ((0, 1, 3, 2), (4, 6, 7, 5), (0, 4, 5, 1), (2, 3, 7, 6), (0, 2, 6, 4), (1, 5, 7, 3))


def build(scene: bpy.types.Scene) -> None:
    """The whole scene, ready to bake."""
    from benchmarks.scenes import klann

    stage.prepare(scene, END, 480, 300, ambient=0.35)
    paints = {name: stage.surface(name, colour, 0.4) for name, colour in COLOURS.items()}
    with tempfile.TemporaryDirectory(prefix="conjac-klann-") as name:
        (Path(name) / "arrays").mkdir()
        walker = klann.mechanism(Path(name), FRICTION)
        made = {one["name"]: body(scene, one, Path(name), paints) for one in walker["bodies"]}
    for one in walker["joints"]:
        empty = hinge(scene, one, made[one["child"]], made[one["parent"]])
        if "motor" in one:
            empty.conjac.part.motor = "drive"
            turn(empty, klann.SPEED)
    for one in walker["loops"]:
        hinge(scene, one, made[one["body_a"]], made[one["body_b"]]).conjac.part.planar = True
    draw(scene, walker, made, paints["Metal"])
    bpy.ops.conjac.mechanism_from_rigid_bodies()
    owner = bpy.context.view_layer.objects.active
    settings = owner.conjac
    settings.solver.integrator = "semi_implicit"  # with which the scene's numbers were measured
    settings.use_ground, settings.friction, settings.friction_coefficient = True, "coulomb", klann.FLOOR
    settings.mechanism.contact_friction, settings.mechanism.joint_friction = klann.FLOOR, "bisp"
    settings.step, settings.samples_per_frame = 1.0 / 96.0, klann.SAMPLES
    stage.backdrop(scene, 2.2, 0.0, (0.22, 0.23, 0.25))
    stage.light(scene, "Key", (0.2, -2.4, 2.8), (0.5, 0, 0.1), 120.0, 0.5, (1.0, 0.93, 0.84))
    stage.light(scene, "Rim", (-1.4, 1.6, 1.8), (0.5, 0, 0.2), 50.0, 0.6, (0.80, 0.90, 1.0))
    stage.camera(scene, (1.1, -2.9, 0.85), (0.46, 0.0, 0.17), 52.0)


def body(scene: bpy.types.Scene, one: dict[str, Any], folder: Path,
         paints: dict[str, bpy.types.Material]) -> bpy.types.Object:
    """A rigid body object."""
    name, shape = one["name"], one["shape"]
    half = next((value for end, value in THICK.items() if name.endswith(end)), None)
    if shape["kind"] == "hull":
        hip_a, hip_b, knee_a, knee_b, foot = np.load(folder / one["vertices"])
        corners = [hip_a, hip_b, knee_a, knee_b, foot]
        for at, side in zip(corners, (-1, 1, -1, 1)):
            at[1] = foot[1] + side * half
        faces = [(0, 2, 3, 1), (0, 1, 4), (2, 4, 3), (0, 4, 2), (1, 3, 4)]
    else:
        x, y, z = (0.5 * shape["params"][f"size_{axis}"] for axis in "xyz")
        y = half or y
        corners = [(i * x, j * y, k * z) for i in (-1, 1) for j in (-1, 1) for k in (-1, 1)]
        faces = list(BOX)
    obj = stage.mesh_object(scene, name, [tuple(map(float, at)) for at in corners], faces)
    obj.location = one["position"]
    obj.rotation_mode = "QUATERNION"
    obj.rotation_quaternion = one.get("rotation", (1, 0, 0, 0))
    obj.data.materials.append(next((paint for end, paint in paints.items() if name.endswith(end)), paints["Metal"]))
    bpy.context.view_layer.objects.active = obj
    bpy.ops.rigidbody.object_add(type="ACTIVE")
    obj.rigid_body.collision_shape = "CONVEX_HULL" if shape["kind"] == "hull" else "BOX"
    obj.rigid_body.mass = one["mass"]
    if half is None:  # the frame and its cranks are drawn by bars
        obj.display_type, obj.hide_render = "WIRE", True
    return obj


def hinge(scene: bpy.types.Scene, one: dict[str, Any], a: bpy.types.Object, b: bpy.types.Object) -> bpy.types.Object:
    """An Empty that joins two bodies, its Z the axis."""
    empty = bpy.data.objects.new(one["name"], None)
    empty.empty_display_type, empty.empty_display_size = "SINGLE_ARROW", 0.06
    empty.location, empty.rotation_mode = one["position"], "QUATERNION"
    empty.rotation_quaternion = one["rotation"]
    scene.collection.objects.link(empty)
    bpy.context.view_layer.objects.active = empty
    bpy.ops.rigidbody.constraint_add(type="HINGE")
    empty.rigid_body_constraint.object1, empty.rigid_body_constraint.object2 = a, b
    part, rubs = empty.conjac.part, one["friction"]
    part.friction, part.bearing_radius, part.bearing_length = rubs["mu"], rubs["radius"], rubs["length"]
    return empty


def turn(empty: bpy.types.Object, speed: float) -> None:
    """Keyframes of a crank: a speed [rad/s] that rises evenly over `RAMP` frames and then stays."""
    reached = 0.5 * speed * RAMP / stage.FPS
    angles = {1: 0.0, 1 + RAMP: reached, END: reached + speed * (END - 1 - RAMP) / stage.FPS}
    stage.key(empty, "conjac_motor_target", angles)
    from conjac.conjac_addon import compat

    curve, = compat.fcurves(empty)
    first, second, _ = curve.keyframe_points
    second.interpolation = "LINEAR"
    first.handle_right_type = second.handle_left_type = "FREE"
    # a parabola
    first.handle_right = (1 + RAMP / 3, 0.0)
    second.handle_left = (1 + 2 * RAMP / 3, reached / 3)


def draw(scene: bpy.types.Scene, walker: dict[str, Any], made: dict[str, bpy.types.Object],
         paint: bpy.types.Material) -> None:
    """Bars for the frame and the cranks, and pins; they hang on the bodies."""
    places = {one["name"]: Vector(one["position"]) for one in (*walker["joints"], *walker["loops"])}
    bars: dict[str, list[tuple[Vector, Vector, float]]] = {name: [] for name in ("Frame", "Front crank", "Rear crank")}
    side, reach = Vector((0, 0.28, 0)), Vector((0, 0.02, 0))
    axles = [places[name] for name in ("Front middle lower axle", "Front middle upper axle", "Rear middle upper axle",
                                       "Rear middle lower axle", "Rear drive", "Front drive")]
    for at in axles[:4]:
        bars["Frame"].append((at - side, at + side, 0.007))
    for sign in (-1, 1):
        bars["Frame"] += [(a + sign * side, b + sign * side, 0.011) for a, b in zip(axles, axles[1:] + axles[:1])]
    for end in ("Front", "Rear"):
        crank = places[f"{end} drive"]
        at = crank - side  # the shaft goes round the pins, by two cheeks at each
        for row in ("left", "middle", "right"):
            pin = places[f"{end} {row} pin"]
            along = Vector((0, pin.y, 0))
            arm = Vector((pin.x, 0, pin.z)) - Vector((crank.x, 0, crank.z))
            near, far = crank + along - reach, crank + along + reach
            bars[f"{end} crank"] += [(at, near, 0.010), (near, near + arm, 0.010), (far, far + arm, 0.010),
                                     (near + arm, far + arm, 0.008)]
            at = far
        bars[f"{end} crank"].append((at, crank + side, 0.010))
    for one in (*walker["joints"], *walker["loops"]):
        if not one["name"].endswith(("pin", "drive", "axle")):
            holder = one.get("child") or one["body_a"]
            at = places[one["name"]]
            bars.setdefault(holder, []).append((at - 0.018 * Vector((0, 1, 0)), at + 0.018 * Vector((0, 1, 0)), 0.008))
    bpy.context.view_layer.update()
    for name, of in bars.items():
        vertices, faces = [], []
        for a, b, radius in of:
            own, own_faces = bar(a, b, radius)
            faces += [tuple(len(vertices) + k for k in face) for face in own_faces]
            vertices += own
        drawn = stage.mesh_object(scene, f"{name} drawn", [tuple(v) for v in vertices], faces)
        drawn.data.materials.append(paint)
        drawn.parent = made[name]
        drawn.matrix_parent_inverse = made[name].matrix_world.inverted()


def bar(a: Vector, b: Vector, radius: float, sides: int = 12) -> tuple[list[Vector], list[tuple[int, ...]]]:
    """Vertices and faces of a round bar."""
    turned = (b - a).to_track_quat("Z", "Y").to_matrix()
    ring = [turned @ Vector((radius * cos(2 * pi * k / sides), radius * sin(2 * pi * k / sides), 0))
            for k in range(sides)]
    faces: list[tuple[int, ...]] = [(k, (k + 1) % sides, sides + (k + 1) % sides, sides + k) for k in range(sides)]
    faces += [tuple(reversed(range(sides))), tuple(range(sides, 2 * sides))]
    return [a + at for at in ring] + [b + at for at in ring], faces
