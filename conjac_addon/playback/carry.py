"""Material indices, vertex groups and colours on a mesh that changes: looked up in the mesh at rest by a node group.

The mesh at rest is that of an object in no collection, which nothing but the modifier knows of.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import bpy
import numpy as np
from numpy.typing import NDArray

from . import modifier

PLACE = "conjac_place"  #: UV map of a corner's place in the cloth [m]
CREASE = np.deg2rad(40.0)  #: cloth that is shaded smooth is so up to this angle between faces
NAME, SIGN = "ConJac Data", "conjac_carries"  #: of the modifier and its node group; custom property of the group


def find(obj: bpy.types.Object) -> bpy.types.Modifier | None:
    """Return the modifier of the carried data, or None."""
    return next((carrier for carrier in obj.modifiers
                 if carrier.type == "NODES" and carrier.node_group is not None and SIGN in carrier.node_group), None)


def put(obj: bpy.types.Object, rest: bpy.types.Mesh, place: NDArray[np.float32], maps: Mapping[str, str]) -> None:
    """Look up the artist's data on the mesh behind the cache modifier. rest: the mesh, of which this takes ownership;
    place: of each of its corners, (l, 2); maps: names of UV maps in the cache, by their own names."""
    remove(obj)
    if PLACE in rest.uv_layers:
        rest.uv_layers.remove(rest.uv_layers[PLACE])
    while len(rest.uv_layers) >= 8:  # maps are in the frames themselves
        rest.uv_layers.remove(rest.uv_layers[-1])
    rest.uv_layers.new(name=PLACE, do_init=False).uv.foreach_set("vector", np.ascontiguousarray(place).ravel())
    rest.name = f"{obj.name} Rest"
    holder = bpy.data.objects.new(rest.name, rest)
    for group in obj.vertex_groups:
        holder.vertex_groups.new(name=group.name)
    mark = obj.modifiers.new(NAME, "NODES")
    mark.node_group = _nodes(holder, [group.name for group in obj.vertex_groups], maps)
    mark.show_expanded = False
    cache = modifier.find(obj)
    if cache is not None:
        obj.modifiers.move(list(obj.modifiers).index(mark), list(obj.modifiers).index(cache) + 1)


def remove(obj: bpy.types.Object) -> None:
    """Remove the modifier, its nodes and the mesh at rest, if they exist."""
    mark = find(obj)
    if mark is None:
        return
    group = mark.node_group
    holder = group[SIGN]
    obj.modifiers.remove(mark)
    if group.users == 0 and holder is not None:
        mesh = holder.data
        bpy.data.node_groups.remove(group)
        bpy.data.objects.remove(holder)
        if mesh.users == 0:
            bpy.data.meshes.remove(mesh)


def _nodes(holder: bpy.types.Object, groups: list[str], maps: Mapping[str, str]) -> bpy.types.NodeTree:
    """Return nodes that transfer the holder mesh's data to a mesh with PLACE."""
    tree = bpy.data.node_groups.new(NAME, "GeometryNodeTree")
    tree[SIGN] = holder
    tree.interface.new_socket("Geometry", in_out="INPUT", socket_type="NodeSocketGeometry")
    tree.interface.new_socket("Geometry", in_out="OUTPUT", socket_type="NodeSocketGeometry")
    made = _Made(tree, holder)
    mesh = holder.data
    made.material()
    for name, called in maps.items():
        made.renamed(called, name)
    for name in groups:
        made.attribute(name, "FLOAT", "FLOAT", "POINT")
    for attribute in mesh.color_attributes:
        made.attribute(attribute.name, "FLOAT_COLOR", attribute.data_type, "CORNER")
    if any(not polygon.use_smooth for polygon in mesh.polygons):
        made.add("GeometryNodeSetShadeSmooth")["Shade Smooth"].default_value = False
    else:
        made.creased(CREASE)
    made.end()
    return tree


