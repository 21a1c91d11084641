"""Objects without influence on a bake are not evaluated for it, which changes no digit of the others."""

import numpy as np
import pytest

bpy = pytest.importorskip("bpy")

FRAMES = 8


@pytest.fixture
def scene(addon):
    scene = bpy.context.scene
    scene.frame_start, scene.frame_end = 1, FRAMES
    scene.frame_set(3)
    return scene


def grid(name, at=(0.0, 0.0, 0.0), size=1.0):
    bpy.ops.mesh.primitive_grid_add(x_subdivisions=4, y_subdivisions=4, size=size, location=at)
    bpy.context.object.name = name
    return bpy.context.object


def empty(scene, name, parent=None):
    made = bpy.data.objects.new(name, None)
    scene.collection.objects.link(made)
    made.parent = parent
    return made


def key(obj, path, values, index=-1):
    for frame, value in values.items():
        if index < 0:
            setattr(obj, path, value)
        else:
            getattr(obj, path)[index] = value
        obj.keyframe_insert(path, frame=frame, index=index)


def cloth(scene, name="Cloth"):
    body = grid(name, (0.0, 0.0, 1.0))
    body.conjac.kind = "cloth"
    body.conjac.samples_per_frame = 3
    body.vertex_groups.new(name="Pin").add(range(12), 1.0, "REPLACE")
    return body


def collider(obj):
    obj.conjac.kind = "collider"
    return obj


def read(obj, scene, folder):
    from conjac.conjac_addon import gather

    gather.write_job(obj, scene, folder)
    return {path.name: path.read_bytes() for path in (folder / "arrays").iterdir()} | {
        "scene.json": (folder / "scene.json").read_bytes()}


def animated_scene(scene):
    """Make cloth whose pins follow a hook, a shape key with a driver, a parent with a constraint, and colliders that
    follow a rig, a modifier's target and Geometry Nodes that instance a collection."""
    leader = empty(scene, "Leader")
    key(leader, "location", {1: 0.0, FRAMES: 0.4}, 0)
    leader["push"] = 0.0
    for frame, value in ((1, 0.0), (FRAMES, 1.0)):
        leader["push"] = value
        leader.keyframe_insert('["push"]', frame=frame)
    follower = empty(scene, "Follower")
    follower.constraints.new("COPY_LOCATION").target = leader
    body = cloth(scene)
    body.parent = follower
    body.shape_key_add(name="Basis")
    moved = body.shape_key_add(name="Up")
    for point in moved.data[:12]:
        point.co.z += 0.2
    driver = moved.driver_add("value").driver
    variable = driver.variables.new()
    variable.targets[0].id, variable.targets[0].data_path = leader, '["push"]'
    driver.expression = f"{variable.name} * 0.5 + frame * 0.01"
    hook = body.modifiers.new("Hook", "HOOK")
    hook.object = empty(scene, "Hooked", leader)
    hook.vertex_indices_set(range(12))
    return body, leader


def rig(scene, obj):
    data = bpy.data.armatures.new("Rig")
    armature = bpy.data.objects.new("Rig", data)
    scene.collection.objects.link(armature)
    bpy.context.view_layer.objects.active = armature
    bpy.ops.object.mode_set(mode="EDIT")
    bone = data.edit_bones.new("Bone")
    bone.tail = (0.0, 0.0, 1.0)
    bpy.ops.object.mode_set(mode="OBJECT")
    posed = armature.pose.bones["Bone"]
    posed.rotation_mode = "XYZ"
    key(posed, "rotation_euler", {1: 0.0, FRAMES: 0.7}, 0)
    obj.vertex_groups.new(name="Bone").add(range(len(obj.data.vertices)), 1.0, "REPLACE")
    obj.modifiers.new("Armature", "ARMATURE").object = armature
    return armature


def instances(scene, obj, leader):
    """Add Geometry Nodes with a collection that nothing else shows, of an object that is animated."""
    hidden = bpy.data.collections.new("Instanced")
    original = grid("Instance", size=0.2)
    for collection in list(original.users_collection):
        collection.objects.unlink(original)
    hidden.objects.link(original)
    key(original, "location", {1: 0.0, FRAMES: 0.3}, 1)
    tree = bpy.data.node_groups.new("Instances", "GeometryNodeTree")
    tree.interface.new_socket("Geometry", in_out="OUTPUT", socket_type="NodeSocketGeometry")
    info, real = tree.nodes.new("GeometryNodeCollectionInfo"), tree.nodes.new("GeometryNodeRealizeInstances")
    out = tree.nodes.new("NodeGroupOutput")
    info.inputs["Collection"].default_value = hidden
    tree.links.new(info.outputs[0], real.inputs[0])
    tree.links.new(real.outputs[0], out.inputs[0])
    obj.modifiers.new("Nodes", "NODES").node_group = tree


def count_evaluations(obj):
    """Return a list that grows by one whenever the object is evaluated."""
    seen = []

    def note():
        seen.append(bpy.context.scene.frame_current)
        return 0.0

    bpy.app.driver_namespace["note_evaluation"] = note
    obj.driver_add("location", 2).driver.expression = "note_evaluation()"
    return seen


