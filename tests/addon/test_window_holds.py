"""Ropes, welds and seams in the real window, made and baked by a newcomer's keys and clicks.

What stands there at first is made by script, as an artist's model: from then on the window system's events alone.
"""

import pytest
from test_window import in_a_window
from test_window_journey import HEAD, needs_a_hand

HANDS = HEAD + """
from bpy_extras.view3d_utils import location_3d_to_region_2d
from conjac.conjac_addon.ui import panels
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
    scene.frame_set(scene.frame_end)
    yield from seen_where_it_is(obj)

def positions_at(obj, frame):
    scene.frame_set(frame)
    return positions_of(obj)

found_at = {{}}  # fields, by how far below the top of the sidebar they were found last [px]

def field(name, near=150):
    # the mouse over the field of the panel that sets it, which Blender's Copy Data Path tells; near: where it is
    # looked for first, below the top of the sidebar
    ui = region("UI")
    x, clipboard = ui.x + 2 * ui.width // 3, bpy.context.window_manager
    near = found_at.get(name, near)
    for below in sorted(range(150, ui.height - 20, 17), key=lambda one: abs(one - near)):
        clipboard.clipboard = ""
        send("mousemove", x, window().height - (ui.y + ui.height - below))
        yield from rest(2)
        send("key", "ctrl+shift+c")
        yield from rest(2)
        if clipboard.clipboard.endswith(name):
            found_at[name] = below
            print("found", name, below, flush=True)
            return x, ui.y + ui.height - below
    seen("no_field")
    raise AssertionError("no field of the panel sets " + name)

def typed(name, number, near=150):
    yield from field(name, near)
    send("key", "Return")
    yield from rest(4)
    send("key", "ctrl+a")
    send("type", "--delay", "60", number)
    yield from rest(3)
    send("key", "Return")
    yield from rest(6)

drawn = set()  # keys of the sections that are unfolded

def watched(section):
    draw = section.draw
    def method(layout, context):
        drawn.add(section.key)
        draw(layout, context)
    section.draw = method

for section in panels.SECTIONS:
    watched(section)

def shown():
    # keys of the sections that are unfolded now
    drawn.clear()
    region("UI").tag_redraw()
    yield from rest(8)
    return set(drawn)

def lowest():
    # the lowest row of the tab that shows anything, from the bottom of the window [px]
    ui, picture = region("UI"), seen()
    inner = picture[window().height - ui.y - ui.height:window().height - ui.y, ui.x + 4:ui.x + ui.width - 40]
    return ui.y + ui.height - int((np.ptp(inner, axis=1).max(axis=1) > 12).nonzero()[0].max())

def unfold(name):
    # a click on the header of a section, looked for from the lowest one upwards, where all below it are folded
    bpy.context.preferences.system.use_region_overlap = False  # nothing of the view shines through below the panels
    yield from rest(12)
    before = yield from shown()
    x = region("UI").x + 4 * region("UI").width // 5
    for y in range(lowest() + 8, lowest() + 400, 10):
        yield from click(x, y)
        now = yield from shown()
        if name in now:
            return
        if now != before:  # another one: it is folded again
            yield from click(x, y)
    seen("no_section")
    raise AssertionError("no header unfolds " + name)

def choose(owner, name, value, near):
    # a click on a menu of the panel, and one on what stands in it: below the field, or above it where there is no room
    keys = list(owner.bl_rna.properties[name].enum_items.keys())
    k = keys.index(value)
    for down in (-24 - 23 * k, 24 + 23 * (len(keys) - 1 - k), 24 + 23 * k):
        if getattr(owner, name) != value:
            # what was chosen may have moved the panel
            x, y = yield from field("solver." + name, near)
            yield from click(x, y)
            yield from rest(6)
            yield from point(x, y + down)
            seen("menu_" + name)
            send("mousedown", 1)
            yield from rest(2)
            send("mouseup", 1)
            yield from rest(10)
    assert getattr(owner, name) == value, (name, getattr(owner, name))

def inside(obj, points):
    # of a box, as it stands
    return (abs((points - np.array(obj.location)) / np.array(obj.scale)) < 0.499).all(axis=1)
"""

