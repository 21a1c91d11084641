"""The committed scenes of the paper, baked by Blender's own operator: they behave as the paper describes."""

import json
import shutil
from pathlib import Path

import numpy as np
import pytest

bpy = pytest.importorskip("bpy")

from jelly import assert_plays, rest_of, scene, seen_at  # noqa: E402, F401

import conjac  # noqa: E402

FOLDER = Path(conjac.__file__).parent / "examples_blend"

pytestmark = [pytest.mark.long, pytest.mark.examples]


def baked(name, last, folder):
    """Return every soft body of a copy of an example, baked up to the frame `last`."""
    bpy.ops.wm.open_mainfile(filepath=shutil.copy(FOLDER / f"{name}.blend", folder))
    bpy.context.scene.frame_end = last
    bodies = [obj for obj in bpy.context.scene.objects if obj.type == "MESH" and obj.conjac.enabled]
    for body in bodies:
        bpy.context.view_layer.objects.active = body
        assert bpy.ops.conjac.bake() == {"FINISHED"}
        assert_plays(body, (1, last))
    return {body.name: body for body in bodies}


def test_only_the_helix_turns_and_the_diagonal_leans(scene, tmp_path):  # noqa: F811
    bars = baked("aniso", 5, tmp_path)

    def bottom(bar):
        """Return (degrees by which the bottom has turned, its displacement)."""
        rest, x = rest_of(bar), seen_at(bar, 5)
        chosen = rest[:, 2] < rest[:, 2].min() + 1e-6
        moved = (x - rest)[chosen].mean(axis=0)
        before, after = (p[chosen, :2] - p[chosen, :2].mean(axis=0) for p in (rest, x))
        cross = before[:, 0] * after[:, 1] - before[:, 1] * after[:, 0]
        return np.degrees(np.arctan2(cross.sum(), (before * after).sum())), moved

    seen = {name: bottom(bar) for name, bar in bars.items()}
    turned = {name: turn for name, (turn, _) in seen.items()}
    assert turned["Helical"] > 25.0, turned
    assert max(abs(turned["Horizontal"]), abs(turned["Vertical"])) < 0.05 * turned["Helical"], turned
    sideways = {name: np.hypot(*moved[:2]) for name, (_, moved) in seen.items()}
    assert sideways["Diagonal"] > 3 * max(sideways["Horizontal"], sideways["Vertical"]), sideways
    down = {name: -moved[2] for name, (_, moved) in seen.items()}
    assert down["Horizontal"] > down["Diagonal"] > down["Helical"] > 5 * down["Vertical"] > 0.01, down


def test_bars_of_one_two_and_four_nodes_follow_their_bones_alike(scene, tmp_path):  # noqa: F811
    bars = baked("twist", 14, tmp_path)
    middles = []
    for bar in bars.values():
        rest, x = rest_of(bar), seen_at(bar, 14)
        tip, middle = rest[:, 0] > 0.195, np.abs(rest[:, 0] - 0.1) < 0.005
        np.testing.assert_allclose(x[tip], rest[tip] - [0.06, 0.0, 0.0], atol=1e-6)
        middles.append(x[middle].mean(axis=0))
    assert np.ptp(middles, axis=0).max() < 0.02  # hard to distinguish, the paper says


def test_layers_bend_where_they_are_soft(scene, tmp_path):  # noqa: F811
    bar = baked("hetero", 10, tmp_path)["Layers"]
    rest, x = rest_of(bar), seen_at(bar, 10)
    row = np.round(rest[:, 2] / 0.0045).astype(int)

    def shear(low, high):
        """Return the sideways displacement of rows of vertices relative to each other, over their distance."""
        sides = [x[row == at][:, 0].mean() - rest[row == at][:, 0].mean() for at in (low, high)]
        return abs(sides[1] - sides[0]) / (0.0045 * (high - low))

    def bent(low, high):
        """Return the change of slope between the ends of a layer."""
        return abs(shear(high - 2, high) - shear(low, low + 2))

    assert max(bent(7, 14), bent(20, 27)) > 3 * max(bent(0, 7), bent(14, 20), bent(27, 34))


