"""Constraints from the buttons on, one of each kind baked in Blender: constrained points stay together, hard and
soft."""

import bpy
import numpy as np
import pytest
from gathered_jobs import gathered
from mathutils import Vector

from conjac.conjac_addon.bake import foreground

KINDS = ["distance", "ball", "hinge", "on_curve", "on_surface"]


def cube(name, x, pinned=False):
    bpy.ops.mesh.primitive_cube_add(size=0.1, location=(x, 0, 0))
    made = bpy.context.object
    made.name = name
    bpy.ops.conjac.add_soft_body()
    made.conjac.mesher, made.conjac.edge_length, made.conjac.use_ground = "grid", 0.05, False
    if pinned:
        made.vertex_groups.new(name="Pin").add([v.index for v in made.data.vertices if v.co.x < 0], 1.0, "REPLACE")
    return made


def select(active, other):
    bpy.ops.object.select_all(action="DESELECT")
    active.select_set(True)
    other.select_set(True)
    bpy.context.view_layer.objects.active = active


def frames(tmp_path, obj, end=13):
    scene = bpy.context.scene
    scene.frame_start, scene.frame_end, scene.render.fps = 1, end, 24
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "tied.blend"))
    messages = []
    assert foreground.bake_object(obj, True, messages.append) == 0, messages


def shown(obj, frame):
    bpy.context.scene.frame_set(frame)
    evaluated = obj.evaluated_get(bpy.context.evaluated_depsgraph_get())
    return np.array([evaluated.matrix_world @ v.co for v in evaluated.data.vertices])


def rail():
    """Return a still, sloping mesh of edges."""
    mesh = bpy.data.meshes.new("Rail")
    mesh.from_pydata([(0.0, 0.0, 0.3), (1.0, 0.0, -0.7)], [(0, 1)], [])
    made = bpy.data.objects.new("Rail", mesh)
    bpy.context.scene.collection.objects.link(made)
    return made


@pytest.mark.parametrize("kind", KINDS)
def test_each_kind_bakes_from_its_button(addon, tmp_path, kind):
    """One of two cubes is pinned; for sliding constraints, one cube is on a slope that is not simulated."""
    slides = kind.startswith("on_")
    if slides:
        if kind == "on_curve":
            other = rail()
        else:
            bpy.ops.mesh.primitive_plane_add(size=4.0, rotation=(0.0, np.pi / 4, 0.0))
            other = bpy.context.object
        body = cube("Body", 0.3 if kind == "on_curve" else 0.0)
    else:
        other, body = cube("Held", 0.0, pinned=True), cube("Body", 0.12)
    select(body, other)
    assert bpy.ops.conjac.add_constraint(kind=kind) == {"FINISHED"}
    [constraint] = body.conjac.constraints
    assert constraint.object == other and constraint.place is not None and constraint.hold == "hard"
    assert constraint.radius == pytest.approx(0.02), "as the Empty is drawn"
    if slides:
        constraint.place.location = body.location
    elif kind == "hinge":
        constraint.place.location, constraint.place.rotation_euler = (0.06, 0.03, 0.0), (np.pi / 2, 0.0, 0.0)
        constraint.place.empty_display_size = 0.06
    bpy.context.view_layer.update()
    rest_body = shown(body, 1)
    frames(tmp_path, body)
    last = shown(body, 13)
    if slides:
        middle = last.mean(axis=0)
        assert middle[2] < rest_body.mean(axis=0)[2] - 0.2, "it slides down"
        # the slope is the line x + z = constant
        assert abs(middle[0] + middle[2] - 0.3 * (kind == "on_curve")) < 0.01 and abs(middle[1]) < 0.02
        return
    points = shown(other, 13)
    if kind == "distance":
        rest_points = np.array([other.matrix_world @ v.co for v in other.data.vertices])
        sides = points[rest_points[:, 0] > 0.04].mean(axis=0), last[rest_body[:, 0] < 0.08].mean(axis=0)
        # the middles of their sides are 2 cm from each other, and drawn out of these
        assert 0.02 < np.linalg.norm(sides[0] - sides[1]) < 0.07
        assert np.linalg.norm(last[:, None] - last, axis=2).max() < 0.21, "from corner to corner it is 17 cm"
    assert last[:, 2].mean() < -0.005, "it hangs down"
    assert np.linalg.norm(last.mean(axis=0) - points.mean(axis=0)) < 0.35, "and stays with what holds it"


