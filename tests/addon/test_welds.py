"""Welds from the buttons on: two cubes that stick together hang and fall as one, until the weld is released."""

import bpy
import numpy as np
import pytest

from conjac.conjac_addon.bake import foreground


def two_cubes(gap=0.004):
    """Return a pinned cube of 10 cm and a free one below it; the lower one is active, both are selected soft bodies."""
    cubes = []
    for name, z in (("Up", 0.0), ("Down", -0.1 - gap)):
        bpy.ops.mesh.primitive_cube_add(size=0.1, location=(0, 0, z))
        cube = bpy.context.object
        cube.name = name
        bpy.ops.conjac.add_soft_body()
        cube.conjac.mesher, cube.conjac.edge_length, cube.conjac.use_ground = "grid", 0.05, False
        cubes.append(cube)
    up, down = cubes
    up.vertex_groups.new(name="Pin").add([v.index for v in up.data.vertices if v.co.z > 0], 1.0, "REPLACE")
    up.select_set(True)
    bpy.context.view_layer.objects.active = down
    return up, down


def seen(obj, frame):
    """Return positions of an object's vertices in the world, (n, 3)."""
    bpy.context.scene.frame_set(frame)
    shown = obj.evaluated_get(bpy.context.evaluated_depsgraph_get())
    return np.array([shown.matrix_world @ v.co for v in shown.data.vertices])


def lowest(obj, frame):
    return seen(obj, frame)[:, 2].min()


def test_the_button_welds_to_what_is_selected_too(addon):
    up, down = two_cubes()
    up.conjac.contact.collides_with = "none"
    assert bpy.ops.conjac.add_weld() == {"FINISHED"}
    [weld] = down.conjac.welds
    assert weld.object == up and weld.distance == pytest.approx(0.006, rel=0.01)
    assert up.conjac.contact.collides_with == "all", "what sticks together is baked together"
    assert weld.stiffness > 10 * down.conjac.youngs_modulus / 0.1
    up.select_set(False)
    with pytest.raises(RuntimeError, match="Also select the soft bodies or cloth"):
        bpy.ops.conjac.add_weld()


def test_what_sticks_hangs_and_falls_once_the_weld_lets_go(addon, tmp_path):
    up, down = two_cubes()
    scene = bpy.context.scene
    scene.frame_start, scene.frame_end, scene.render.fps = 1, 16, 24
    bpy.ops.conjac.add_weld()
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "welds.blend"))
    assert foreground.bake_object(down, True, lambda text: None) == 0
    start = lowest(down, 1)
    assert start - lowest(down, 16) < 0.02, "it hangs, drawn out a little by its weight"

    down.conjac.welds[0].is_released, down.conjac.welds[0].until = True, 5
    from conjac.conjac_addon import bake

    assert "Welds" in bake.status(down).text
    assert foreground.bake_object(down, True, lambda text: None) == 0
    fallen = 0.5 * 9.81 * (11 / 24) ** 2
    assert start - lowest(down, 16) == pytest.approx(fallen, rel=0.1), "it falls freely from there on"


def test_what_slides_hangs_and_goes_where_it_is_drawn_along(addon, tmp_path):
    """Under a sideways acceleration of 3 m/s², fixed welds restrain the cube, sliding ones do not, and both carry its
    weight."""
    up, down = two_cubes()
    up.scale.x = 3.0  # what slides over its edge would keep its distance from that
    scene = bpy.context.scene
    scene.frame_start, scene.frame_end, scene.render.fps, scene.gravity = 1, 5, 24, (3.0, 0.0, -9.81)
    bpy.ops.conjac.add_weld()
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "slides.blend"))
    moved, hanging = {}, {}
    for sliding in (False, True):
        down.conjac.welds[0].is_sliding = sliding
        assert foreground.bake_object(down, True, lambda text: None) == 0
        positions = {frame: seen(down, frame) for frame in (1, 5)}
        moved[sliding] = (positions[5] - positions[1]).mean(axis=0)[0]
        hanging[sliding] = positions[1][:, 2].max() - positions[5][:, 2].max()
    assert moved[False] < 0.03 and moved[True] == pytest.approx(0.5 * 3.0 * (4 / 24) ** 2, rel=0.15)
    assert abs(hanging[True]) < 2e-3, "it falls by 14 cm where nothing holds it"


