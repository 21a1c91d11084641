"""Soft bodies that are attached to no bone push a mechanism's bodies and are pushed by them, in one bake."""

import json

import numpy as np
import pytest

bpy = pytest.importorskip("bpy")

from drawn_panels import FakeLayout, drawn  # noqa: E402
from falling_boxes import add_ball  # noqa: E402
from jelly import scene, seen_at  # noqa: E402, F401
from rig import add_chain, job_of, world_of  # noqa: E402
from test_attach import add_flesh  # noqa: E402

from conjac.conjac_addon import bake, gather, members  # noqa: E402
from conjac.conjac_addon.bake import place  # noqa: E402
from conjac.conjac_addon.ui import advice, fields, sections  # noqa: E402
from conjac.examples_blend import jelly  # noqa: E402
from conjac.solver.errors import BadScene  # noqa: E402
from conjac.solver.job.load import load  # noqa: E402

LAST = 6


@pytest.fixture()
def arm(scene):  # noqa: F811
    """Return an armature of a fixed bone and one on a hinge, level on a stiff joint; 5 cm thick."""
    scene.frame_end = LAST
    rig = add_chain(2)
    settings = rig.conjac
    settings.method, settings.integrator, settings.step = "vanilla", "backward_euler", 1 / 48
    settings.mechanism.touch_soft, settings.mechanism.use_skin = True, False
    rig.pose.bones["B0"].conjac.role = "animated"
    for bone in rig.pose.bones:
        bone.conjac.shape, bone.conjac.radius = "capsule", 0.05
    hinge = rig.pose.bones["B1"].conjac
    hinge.mass, hinge.joint, hinge.axis, hinge.stiffness, hinge.damping = 1.0, "revolute", "X", 60.0, 2.0
    return rig


def sunk(rig):
    """Return how far the end of the hinged bone is below the other one at the last frame [m]."""
    bpy.context.scene.frame_set(LAST)
    return -(world_of(rig, "B1")[:3, 1] * 0.3)[2]


def free_jelly(name="Jelly", height=0.175, along=0.5):
    body = add_ball(name, height, along)
    body.conjac.use_ground = False
    return body


@pytest.mark.long
def test_conjac_s_jelly_presses_an_arm_down(arm, scene):  # noqa: F811
    assert bake.bake_object(arm) == 0
    alone = sunk(arm)
    arm.conjac.method = "conjac"
    body = free_jelly()
    assert bake.bake_object(body) == 0
    assert sunk(arm) > alone + 0.002
    assert jelly.clearance([body], range(1, LAST + 1)) > 0.0
    assert (seen_at(body, LAST)[:, 2] + body.location.z).mean() > 0.06


def test_a_jelly_that_falls_on_an_arm_presses_it_down_and_rests_on_it(arm, scene):  # noqa: F811
    assert bake.bake_object(arm) == 0
    alone = sunk(arm)
    body = free_jelly()
    assert members.owner(body) == arm and members.soft_bodies(arm, scene) == [body]
    assert bake.bake_object(body) == 0
    assert bake.status(arm).state == bake.status(body).state == "complete"
    assert sunk(arm) > alone + 0.002
    # its middle would have fallen from 17 cm to below the arm
    assert (seen_at(body, LAST)[:, 2] + body.location.z).mean() > 0.06
    assert jelly.clearance([body], range(1, LAST + 1)) > 0.0
    # with the option off they go through each other, each in a bake of its own
    body.conjac.contact.collides_with = "none"
    assert members.owner(body) == body and members.soft_bodies(arm, scene) == []
    assert place.job_folder(body) != place.job_folder(arm)
    assert bake.bake_object(body) == bake.bake_object(arm) == 0
    assert (seen_at(body, LAST)[:, 2] + body.location.z).mean() < 0.0
    assert sunk(arm) == pytest.approx(alone, abs=1e-6)


