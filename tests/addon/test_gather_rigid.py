"""Rigid body objects and the Empties that join them become a mechanism that the solver reads."""

import numpy as np
import pytest

bpy = pytest.importorskip("bpy")

from rig import job_of, scene  # noqa: E402, F401

from conjac.conjac_addon import gather, members, playback  # noqa: E402
from conjac.conjac_addon.gather import turns  # noqa: E402
from conjac.conjac_addon.ui import advice  # noqa: E402
from conjac.solver.errors import BadInput  # noqa: E402


def add_box(name, location, active=True, **rigid):
    bpy.ops.mesh.primitive_cube_add(size=0.2, location=location)
    obj = bpy.context.object
    obj.name = name
    bpy.ops.rigidbody.object_add(type="ACTIVE" if active else "PASSIVE")
    obj.rigid_body.collision_shape = "BOX"
    for key, value in rigid.items():
        setattr(obj.rigid_body, key, value)
    return obj


def join(kind, a, b, location, rotation=(0, 0, 0), **limits):
    bpy.ops.object.empty_add(location=location, rotation=rotation)
    empty = bpy.context.object
    empty.name = f"{kind.title()} {a.name if a else 'World'} {b.name if b else 'World'}"
    bpy.ops.rigidbody.constraint_add(type=kind)
    constraint = empty.rigid_body_constraint
    constraint.object1, constraint.object2 = a, b
    for key, value in limits.items():
        setattr(constraint, key, value)
    return empty


def mechanism():
    bpy.ops.conjac.mechanism_from_rigid_bodies()
    return bpy.context.object


def heights(frames, *bodies):
    heights_seen = []
    for frame in frames:
        bpy.context.scene.frame_set(frame)
        seen = bpy.context.evaluated_depsgraph_get()
        heights_seen.append([body.evaluated_get(seen).matrix_world.translation.z for body in bodies])
    return np.array(heights_seen)


def test_loose_bodies_stand_on_each_other_and_on_the_ground(scene):  # noqa: F811
    scene.frame_end = 24
    bodies = [add_box(f"Box {k}", (0.0, 0.0, 0.12 + 0.21 * k)) for k in range(3)]
    owner = mechanism()
    assert owner.conjac.use_ground and owner.conjac.mechanism.self_collisions
    assert bpy.ops.conjac.bake() == {"FINISHED"}
    # each sank by the room below it
    assert heights([24], *bodies)[0] == pytest.approx([0.1, 0.3, 0.5], abs=2e-3)


def test_filled_holes_of_the_links_of_a_chain_are_reported(scene, tmp_path):  # noqa: F811
    """Each link collides as its convex hull; one that is a hull in Blender, too, is not reported."""
    add_box("Box", (0.0, 0.0, 1.0)).rigid_body.collision_shape = "MESH"
    for kind in ("MESH", "MESH", "CONVEX_HULL"):
        bpy.ops.mesh.primitive_torus_add()
        bpy.ops.rigidbody.object_add()
        bpy.context.object.name, bpy.context.object.rigid_body.collision_shape = "Link", kind
    notes = []
    owner = mechanism()
    job_of(owner, tmp_path, notes)
    note, = [note for note in notes if "convex hull" in note]
    assert note.startswith(f'"{owner.name}": the shape of "Link" and 1 more is Mesh, yet counts as its convex hull')


def test_what_is_joined_or_falls_on_what_stands_gets_no_ground(scene):  # noqa: F811
    add_box("Floor", (0.0, 0.0, -1.0), active=False)
    add_box("Loose", (0.0, 0.0, 1.0))
    owner = mechanism()
    assert not owner.conjac.use_ground and owner.conjac.mechanism.self_collisions
    bpy.data.objects.remove(owner)
    join("HINGE", bpy.data.objects["Loose"], bpy.data.objects["Floor"], (0, 0, 0))
    owner = mechanism()
    assert not owner.conjac.use_ground and not owner.conjac.mechanism.self_collisions


