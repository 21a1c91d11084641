"""Scenes in which soft bodies touch, through the command line's handler: no surfaces that play intersect."""

import json

import numpy as np
import pytest

bpy = pytest.importorskip("bpy")

from jelly import rest_of, scene, seen_at  # noqa: E402, F401
from mathutils import Matrix  # noqa: E402

from benchmarks import contact_scenes  # noqa: E402
from conjac.conjac_addon.bake import cli, session  # noqa: E402
from conjac.examples_blend import build, jelly  # noqa: E402


@pytest.mark.long
@pytest.mark.parametrize("name,last", [("bowl", 12), ("wrung", 14), ("rollers", 16), ("key", 16),
                                       ("stack", 4), ("ducks", 6), ("belly", 14), ("tumble", 18),
                                       ("cloak", 13)])
def test_what_touches_keeps_apart_at_every_frame(scene, tmp_path, name, last):  # noqa: F811
    build.build(name, tmp_path)
    scene = bpy.context.scene
    scene.frame_end = last
    assert cli.run(["bake"]) == 0
    moved = [np.abs(seen_at(scene_object, last) - rest_of(scene_object)).max() for scene_object in scene.objects
             if scene_object.type == "MESH" and scene_object.conjac.kind == "soft_body"]
    assert min(moved) > (1e-5 if name == "stack" else 1e-4)
    if name == "tumble":  # what touches is what is seen
        assert contact_scenes.seen_crossing(scene) == 0
    else:
        assert jelly.reported_clearance(scene) > 0.0


@pytest.mark.long
def test_clearance_is_the_distance_of_what_plays(scene, tmp_path, monkeypatch):  # noqa: F811
    look = bpy.data.materials.new("Look")
    scene.frame_end = 2
    bodies = [jelly.ball(scene, name, 0.1, (0.0, 0.0, height), look, finer=2)
              for name, height in (("A", 0.0), ("B", 0.195))]
    for body in bodies:
        jelly.soft(body, "tetgen", 0.1, 1e4)
        body.conjac.contact.distance = 0.05
        body.data.transform(Matrix.Scale(0.9, 4))
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "balls.blend"))
    assert session.SOLVER == "solver"
    monkeypatch.setattr(session, "SOLVER", "benchmarks.watched_solver")
    monkeypatch.setenv("CONJAC_WATCHED", str(tmp_path / "report.json"))
    assert cli.run(["bake"]) == 0
    # poles face each other
    assert jelly.clearance(bodies, [1]) == pytest.approx(0.015, abs=1e-5)
    report = json.loads((tmp_path / "report.json").read_text())
    assert report["clearance"] == pytest.approx(jelly.clearance(bodies, [1, 2]), abs=1e-5)
    assert (report["frames"], report["steps"], report["crossing"]) == (2, 2, []) and report["most_pairs"] > 0
    assert contact_scenes.seen_crossing(scene) == 0
    for frame, lower in ((1, 0.0), (2, -0.1)):
        bodies[1].delta_location.z = lower
        bodies[1].keyframe_insert("delta_location", frame=frame)
    assert jelly.clearance(bodies, [2]) == 0.0
    assert contact_scenes.seen_crossing(scene) == 1
