"""A body that joins a simulation changes nothing of it, and gets a ground and its wobble there, in any order."""

import bpy
import pytest

from conjac.conjac_addon import members
from conjac.conjac_addon.gather.job import scene_settings
from conjac.conjac_addon.ui import advice


@pytest.fixture()
def pair(addon):
    """Return a sheet of 2 m that precedes a cube of 20 cm in the scene's order, 80 cm above zero, and the cube over
    it."""
    bpy.ops.wm.read_factory_settings(use_empty=True)
    bpy.ops.mesh.primitive_grid_add(x_subdivisions=4, y_subdivisions=4, size=2.0, location=(0, 0, 0.8))
    sheet = bpy.context.object
    bpy.ops.mesh.primitive_cube_add(size=0.2, location=(0, 0, 1.2))
    return sheet, bpy.context.object


def made(obj, add):
    bpy.context.view_layer.objects.active = obj
    for scene_object in bpy.context.view_layer.objects:
        scene_object.select_set(scene_object == obj)
    assert add() == {"FINISHED"}


@pytest.mark.parametrize("cloth_first", [True, False])
def test_what_joins_cloth_keeps_its_wobble_and_its_ground(pair, cloth_first):
    sheet, cube = pair
    steps = [(sheet, bpy.ops.conjac.add_cloth), (cube, bpy.ops.conjac.add_soft_body)]
    for obj, add in steps if cloth_first else reversed(steps):
        made(obj, add)
    leading = members.owner(cube)
    assert leading == members.owner(sheet) == (sheet if cloth_first else cube)
    document = scene_settings(leading, bpy.context.scene)
    assert document["integrator"]["kind"] == "sdirk2"
    assert document["ground"]["friction"]["kind"] == "coulomb" and document["ground"]["stiffness_per_area"] > 0.0
    assert leading.conjac.ground_height == 0.0


def test_who_leads_keeps_what_was_set(pair):
    sheet, cube = pair
    made(sheet, bpy.ops.conjac.add_cloth)
    sheet.conjac.solver.integrator, sheet.conjac.use_ground = "bdf2", False
    made(cube, bpy.ops.conjac.add_soft_body)
    document = scene_settings(members.owner(cube), bpy.context.scene)
    assert document["integrator"]["kind"] == "bdf2" and "ground" not in document


def test_a_ground_is_below_the_colliders_of_all(pair):
    sheet, cube = pair
    bpy.ops.mesh.primitive_cube_add(size=0.4, location=(5, 0, -0.5))
    bpy.ops.conjac.add_collider()
    made(sheet, bpy.ops.conjac.add_cloth)
    made(cube, bpy.ops.conjac.add_soft_body)
    assert sheet.conjac.ground_height == pytest.approx(-0.7)


@pytest.mark.parametrize("rigid_first", [True, False])
def test_a_rigid_box_that_meets_a_jelly_touches_it_and_leads_with_its_solver_and_ground(addon, rigid_first):
    bpy.ops.wm.read_factory_settings(use_empty=True)
    bpy.ops.mesh.primitive_cube_add(size=0.4, location=(0, 0, 0.2))
    jelly = bpy.context.object
    bpy.ops.mesh.primitive_cube_add(size=0.2, location=(0, 0, 0.6))
    box = bpy.context.object
    bpy.ops.rigidbody.object_add()
    steps = [(jelly, bpy.ops.conjac.add_soft_body), (box, bpy.ops.conjac.mechanism_from_rigid_bodies)]
    for obj, add in reversed(steps) if rigid_first else steps:
        made(obj, add)
    leading = members.owner(jelly)
    assert members.is_mechanism(leading)
    document = scene_settings(leading, bpy.context.scene)
    assert (document["method"]["kind"], document["integrator"]["kind"], document["stage_solver"]["kind"]) == (
        "vanilla", "sdirk2", "quick")
    assert document["time"]["step"] == pytest.approx(1 / 48)
    # what the jelly's own panels show is what counts, and a sheet that has no ground of its own stands on it too
    assert members.shared_settings(jelly) == leading.conjac
    bpy.ops.mesh.primitive_grid_add(x_subdivisions=4, y_subdivisions=4, size=1.0, location=(0, 0, 1.0))
    sheet = bpy.context.object
    made(sheet, bpy.ops.conjac.add_cloth)
    sheet.conjac.use_ground = False
    assert members.owner(sheet) == leading
    assert "falls" not in {hint.key for hint in advice.look_at(sheet, bpy.context.scene)}
    assert document["ground"]["friction"]["kind"] == "coulomb" and document["ground"]["stiffness_per_area"] > 0.0


def test_a_mechanism_that_was_set_to_touch_nothing_is_left_alone(addon):
    bpy.ops.wm.read_factory_settings(use_empty=True)
    bpy.ops.mesh.primitive_cube_add(size=0.2, location=(0, 0, 0.6))
    bpy.ops.rigidbody.object_add()
    bpy.ops.conjac.mechanism_from_rigid_bodies()
    mechanism = bpy.context.object
    mechanism.conjac.mechanism.touch_soft = False
    bpy.ops.mesh.primitive_cube_add(size=0.4, location=(0, 0, 0.2))
    jelly = bpy.context.object
    bpy.ops.conjac.add_soft_body()
    assert members.owner(jelly) == jelly and mechanism.conjac.integrator == "leapfrog"