def test_balls_that_hang_each_by_itself_touch_each_other(scene):  # noqa: F811
    """In Newton's cradle no ball is free, yet they collide. The bars of one linkage may cross."""
    first, second = add_box("First", (0.0, 0.0, 1.0)), add_box("Second", (0.3, 0.0, 1.0))
    for ball in (first, second):
        join("HINGE", ball, None, (ball.location.x, 0.0, 2.0), (1.5708, 0.0, 0.0))
    owner = mechanism()
    assert owner.conjac.mechanism.self_collisions and not owner.conjac.use_ground
    bpy.data.objects.remove(owner)
    join("POINT", first, second, (0.15, 0.0, 1.0))
    assert not mechanism().conjac.mechanism.self_collisions


def test_a_rigid_body_that_is_a_collider_too_is_there_once(scene, tmp_path):  # noqa: F811
    """Add Collider before the mechanism once left a still collider at the crate's first position."""
    crate, post = add_box("Crate", (0, 0, 2)), add_box("Post", (3, 0, 0), active=False)
    for scene_object in (crate, post):
        scene_object.conjac.kind = "collider"
    bpy.ops.mesh.primitive_uv_sphere_add(radius=0.3, location=(0, 0, 0.5))
    ball = bpy.context.object
    bpy.ops.conjac.add_soft_body()
    assert members.colliders(ball, scene) == [crate, post]
    assert [advised.key for advised in advice.look_at(ball, scene)][:1] == ["strange"]
    owner = mechanism()
    assert owner.conjac.mechanism.touch_soft and members.colliders(ball, scene) == [post]
    assert not any(advised.key == "strange" for advised in advice.look_at(ball, scene))
    document, _ = job_of(owner, tmp_path)
    assert [obstacle["name"] for obstacle in document["obstacles"]] == ["Post"]
    # one that comes later goes to the others, and makes no second mechanism of all
    later = add_box("Later", (1, 0, 2))
    hint = next(advised for advised in advice.look_at(ball, scene) if advised.key == "strange")
    assert f'"{later.name}" on its own' in hint.text and '"Mechanism Parts"' in hint.text and not hint.operator
    owner.conjac.mechanism.touch_soft = False
    assert members.colliders(ball, scene) == [crate, post]


def test_what_blender_asks_for_and_no_bake_does_is_reported(scene, tmp_path):  # noqa: F811
    ball, still = add_box("Ball", (0, 0, 1), restitution=1.0), add_box("Still", (1, 0, 1), active=False)
    still.rigid_body.restitution = 1.0
    hinge = join("HINGE", ball, None, (0, 0, 2))
    hinge.rigid_body_constraint.use_breaking = True
    owner, notes = mechanism(), []
    job_of(owner, tmp_path, notes)
    assert f'"{owner.name}": "Ball" has Bounciness: rigid bodies do not bounce off what they hit' in notes
    assert f'"{owner.name}": "{hinge.name}" has Breakable: joints never break' in notes
    ball.rigid_body.restitution, hinge.rigid_body_constraint.use_breaking = 0.0, False
    quiet = []
    job_of(owner, tmp_path / "2", quiet)
    assert not any("Bounciness" in note or "Breakable" in note for note in quiet)


def test_bodies_that_are_rough_alike_say_how_rough_the_mechanism_is(scene, tmp_path):  # noqa: F811
    """Blender has a Friction for each body and a mechanism one for all; differing bodies are reported."""
    ice = [add_box(f"Ice {k}", (k, 0, 1), friction=0.02) for k in range(2)]
    add_box("Floor", (0, 0, 0), active=False)
    owner, notes = mechanism(), []
    job_of(owner, tmp_path / "1", notes)
    assert owner.conjac.mechanism.contact_friction == pytest.approx(0.02)
    assert not any("Contact Friction" in note for note in notes)
    ice[1].rigid_body.friction = 0.9
    job_of(owner, tmp_path / "2", notes)
    assert f'"{owner.name}": "Ice 1" has another Friction than Contact Friction of the mechanism, 0.02, which ' \
        "applies to all" in notes
    # that of a body which nobody touched asks for nothing
    ice[1].rigid_body.friction, quiet = 0.5, []
    job_of(owner, tmp_path / "3", quiet)
    assert not any("Contact Friction" in note for note in quiet)
    bpy.data.objects.remove(owner)
    assert mechanism().conjac.mechanism.contact_friction == pytest.approx(0.5)  # they differ


