"""Stale and unwanted bakes are named, baked again, and freed."""

import numpy as np
import pytest

bpy = pytest.importorskip("bpy")

from jelly import LAST, add_jelly, assert_plays, frames_of, rest_of, run_until, scene, seen_at  # noqa: E402, F401

from conjac.conjac_addon import bake as addon_bake  # noqa: E402
from conjac.conjac_addon.bake import place, session  # noqa: E402


def test_a_changed_setting_makes_it_stale_by_name_and_baked_anew(scene):  # noqa: F811
    obj = add_jelly()
    assert obj.conjac.bake() == 0
    before = frames_of(obj)
    obj.conjac.youngs_modulus = 2.0e4
    status = addon_bake.status(obj)
    assert status.state == "stale" and "Young's Modulus" in status.text
    obj.conjac.youngs_modulus = 5.0e3
    assert addon_bake.status(obj).state == "complete"
    obj.conjac.youngs_modulus = 2.0e4
    messages = []
    assert addon_bake.bake_object(obj, report=messages.append) == 0
    assert any("the bake starts again" in text for text in messages)
    assert addon_bake.status(obj).state == "complete"
    assert frames_of(obj)["000012"] != before["000012"]
    assert_plays(obj, (1, LAST))


def test_what_does_nothing_for_a_body_makes_no_bake_of_it_stale(scene):  # noqa: F811
    """The motion of spots has no effect where every node is dynamic, nor the inward extension of paint where nothing is
    painted."""
    obj = add_jelly()
    obj.conjac.solver.method = "vanilla"
    assert obj.conjac.bake() == 0
    before = frames_of(obj)
    obj.conjac.spot, obj.conjac.carry, obj.conjac.spot_radius = "mean", "straight", 0.3
    status = addon_bake.status(obj)
    assert status.state == "complete", status.text
    assert obj.conjac.bake() == 0 and addon_bake.status(obj).state == "complete"
    bpy.context.view_layer.objects.active = obj
    assert bpy.ops.conjac.free_bake() == {"FINISHED"}
    assert obj.conjac.bake() == 0 and frames_of(obj) == before
    obj.conjac.solver.method = "conjac"
    assert "Method" in addon_bake.status(obj).text
    assert obj.conjac.bake() == 0
    obj.conjac.spot = "turn"
    assert addon_bake.status(obj).text == "Baked before Spots Move changed; bake again"


def test_other_vertices_make_it_stale(scene):  # noqa: F811
    obj = add_jelly()
    obj.modifiers.new("Smooth", "SUBSURF")  # below the ConJac modifier
    assert obj.conjac.bake() == 0
    whole = obj.data
    obj.data = whole.copy()
    obj.data.vertices.add(3)
    status = addon_bake.status(obj)
    assert status.state == "stale" and "56 vertices, the mesh has 59 now" in status.text
    obj.modifiers.move(0, 1)  # what counts now is what comes out of Smooth
    assert "the mesh has" in addon_bake.status(obj).text
    obj.modifiers.move(1, 0)
    obj.data = whole
    assert addon_bake.status(obj).state == "complete"


def test_other_vertices_of_a_modifier_that_is_simulated_are_seen_where_nothing_below_makes_any(scene):  # noqa: F811
    obj = add_jelly()
    subdivision = obj.modifiers.new("Subdivision", "SUBSURF")
    subdivision.levels = subdivision.render_levels = 1
    obj.conjac.property_unset("mesher")  # it is no box once it is subdivided
    assert obj.conjac.bake() == 0 and addon_bake.status(obj).state == "complete"
    bpy.context.view_layer.objects.active = obj
    assert bpy.ops.conjac.simulate_after(after="Subdivision") == {"FINISHED"}
    bpy.context.view_layer.update()
    count = len(seen_at(obj, 1))
    assert addon_bake.status(obj).text == f"Baked with 56 vertices, the mesh has {count} now; bake again"
    assert obj.conjac.bake() == 0 and addon_bake.status(obj).state == "complete"
    obj.hide_set(True)  # Blender evaluates it no more
    assert addon_bake.status(obj).state == "complete"


def test_what_a_bake_that_did_not_begin_changed_is_named_in_the_artists_words(scene):  # noqa: F811
    obj = add_jelly()
    assert obj.conjac.bake() == 0
    obj.conjac.youngs_modulus, obj.data.vertices[0].co.x = 6.0e3, -0.11
    bake = session.Bake(obj, scene)
    run_until(bake, lambda: bake.worker is not None)
    bake.close()
    status = addon_bake.status(obj)
    assert status.state == "stale" and status.text == "Baked before Shape, Young's Modulus changed; bake again"


def test_an_object_that_moved_and_one_that_came_are_all_that_is_reported(scene):  # noqa: F811
    """The report is correct also after a bake that was refused, which has already written the job again."""
    obj = add_jelly()
    obj.conjac.contact.collides_with = "all"
    assert obj.conjac.bake() == 0

    def changes():
        bake = session.Bake(obj, scene, replaces=False)
        bake.wait()
        return bake.progress.error.partition("before these changed: ")[2].partition(". ")[0]

    obj.location.z = 1.0
    assert changes() == 'place of "Jelly"'
    assert addon_bake.status(obj).text == "Baked before Place changed; bake again"
    obj.location.z = 0.0
    other = add_jelly("Other")
    other.location.x, other.conjac.contact.collides_with = 1.0, "all"
    assert changes() == 'body "Other" (new)'
    assert addon_bake.status(obj).text == "Baked before Soft Bodies changed; bake again"


