"""The bundle's render step: Blender plays a row's PC2 files and renders, without the extension."""

import runpy
import sys

import pytest

bpy = pytest.importorskip("bpy")

import numpy as np  # noqa: E402
from small_jobs import box_job  # noqa: E402

from solver import cli  # noqa: E402
from solver.farm import bundle  # noqa: E402
from solver.frames.read import Cache  # noqa: E402


def test_a_row_is_rendered_from_its_export(tmp_path, monkeypatch):
    job = box_job(tmp_path / "job", end=3)
    bpy.ops.wm.read_factory_settings(use_empty=True)
    mesh = bpy.data.meshes.new("Ear")
    mesh.from_pydata([tuple(point) for point in np.load(job / "arrays/nodes.npy")], [], [(0, 1, 2)])
    obj = bpy.data.objects.new("Ear", mesh)
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
    bundle.write(job, out, blend=blend)
    assert "Render" in (out / "conjac.template.yaml").read_text()
    for verb in ("simulate", "export"):
        assert cli.main(["task", verb, str(out / "job"), "--out", str(out / "out")], read_stdin=False) == 0

    bpy.ops.wm.open_mainfile(filepath=str(out / "scene.blend"))
    monkeypatch.setattr(sys, "argv", ["blender", "--", str(out / "out"), "1", "2", "3"])
    runpy.run_path(str(out / "render.py"), run_name="__main__")
    pictures = sorted(path.name for path in (out / "out/row-0001/render").iterdir())
    assert pictures == ["000002.png", "000003.png"]
    shown = bpy.data.objects["Ear"].evaluated_get(bpy.context.evaluated_depsgraph_get()).data
    found = np.array([vertex.co for vertex in shown.vertices])
    assert np.abs(found - Cache(out / "out/row-0001/cache").frame(3)["Ear"]).max() < 1e-6