ROPE = HANDS + """
def artist():
    fresh(20)
    post = box("Post", (0.0, 0.0, 0.4), (0.5, 0.5, 0.5))
    with override():
        bpy.ops.curve.primitive_nurbs_path_add(location=(0.0, 0.0, 1.0))
    curve = bpy.context.view_layer.objects.active
    yield from rest()
    yield from pick(post)
    yield from find("add collider", lambda: post.conjac.kind == "collider", "collider")
    yield from pick(curve)
    yield from find("add rope", lambda: any(one.conjac.kind == "rope" for one in scene.objects), "rope")
    rope = next(one for one in scene.objects if one.conjac.kind == "rope")
    yield from bake_it(rope)
    seen("rope_lies")
    first, last = positions_at(rope, 1), positions_at(rope, 20)
    middle = abs(first[:, 0]) < 0.2
    assert last[middle, 2].min() > 0.65, "it lies on the post"
    assert last[:, 2].min() < 0.4, "its ends hang down"
    assert not any(inside(post, positions_at(rope, frame)).any() for frame in range(1, 21))
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
    sunk = positions_at(low, 12).mean(axis=0)[2] - positions_at(low, 1).mean(axis=0)[2]
    assert abs(sunk) < 0.15, "it hangs on what is pinned"
    for frame in range(1, 13):  # and they touch nowhere
        assert positions_at(low, frame)[:, 2].max() < positions_at(high, frame)[:, 2].min(), frame
    print("all seen", flush=True)

run(artist(), 0.05)
"""

SLIDING = HANDS + """
def artist():
    fresh(7)
    scene.gravity = (3.0, 0.0, -9.81)
    # wider than what hangs on it, which would keep its distance from an edge that it slides over
    low, high = soft(box("Low", (0.0, 0.0, 0.0), (0.6, 0.6, 0.6))), soft(box("High", (0.0, 0.0, 0.62), (1.4, 0.6, 0.6)))
    with override():
        high.vertex_groups.new(name="Pin").add([v.index for v in high.data.vertices if v.co.z > 0], 1.0, "REPLACE")
    yield from rest()
    yield from pick(high, (0.0, 0.0, 0.7))
    yield from pick(low, (0.0, -0.3, -0.1), more=True)
    yield from find("add weld", lambda: len(low.conjac.welds) == 1, "weld")
    gone = {{}}
    for slides in (False, True):
        yield from tab()
        if slides:
            yield from unfold("holds")
            yield from unfold("welds")
            x, y = yield from field("is_sliding", 840)
            yield from click(x, y)
            assert low.conjac.welds[0].is_sliding
        yield from button(BAKE)
        yield from until(lambda: session.running, "Bake was not hit", 20)
        yield from baked()
        seen("slides" if slides else "sticks")
        assert bake.status(low).state == "complete", bake.status(low)
        scene.frame_set(7)
        yield from seen_where_it_is(low)
        gone[slides] = (positions_at(low, 7) - positions_at(low, 1)).mean(axis=0)
    seen("slid")
    # 9 cm where nothing holds it along the layer, and it falls by 31 cm where nothing holds it at all
    assert gone[False][0] < 0.05 < 0.07 < gone[True][0] < 0.12, gone
    assert abs(gone[True][2]) < 0.05, gone
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
    board = box("Board", (0.0, 0.0, 0.5), (0.5, 0.1, 1.0))  # in it, and higher than it
    yield from rest()
    yield from pick(board, (0.0, 0.0, 0.95))
    yield from find("add collider", lambda: board.conjac.kind == "collider", "collider")
    yield from pick(bag, (0.0, -0.15, 0.5))
    yield from find("add cloth", lambda: bag.conjac.kind == "cloth", "cloth")
    assert bag.conjac.use_sewing
    yield from bake_it(bag)
    seen("sewn")
    last = positions_at(bag, 30)
    gaps = [np.linalg.norm(last[a] - last[b]) for a, b in seams]
    assert max(gaps) < 0.1, gaps  # 0.3 m at the start
    assert not any(inside(board, positions_at(bag, frame)).any() for frame in range(1, 31))
    print("all seen", flush=True)

run(artist(), 0.05)
"""


@pytest.mark.long
@pytest.mark.parametrize("journey", [ROPE, WELD, SLIDING, SEWN], ids=["rope", "weld", "sliding weld", "seams"])
def test_a_newcomer_makes_and_bakes_it(tmp_path, monkeypatch, journey):
    needs_a_hand()
    monkeypatch.setenv("CONJAC_SHOTS", str(tmp_path))
    output = in_a_window(journey, tmp_path, "1200x1400")  # as tall as the panel
    assert "all seen" in output, output[-3000:]