def test_constraints_become_joints_in_a_tree(scene, tmp_path):  # noqa: F811
    post = add_box("Post", (0, 0, 1), active=False)
    arm = add_box("Arm", (0.3, 0, 1), mass=2.0)
    slide = add_box("Slide", (0.6, 0, 1), mass=3.0, collision_shape="SPHERE")
    rod = add_box("Rod", (0.9, 0, 1), mass=0.5, collision_shape="CONVEX_HULL")
    free = add_box("Free", (0, 3, 1), collision_shape="MESH")
    join("HINGE", arm, post, (0.15, 0, 1), (np.pi / 2, 0, 0), use_limit_ang_z=True, limit_ang_z_lower=-0.5,
         limit_ang_z_upper=1.0)
    join("SLIDER", slide, arm, (0.45, 0, 1))
    join("PISTON", slide, rod, (0.75, 0, 1), use_limit_lin_x=True, limit_lin_x_lower=-0.1, limit_lin_x_upper=0.2)
    owner = mechanism()
    document, job = job_of(owner, tmp_path / "job")
    mechanism_entry = document["mechanisms"][0]
    assert mechanism_entry["name"] == owner.name and {body["name"] for body in mechanism_entry["bodies"]} == {
        "Post", "Arm", "Slide", "Rod", "Free"}
    joints = {joint["child"]: joint for joint in mechanism_entry["joints"]}
    assert {name: (j.get("parent"), j["kind"]) for name, j in joints.items()} == {
        "Post": (None, "fixed"), "Arm": ("Post", "revolute"), "Slide": ("Arm", "prismatic"),
        "Rod": ("Slide", "cylindrical")}
    assert joints["Arm"]["low"] == pytest.approx([-0.5]) and joints["Arm"]["high"] == pytest.approx([1.0])
    assert joints["Rod"]["low"] == pytest.approx([-1e9, -0.1]) and joints["Rod"]["high"] == pytest.approx([1e9, 0.2])
    axis = turn_of(joints["Arm"])[:, 2]
    assert axis == pytest.approx([0, -1, 0], abs=1e-6)  # the Empty's Z
    assert turn_of(joints["Slide"])[:, 2] == pytest.approx([1, 0, 0], abs=1e-6)  # the Empty's X
    bodies = {body["name"]: body for body in mechanism_entry["bodies"]}
    assert bodies["Arm"]["mass"] == 2.0 and bodies["Arm"]["shape"]["params"]["size_x"] == pytest.approx(0.2)
    assert bodies["Slide"]["shape"] == {"kind": "sphere", "params": {"radius": pytest.approx(0.1)}}
    assert bodies["Rod"]["shape"]["kind"] == "hull" and job.array(bodies["Rod"]["vertices"]).shape == (8, 3)
    assert bodies["Free"]["shape"]["kind"] == "mesh" and job.array(bodies["Free"]["triangles"]).shape == (12, 3)
    assert free.rigid_body is not None


@pytest.mark.parametrize("scale", [1.0, 0.01])
def test_lengths_of_limits_follow_the_unit_scale_and_angles_do_not(scene, tmp_path, scale):  # noqa: F811
    """In a scene in centimeters a slide of 20 units is one of 20 cm."""
    bpy.context.scene.unit_settings.scale_length = scale
    slide, rod = add_box("Slide", (0.6, 0, 1)), add_box("Rod", (0.9, 0, 1))
    join("SLIDER", slide, None, (0.45, 0, 1), use_limit_lin_x=True, limit_lin_x_lower=-20.0, limit_lin_x_upper=5.0)
    join("PISTON", rod, slide, (0.75, 0, 1), use_limit_lin_x=True, limit_lin_x_lower=-0.1, limit_lin_x_upper=0.2,
         use_limit_ang_x=True, limit_ang_x_lower=-0.5, limit_ang_x_upper=0.7)
    document, _ = job_of(mechanism(), tmp_path / "job")
    joints = {joint["child"]: joint for joint in document["mechanisms"][0]["joints"]}
    assert joints["Rod"]["position"] == pytest.approx(np.array([0.75, 0, 1]) * scale, abs=1e-7)
    assert joints["Slide"]["low"] == pytest.approx([-20.0 * scale])
    assert joints["Slide"]["high"] == pytest.approx([5.0 * scale])
    assert joints["Rod"]["low"] == pytest.approx([-0.5, -0.1 * scale])
    assert joints["Rod"]["high"] == pytest.approx([0.7, 0.2 * scale])


