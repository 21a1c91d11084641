"""Wires and nails in real Blender: colliders of edges or vertices only, which carry cloth with Sharp Edges."""

import numpy as np
import pytest
from jelly import scene  # noqa: F401

bpy = pytest.importorskip("bpy")

from conjac.conjac_addon import bake  # noqa: E402
from conjac.conjac_addon.bake import place  # noqa: E402
from conjac.conjac_addon.ui import contact as panel  # noqa: E402


def add_thin(name, vertices, edges=()):
    mesh = bpy.data.meshes.new(name)
    mesh.from_pydata(vertices, edges, [])
    obj = bpy.data.objects.new(name, mesh)
    bpy.context.collection.objects.link(obj)
    bpy.context.view_layer.objects.active = obj
    with bpy.context.temp_override(active_object=obj, object=obj, selected_objects=[obj]):
        assert bpy.ops.conjac.add_collider() == {"FINISHED"}
    obj.conjac.contact.friction = 0.0
    return obj


def add_cloth(height, sharp=True):
    bpy.ops.mesh.primitive_grid_add(x_subdivisions=8, y_subdivisions=8, size=0.6, location=(0.03, 0.02, height))
    obj = bpy.context.object
    assert bpy.ops.conjac.add_cloth() == {"FINISHED"}
    obj.conjac.sharp_edges = sharp
    return obj


def sliding_at(obj, frame):
    """Return positions of sliding nodes in the world; frames are in object space."""
    sheet = place.cache_of(place.job_folder(obj)).sheets(frame)[obj.name]
    return sheet.x[sheet.sliding] + np.array(obj.location)


def test_cloth_lies_on_a_wire_that_rises(scene):  # noqa: F811
    wire = add_thin("Wire", [(0, -1, 0), (0, 0, 0), (0, 1, 0)], [(0, 1), (1, 2)])
    wire.location.x = 0.01
    for frame, height in ((1, 0.0), (3, 0.02)):
        wire.location.z = height
        wire.keyframe_insert("location", frame=frame)
    obj = add_cloth(0.004)
    scene.frame_end = 3
    assert bpy.ops.conjac.bake() == {"FINISHED"}
    for frame in (2, 3):
        scene.frame_set(frame)
        at = sliding_at(obj, frame)
        assert len(at) >= 6
        assert np.abs(at[:, [0, 2]] - [0.01, wire.matrix_world.translation.z]).max() < 1e-5


def test_cloth_hangs_on_nails_that_point_along_the_objects_z(scene):  # noqa: F811
    board = add_thin("Nails", [(x, y, 0.0) for x in (-0.1, 0.12) for y in (-0.11, 0.1)])
    board.conjac.contact.thickness = 0.002
    obj = add_cloth(0.007)
    scene.frame_end = 3
    assert bpy.ops.conjac.bake() == {"FINISHED"}
    at = sliding_at(obj, 3)
    # 2 mm of the nails and 1 mm of the cloth
    assert len(at) == 4 and np.abs(at[:, 2] - 0.003).max() < 1e-6
    assert np.abs(np.sort(at[:, 0]) - [-0.1, -0.1, 0.12, 0.12]).max() < 1e-6


def test_what_ignores_wires_reports_it(scene):  # noqa: F811
    add_thin("Wire", [(0, -1, 0), (0, 1, 0)], [(0, 1)])
    obj = add_cloth(0.004, sharp=False)
    messages = []
    assert bake.bake_object(obj, report=messages.append) == 2
    assert '"Wire": the mesh has no faces, only loose vertices and edges' in messages[-1]
    assert "Sharp Edges" in messages[-1]


def test_the_panel_says_what_a_wire_is(scene):  # noqa: F811
    wire = add_thin("Wire", [(0, -1, 0), (0, 1, 0)], [(0, 1)])
    nails = add_thin("Nails", [(0, -1, 0)])
    assert "wires" in panel.thin_sentence(wire) and "nails" in panel.thin_sentence(nails)
    bpy.ops.mesh.primitive_cube_add()
    assert panel.thin_sentence(bpy.context.object) is None