def test_who_is_in_the_job_and_what_each_touches(arm, scene, tmp_path):  # noqa: F811
    near, far, flesh = free_jelly("Near"), free_jelly("Far", 3.0), add_flesh(arm)
    for body, groups in ((near, ["Near", "Far"]), (far, ["Near", "Far"])):
        assert members.soft_bodies(body, scene)[:2] == [bpy.data.objects[name] for name in groups]
    document, _ = job_of(arm, tmp_path / "job")
    assert [(body["name"], body["touches"]) for body in document["bodies"]] == [
        ("Near", ["Far", "Rig"]), ("Far", ["Near", "Rig"]), ("Flesh", [])]
    # what other soft bodies touch comes along, what is in no collection of theirs does not
    chosen = bpy.data.collections.new("Chosen")
    scene.collection.children.link(chosen)
    chosen.objects.link(far)
    near.conjac.contact.collides_with, near.conjac.contact.collection = "collection", chosen
    document, _ = job_of(arm, tmp_path / "job")
    assert [(body["name"], body["touches"]) for body in document["bodies"]] == [
        ("Near", ["Far"]), ("Far", ["Near", "Rig"]), ("Flesh", [])]
    assert gather.changed_settings(arm, scene, tmp_path / "job") == []
    # flesh that collides touches the bones that it does not hang on, where the mechanism has the option
    flesh.conjac.contact.collides_with = "all"
    assert gather.changed_settings(arm, scene, tmp_path / "job") == ["Collides With"]
    flesh.conjac.contact.pins_yield = True  # what hangs on bones gives way as pins do
    document, _ = job_of(arm, tmp_path / "yields")
    assert [body.get("pins_yield", False) for body in document["bodies"]] == [False, False, True]
    arm.conjac.mechanism.touch_soft = False
    assert members.owner(near) == near and members.soft_bodies(arm, scene) == [flesh]
    document, _ = job_of(arm, tmp_path / "alone")
    assert "contact" not in document


def test_cloth_moves_on_its_own_beside_flesh_that_follows(arm, scene, tmp_path):  # noqa: F811
    """The mechanism's method is that of its soft bodies; cloth supports only one."""
    add_flesh(arm)
    bpy.ops.mesh.primitive_grid_add(x_subdivisions=3, y_subdivisions=3, size=0.4, location=(0.5, 0.0, 0.6))
    sheet = bpy.context.object
    sheet.name = "Sheet"
    assert bpy.ops.conjac.add_cloth() == {"FINISHED"}
    assert members.owner(sheet) == arm
    document, _ = job_of(arm, tmp_path / "own")
    assert all("method" not in body for body in document["bodies"])
    arm.conjac.method = "conjac"
    document, job = job_of(arm, tmp_path / "job")
    methods = {body.name: job.scene.method_of(body).kind for body in job.scene.bodies}
    assert methods == {"Flesh": "conjac", "Sheet": "vanilla"}
    assert gather.changed_settings(arm, scene, tmp_path / "job") == []


def test_animated_bones_that_take_nothing_along_touch_too(scene, tmp_path):  # noqa: F811
    """Such bones were once left out of the bake, and everything went through them."""
    rig = add_chain(3)
    for bone in rig.pose.bones:
        bone.conjac.role = "animated"
    add_flesh(rig, groups=("B0",))
    settings = rig.conjac.mechanism
    settings.use_skin = False
    for touches, expected in ((False, ["B0"]), (True, ["B0", "B1", "B2"])):
        settings.touch_soft = touches
        document, _ = job_of(rig, tmp_path / str(touches))
        bodies, joints = (document["mechanisms"][0][key] for key in ("bodies", "joints"))
        assert [body["name"] for body in bodies] == [joint["child"] for joint in joints] == expected
        assert {(joint["kind"], joint["motor"]["mode"]["kind"]) for joint in joints} == {("free", "drive")}


def test_a_job_that_touches_what_there_is_not_is_refused(arm, tmp_path):
    free_jelly()
    document, _ = job_of(arm, tmp_path / "job")
    document["bodies"][0]["touches"] = ["Rug"]
    (tmp_path / "job" / "scene.json").write_text(json.dumps(document))
    with pytest.raises(BadScene, match="there is no body, obstacle or mechanism of that name"):
        load(tmp_path / "job")


def test_a_body_that_begins_inside_a_bone_is_refused_by_name(arm):
    body, messages = free_jelly(height=0.1), []
    assert bake.bake_object(body, report=messages.append) == 2
    assert any('"Jelly"' in text and '"B1"' in text and "at the start" in text for text in messages), messages