def test_a_scene_made_anew_over_its_old_file_is_complete_once_it_is_baked(scene):  # noqa: F811
    """Its objects are new ones of the same names, and the solver finds all of their frames on disk."""
    path = bpy.data.filepath

    def baked():
        bpy.context.scene.frame_end = 2
        for k, name in enumerate(("Left", "Right")):
            obj = add_jelly(name)
            obj.location.x, obj.conjac.contact.collides_with = float(k), "all"
        assert addon_bake.status(obj).state in ("none", "stale")
        assert obj.conjac.bake() == 0
        return addon_bake.status(obj)

    assert baked().state == "complete"
    bpy.ops.wm.read_homefile(use_empty=True, use_factory_startup=True)
    bpy.ops.wm.save_as_mainfile(filepath=path)
    bpy.context.scene.render.fps = 24
    again = baked()
    assert again.state == "complete", again.text


def test_the_grounds_height_the_frame_rate_and_a_range_that_ends_before_it_begins_are_seen(scene):  # noqa: F811
    obj = add_jelly()
    obj.conjac.use_ground = True
    assert obj.conjac.bake() == 0 and addon_bake.status(obj).state == "complete"
    obj.conjac.ground_height = 0.1
    assert addon_bake.status(obj).text == "Baked before Height changed; bake again"
    obj.conjac.ground_height = 0.0
    assert addon_bake.status(obj).state == "complete"
    scene.render.fps = 25
    assert "Frame Rate" in addon_bake.status(obj).text
    scene.render.fps = 24
    obj.conjac.use_scene_range, obj.conjac.frame_start, obj.conjac.frame_end = False, 1, 0
    status = addon_bake.status(obj)
    assert (status.state, status.text) == ("stale", "The last frame, 0, is before the first, 1")
    obj.conjac.frame_end = 1
    assert addon_bake.status(obj).text.startswith("Its one frame is baked")
    (place.job_folder(obj) / "scene.json").write_text("{")
    assert addon_bake.status(obj).text == "Baked before scene.json changed; bake again"


def test_a_ground_that_came_or_went_is_all_that_is_reported(scene):  # noqa: F811
    obj = add_jelly()
    assert obj.conjac.bake() == 0
    obj.conjac.use_ground, obj.conjac.ground_height, obj.conjac.friction = True, -1.0, "coulomb"
    assert addon_bake.status(obj).text == "Baked before Ground changed; bake again"
    assert obj.conjac.bake() == 0
    obj.conjac.use_ground = False
    assert addon_bake.status(obj).text == "Baked before Ground changed; bake again"


def test_of_many_changes_the_first_are_named(scene):  # noqa: F811
    obj = add_jelly()
    assert obj.conjac.bake() == 0
    obj.conjac.density, obj.conjac.youngs_modulus, obj.conjac.poisson_ratio = 900.0, 6.0e3, 0.3
    obj.conjac.step, obj.conjac.beta, obj.conjac.wobble_half_life, obj.conjac.gamma = 1 / 96, 0.7, 0.5, 0.1
    assert addon_bake.status(obj).text == (
        "Baked before Damping, Density, Poisson Ratio, Relaxation, Time Step and 2 more changed; bake again")


def test_free_deletes_what_was_baked_and_nothing_else(scene, tmp_path):  # noqa: F811
    obj = add_jelly()
    assert not bpy.ops.conjac.free_bake.poll() and not bpy.ops.conjac.export.poll()
    assert obj.conjac.bake() == 0
    bpy.ops.conjac.export(format="abc")
    folder = place.job_folder(obj)
    (folder / "cache" / "notes.txt").write_text("the artist's")
    (folder / "render.png").write_text("the artist's")
    assert bpy.ops.conjac.free_bake() == {"FINISHED"}
    left = sorted(str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file())
    assert [path for path in left if not path.startswith(("arrays", "stages"))] == [
        "cache/notes.txt", "render.png", "scene.json"]
    assert not obj.modifiers and addon_bake.status(obj).state == "none"
    np.testing.assert_allclose(seen_at(obj, LAST), rest_of(obj), atol=1e-6)
    assert not bpy.ops.conjac.free_bake.poll()


def test_a_bake_whose_edges_are_drawn_out_has_no_check_mark(scene):  # noqa: F811
    obj = add_jelly()
    assert obj.conjac.bake() == 0
    assert addon_bake.status(obj).wrong == ""
    # the top, which is pinned, is carried up by five times the height of the cube
    for frame, z in ((1, 0.0), (6, 1.0)):
        obj.location.z = z
        obj.keyframe_insert("location", frame=frame)
    obj.conjac.youngs_modulus = 50.0
    assert obj.conjac.bake() == 0
    status = addon_bake.status(obj)
    assert status.state == "complete" and '"Jelly" is drawn out in' in status.wrong and status.wrong in status.text
