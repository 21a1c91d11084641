"""Soft pins, limits of cloth and each kind of constraint in the real window, by a newcomer's keys and clicks.

What stands there at first is made by script, as an artist's model: from then on the window system's events alone.
"""

import pytest
from test_window import in_a_window
from test_window_holds import HANDS
from test_window_journey import needs_a_hand

PAINTED = HANDS + """
def stroke(obj, rows=9):
    # over all of it and a little beyond, to and fro
    view = region("WINDOW")
    rv = next(area for area in window().screen.areas if area.type == "VIEW_3D").spaces.active.region_3d
    corners = [location_3d_to_region_2d(view, rv, obj.matrix_world @ Vector(one)) for one in obj.bound_box]
    across = np.array([[corner.x, corner.y] for corner in corners])
    low, high = across.min(axis=0) - 30, across.max(axis=0) + 30
    yield from point(int(view.x + low[0]), int(view.y + low[1]))
    send("mousedown", 1)
    yield from rest(4)
    for number, y in enumerate(np.linspace(low[1], high[1], rows)):
        xs = np.linspace(low[0], high[0], 7)
        for x in xs if number % 2 == 0 else xs[::-1]:
            send("mousemove", int(view.x + x), int(window().height - view.y - y))
            yield from rest(1)
    send("mouseup", 1)
    yield from rest(8)

def artist():
    fresh(16)
    with override():
        bpy.ops.mesh.primitive_grid_add(x_subdivisions=6, y_subdivisions=6, size=1.0, location=(0.0, 0.0, 0.5))
    flag = bpy.context.view_layer.objects.active
    yield from rest()
    yield from pick(flag)
    yield from find("add cloth", lambda: flag.conjac.kind == "cloth", "cloth")
    yield from find("paint map pin", lambda: flag.mode == "WEIGHT_PAINT", "paint")
    # Ctrl+F asks for the brush's weight, and takes a number
    view = region("WINDOW")
    yield from point(view.x + view.width // 2, view.y + view.height // 2)
    send("key", "ctrl+f")
    yield from rest(6)
    send("type", "--delay", "80", "0.5")
    yield from rest(4)
    send("key", "Return")
    yield from rest(8)
    yield from stroke(flag)
    seen("painted")
    group = flag.vertex_groups["Pin"].index
    weights = [sum(one.weight for one in v.groups if one.group == group) for v in flag.data.vertices]
    # a brush is weaker at its rim
    assert max(weights) < 0.501 and np.median(weights) > 0.45 and min(weights) > 0.1, weights
    yield from find("done painting", lambda: flag.mode == "OBJECT", "done")
    yield from bake_it(flag)
    # it swings about where it would hang at rest: by g over the strength of each vertex where none pulls its neighbors,
    # by g over their mean where all hang as one
    hung = np.mean([(positions_at(flag, 1) - positions_at(flag, frame))[:, 2].mean() for frame in range(2, 17)])
    strengths = flag.conjac.pin_stiffness * np.array(weights) / (1.0 - np.array(weights))
    as_one, alone = 9.81 / strengths.mean(), (9.81 / strengths).mean()
    print("hung", hung, "as one", as_one, "alone", alone, flush=True)
    assert 0.85 * as_one < hung < 1.15 * alone, (as_one, hung, alone)
    print("all seen", flush=True)

run(artist(), 0.05)
"""

FOLLOWED = HANDS + """
def artist():
    fresh(8)
    cart = box("Cart", (0.0, 0.0, 1.1), (0.3, 0.3, 0.1))
    for frame, x in ((1, -0.6), (6, 0.6)):
        cart.location.x = x
        cart.keyframe_insert("location", frame=frame)
    scene.frame_set(1)
    ear = soft(box("Ear", (-0.6, 0.0, 0.6), (0.15, 0.15, 0.8)))
    with override():
        ear.vertex_groups.new(name="Pin").add([v.index for v in ear.data.vertices if v.co.z > 0], 1.0, "REPLACE")
    ear.parent, ear.matrix_parent_inverse = cart, cart.matrix_world.inverted()
    yield from rest()
    yield from pick(ear)
    ends = [v.index for v in ear.data.vertices if v.co.z < 0]
    lags = {{}}
    for share in (0, 100):
        yield from tab()
        if share:
            yield from unfold("holds")
            x, y = yield from field("follow_object", 555)
            yield from click(x, y)
            yield from rest(8)
            send("type", "--delay", "80", "cart")
            yield from rest(12)
            seen("follow")
            send("key", "Return")
            yield from until(lambda: ear.conjac.follow_object == cart, "Follow was not chosen", 20)
            yield from rest(20)
            yield from typed("follow_share", "100", 580)
            assert ear.conjac.follow_share == 100.0
        yield from button(BAKE)
        yield from until(lambda: session.running, "Bake was not hit", 20)
        yield from baked()
        assert bake.status(ear).state == "complete", bake.status(ear)
        scene.frame_set(5)
        yield from seen_where_it_is(ear)
        behind = []
        for frame in range(1, 9):
            x = positions_at(ear, frame)[ends, 0].mean()
            behind.append(abs(x - cart.matrix_world.translation.x))
        lags[share] = max(behind)
    # it hangs back by decimetres, and then it is taken along wholly
    assert lags[0] > 0.3 and lags[100] < 0.02, lags
    print("all seen", flush=True)

run(artist(), 0.05)
"""

