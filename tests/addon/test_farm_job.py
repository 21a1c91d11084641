"""Export Farm Job and `-c conjac farm` write a bundle of a bake's input, which bakes to the same bytes."""

import json
from pathlib import Path

import pytest

bpy = pytest.importorskip("bpy")

from jelly import LAST, add_jelly, scene  # noqa: E402, F401

from conjac.conjac_addon.bake import cli, place  # noqa: E402
from solver import cli as solver  # noqa: E402


def test_the_bundle_of_a_jelly_bakes_as_blender_does(scene, tmp_path, capfd):  # noqa: F811
    obj = add_jelly("Jelly")
    out = tmp_path / "bundle"
    assert cli.run(["farm", "--out", str(out), "--chunk", "10"]) == 0, capfd.readouterr().err
    assert "The bundle is in" in capfd.readouterr().out
    listed = {file["path"] for file in json.loads((out / "pack.json").read_text())["files"]}
    assert {"conjac.template.yaml", "job/scene.json", "slurm.sh"} <= listed
    folder = str(Path(bpy.data.filepath).parent).encode()
    assert 'value: "Jelly"' in (out / "parameter_values.yaml").read_text()
    assert not any(folder in (out / name).read_bytes() for name in listed)
    assert solver.main(["task", "simulate", str(out / "job"), "--out", str(out / "out")], read_stdin=False) == 0
    assert bpy.ops.conjac.bake() == {"FINISHED"}
    baked = place.own_folder(obj) / "cache/frames"
    assert len(list(baked.iterdir())) == LAST
    for frame in baked.iterdir():
        assert frame.read_bytes() == (out / "out/row-0001/cache/frames" / frame.name).read_bytes()


def test_the_button_writes_beside_the_file_and_refuses_a_full_folder(scene):  # noqa: F811
    add_jelly("Jelly")
    assert bpy.ops.conjac.export_farm_job() == {"FINISHED"}
    assert (Path(bpy.data.filepath).parent / "farm_Jelly/conjac.template.yaml").exists()
    with pytest.raises(RuntimeError, match="not an empty folder"):
        bpy.ops.conjac.export_farm_job()


def test_render_puts_the_open_file_into_the_bundle(scene, tmp_path):  # noqa: F811
    add_jelly("Jelly")
    assert bpy.ops.conjac.export_farm_job(directory=str(tmp_path / "window"), render=True) == {"FINISHED"}
    assert cli.run(["farm", "--out", str(tmp_path / "command"), "--blend"]) == 0
    for bundle in ("window", "command"):
        assert (tmp_path / bundle / "scene.blend").exists() and (tmp_path / bundle / "in_blender.py").exists()


def test_several_bakes_are_to_be_named(scene, tmp_path, capfd):  # noqa: F811
    add_jelly("Jelly")
    add_jelly("Second")
    assert cli.run(["farm", "--out", str(tmp_path / "bundle")]) == 2
    assert "Name one of them with --object" in capfd.readouterr().err