def turn_of(joint):
    from mathutils import Quaternion

    return np.array(Quaternion(joint["rotation"]).to_matrix())


def test_what_came_went_and_moved_is_reported_in_words_of_rigid_bodies(scene, tmp_path):  # noqa: F811
    bpy.ops.rigidbody.world_add()
    wall, arm = add_box("Wall", (0, 0, 2), active=False), add_box("Arm", (0.3, 0, 2))
    hinge = join("HINGE", wall, arm, (0.15, 0, 2), rotation=(np.pi / 2, 0, 0))
    owner = mechanism()
    job_of(owner, tmp_path)
    assert gather.changed_settings(owner, scene, tmp_path) == [] == gather.moved(owner, scene, tmp_path)
    hinge.rigid_body_constraint.object1 = None
    assert gather.changed_settings(owner, scene, tmp_path) == ["Joints"]
    bpy.data.objects.remove(hinge)
    assert gather.changed_settings(owner, scene, tmp_path) == ["Joints"]
    assert gather.moved(owner, scene, tmp_path) == ["Rigid Bodies were removed"]
    bpy.context.view_layer.objects.active = arm
    arm.rigid_body.type = "PASSIVE"
    more = add_box("More", (1, 0, 2))
    owner.conjac.mechanism.collection.objects.link(more)
    assert gather.changed_settings(owner, scene, tmp_path) == ["Rigid Bodies"]


def test_rings_are_closed_by_loops(scene, tmp_path):  # noqa: F811
    boxes = [add_box(f"Box {k}", (k, 0, 1)) for k in range(3)]
    join("HINGE", boxes[0], boxes[1], (0.5, 0, 1))
    join("HINGE", boxes[1], boxes[2], (1.5, 0, 1))
    closing = join("POINT", boxes[2], boxes[0], (1, 0, 1))
    owner = mechanism()
    document, _ = job_of(owner, tmp_path / "job")
    loops = document["mechanisms"][0]["loops"]
    assert [(loop["kind"], loop["body_a"], loop["body_b"]) for loop in loops] == [("ball", "Box 2", "Box 0")]
    assert loops[0]["position"] == pytest.approx([1, 0, 1])
    closing.rigid_body_constraint.type = "SLIDER"
    document, _ = job_of(owner, tmp_path / "slider")
    assert [loop["kind"] for loop in document["mechanisms"][0]["loops"]] == ["hinge"]
    for obj in scene.objects:
        if obj.rigid_body_constraint is not None:
            obj.rigid_body_constraint.type = "SLIDER"
    with pytest.raises(BadInput, match='closes a ring of joints as Slider'):
        job_of(owner, tmp_path / "sliders")


def test_a_ring_is_closed_where_nothing_is_lost(scene, tmp_path):  # noqa: F811
    """The loop is closed by the one hinge without limits, motor and stiffness, wherever it is in the list."""
    boxes = [add_box(f"Box {k}", (k, 0, 1)) for k in range(3)]
    hinges = [join("HINGE", boxes[a], boxes[(a + 1) % 3], (a + 0.5, 0, 1), (np.pi / 2, 0, 0)) for a in range(3)]
    owner, notes = mechanism(), []
    for plain in hinges:
        for empty in hinges:
            empty.rigid_body_constraint.use_limit_ang_z = empty is hinges[0] and empty is not plain
            empty.conjac.part.stiffness = 2.0 if empty is not hinges[0] and empty is not plain else 0.0
        hinges[0].conjac.part.motor = "none" if plain is hinges[0] else "servo"
        mechanism_entry = job_of(owner, tmp_path / plain.name, notes)[0]["mechanisms"][0]
        assert [loop["name"] for loop in mechanism_entry["loops"]] == [plain.name] and notes == []
        assert sum("low" in joint for joint in mechanism_entry["joints"]) == (plain is not hinges[0])