LIMIT = HANDS + """
LIMIT, LEAST, MOST = "{limit}", {least}, {most}

def passed(obj, frame):
    # by how much an edge is longer, or for Area Limit a face larger or smaller, than at first
    first, last = positions_at(obj, 1), positions_at(obj, frame)
    if LIMIT == "area_limit":
        obj.data.calc_loop_triangles()
        faces = np.array([list(one.vertices) for one in obj.data.loop_triangles])
        sizes = [np.linalg.norm(np.cross(x[faces[:, 1]] - x[faces[:, 0]], x[faces[:, 2]] - x[faces[:, 0]]), axis=1)
                 for x in (first, last)]
    else:
        ends = np.array([list(edge.vertices) for edge in obj.data.edges])
        sizes = [np.linalg.norm(x[ends[:, 0]] - x[ends[:, 1]], axis=1) for x in (first, last)]
    return abs(sizes[1] / sizes[0] - 1.0).max() if LIMIT == "area_limit" else (sizes[1] / sizes[0]).max() - 1.0

def artist():
    fresh(24)
    with override():
        bpy.ops.mesh.primitive_grid_add(x_subdivisions=6, y_subdivisions=6, size=1.0, location=(0.0, 0.0, 0.5))
    flag = bpy.context.view_layer.objects.active
    held = [v.index for v in flag.data.vertices if abs(v.co.x) > 0.49 and abs(v.co.y) > 0.49]
    flag.vertex_groups.new(name="Pin").add(held, 1.0, "REPLACE")
    yield from rest()
    yield from pick(flag)
    yield from find("add cloth", lambda: flag.conjac.kind == "cloth", "cloth")
    flag.conjac.area_density = 60.0  # as heavy as a carpet full of sand
    found = {{}}
    for number in ("0", "0.02"):
        yield from tab()
        yield from typed(LIMIT, number, 660)
        assert abs(getattr(flag.conjac, LIMIT) - float(number)) < 1e-6, getattr(flag.conjac, LIMIT)
        yield from button(BAKE)
        # so few vertices may be baked before the click has come to rest
        yield from until(lambda: session.running or bake.status(flag).state == "complete", "Bake was not hit", 20)
        yield from baked()
        assert bake.status(flag).state == "complete", bake.status(flag)
        found[number] = passed(flag, 24)
        yield from seen_where_it_is(flag)
    print("passed", found, flush=True)
    assert found["0"] > LEAST and found["0.02"] < MOST, found
    print("all seen", flush=True)

run(artist(), 0.05)
"""

