"""The bundle's steps in Blender, without the extension: pictures, Alembic and shape keys of a row's PC2 files."""

import runpy
import sys

import pytest

bpy = pytest.importorskip("bpy")

import numpy as np  # noqa: E402
from small_jobs import box_job  # noqa: E402

from solver import cli  # noqa: E402
from solver.farm import bundle  # noqa: E402
from solver.frames.read import Cache  # noqa: E402

LAST = 3


@pytest.fixture
def shot(tmp_path):
    """Return a bundle of a box whose row is exported, with a .blend that has its mesh, a camera and a modifier after
    it."""
    job = box_job(tmp_path / "job", end=LAST)
    bpy.ops.wm.read_factory_settings(use_empty=True)
    mesh = bpy.data.meshes.new("Ear")
    mesh.from_pydata([tuple(point) for point in np.load(job / "arrays/nodes.npy")], [], [(0, 1, 2)])
    obj = bpy.data.objects.new("Ear", mesh)
    obj.location = 1.0, 2.0, 3.0
    scene = bpy.context.scene
    scene.collection.objects.link(obj)
    camera = bpy.data.objects.new("Camera", bpy.data.cameras.new("Camera"))
    scene.collection.objects.link(camera)
    scene.camera = camera
    scene.render.engine, scene.render.resolution_x, scene.render.resolution_y = "CYCLES", 16, 12
    scene.cycles.samples = 1
    blend = tmp_path / "shot.blend"
    bpy.ops.wm.save_as_mainfile(filepath=str(blend))
    out = tmp_path / "bundle"
    bundle.write(job, out, blend=blend, format="abc")
    for verb in ("simulate", "export"):
        assert cli.main(["task", verb, str(out / "job"), "--out", str(out / "out")], read_stdin=False) == 0
    yield out
    bpy.ops.wm.read_homefile(use_empty=True, use_factory_startup=True)


def in_blender(shot, monkeypatch, verb, first=1):
    bpy.ops.wm.open_mainfile(filepath=str(shot / "scene.blend"))
    monkeypatch.setattr(sys, "argv", ["blender", "--", verb, str(shot / "out"), "1", str(first), str(LAST)])
    runpy.run_path(str(shot / "in_blender.py"), run_name="__main__")


def baked(shot, frame):
    return Cache(shot / "out/row-0001/cache").frame(frame)["Ear"]


def shown(obj):
    evaluated = obj.evaluated_get(bpy.context.evaluated_depsgraph_get())
    return np.array([vertex.co for vertex in evaluated.data.vertices])


def test_a_row_is_rendered_from_its_export(shot, monkeypatch):
    assert "Render" in (shot / "conjac.template.yaml").read_text()
    in_blender(shot, monkeypatch, "render", first=2)
    pictures = sorted(path.name for path in (shot / "out/row-0001/render").iterdir())
    assert pictures == ["000002.png", "000003.png"]
    assert np.abs(shown(bpy.data.objects["Ear"]) - baked(shot, LAST)).max() < 1e-6


def test_a_row_is_exported_as_alembic_that_names_no_folder(shot, monkeypatch):
    assert "ExportAlembic" in (shot / "conjac.template.yaml").read_text()
    in_blender(shot, monkeypatch, "abc")
    path = shot / "out/row-0001/export/shot.abc"
    content = path.read_bytes()
    assert str(shot.parent).encode() not in content and b"scene.blend" in content
    bpy.ops.wm.read_factory_settings(use_empty=True)
    bpy.ops.wm.alembic_import(filepath=str(path), as_background_job=False)
    obj = next(scene_object for scene_object in bpy.data.objects if scene_object.type == "MESH")
    assert np.allclose(obj.matrix_world.translation, (1, 2, 3))
    for frame in range(1, LAST + 1):
        bpy.context.scene.frame_set(frame)
        assert np.abs(shown(obj) - baked(shot, frame)).max() < 1e-6


def test_a_row_becomes_shape_keys_of_a_blend_that_needs_no_other_file(shot, monkeypatch):
    in_blender(shot, monkeypatch, "shapekeys")
    bpy.ops.wm.open_mainfile(filepath=str(shot / "out/row-0001/export/shot.blend"))
    obj = bpy.data.objects["Ear"]
    assert not obj.modifiers and len(obj.data.shape_keys.key_blocks) == LAST + 1
    for frame in range(1, LAST + 1):
        bpy.context.scene.frame_set(frame)
        assert np.abs(shown(obj) - baked(shot, frame)).max() < 1e-6


def test_a_blend_that_is_another_one_is_one_sentence(shot, monkeypatch, capfd):
    bpy.ops.wm.open_mainfile(filepath=str(shot / "scene.blend"))
    bpy.data.objects["Ear"].name = "Nose"
    bpy.ops.wm.save_mainfile()
    codes = []

    def end(code):
        codes.append(code)
        raise SystemExit

    monkeypatch.setattr("os._exit", end)
    with pytest.raises(SystemExit):
        in_blender(shot, monkeypatch, "abc")
    assert codes == [2] and 'the .blend has no object "Ear". Give' in capfd.readouterr().err
