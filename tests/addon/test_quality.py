"""Draft, Good and Best change edges and steps relative to those of a new body, and the artist can still edit them."""

import bpy
import numpy as np
import pytest
from drawn_panels import drawn


@pytest.fixture
def jelly(addon):
    bpy.ops.mesh.primitive_torus_add(location=(0.0, 0.0, 2.0))
    bpy.ops.conjac.add_soft_body()
    return bpy.context.object


def choose(quality):
    assert bpy.ops.conjac.set_quality(quality=quality) == {"FINISHED"}


def present(obj):
    from conjac.conjac_addon.operators import quality

    return quality.present(obj)


def test_a_new_body_is_good_and_the_three_go_and_come_back(jelly):
    from conjac.conjac_addon.operators import fineness

    settings = jelly.conjac
    good = settings.edge_length, settings.solver.step
    edge = good[0] or fineness.edges(jelly)[1]  # 0 is that of its box
    assert present(jelly) == "good" and edge > 0.0
    choose("draft")
    assert present(jelly) == "draft"
    assert settings.edge_length == pytest.approx(1.5 * edge, rel=0.06)  # two digits
    assert settings.solver.step == pytest.approx(2.0 * good[1])
    choose("best")
    assert present(jelly) == "best"
    assert settings.edge_length == pytest.approx(edge / 1.5, rel=0.06)
    assert settings.solver.step == pytest.approx(0.5 * good[1])
    choose("good")
    assert present(jelly) == "good" and (settings.edge_length, settings.solver.step) == good


@pytest.mark.parametrize("name", ["edge_length", "step"])
def test_another_number_is_the_artists_own(jelly, name):
    choose("best")
    holder = jelly.conjac.solver if name == "step" else jelly.conjac
    setattr(holder, name, 1.1 * getattr(holder, name))
    assert present(jelly) == ""
    assert ("operator", "conjac.set_quality") in drawn(jelly)


def test_what_was_set_before_is_the_artists_own_too(addon):
    bpy.ops.mesh.primitive_torus_add()
    bpy.context.object.conjac.edge_length = 0.3
    bpy.ops.conjac.add_soft_body()
    assert present(bpy.context.object) == "" and bpy.context.object.conjac.edge_length == pytest.approx(0.3)


def test_all_that_is_baked_together_has_one_quality(jelly):
    bpy.ops.mesh.primitive_uv_sphere_add(location=(0.0, 0.0, 5.0))
    bpy.ops.conjac.add_soft_body()
    choose("draft")
    assert present(bpy.context.object) == present(jelly) == "draft"


@pytest.mark.parametrize("add", [lambda: (bpy.ops.mesh.primitive_grid_add(), bpy.ops.conjac.add_cloth()),
                                 lambda: (bpy.ops.curve.primitive_bezier_curve_add(), bpy.ops.conjac.add_rope()),
                                 lambda: (bpy.ops.object.armature_add(), bpy.ops.conjac.ragdoll())],
                         ids=["cloth", "rope", "ragdoll"])
def test_what_has_no_tetrahedra_has_longer_or_shorter_steps(addon, add):
    add()
    solver = bpy.context.view_layer.objects.active.conjac.solver
    choose("good")
    step = solver.step
    choose("draft")
    assert solver.step == pytest.approx(2.0 * step)
    choose("best")
    assert solver.step == pytest.approx(0.5 * step)


@pytest.mark.long
def test_best_lands_nearer_to_a_finer_bake_than_good_and_good_than_a_draft(addon):
    """The height of its middle is compared over the time in which it lands and bounces, for a shape that no constant is
    tuned on."""
    from played import seen

    bpy.context.scene.frame_end = 24
    bpy.ops.mesh.primitive_torus_add(major_radius=0.5, minor_radius=0.22, location=(0.0, 0.0, 0.7))
    bpy.ops.conjac.add_soft_body()
    obj = bpy.context.object
    heights = {}
    for quality in ("draft", "good", "best", "finest"):
        choose("best" if quality == "finest" else quality)
        if quality == "finest":
            obj.conjac.edge_length /= 1.5
            obj.conjac.solver.step /= 2.0
        bpy.ops.conjac.bake()
        heights[quality] = np.array([(bpy.context.scene.frame_set(frame), seen(obj)[:, 2].mean())[1]
                                     for frame in range(1, 25)])
    off = {quality: abs(heights[quality] - heights["finest"]).max() for quality in ("draft", "good", "best")}
    assert off["best"] < off["good"] < off["draft"], off