def test_bones_that_cross_a_soft_body_are_reported_and_selected(arm, scene):  # noqa: F811
    body = free_jelly(height=0.145)  # 14.5 cm up, 20 cm high: half a centimetre in the arm, which is 5 cm thick
    arm.pose.bones["B0"].conjac.shape = "box"
    bpy.context.view_layer.objects.active = arm
    assert bpy.ops.conjac.select_crossing() == {"FINISHED"} and body.mode == "EDIT"
    bpy.ops.object.mode_set(mode="OBJECT")
    chosen = [face for face in body.data.polygons if face.select]
    assert chosen and all(min(body.data.vertices[v].co.z for v in face.vertices) < -0.09 for face in chosen)
    bones = arm.pose.bones if hasattr(arm.pose.bones[0], "select") else arm.data.bones  # where 5.0 keeps the choice
    assert arm.select_get() and [bone.name for bone in bones if bone.select] == ["B1"]
    # what flesh hangs on has no surface of its own, and what does not collide crosses nothing
    body.location.z = 0.2
    bpy.context.view_layer.objects.active = body
    assert bpy.ops.conjac.select_crossing() == {"FINISHED"} and body.mode == "OBJECT"
    body.location.z = 0.145
    arm.conjac.mechanism.touch_soft = False
    assert bpy.ops.conjac.select_crossing() == {"FINISHED"} and body.mode == "OBJECT"


def bump(kind, **where):
    """Add a collider."""
    getattr(bpy.ops.mesh, f"primitive_{kind}_add")(**where)
    assert bpy.ops.conjac.add_collider() == {"FINISHED"}
    return bpy.context.object


def test_colliders_that_bones_pass_become_obstacles_by_a_button(arm, scene, tmp_path):  # noqa: F811
    """Soft bodies collide with colliders; bones with the collection of their mechanism alone."""
    body = free_jelly()
    assert not hints_of(arm) and not bpy.ops.conjac.add_obstacles.poll()
    floor = bump("plane", size=4.0, location=(0.0, 0.0, -0.5))
    step, bowl = bump("cube", size=0.2, location=(0.5, 1.0, -0.3)), bump("uv_sphere", location=(5, 0, 0))
    under = bump("cube", location=(0, 0, -9.0))
    arm.conjac.use_ground, arm.conjac.ground_height = True, -2.0  # which the last one is below
    bowl.data.flip_normals()  # a room
    for obj in (arm, body):
        assert hints_of(obj) == {"passed": 'Bones and rigid bodies pass through "Plane", "Cube": a collider, but not '
                                 'an obstacle',
                                 "hollow": 'Bones and rigid bodies pass through "Sphere": it is hollow, so give '
                                 "Obstacles convex pieces of it"}
    bpy.context.view_layer.objects.active = body
    assert bpy.ops.conjac.add_obstacles() == {"FINISHED"}
    assert arm.conjac.mechanism.obstacles.objects.values() == [floor, step]
    assert set(hints_of(arm)) == {"hollow"} and bpy.ops.conjac.add_obstacles() == {"CANCELLED"} and under.users_scene
    scene.collection.objects.unlink(bowl)
    document, job = job_of(arm, tmp_path / "job")
    slab, box = document["mechanisms"][1]["bodies"]
    deep = job.array(slab["vertices"])
    assert (slab["name"], box["name"]) == ("Plane", "Cube")
    assert np.unique(deep[:, 2]).tolist() == pytest.approx([-0.4, 0.0])
    # soft bodies touch what is both once, as the collider that it is
    assert document["bodies"][0]["touches"] == ["Plane", "Cube", "Cube.001", "Rig"]
    bpy.ops.mesh.primitive_cube_add(location=(6, 0, 0))
    arm.conjac.mechanism.obstacles.objects.link(bpy.context.object)
    document, job = job_of(arm, tmp_path / "apart")
    assert [mechanism["name"] for mechanism in document["mechanisms"]] == ["Rig", "Rig Obstacles", "Rig Colliders"]
    assert [[body["name"] for body in mechanism["bodies"]] for mechanism in document["mechanisms"][1:]] == [
        ["Cube.002"], ["Plane", "Cube"]]
    assert document["bodies"][0]["touches"] == ["Plane", "Cube", "Cube.001", "Rig", "Rig Obstacles"]
    assert gather.changed_settings(arm, scene, tmp_path / "apart") == []
    # one that all drive is stopped by nothing; one that touches nothing soft passes colliders all the same
    ball = bump("cube", location=(3, 3, 3))
    assert "passed" in hints_of(arm)
    arm.pose.bones["B1"].conjac.role = "animated"
    assert not hints_of(arm)
    arm.pose.bones["B1"].conjac.role = "simulated"
    arm.conjac.mechanism.touch_soft = False
    assert hints_of(arm) == {
        "passed": 'Bones and rigid bodies pass through "Cube.003": a collider, but not an obstacle'}
    bpy.context.view_layer.objects.active = arm
    assert bpy.ops.conjac.add_obstacles() == {"FINISHED"} and not hints_of(arm)
    assert ball in arm.conjac.mechanism.obstacles.objects.values()