TIED = HANDS + """
KIND = "{kind}"
END = 10 if KIND in ("distance", "hinge") else 14  # by then what is open at the start has closed

def carried(first, last, at):
    # where the body as a whole takes a point: by the affine map that fits all vertices best
    ones = np.ones((len(first), 1))
    return np.append(at, 1.0) @ np.linalg.lstsq(np.hstack([first, ones]), last, rcond=None)[0]

def other_of(kind):
    # what it is tied to: what stands still, a slanted curve or a slanted plate
    if kind in ("distance", "ball"):
        return box("Beam", (0.0, 0.0, 1.0), (0.4, 0.4, 0.1)), (0.0, 0.0, 1.0)
    if kind == "hinge":
        # higher than the body that hides it
        return box("Post", (-0.45, 0.0, 0.6), (0.1, 0.3, 0.5)), (-0.4, 0.0, 0.8)
    with override():
        if kind == "on_curve":
            bpy.ops.curve.primitive_bezier_curve_add(location=(0.0, 0.0, 0.8), rotation=(0.0, 0.5, 0.0))
            made = bpy.context.view_layer.objects.active
            for one in made.data.splines[0].bezier_points:
                one.handle_left_type = one.handle_right_type = "VECTOR"
            made.data.splines[0].bezier_points[0].co, made.data.splines[0].bezier_points[1].co = (-1, 0, 0), (1.6, 0, 0)
            return made, (-0.6, 0.0, 0.8 + 0.6 * np.sin(0.5))
        bpy.ops.mesh.primitive_plane_add(size=3.0, location=(0.0, 0.0, 0.15), rotation=(0.0, 0.5, 0.0))
    return bpy.context.view_layer.objects.active, (-0.9, 0.0, 0.15 + 0.9 * np.tan(0.5))

def artist():
    fresh(END)
    other, at = other_of(KIND)
    size = (0.5, 0.3, 0.3)
    body = soft(box("Body", (-0.1 if KIND == "hinge" else 0.03, 0.02, 0.5), size))
    yield from rest()
    yield from pick(other, at)
    yield from pick(body, None, more=True)
    yield from find("add constraint " + KIND.replace("_", " "), lambda: len(body.conjac.constraints) == 1, KIND)
    tie = body.conjac.constraints[0]
    assert tie.kind == KIND and tie.object == other and tie.place is not None, tie.kind
    yield from rest()
    place = np.array(tie.place.matrix_world.translation)
    if KIND == "hinge":
        # its arrow shows the axis, which the newcomer turns level: the Empty alone is selected, then R X 90
        with override():
            bpy.ops.object.select_all(action="DESELECT")
        tie.place.select_set(True)
        bpy.context.view_layer.objects.active = tie.place
        for word in ("r", "x", "9", "0", "Return"):
            yield from key(word)
        assert abs(abs(tie.place.rotation_euler.x) - 1.5708) < 1e-3, tie.place.rotation_euler
    yield from rest()
    bpy.context.view_layer.objects.active = body
    yield from bake_it(body)
    scene.frame_set(END)
    yield from rest()
    seen("baked")
    first, last = positions_at(body, 1), positions_at(body, END)
    fallen, free = (first - last)[:, 2].mean(), 0.5 * 9.81 * ((END - 1) / 24) ** 2
    now = carried(first, last, place)
    print("fallen", fallen, "free", free, "place", place, "now", now, flush=True)
    if KIND == "distance":
        # from the top of the body to the bottom of the beam, right above and below the Empty
        spot, anchor = np.array([*place[:2], 0.65]), np.array([*place[:2], 0.95])
        way = np.linalg.norm(carried(first, last, spot) - anchor)
        assert abs(way - 0.3) < 0.1 and fallen < 0.5 * free, (way, fallen)
        assert np.ptp(last[:, 2]) < 0.45, "not drawn out like a thread"
    elif KIND in ("ball", "hinge"):
        # the ball has come up to the beam, the hinge is near its post; what is soft gives way by centimetres
        target = np.array([*place[:2], 0.95]) if KIND == "ball" else place
        assert np.linalg.norm(now - target) < 0.1 and fallen < 0.7 * free, (target, now, fallen)
    else:
        # it has slid down, and has not fallen through
        along, normal = np.array([np.cos(0.5), 0.0, -np.sin(0.5)]), np.array([np.sin(0.5), 0.0, np.cos(0.5)])
        off = now - np.array(other.location)
        off = off - (off @ along) * along if KIND == "on_curve" else (off @ normal) * normal
        assert np.linalg.norm(off) < 0.1 and 0.1 < (now - place) @ along, (place, now, off)
        assert 0.05 < fallen < 0.7 * free, fallen
    if KIND == "hinge":
        # turned about level Y, and about nothing else
        turned = carried(first, last, place + [0.0, 1.0, 0.0]) - now
        assert abs(turned[1]) > 0.95 and fallen > 0.05, (turned, fallen)
    print("all seen", flush=True)

run(artist(), 0.05)
"""

KINDS = ("distance", "ball", "hinge", "on_curve", "on_surface")
#: of cloth: by how much it is passed without it, at least, and at 0.02, at most; Stretch Limit gets stiff there
LIMITS = {"length_limit": (0.04, 0.0205), "area_limit": (0.04, 0.0205), "stretch_limit": (0.04, 0.03)}


def limited(name):
    """The journey of a limit."""
    least, most = LIMITS[name]
    return LIMIT.replace("{limit}", name).replace("{least}", str(least)).replace("{most}", str(most))


@pytest.mark.long
@pytest.mark.parametrize("journey", [PAINTED, FOLLOWED, *map(limited, LIMITS),
                                     *(TIED.replace("{kind}", kind) for kind in KINDS)],
                         ids=["soft pins", "follow", *LIMITS, *KINDS])
def test_a_newcomer_ties_and_bakes_it(tmp_path, monkeypatch, journey):
    needs_a_hand()
    monkeypatch.setenv("CONJAC_SHOTS", str(tmp_path))
    output = in_a_window(journey, tmp_path, "1200x1200")  # as tall as what is set of the panel
    print(output[-3000:])
    assert "all seen" in output, output[-3000:]
