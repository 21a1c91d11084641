"""Ropes, welds and seams in the real window, made and baked by a newcomer's keys and clicks.

What stands there at first is made by script, as an artist's model: from then on the window system's events alone.
"""

import pytest
from test_window import in_a_window
from test_window_journey import HEAD, needs_a_hand

HANDS = HEAD + """
from bpy_extras.view3d_utils import location_3d_to_region_2d
from mathutils import Vector

def fresh(end=12):
    scene.frame_end = end
    bpy.data.objects.remove(cube)
    rv = next(area for area in window().screen.areas if area.type == "VIEW_3D").spaces.active.region_3d
    rv.view_location, rv.view_distance = (0.0, 0.0, 0.5), 6.0

def box(name, place, size):
    with override():
        bpy.ops.mesh.primitive_cube_add(size=1.0, location=place)
    made = bpy.context.view_layer.objects.active
    made.name, made.scale = name, size
    return made

def soft(made):
    # the newcomer's first minute, which a test of its own clicks
    with override():
        bpy.ops.object.select_all(action="DESELECT")
        made.select_set(True)
        bpy.context.view_layer.objects.active = made
        bpy.ops.conjac.add_soft_body()
    made.conjac.use_ground = False
    return made

def pick(obj, place=None, more=False):
    # a click on it, with Shift as a further one
    view = region("WINDOW")
    rv = next(area for area in window().screen.areas if area.type == "VIEW_3D").spaces.active.region_3d
    at = location_3d_to_region_2d(view, rv, obj.matrix_world.translation if place is None else Vector(place))
    yield from point(int(view.x + at.x), int(view.y + at.y))
    if more:
        send("keydown", "shift")
        yield from rest(2)
    send("mousedown", 1)
    yield from rest(2)
    send("mouseup", 1)
    yield from rest(4)
    if more:
        send("keyup", "shift")
        yield from rest(2)
    assert bpy.context.view_layer.objects.active == obj, (obj.name, bpy.context.view_layer.objects.active)

def find(words, done, what):
    # F3, what the newcomer types, and Return
    yield from key("F3")
    yield from rest(14)
    send("type", "--delay", "80", words)
    yield from rest(20)
    seen(what)
    send("key", "Return")
    yield from until(done, what, 20)

def bake_it(obj):
    yield from tab()
    yield from button(BAKE)
    yield from until(lambda: session.running or bake.status(obj).state != "none", "Bake was not hit", 20)
    yield from baked()
    status = bake.status(obj)
    assert status.state == "complete", status

def places(obj, frame):
    scene.frame_set(frame)
    shown = obj.evaluated_get(bpy.context.evaluated_depsgraph_get())
    mesh = shown.data
    found = np.empty(3 * len(mesh.vertices), np.float32)
    mesh.vertices.foreach_get("co", found)
    matrix = np.array(shown.matrix_world)
    return found.reshape(-1, 3) @ matrix[:3, :3].T + matrix[:3, 3]
"""

ROPE = HANDS + """
def artist():
    fresh(24)
    with override():
        bpy.ops.curve.primitive_nurbs_path_add(location=(0.0, 0.0, 1.0))
    curve = bpy.context.view_layer.objects.active
    yield from rest()
    yield from pick(curve)
    yield from find("add rope", lambda: any(one.conjac.kind == "rope" for one in scene.objects), "rope")
    rope = next(one for one in scene.objects if one.conjac.kind == "rope")
    yield from bake_it(rope)
    first, last = places(rope, 1), places(rope, 24)
    assert abs(last[:, 2] - 1.0).max() > 0.5, "it hangs down"
    print("all seen", flush=True)

run(artist(), 0.05)
"""

WELD = HANDS + """
def artist():
    fresh()
    low, high = soft(box("Low", (0.0, 0.0, 0.0), (0.6, 0.6, 0.6))), soft(box("High", (0.0, 0.0, 0.62), (0.6, 0.6, 0.6)))
    with override():
        high.vertex_groups.new(name="Pin").add([v.index for v in high.data.vertices if v.co.z > 0], 1.0, "REPLACE")
    yield from rest()
    yield from pick(high, (0.0, 0.0, 0.7))
    yield from pick(low, (0.0, 0.0, 0.0), more=True)
    yield from find("add weld", lambda: len(low.conjac.welds) == 1, "weld")
    yield from bake_it(low)
    assert abs(places(low, 12).mean(axis=0)[2] - places(low, 1).mean(axis=0)[2]) < 0.15, "it hangs on what is pinned"
    print("all seen", flush=True)

run(artist(), 0.05)
"""

SEWN = HANDS + """
def artist():
    fresh(30)
    mesh = bpy.data.meshes.new("Bag")
    rows = [(x, y, z) for y in (-0.15, 0.15) for z in np.linspace(0.2, 0.8, 7) for x in np.linspace(-0.4, 0.4, 9)]
    faces = [(b + 9 * j + i, b + 9 * j + i + 1, b + 9 * j + i + 10, b + 9 * j + i + 9)
             for b in (0, 63) for j in range(6) for i in range(8)]
    seams = [(9 * j + i, 63 + 9 * j + i) for j in range(7) for i in (0, 8)]
    mesh.from_pydata(rows, seams, faces)
    bag = bpy.data.objects.new("Bag", mesh)
    scene.collection.objects.link(bag)
    yield from rest()
    yield from pick(bag, (0.0, -0.15, 0.5))
    yield from find("add cloth", lambda: bag.conjac.kind == "cloth", "cloth")
    assert bag.conjac.use_sewing
    yield from bake_it(bag)
    last = places(bag, 30)
    gaps = [np.linalg.norm(last[a] - last[b]) for a, b in seams]
    assert max(gaps) < 0.1, gaps  # 0.3 m at the start
    print("all seen", flush=True)

run(artist(), 0.05)
"""

@pytest.mark.long
@pytest.mark.parametrize("journey", [ROPE, WELD, SEWN], ids=["rope", "weld", "seams"])
def test_a_newcomer_makes_and_bakes_it(tmp_path, monkeypatch, journey):
    needs_a_hand()
    monkeypatch.setenv("CONJAC_SHOTS", str(tmp_path))
    said = in_a_window(journey, tmp_path, "1600x1000")
    assert "all seen" in said, said[-3000:]
