"""Seams within one panel of cloth: the strip between two rows that are sewn together folds out as a pleat."""

import bmesh
import bpy
import numpy as np
from jelly import rest_of, scene, seen_at  # noqa: F401

LAST = 16


def test_two_rows_of_a_panel_that_are_sewn_together_make_a_pleat(scene):  # noqa: F811
    scene.frame_end, scene.use_gravity = LAST, False
    bpy.ops.mesh.primitive_grid_add(x_subdivisions=8, y_subdivisions=4, size=0.4)
    panel = bpy.context.object
    rest = rest_of(panel)
    left, middle, right = ([v for v in np.argsort(rest[:, 1], kind="stable") if abs(rest[v, 0] - x) < 1e-6]
                           for x in (-0.05, 0.0, 0.05))
    mesh = bmesh.new()
    mesh.from_mesh(panel.data)
    mesh.verts.ensure_lookup_table()
    for vertex, opposite in zip(left, right):
        mesh.edges.new((mesh.verts[vertex], mesh.verts[opposite]))
    for vertex in middle:  # the side to which it folds
        mesh.verts[vertex].co.z += 0.01
    mesh.to_mesh(panel.data)
    mesh.free()
    assert bpy.ops.conjac.add_cloth() == {"FINISHED"} and panel.conjac.use_sewing
    panel.conjac.use_ground, panel.conjac.seam_time = False, 0.3
    assert panel.conjac.bake(wait=True) == 0
    last = seen_at(panel, LAST)
    assert np.linalg.norm(last[left] - last[right], axis=1).max() < 0.025, "a fourth of what it was"
    out = last[middle] - 0.5 * (last[left] + last[right])
    assert np.linalg.norm(out, axis=1).min() > 0.04, "5 cm of cloth lie double"
    # what is left of the panel is as much narrower
    assert np.ptp(last[:, 0]) < 0.33
