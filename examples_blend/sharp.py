"""Helpers of the examples of cloth with Sharp Edges: sheets with a UV map, thin things, and the add-on's buttons."""

from __future__ import annotations

import bpy

from . import stage

SILK = {"area_density": 0.05, "bending_stiffness": 1.0e-6, "stiffness_damping": 2.0e-3, "step": 1.0 / 96.0}
WEAVE, CHECKS = "Weave", 20.0  #: the UV map of a sheet, and how many squares of one shade or the other are along it


def sheet(scene: bpy.types.Scene, name: str, size: tuple[float, float], cells: tuple[int, int],
          colour: tuple[float, float, float]) -> bpy.types.Object:
    """A level rectangle of squares around its origin, unwrapped as it lies. size: [m]."""
    (a, b), (m, n) = size, cells
    vertices = [((i / m - 0.5) * a, (j / n - 0.5) * b, 0.0) for i in range(m + 1) for j in range(n + 1)]
    faces = [(i * (n + 1) + j, (i + 1) * (n + 1) + j, (i + 1) * (n + 1) + j + 1, i * (n + 1) + j + 1)
             for i in range(m) for j in range(n)]
    made = stage.mesh_object(scene, name, vertices, faces)
    layer, largest = made.data.uv_layers.new(name=WEAVE), max(a, b)
    places = [made.data.vertices[loop.vertex_index].co for loop in made.data.loops]
    layer.data.foreach_set("uv", [value for at in places for value in (at.x / largest + 0.5, at.y / largest + 0.5)])
    made.data.materials.append(woven(name, colour))
    made.data.polygons.foreach_set("use_smooth", [True] * len(made.data.polygons))
    return made


def woven(name: str, colour: tuple[float, float, float]) -> bpy.types.Material:
    """Cloth in squares of two shades along its UV map, which show how it slides; too dull to burn white."""
    made = stage.surface(name, colour, 0.85)
    shader, checks = made.node_tree.nodes["Principled BSDF"], made.node_tree.nodes.new("ShaderNodeTexChecker")
    shader.inputs["Specular IOR Level"].default_value = 0.15
    checks.inputs["Scale"].default_value = CHECKS
    checks.inputs["Color1"].default_value = (*colour, 1.0)
    checks.inputs["Color2"].default_value = (*(0.55 * one for one in colour), 1.0)
    where = made.node_tree.nodes.new("ShaderNodeUVMap")
    where.uv_map = WEAVE
    made.node_tree.links.new(where.outputs["UV"], checks.inputs["Vector"])
    made.node_tree.links.new(checks.outputs["Color"], shader.inputs["Base Color"])
    return made


def block(scene: bpy.types.Scene, name: str, size: tuple[float, float, float], colour: tuple[float, float, float],
          roughness: float = 0.6) -> bpy.types.Object:
    """A box whose origin is in the middle of its top, too dull to burn white. size: [m]."""
    x, y, z = size[0] / 2, size[1] / 2, size[2]
    corners = [(a * x, b * y, c * z - z) for a in (-1, 1) for b in (-1, 1) for c in (0, 1)]
    faces = [(0, 1, 3, 2), (4, 6, 7, 5), (0, 4, 5, 1), (2, 3, 7, 6), (0, 2, 6, 4), (1, 5, 7, 3)]
    made = stage.mesh_object(scene, name, corners, faces)
    made.data.materials.append(stage.surface(name, colour, roughness))
    made.data.materials[0].node_tree.nodes["Principled BSDF"].inputs["Specular IOR Level"].default_value = 0.1
    return made


def legs(scene: bpy.types.Scene, apart: tuple[float, float], height: float, wide: float,
         colour: tuple[float, float, float], y: float = 0.0) -> None:
    """Four legs from the floor up to `height`, to see only. apart: of their middles, along X and Y [m]; y: of what
    stands on them [m]."""
    for k in range(4):
        leg = block(scene, "Leg", (wide, wide, height), colour)
        leg.location = ((k % 2 - 0.5) * apart[0], y + (k // 2 - 0.5) * apart[1], height)


def thin(scene: bpy.types.Scene, name: str, vertices: list, edges: list) -> bpy.types.Object:
    """Wires, or nails where there are no edges: what cloth feels, without anything to see."""
    mesh = bpy.data.meshes.new(name)
    mesh.from_pydata(vertices, edges, [])
    made = bpy.data.objects.new(name, mesh)
    scene.collection.objects.link(made)
    return made


def rod(scene: bpy.types.Scene, name: str, start: tuple, end: tuple, radius: float, tip: float,
        colour: tuple[float, float, float]) -> bpy.types.Object:
    """Something to see of a wire or a nail: a round rod, thinner at its end. radius, tip: [m]."""
    from mathutils import Vector

    way = Vector(end) - Vector(start)
    bpy.ops.mesh.primitive_cone_add(vertices=24, radius1=radius, radius2=tip, depth=way.length,
                                    location=(Vector(start) + Vector(end)) / 2,
                                    rotation=way.to_track_quat("Z", "Y").to_euler())
    made = bpy.context.object
    made.name = name
    made.data.materials.append(stage.surface(name, colour, 0.25))
    made.data.polygons.foreach_set("use_smooth", [len(face.vertices) == 4 for face in made.data.polygons])
    return made


def cloth(obj: bpy.types.Object, **settings: float) -> None:
    """*Add Cloth*, *Sharp Edges*; silk but for these settings."""
    with bpy.context.temp_override(active_object=obj, object=obj, selected_objects=[obj]):
        bpy.ops.conjac.add_cloth()
    obj.conjac.sharp_edges = True
    for name, value in (SILK | settings).items():
        setattr(obj.conjac, name, value)


def collider(obj: bpy.types.Object, friction: float) -> None:
    """*Add Collider*."""
    with bpy.context.temp_override(active_object=obj, object=obj, selected_objects=[obj]):
        bpy.ops.conjac.add_collider()
    obj.conjac.contact.friction = friction


def linear(obj: bpy.types.Object) -> None:
    """Even speed between its keyframes."""
    from conjac.conjac_addon import compat

    for curve in compat.fcurves(obj):
        for point in curve.keyframe_points:
            point.interpolation = "LINEAR"