def test_of_two_mechanisms_the_second_has_a_hint_of_what_goes_through_it(arm, scene, monkeypatch):  # noqa: F811
    body, other = free_jelly(), arm.copy()
    scene.collection.objects.link(other)
    assert members.taken(arm, scene) == [] and members.taken(other, scene) == [(body, arm)]
    hints = [hint.text for hint in advice.look_at(other, scene) if hint.key == "taken"]
    assert hints == ['"Jelly" goes through it: it is baked with "Rig", and a soft body can touch only one mechanism']
    other.conjac.mechanism.touch_soft = False
    assert members.taken(other, scene) == []
    # nothing of the jelly's own method counts in the bake of a mechanism, and its panel shows the one that does; until
    # something comes near it the jelly moves by its own steps
    arm.conjac.method, body.conjac.method = "conjac", "vanilla"
    bpy.context.view_layer.objects.active = body
    shown = []
    for module in (sections, fields):
        monkeypatch.setattr(module, "setting", lambda layout, owner, name: shown.append((owner.id_data, name)))
    sections.draw_advanced(FakeLayout([]), bpy.context)
    assert {name for owner, name in shown if owner == body} & {"method", "step", "largest_deformation"} == {
        "step", "largest_deformation"}
    assert {owner for owner, _ in shown} == {arm, body} and (arm, "method") in shown


def test_the_panel_distinguishes_bodies_that_touch_a_mechanism_from_attached_ones(arm):
    for body, does in ((free_jelly(), "touches"), (add_flesh(arm), "hangs on")):
        labels = " ".join(text for kind, text in drawn(body) if kind == "label")
        assert f"It {does} Rig and is baked with it" in labels


def hints_of(obj):
    """Return the panel's text about colliders that bones pass."""
    return {hint.key: hint.text for hint in advice.look_at(obj, bpy.context.scene) if hint.key in {"passed", "hollow"}}


def test_a_bone_rests_on_a_plane_that_the_button_gave_it(arm, scene):  # noqa: F811
    """A bone once fell through a plane, which has no hull, and through a collider, which is no obstacle."""
    scene.frame_end = 12
    hinge = arm.pose.bones["B1"].conjac
    hinge.stiffness, hinge.damping = 0.0, 0.1
    free_jelly(along=3.0)
    bump("plane", size=4.0, location=(0.3, 0.0, -0.12))
    bpy.context.view_layer.objects.active = arm
    lowest = []
    for given in (False, True):
        if given:
            assert bpy.ops.conjac.add_obstacles() == {"FINISHED"}
        assert bake.bake_object(arm) == 0
        scene.frame_set(12)
        lowest.append(0.3 * world_of(arm, "B1")[2, 1])
    assert lowest[0] < -0.12 and -0.09 < lowest[1] < -0.06


def test_flesh_that_collides_with_nothing_says_that_colliders_do_not_stop_it(arm):
    flesh = add_flesh(arm)
    flesh.conjac.contact.collides_with = "none"

    def keys():
        return {hint.key for hint in advice.look_at(flesh, bpy.context.scene)}

    assert "apart" not in keys()
    stairs = add_ball("Stairs", 0.0, 2.0)
    stairs.conjac.enabled, stairs.conjac.kind = True, "collider"
    assert "apart" in keys()
    flesh.conjac.contact.collides_with = "all"
    assert "apart" not in keys()
