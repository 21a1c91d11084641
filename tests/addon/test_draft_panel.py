"""Before a bake, the panel lists what a draft leaves out, and which settings of a body it refuses."""

import bpy
import pytest
from drawn_panels import drawn


def labels_of(obj):
    return " ".join(str(text) for kind, text in drawn(obj) if kind == "label")


@pytest.mark.parametrize("method, left_out", [("subspace", "wrinkles"), ("live", "wrinkles"), ("projective", "fibers"),
                                             ("xpbd", "fibers")])
def test_a_draft_says_what_it_leaves_out(soft_cube, method, left_out):
    assert "It leaves out" not in labels_of(soft_cube)
    soft_cube.conjac.solver.method = method
    words = labels_of(soft_cube)
    assert "It leaves out" in words and left_out in words and "welds" in words


def test_an_integrator_that_does_not_step_a_draft_is_named_beside_those_that_do(soft_cube):
    solver = soft_cube.conjac.solver
    solver.method, solver.integrator = "subspace", "semi_implicit"
    assert "cannot use Semi-Implicit Euler: choose Backward Euler, BDF2 or SDIRK2" in labels_of(soft_cube)
    solver.integrator = "sdirk2"
    assert "cannot use" not in labels_of(soft_cube)
    solver.method, solver.integrator = "xpbd", "semi_implicit"
    assert "cannot use" not in labels_of(soft_cube)


def test_a_draft_of_a_body_that_collides_says_how_exactly_and_with_whom_not(soft_cube):
    soft_cube.conjac.contact.collides_with = "all"
    soft_cube.conjac.solver.method = "subspace"
    assert "in Collisions" not in labels_of(soft_cube) and "not exactly" not in labels_of(soft_cube)
    bpy.ops.mesh.primitive_plane_add(location=(0.0, 0.0, -2.0))
    bpy.context.object.conjac.kind = "collider"
    assert "with points of its surface, not exactly" in labels_of(soft_cube)
    bpy.ops.mesh.primitive_cube_add(location=(0.0, 0.0, 5.0))
    other = bpy.context.object
    other.name = "Other"
    other.conjac.enabled = True
    other.conjac.contact.collides_with = "all"
    assert 'and not "Other": let it collide with a Collection of colliders' in labels_of(soft_cube)
    for scene_object in (soft_cube, other):
        scene_object.conjac.solver.method = "live"
    assert "in Collisions" not in labels_of(soft_cube) and "with points of its surface" in labels_of(soft_cube)
    other.conjac.solver.method = "vanilla"
    assert 'what else moves by Play Live, and not "Other": let it collide' in labels_of(soft_cube)
    soft_cube.conjac.contact.collides_with = "none"
    assert "in Collisions" not in labels_of(soft_cube) and "not exactly" not in labels_of(soft_cube)