@pytest.mark.parametrize("wrong, sentence", [
    ("nothing", "has no other object to stick to"), ("alone", "not baked with it"), ("early", "before anything moves")])
def test_an_impossible_weld_is_refused_in_one_sentence(addon, wrong, sentence):
    from conjac.conjac_addon.gather.job import scene_settings
    from conjac.solver.errors import BadInput

    up, down = two_cubes()
    bpy.ops.conjac.add_weld()
    if wrong == "nothing":
        down.conjac.welds[0].object = None
    elif wrong == "alone":
        up.conjac.contact.collides_with = "none"
    else:
        down.conjac.welds[0].is_released, down.conjac.welds[0].until = True, 1
    with pytest.raises(BadInput, match=sentence):
        scene_settings(down, bpy.context.scene)


def test_a_weld_that_bears_less_than_hangs_on_it_breaks(addon, tmp_path):
    """The cube weighs 981 Pa on its upper face, and about twice that at its release."""
    up, down = two_cubes()
    scene = bpy.context.scene
    scene.frame_start, scene.frame_end, scene.render.fps = 1, 12, 24
    bpy.ops.conjac.add_weld()
    down.conjac.welds[0].breaks = 400.0
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "welds.blend"))
    assert foreground.bake_object(down, True, lambda text: None) == 0
    assert lowest(down, 1) - lowest(down, 12) > 0.5 * 9.81 * (9 / 24) ** 2


def test_only_what_is_painted_sticks_and_weights_are_shares_of_what_it_bears(addon, tmp_path):
    """The weld bears 10 kPa where the weight is 1, and a fortieth of that where the weight is a fortieth: less than the
    cube's weight."""
    from conjac.conjac_addon import bake

    up, down = two_cubes()
    scene = bpy.context.scene
    scene.frame_start, scene.frame_end, scene.render.fps = 1, 8, 24
    bpy.ops.conjac.add_weld()
    weld, group = down.conjac.welds[0], down.vertex_groups.new(name="Glue")
    weld.breaks, weld.group = 1.0e4, "Glue"
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "glue.blend"))
    fallen = {}
    for weight in (1.0, 0.025):
        group.add(range(len(down.data.vertices)), weight, "REPLACE")
        assert foreground.bake_object(down, True, lambda text: None) == 0
        assert bake.status(down).state == "complete"
        fallen[weight] = lowest(down, 1) - lowest(down, 8)
    assert fallen[1.0] < 0.03 and fallen[0.025] > 0.5 * 9.81 * (6 / 24) ** 2
    for weight, name, sentence in ((0.0, "Glue", "nothing of it is"),
                                   (1.0, "Gone", 'no vertex group "Gone" for a weld')):
        group.add(range(len(down.data.vertices)), weight, "REPLACE")
        weld.group, messages = name, []
        assert foreground.bake_object(down, True, messages.append) == 2
        assert any(sentence in text for text in messages), messages
    weld.group, weld.distance, messages = "", 1e-4, []
    assert foreground.bake_object(down, True, messages.append) == 2
    assert any('no point of "Down" is within 0.0001 m of "Up"' in text for text in messages), messages


def test_what_falls_on_another_one_sticks_from_a_frame_on(addon, tmp_path):
    """A cube falls past the side of a pinned one: from frame 5 on it hangs where it was."""
    up, down = two_cubes()
    down.location = (0.104, 0.0, 0.12)
    scene = bpy.context.scene
    scene.frame_start, scene.frame_end, scene.render.fps = 1, 12, 24
    bpy.context.view_layer.update()
    bpy.ops.conjac.add_weld()
    weld = down.conjac.welds[0]
    weld.begins = 5
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "late.blend"))
    assert foreground.bake_object(down, True, lambda text: None) == 0
    heights = [seen(down, frame)[:, 2].mean() for frame in (1, 5, 8, 12)]
    free = 0.5 * 9.81 * (4 / 24) ** 2
    assert heights[0] - heights[1] == pytest.approx(free, rel=0.1)
    # it would fall by another 28 cm and 69 cm
    assert abs(heights[2] - heights[1]) < 0.06 and abs(heights[3] - heights[1]) < 0.06, heights
    weld.is_released, weld.until = True, 4
    messages = []
    assert foreground.bake_object(down, True, messages.append) == 2
    assert any("lets go at frame 4, before it sticks" in text for text in messages), messages