def test_a_planar_ring_is_closed_where_the_artist_says(scene, tmp_path):  # noqa: F811
    boxes = [add_box(f"Box {k}", (k, 0, 1)) for k in range(3)]
    flat = (np.pi / 2, 0, 0)
    closing = join("HINGE", boxes[0], boxes[1], (0.5, 0, 1), flat)
    for a, b in ((1, 2), (2, 0)):
        join("HINGE", boxes[a], boxes[b], (a + 0.5, 0, 1), flat)
    owner = mechanism()
    assert [loop["kind"] for loop in job_of(owner, tmp_path / "1")[0]["mechanisms"][0]["loops"]] == ["hinge"]
    assert gather.changed_settings(owner, scene, tmp_path / "1") == []
    part = closing.conjac.part
    part.planar, part.friction, part.bearing_radius = True, 0.3, 0.01
    assert gather.changed_settings(owner, scene, tmp_path / "1") != []
    notes = []
    entry = job_of(owner, tmp_path / "2", notes)[0]["mechanisms"][0]
    assert notes == []
    loop, = entry["loops"]
    assert (loop["name"], loop["kind"], loop["body_a"], loop["body_b"]) == (closing.name, "point_on_line", "Box 0",
                                                                            "Box 1")
    assert loop["position"] == pytest.approx([0.5, 0, 1]) and turn_of(loop)[:, 2] == pytest.approx([0, -1, 0], abs=1e-6)
    assert loop["friction"]["mu"] == 0.3 and loop["friction"]["radius"] == pytest.approx(0.01)
    assert {joint["kind"] for joint in entry["joints"]} == {"revolute"} and len(entry["joints"]) == 2
    assert gather.changed_settings(owner, scene, tmp_path / "2") == []
    part.friction, part.motor = 0.4, "drive"
    closing.rigid_body_constraint.use_limit_ang_z = True
    job_of(owner, tmp_path / "3", notes)
    assert notes == [f'"{owner.name}": "{closing.name}" closes a ring of joints, where these of its settings have no '
                     "effect: limits, motor; give them to another joint of the ring"]
    assert gather.changed_settings(owner, scene, tmp_path / "2") == ["Joint Friction"]


def test_animated_passive_bodies_are_driven(scene, tmp_path):  # noqa: F811
    crank = add_box("Crank", (0, 0, 1), active=False)
    arm = add_box("Arm", (0.3, 0, 1))
    for frame, angle in ((1, 0.0), (6, 2.0)):
        crank.rotation_euler.z = angle
        crank.keyframe_insert("rotation_euler", frame=frame)
    join("POINT", crank, arm, (0.15, 0, 1))
    document, job = job_of(mechanism(), tmp_path)
    joints = {joint["child"]: joint for joint in document["mechanisms"][0]["joints"]}
    target = job.array(joints["Crank"]["motor"]["target"])
    assert joints["Crank"]["kind"] == "free" and target[-1, 2] == pytest.approx(2.0, abs=1e-5)
    assert joints["Arm"]["parent"] == "Crank"


def test_what_is_no_mechanism_is_refused(scene, tmp_path):  # noqa: F811
    box, other = add_box("Box", (0, 0, 1)), add_box("Other", (1, 0, 1))
    spring = join("GENERIC_SPRING", box, other, (0.5, 0, 1))
    owner = mechanism()
    with pytest.raises(BadInput, match="is of type Generic Spring"):
        job_of(owner, tmp_path / "1")
    spring.rigid_body_constraint.type = "HINGE"
    spring.rigid_body_constraint.object2 = box
    with pytest.raises(BadInput, match="joins no two objects"):
        job_of(owner, tmp_path / "2")
    spring.rigid_body_constraint.object2 = other
    other.parent = box
    with pytest.raises(BadInput, match='"Other" has a parent'):
        job_of(owner, tmp_path / "3")
    other.parent = None
    spring.rigid_body_constraint.use_limit_ang_z = True
    spring.rigid_body_constraint.limit_ang_z_lower, spring.rigid_body_constraint.limit_ang_z_upper = 1.0, -1.0
    with pytest.raises(BadInput, match="limits the wrong way round, from 1 to -1"):
        job_of(owner, tmp_path / "4")
    box.rigid_body.type = other.rigid_body.type = "PASSIVE"
    with pytest.raises(BadInput, match="is an active rigid body") as refused:
        job_of(owner, tmp_path / "6")
    assert 'if all that "Box" should do' in refused.value.remedy and "Add Collider" in refused.value.remedy
    owner.conjac.mechanism.collection = None
    with pytest.raises(BadInput, match="has no collection of objects"):
        job_of(owner, tmp_path / "5")


