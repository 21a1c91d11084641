"""A draft and a mixed bake of HETERO in the real window, by a newcomer's keys and clicks.

The bar and its layers stand there at first, made by script as an artist's model: from then on the window system's
events alone.
"""

import pytest
from test_window import in_a_window
from test_window_holds import HANDS
from test_window_journey import needs_a_hand

HETERO = HANDS + """
def artist():
    from examples_blend import hetero
    bpy.data.objects.remove(cube)
    with override():
        hetero.build(scene)
    scene.frame_end = 10  # then it is bent over, and the draft folds elsewhere
    bpy.data.objects["Layers"].conjac.solver.integrator = "sdirk2"  # that of new bodies
    scene.camera.hide_set(True)
    rv = next(area for area in window().screen.areas if area.type == "VIEW_3D").spaces.active.region_3d
    rv.view_location, rv.view_distance = (0.0, 0.0, 0.08), 0.5
    layers, moved = bpy.data.objects["Layers"], {{}}
    with override():
        bpy.ops.object.select_all(action="DESELECT")
    yield from rest(20)
    yield from pick(layers, (0.0, -hetero.SIDE / 2, 0.08))
    yield from tab()
    yield from unfold("motion")
    solver = layers.conjac.solver
    for method, stages in (("subspace", None), ("vanilla", "mixed")):
        yield from choose(solver, "method", method, 1214)
        if stages:
            yield from choose(solver, "stage_solver", stages, 1500)
        yield from button(BAKE)
        yield from until(lambda: session.running, "Bake was not hit", 20)
        yield from baked()
        status = bake.status(layers)
        assert status.state == "complete" and status.total == 10, status
        scene.frame_set(9)
        yield from rest()
        seen(stages or method)
        yield from seen_where_it_is(layers)
        moved[method] = np.stack([positions_at(layers, frame) for frame in range(1, 11)])
    draft, whole = moved["subspace"], moved["vanilla"]
    swung = abs(whole - whole[0]).max()
    apart = np.linalg.norm(draft - whole, axis=2).max()
    print("swung", swung, "apart", apart, flush=True)
    assert swung > 0.03 and apart < 0.25 * swung, (swung, apart)
    print("all seen", flush=True)

run(artist(), 0.05)
"""


@pytest.mark.long
def test_a_newcomer_bakes_a_draft_and_a_mixed_bake_of_hetero(tmp_path, monkeypatch):
    needs_a_hand()
    monkeypatch.setenv("CONJAC_SHOTS", str(tmp_path))
    output = in_a_window(HETERO, tmp_path, "1200x1900")  # as tall as the panel with its last section
    assert "all seen" in output, output[-3000:]
