"""Shape of a rope in the view: edges along a curve, and a modifier that makes them round."""

from __future__ import annotations

import bpy
import numpy as np

NAME = "Rope Thickness"  #: of the modifier and its nodes
SIDES = 12  #: number of sides of the round profile


def as_edges(obj: bpy.types.Object, context: bpy.types.Context) -> bpy.types.Object | None:
    """Return a new mesh object of edges along a curve, as its resolution has them and with its bevel, beside which the
    curve is hidden; None where it has no length. Pin is painted on the first point of each spline."""
    bevel = obj.data.bevel_depth
    profile_settings = obj.data.bevel_depth, obj.data.extrude, obj.data.bevel_object
    obj.data.bevel_depth, obj.data.extrude, obj.data.bevel_object = 0.0, 0.0, None
    try:
        mesh = bpy.data.meshes.new_from_object(obj.evaluated_get(context.evaluated_depsgraph_get()))
    finally:
        obj.data.bevel_depth, obj.data.extrude, obj.data.bevel_object = profile_settings
    mesh.name = f"{obj.name} Rope"
    at = np.empty(3 * len(mesh.vertices), np.float32)
    mesh.vertices.foreach_get("co", at)
    if not len(mesh.edges) or not np.ptp(at.reshape(-1, 3), axis=0).any():
        bpy.data.meshes.remove(mesh)
        return None
    rope = bpy.data.objects.new(mesh.name, mesh)
    rope.matrix_world = obj.matrix_world
    for collection in obj.users_collection:
        collection.objects.link(rope)
    for material in obj.data.materials:
        mesh.materials.append(material)
    profile = profile_settings[2] if obj.data.bevel_mode == "OBJECT" else None
    if profile is not None and max(*profile.dimensions) > 0.0:
        rope.conjac.rope_thickness = max(*profile.dimensions)
    elif bevel:
        rope.conjac.rope_thickness = 2.0 * bevel
    show_thickness(rope, 4 + 2 * obj.data.bevel_resolution, profile)
    rope.vertex_groups.new(name="Pin").add(_firsts(mesh), 1.0, "REPLACE")
    obj.hide_render = True
    obj.hide_set(True)
    obj.select_set(False)
    return rope


def _firsts(mesh: bpy.types.Mesh) -> list[int]:
    """Return the first point of each strand, or of all that is closed."""
    ends = np.empty(2 * len(mesh.edges), np.int32)
    mesh.edges.foreach_get("vertices", ends)
    starts = np.setdiff1d(ends[::2], ends[1::2])
    return starts.tolist() if len(starts) else [0]


def show_thickness(obj: bpy.types.Object, sides: int = SIDES, profile: bpy.types.Object | None = None) -> None:
    """Add a modifier that makes edges round, with the thickness of the rope, if there is none. sides: of the round
    profile. profile: a curve that is swept along the edges instead of a circle."""
    if any(modifier.type in ("NODES", "SKIN") for modifier in obj.modifiers):
        return
    modifier = obj.modifiers.new(NAME, "NODES")
    modifier.node_group = _nodes(0.5 * obj.conjac.rope_thickness, obj.data.materials[:1], sides, profile)


def _nodes(radius: float, materials: list[bpy.types.Material], sides: int, profile: bpy.types.Object | None
           ) -> bpy.types.NodeTree:
    """Return Mesh to Curve, and a circle or another profile along it."""
    tree = bpy.data.node_groups.new(NAME, "GeometryNodeTree")
    tree.interface.new_socket("Geometry", in_out="INPUT", socket_type="NodeSocketGeometry")
    number = tree.interface.new_socket("Radius", in_out="INPUT", socket_type="NodeSocketFloat")
    number.default_value, number.min_value, number.subtype = radius, 0.0, "DISTANCE"
    tree.interface.new_socket("Geometry", in_out="OUTPUT", socket_type="NodeSocketGeometry")
    kinds = ("NodeGroupInput", "GeometryNodeMeshToCurve", "GeometryNodeCurvePrimitiveCircle", "GeometryNodeCurveToMesh",
             "NodeGroupOutput")
    given, curve, circle, round_, out = (tree.nodes.new(kind) for kind in kinds)
    for k, node in enumerate((given, curve, circle, round_, out)):
        node.location = (200.0 * k, 0.0)
    circle.inputs["Resolution"].default_value = sides
    round_.inputs["Fill Caps"].default_value = True
    last = round_.outputs["Mesh"]
    links = [(given.outputs["Geometry"], curve.inputs["Mesh"]), (given.outputs["Radius"], circle.inputs["Radius"]),
             (curve.outputs["Curve"], round_.inputs["Curve"]),
             (circle.outputs["Curve"] if profile is None else _curve_of(tree, profile), round_.inputs["Profile Curve"])]
    for material in materials:
        paint = tree.nodes.new("GeometryNodeSetMaterial")
        paint.inputs["Material"].default_value = material
        links.append((last, paint.inputs["Geometry"]))
        last = paint.outputs["Geometry"]
    for output, other in (*links, (last, out.inputs[0])):
        tree.links.new(output, other)
    return tree


def _curve_of(tree: bpy.types.NodeTree, profile: bpy.types.Object) -> bpy.types.NodeSocket:
    """Return the output of a new node with a curve object's points, in its own space."""
    node = tree.nodes.new("GeometryNodeObjectInfo")
    node.location, node.transform_space = (400.0, -300.0), "ORIGINAL"
    node.inputs["Object"].default_value = profile
    return node.outputs["Geometry"]