def test_a_dropped_toy_lands_and_rests_on_the_ground(scene, tmp_path):  # noqa: F811
    toy, = baked("drop", 48, tmp_path).values()
    up = np.array(toy.matrix_world)[2]
    before, after = (seen_at(toy, frame) @ up[:3] + up[3] for frame in (1, 48))
    # a penalty lets it sink in by a few millimetres
    assert before.min() > 0.005 and abs(after.min()) < 0.006 and after.mean() < before.mean() - 0.01
    assert np.abs(seen_at(toy, 48) - seen_at(toy, 47)).max() * 24 < 0.05


def test_the_walker_of_empties_walks_as_the_job_of_the_dissertation(scene, tmp_path):  # noqa: F811
    from benchmarks.scenes import klann
    from conjac.conjac_addon.bake import place, shown
    from conjac.examples_blend.klann import FRICTION
    from solver.build.mechanisms import build_mechanisms
    from solver.job.load import load

    last, h = 37, 1.0 / 96.0
    bpy.ops.wm.open_mainfile(filepath=shutil.copy(FOLDER / "klann.blend", tmp_path))
    scene = bpy.context.scene
    scene.frame_end = last
    owner = bpy.context.view_layer.objects.active
    assert owner.name == "Mechanism" and bpy.ops.conjac.bake() == {"FINISHED"}
    folder = place.job_folder(owner)
    note, = shown.largest(owner, shown.pushed_by(place.cache_of(folder), (1, last)))
    assert '"Front crank" ' in note and " N m" in note and "rod" not in note
    assert max(place.cache_of(folder).poses(frame)["loops"].max() for frame in (2, last)) < 1e-9
    klann.job(tmp_path / "job", FRICTION, (last - 1) / 24, h)
    world = build_mechanisms(load(tmp_path / "job"))
    bodies = json.loads((tmp_path / "job" / "scene.json").read_text())["mechanisms"][0]["bodies"]
    state, names = world.initial_state(), [body["name"] for body in bodies]
    start = world.poses(state)["pose"][names.index("Frame")]
    for _ in range(round((last - 1) / 24 / h)):
        state = world.step(state, h)
    reached = world.poses(state)["pose"]
    assert reached[names.index("Frame"), 0, 3] - start[0, 3] > 0.2
    scene.frame_set(last)
    depsgraph = bpy.context.evaluated_depsgraph_get()
    for name in ("Frame", "Rear crank", "Front left leg", "Rear right upper rocker"):
        seen = np.array(bpy.data.objects[name].evaluated_get(depsgraph).matrix_world)
        assert seen == pytest.approx(reached[names.index(name)], abs=1e-4), name


def test_a_thousand_links_fall_open_and_spring_back(scene, tmp_path):  # noqa: F811
    from conjac.conjac_addon.bake import place

    bpy.ops.wm.open_mainfile(filepath=shutil.copy(FOLDER / "links.blend", tmp_path))
    bpy.context.scene.frame_end = 37
    rig = bpy.data.objects["Links"]
    bpy.context.view_layer.objects.active = rig
    assert bpy.ops.conjac.bake() == {"FINISHED"}
    cache = place.cache_of(place.job_folder(rig))
    positions = {frame: cache.poses(frame)["pose"][:, :3, 3] for frame in (1, 19, 37)}
    assert len(positions[1]) == 1000 and len(rig.conjac.mechanism.springs) == 999
    lowest = {frame: x[:, 2].min() for frame, x in positions.items()}
    assert lowest[19] < lowest[1] - 1.2 and lowest[37] > lowest[19] + 0.9
    assert all(np.abs(x[:, 1]).max() < 1e-4 and np.ptp(x[:, 0]) < 0.5 for x in positions.values())
    # where more hangs below, folds stand wider apart
    folds = positions[19][20:980, 2].reshape(24, 40).mean(axis=1)
    assert folds[0] - folds[6] > 1.5 * (folds[17] - folds[23])
    bpy.context.scene.frame_set(19)
    tip = rig.evaluated_get(bpy.context.evaluated_depsgraph_get()).pose.bones["Link 1000"].head
    assert rig.location.z + tip.z == pytest.approx(positions[19][-1, 2], abs=0.02)
