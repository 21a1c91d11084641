"""Sharp Edges in the panels: friction of edges, a preview, and settings without effect on such cloth."""

import json

import numpy as np
import pytest
from drawn_panels import Context, drawn
from jelly import add_jelly, scene  # noqa: F401

bpy = pytest.importorskip("bpy")

from conjac.conjac_addon.bake import place  # noqa: E402
from conjac.conjac_addon.gather import changed_settings, write_job  # noqa: E402


def add_sharp_cloth(name="Cloth", cells=16):
    bpy.ops.mesh.primitive_grid_add(x_subdivisions=cells, y_subdivisions=cells, size=0.6, location=(0.03, 0.02, 0.004))
    obj = bpy.context.object
    obj.name = name
    assert bpy.ops.conjac.add_cloth() == {"FINISHED"}
    obj.conjac.sharp_edges = True
    return obj


def add_table():
    bpy.ops.mesh.primitive_cube_add(size=0.3, location=(0.0, 0.0, -0.15))
    assert bpy.ops.conjac.add_collider() == {"FINISHED"}


def messages_of(obj, scene, folder):  # noqa: F811
    write_job(obj, scene, folder)
    return json.loads((folder / "scene.json").read_text())["bodies"][0]["cloth"]["eulerian"]


def test_friction_of_edges_is_the_cloths_where_it_says_so(scene, tmp_path):  # noqa: F811
    add_table()
    obj = add_sharp_cloth(cells=4)
    obj.conjac.sharp_friction = 0.25
    assert "friction" not in messages_of(obj, scene, tmp_path / "a")
    obj.conjac.sharp_own_friction = True
    assert changed_settings(obj, scene, tmp_path / "a") == ["Edge Friction"]
    assert messages_of(obj, scene, tmp_path / "b")["friction"] == 0.25
    obj.conjac.sharp_capstan = True
    assert changed_settings(obj, scene, tmp_path / "b") == ["Rope Friction"]
    assert messages_of(obj, scene, tmp_path / "c")["capstan"] is True
    assert changed_settings(obj, scene, tmp_path / "c") == []


def test_a_preview_is_coarser_and_still_bends_at_the_edges(scene):  # noqa: F811
    add_table()
    obj = add_sharp_cloth(cells=10)
    scene.frame_end = 2
    counts = []
    for coarser in (1.0, 3.0):
        obj.conjac.sharp_coarser = coarser
        assert bpy.ops.conjac.bake() == {"FINISHED"}
        sheet = place.cache_of(place.job_folder(obj)).sheets(2)["Cloth"]
        at = sheet.x[sheet.sliding] + np.array(obj.location)
        assert len(at) >= 4 and np.abs(np.abs(at[:, :2]).max(axis=1) - 0.151).max() < 1e-5
        counts.append(len(sheet.faces))
    assert counts[1] < 0.4 * counts[0]


def test_the_panels_say_what_the_integrator_does_not_do(scene, monkeypatch):  # noqa: F811
    monkeypatch.setattr(Context, "window_manager", bpy.context.window_manager, raising=False)
    obj = add_sharp_cloth(cells=2)

    def labels():
        return " ".join(text for kind, text in drawn(obj) if kind == "label")

    assert "always uses linearized Backward Euler steps" in labels()
    obj.conjac.sharp_coarser = 2.0
    assert "A preview" in labels()
    obj.conjac.sharp_edges = False
    assert "always uses linearized Backward Euler steps" not in labels() and "A preview" not in labels()


def test_it_hangs_on_a_soft_body_that_is_baked_with_it(scene):  # noqa: F811
    holder = add_jelly("Holder")
    holder.location.z = -0.11
    holder.vertex_groups.remove(holder.vertex_groups["Pin"])
    obj = add_sharp_cloth(cells=4)
    group = obj.vertex_groups.new(name="Holder")
    attached = [k for k, vertex in enumerate(obj.data.vertices) if abs(vertex.co.x) < 0.1 and abs(vertex.co.y) < 0.1]
    group.add(attached, 1.0, "REPLACE")
    obj.conjac.attachments.add().object = holder
    scene.frame_end = 3
    with pytest.raises(RuntimeError, match="Let them collide with each other"):
        bpy.ops.conjac.bake()
    for scene_object in (obj, holder):
        scene_object.conjac.contact.collides_with = "all"
    assert bpy.ops.conjac.bake() == {"FINISHED"}
    cache = place.cache_of(place.job_folder(obj))
    sheet, flesh = cache.sheets(3)["Cloth"], cache.frame(3)["Holder"]
    # both fall freely, the cloth's middle a centimetre above the box
    top, middle = float(flesh[:, 2].mean()), float(sheet.x[:, 2].mean())
    assert top < -0.03 and abs(middle - top) < 0.01
    obj.conjac.sharp_edges = False
    with pytest.raises(RuntimeError, match="only cloth with Sharp Edges can be attached to those"):
        bpy.ops.conjac.bake()
