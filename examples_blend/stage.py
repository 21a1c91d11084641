"""Light, backdrop and camera that the examples share, so that a render of any of them reads at a glance."""

from __future__ import annotations

from math import cos, radians, sin

import bpy
from mathutils import Vector

FPS = 24


def mesh_object(scene: bpy.types.Scene, name: str, vertices: list, faces: list) -> bpy.types.Object:
    """A new mesh object in the scene."""
    mesh = bpy.data.meshes.new(name)
    mesh.from_pydata(vertices, [], faces)
    mesh.update()
    made = bpy.data.objects.new(name, mesh)
    scene.collection.objects.link(made)
    return made


def surface(name: str, colour: tuple[float, float, float], roughness: float = 0.45,
            subsurface: float = 0.0) -> bpy.types.Material:
    """A Principled material. subsurface: how far light wanders inside, in metres."""
    made = bpy.data.materials.new(name)
    made.use_nodes = True
    shader = made.node_tree.nodes["Principled BSDF"]
    shader.inputs["Base Color"].default_value = (*colour, 1.0)
    shader.inputs["Roughness"].default_value = roughness
    shader.inputs["Subsurface Weight"].default_value = 0.6 if subsurface else 0.0
    shader.inputs["Subsurface Scale"].default_value = subsurface
    made.diffuse_color = (*colour, 1.0)
    return made


def backdrop(scene: bpy.types.Scene, size: float, height: float, colour: tuple[float, float, float],
             turn: float = 0.0) -> None:
    """A sweep: floor at `height` that bends up behind the subject, at +Y. turn: from there, about Z [deg]."""
    profile = [(-3.0 * size, 0.0), (1.2 * size, 0.0)]
    for degrees in range(8, 97, 8):  # a quarter circle from floor to wall
        angle = radians(min(degrees, 90))
        profile.append(((1.2 + sin(angle)) * size, (1.0 - cos(angle)) * size))
    profile.append((2.2 * size, 5.0 * size))
    vertices = [(side, y, height + z) for y, z in profile for side in (-6.0 * size, 6.0 * size)]
    faces = [(2 * i, 2 * i + 1, 2 * i + 3, 2 * i + 2) for i in range(len(profile) - 1)]
    sweep = mesh_object(scene, "Backdrop", vertices, faces)
    sweep.rotation_euler.z = radians(turn)
    sweep.data.materials.append(surface("Backdrop", colour, roughness=0.9))
    sweep.data.polygons.foreach_set("use_smooth", [True] * len(faces))


def light(scene: bpy.types.Scene, name: str, place: tuple[float, float, float], target: tuple[float, float, float],
          watts: float, size: float, colour: tuple[float, float, float] = (1.0, 1.0, 1.0)) -> None:
    """A square area light that looks at `target`."""
    data = bpy.data.lights.new(name, "AREA")
    data.energy, data.size, data.color = watts, size, colour
    made = bpy.data.objects.new(name, data)
    made.location = place
    made.rotation_euler = (Vector(target) - Vector(place)).to_track_quat("-Z", "Y").to_euler()
    scene.collection.objects.link(made)


def camera(scene: bpy.types.Scene, place: tuple[float, float, float], target: tuple[float, float, float],
           lens: float) -> None:
    """The scene's camera, looking at `target`. lens: focal length [mm]."""
    data = bpy.data.cameras.new("Camera")
    data.lens, data.clip_start = lens, 0.01
    made = bpy.data.objects.new("Camera", data)
    made.location = place
    made.rotation_euler = (Vector(target) - Vector(place)).to_track_quat("-Z", "Y").to_euler()
    scene.collection.objects.link(made)
    scene.camera = made


def prepare(scene: bpy.types.Scene, end: int, width: int, height: int, ambient: float = 0.22) -> None:
    """Frame range, metres, renderer and world light."""
    scene.frame_start, scene.frame_end, scene.frame_current = 1, end, 1
    scene.render.fps, scene.render.fps_base = FPS, 1.0
    scene.unit_settings.system, scene.unit_settings.scale_length = "METRIC", 1.0
    scene.unit_settings.length_unit = "CENTIMETERS"
    scene.render.engine = "CYCLES"
    scene.cycles.device, scene.cycles.samples, scene.cycles.seed = "CPU", 32, 1
    scene.render.resolution_x, scene.render.resolution_y, scene.render.resolution_percentage = width, height, 100
    scene.view_settings.view_transform = "AgX"
    scene.view_settings.look = "AgX - Medium High Contrast"
    world = bpy.data.worlds.new("World")
    world.use_nodes = True
    world.node_tree.nodes["Background"].inputs["Color"].default_value = (0.75, 0.82, 1.0, 1.0)
    world.node_tree.nodes["Background"].inputs["Strength"].default_value = ambient
    scene.world = world


def choose(obj: bpy.types.Object, *others: bpy.types.Object) -> None:
    """Select some objects and nothing else; the first one is active."""
    bpy.ops.object.select_all(action="DESELECT")
    for one in (obj, *others):
        one.select_set(True)
    bpy.context.view_layer.objects.active = obj


def paint(body: bpy.types.Object, group: str, weights: list[float]) -> None:
    """Makes a vertex group with one weight a vertex; zeros are left unpainted."""
    painted = body.vertex_groups.new(name=group)
    for vertex, weight in enumerate(weights):
        if weight > 0.0:
            painted.add([vertex], weight, "REPLACE")


def key(thing: bpy.types.bpy_struct, path: str, frames: dict[int, tuple | float]) -> None:
    """Keyframes a property: value at each frame."""
    for frame, value in frames.items():
        setattr(thing, path, value)
        thing.keyframe_insert(path, frame=frame)