@pytest.fixture
def _no_functions():
    yield
    for name in ("note_evaluation", "present"):
        bpy.app.driver_namespace.pop(name, None)


def everything(scene):
    body, leader = animated_scene(scene)
    limb = collider(grid("Limb", (0.0, 0.0, -0.5)))
    rig(scene, limb)
    shrunk = collider(grid("Shrunk", (0.0, 0.0, -0.8)))
    shrunk.modifiers.new("Wrap", "SHRINKWRAP").target = limb
    made = collider(grid("Made", (2.0, 0.0, 0.0)))
    instances(scene, made, leader)
    body.conjac.use_ground, body.conjac.contact.collides_with = False, "all"
    return body


def test_what_is_read_is_the_same(scene, tmp_path, monkeypatch):
    body = everything(scene)
    grid("Unrelated", (9.0, 0.0, 0.0)).modifiers.new("Wave", "WAVE")
    alone = read(body, scene, tmp_path / "alone")
    from conjac.conjac_addon.gather.alone import Alone

    monkeypatch.setattr(Alone, "take_up", lambda self: None)
    assert alone == read(body, scene, tmp_path / "in_scene")
    moving = [name for name in alone if "motion" in name]
    assert len(moving) >= 3, moving
    for name in moving:
        motion = np.load(tmp_path / "alone" / "arrays" / name)
        assert np.abs(motion[-1] - motion[0]).max() > 0.01, name


def test_what_has_nothing_to_do_with_it_is_left_alone(scene, tmp_path, _no_functions):
    body = everything(scene)
    other = grid("Unrelated", (9.0, 0.0, 0.0))
    other.select_set(True)
    seen = count_evaluations(other)
    bpy.context.view_layer.update()
    scenes, frame = list(bpy.data.scenes), scene.frame_current
    pose = body.evaluated_get(bpy.context.evaluated_depsgraph_get()).matrix_world.copy()
    seen.clear()
    read(body, scene, tmp_path / "job")
    assert len(seen) <= 1, "evaluated at every frame"
    assert list(bpy.data.scenes) == scenes and scene.frame_current == frame
    assert body.users_scene == (scene,) and other.select_get() and not other.hide_viewport
    assert body.evaluated_get(bpy.context.evaluated_depsgraph_get()).matrix_world == pose


def test_the_window_gets_the_artists_scenes(scene, tmp_path, _no_functions):
    from conjac.conjac_addon import gather

    body, scenes = everything(scene), list(bpy.data.scenes)
    seen = count_evaluations(grid("Unrelated", (9.0, 0.0, 0.0)))
    bpy.context.view_layer.update()
    seen.clear()
    steps = gather.write_job_steps(body, scene, tmp_path / "job", lets_in=lambda: True)
    for _ in range(3):
        next(steps)
        assert list(bpy.data.scenes) == scenes and scene.frame_current == 3
        bpy.context.view_layer.update()
    steps.close()
    assert len(seen) <= 1, "the artist's scene is evaluated whenever the window is let in"
    assert list(bpy.data.scenes) == scenes


@pytest.mark.parametrize("reads", ["a scene", "Python", "simulation"])
def test_what_may_read_more_is_evaluated_where_it_is(scene, tmp_path, reads, _no_functions):
    """A driver of the timeline's frame, one of a script and Blender's cloth are evaluated in the artist's scene."""
    body = cloth(scene)
    seen = count_evaluations(grid("Unrelated", (9.0, 0.0, 0.0)))
    if reads == "simulation":
        body.modifiers.new("Cloth", "CLOTH")
    else:
        driver = body.driver_add("location", 0).driver
        bpy.app.driver_namespace["present"] = lambda: bpy.context.scene.frame_current
        driver.expression = "present() * 0.01"
        if reads == "a scene":
            variable = driver.variables.new()
            variable.targets[0].id_type = "SCENE"
            variable.targets[0].id, variable.targets[0].data_path = scene, "frame_current"
            driver.expression = f"{variable.name} * 0.01"
    read(body, scene, tmp_path / "job")
    assert len(set(seen)) == FRAMES
    if reads != "simulation":
        motion = np.load(tmp_path / "job" / "arrays" / "pin_motion.npy")
        assert np.abs(motion[-1] - motion[0]).max() == pytest.approx(0.01 * (FRAMES - 1), abs=1e-6)


def test_a_slow_frame_names_what_takes_long(scene, monkeypatch):
    from conjac.conjac_addon.gather import slow

    other = grid("Heavy")
    other.modifiers.new("Fine", "SUBSURF").levels = 6
    other.modifiers.new("After", "DISPLACE")
    depsgraph = bpy.context.evaluated_depsgraph_get()
    name, seconds = slow.slowest(depsgraph)
    assert name == "Heavy" and seconds > 0.0
    assert slow.sentence(depsgraph, 0.01) == "Reading the animation"
    monkeypatch.setattr(slow, "SLOW", 0.5 * seconds)
    assert "modifiers of Heavy" in slow.sentence(depsgraph, seconds)