@pytest.mark.parametrize("signs", [(1, 1, 1), (-1, 1, 1), (1, -1, 1), (-1, -1, -1)])
def test_objects_play_and_come_back_also_mirrored_ones(scene, tmp_path, signs):  # noqa: F811
    box, still = add_box("Box", (1, 2, 3)), add_box("Still", (0, 0, 0), active=False)
    box.rotation_mode, box.scale = "QUATERNION", np.array([1.0, 2.0, 1.0]) * signs
    box.rigid_body.collision_shape = "MESH"  # a closed surface that must not be read inside out
    owner = mechanism()
    document, _ = job_of(owner, tmp_path)
    names = tuple(body["name"] for body in document["mechanisms"][0]["bodies"])
    rng = np.random.default_rng(0)
    data = np.array([[turns.pose(turns.from_vector(rng.normal(0, 1, 3)), rng.normal(0, 1, 3)) if name == "Box"
                      else np.eye(4) for name in names] for _ in range(6)])
    playback.mechanism.show(owner, playback.Places(1, 6, names, lambda frame: data[frame - 1]),
                            tmp_path / "arrays", 1, 1.0)
    for frame in (1, 4, 6):
        scene.frame_set(frame)
        seen = np.array(box.evaluated_get(bpy.context.evaluated_depsgraph_get()).matrix_world)
        rotation, scale = turns.split(seen)
        expected = data[frame - 1, names.index("Box")]
        assert rotation == pytest.approx(expected[:3, :3], abs=1e-5)
        assert np.abs(scale) == pytest.approx([1, 2, 1], abs=1e-5)
        assert seen[:3, 3] == pytest.approx(expected[:3, 3], abs=1e-5)
    assert gather.changed_settings(owner, scene, tmp_path) == []
    assert box.rigid_body.kinematic and still.animation_data is None
    playback.hide(owner)
    scene.frame_set(1)
    assert not box.rigid_body.kinematic and box.animation_data is None and not bpy.data.actions
    assert tuple(box.location) == (1, 2, 3)


@pytest.mark.parametrize("mode", ["XYZ", "ZXY", "QUATERNION", "AXIS_ANGLE"])
def test_an_object_with_a_delta_transformation_plays_where_it_stands(scene, tmp_path, mode):  # noqa: F811
    box = add_box("Box", (1, 2, 3))
    box.rotation_mode, box.scale, box.delta_scale = mode, (1.0, 2.0, 1.0), (1.0, 0.5, -1.0)
    box.delta_location = (0.5, -1.0, 0.25)
    box.delta_rotation_euler, box.delta_rotation_quaternion = (0.3, 0.7, -0.4), (0.5, 0.5, -0.5, 0.5)
    owner = mechanism()
    document, _ = job_of(owner, tmp_path)
    start = document["mechanisms"][0]["bodies"][0]
    bpy.context.view_layer.update()
    stands = turns.split(np.array(box.matrix_world))[0]
    data = np.array([turns.pose(turns.from_vector(np.array([0.2, 0.1, 0.4]) * k) @ stands,
                                np.array(start["position"]) + [0.1 * k, 0, -0.2 * k]) for k in range(6)])[:, None]
    playback.mechanism.show(owner, playback.Places(1, 6, ("Box",), lambda frame: data[frame - 1]),
                            tmp_path / "arrays", 1, 1.0)
    for frame in (1, 4, 6):
        scene.frame_set(frame)
        seen = np.array(box.evaluated_get(bpy.context.evaluated_depsgraph_get()).matrix_world)
        assert turns.split(seen)[0] == pytest.approx(data[frame - 1, 0, :3, :3], abs=1e-5)
        assert seen[:3, 3] == pytest.approx(data[frame - 1, 0, :3, 3], abs=1e-5)
    assert tuple(box.delta_location) == (0.5, -1.0, 0.25)