class _Made:
    """A chain of geometry nodes."""

    def __init__(self, tree: bpy.types.NodeTree, holder: bpy.types.Object) -> None:
        self._tree = tree
        self._flow = tree.nodes.new("NodeGroupInput").outputs[0]
        info = tree.nodes.new("GeometryNodeObjectInfo")
        info.inputs["Object"].default_value = holder
        self._rest = info.outputs["Geometry"]
        self._place = self._named(PLACE, "FLOAT_VECTOR")

    def add(self, kind: str) -> Any:
        """Add a node to the chain; returns its inputs."""
        node = self._tree.nodes.new(kind)
        node.location.x = 200.0 * len(self._tree.nodes)
        self._tree.links.new(self._flow, node.inputs["Geometry"])
        self._flow = node.outputs["Geometry"]
        return node.inputs

    def material(self) -> None:
        """Transfer the material of the rest face that contains the center of each face."""
        index = self._tree.nodes.new("GeometryNodeInputMaterialIndex").outputs[0]
        middle = self._tree.nodes.new("GeometryNodeFieldOnDomain")
        middle.data_type, middle.domain = "FLOAT_VECTOR", "FACE"
        self._tree.links.new(self._place, middle.inputs["Value"])
        found = self._looked_up(index, "INT", middle.outputs["Value"])
        self._tree.links.new(found, self.add("GeometryNodeSetMaterialIndex")["Material Index"])

    def attribute(self, name: str, kind: str, stored: str, domain: str) -> None:
        """Transfer an attribute under its own name. kind: type of the lookup; stored: type of the result."""
        self._store(name, stored, domain, self._looked_up(self._named(name, kind), kind, self._place))

    def renamed(self, called: str, name: str) -> None:
        """A UV map under another name."""
        self._store(name, "FLOAT2", "CORNER", self._named(called, "FLOAT_VECTOR"))
        self.add("GeometryNodeRemoveAttribute")["Name"].default_value = called

    def creased(self, angle: float) -> None:
        """Shading that breaks at edges whose faces turn by more than an angle [rad]."""
        turns = self._tree.nodes.new("FunctionNodeCompare")
        turns.data_type, turns.operation = "FLOAT", "GREATER_THAN"
        turns.inputs[1].default_value = angle
        between = self._tree.nodes.new("GeometryNodeInputMeshEdgeAngle").outputs["Unsigned Angle"]
        self._tree.links.new(between, turns.inputs[0])
        inputs = self.add("GeometryNodeSetShadeSmooth")
        inputs["Geometry"].node.domain = "EDGE"
        inputs["Shade Smooth"].default_value = False
        self._tree.links.new(turns.outputs[0], inputs["Selection"])

    def end(self) -> None:
        """Give the geometry out."""
        out = self._tree.nodes.new("NodeGroupOutput")
        out.location.x = 200.0 * len(self._tree.nodes)
        self._tree.links.new(self._flow, out.inputs[0])

    def _store(self, name: str, kind: str, domain: str, value: Any) -> None:
        node = self.add("GeometryNodeStoreNamedAttribute")["Geometry"].node
        node.data_type, node.domain = kind, domain
        node.inputs["Name"].default_value = name
        self._tree.links.new(value, node.inputs["Value"])

    def _named(self, name: str, kind: str) -> Any:
        node = self._tree.nodes.new("GeometryNodeInputNamedAttribute")
        node.data_type = kind
        node.inputs["Name"].default_value = name
        return node.outputs["Attribute"]

    def _looked_up(self, value: Any, kind: str, at: Any) -> Any:
        node = self._tree.nodes.new("GeometryNodeSampleUVSurface")
        node.data_type = kind
        self._tree.links.new(self._rest, node.inputs["Mesh"])
        self._tree.links.new(value, node.inputs["Value"])
        self._tree.links.new(self._place, node.inputs["Source UV Map"])
        self._tree.links.new(at, node.inputs["Sample UV"])
        return node.outputs["Value"]