def test_what_is_soft_gives_way_and_keyframes_let_it_go(addon, tmp_path):
    other, body = cube("Held", 0.0, pinned=True), cube("Body", 0.12)
    select(body, other)
    bpy.ops.conjac.add_constraint(kind="ball")
    [constraint] = body.conjac.constraints
    constraint.hold, constraint.stiffness = "soft", 200.0
    frames(tmp_path, body)
    soft = shown(body, 13)[:, 2].mean()
    from conjac.conjac_addon import bake

    constraint.strength = 1.0
    constraint.keyframe_insert("strength", frame=6)
    constraint.strength = 0.0
    constraint.keyframe_insert("strength", frame=7)
    frames(tmp_path, body)
    assert shown(body, 13)[:, 2].mean() < soft - 0.05, "it falls once it is let go"
    for name in ("stiffness", "length"):
        assert constraint.keyframe_insert(name, frame=1), "they may have keyframes"
    assert constraint.keyframe_insert("hold", frame=1)
    constraint.until = 3
    with pytest.raises(TypeError):
        constraint.keyframe_insert("until", frame=1)
    constraint.is_released, constraint.until = True, 5
    assert "Constraints" in bake.status(body).text


def test_whether_it_is_hard_or_soft_may_have_keyframes(addon, tmp_path):
    """A corner hangs on a pinned corner: at the distance of a spring while soft, and exactly once it is hard."""
    other, body = cube("Held", 0.0, pinned=True), cube("Body", 0.12)
    select(body, other)
    bpy.ops.conjac.add_constraint(kind="distance")
    [constraint] = body.conjac.constraints
    constraint.radius, constraint.stiffness, constraint.place.location = 0.0, 50.0, (0.06, 0.05, 0.05)
    for frame, hold in ((1, "soft"), (7, "hard")):
        constraint.hold = hold
        constraint.keyframe_insert("hold", frame=frame)
    frames(tmp_path, body)
    near, far = ([v.index for v in each.data.vertices if v.co.x * side > 0.0 and v.co.y > 0.0 and v.co.z > 0.0]
                 for each, side in ((other, 1.0), (body, -1.0)))
    off = [abs(np.linalg.norm(shown(other, frame)[near] - shown(body, frame)[far]) - 0.02) for frame in range(1, 14)]
    assert max(off[:6]) > 0.01 and off[6] < 1e-4 and max(off[7:]) < 1e-6, off


def test_a_distance_constrains_the_surface_before_it_and_in_older_files_the_nearest_vertex(addon, tmp_path):
    """A cube that hangs by a corner is stretched where one that hangs by the middle of a face is not."""
    other, body = cube("Held", 0.0, pinned=True), cube("Body", 0.12)
    select(body, other)
    bpy.ops.conjac.add_constraint(kind="distance")
    [constraint] = body.conjac.constraints
    middles, corners = ([[0.07, off, off], [0.05, off, off]] for off in (0.0, 0.05))
    for radius, points in ((0.02, middles), (0.0, corners)):
        constraint.radius = radius
        ends = gathered(body, tmp_path / f"{radius}")[0].constraints[0].ends
        assert np.allclose(np.abs([end.point for end in ends]), points, atol=1e-6)


@pytest.mark.parametrize("wrong, sentence", [
    ("nothing", "ties it to nothing"), ("nowhere", "no Empty for its location"), ("alone", "not baked with it"),
    ("early", "before anything moves")])
def test_an_impossible_constraint_is_refused_in_one_sentence(addon, wrong, sentence):
    from conjac.conjac_addon.gather.job import scene_settings
    from conjac.solver.errors import BadInput

    other, body = cube("Held", 0.0, pinned=True), cube("Body", 0.12)
    select(body, other)
    bpy.ops.conjac.add_constraint(kind="ball")
    [constraint] = body.conjac.constraints
    assert constraint.place.location.x == pytest.approx(0.06, abs=1e-6)
    ends = scene_settings(body, bpy.context.scene)["constraints"][0]["ends"]
    assert [end["radius"] for end in ends] == pytest.approx([0.02, 0.02])
    if wrong == "nothing":
        constraint.object = None
    elif wrong == "nowhere":
        constraint.place = None
    elif wrong == "alone":
        other.conjac.contact.collides_with = "none"
    else:
        constraint.is_released, constraint.until = True, 1
    with pytest.raises(BadInput, match=sentence):
        scene_settings(body, bpy.context.scene)


def test_the_button_requires_one_other_object(addon):
    body = cube("Body", 0.12)
    with pytest.raises(RuntimeError, match="Select the one object"):
        bpy.ops.conjac.add_constraint(kind="ball")
    empty = bpy.data.objects.new("Hook", None)
    bpy.context.scene.collection.objects.link(empty)
    empty.location = Vector((0.12, 0.0, 0.5))
    bpy.context.view_layer.update()
    select(body, empty)
    bpy.ops.conjac.add_constraint(kind="distance")
    assert body.conjac.constraints[0].place.location.z == pytest.approx(0.5)
    assert bpy.ops.conjac.remove_constraint(index=0) == {"FINISHED"} and not body.conjac.constraints
