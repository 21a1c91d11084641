"""The paper's BARCUT from its committed file: a knife in two strokes, then a piece without a dynamic node."""

import shutil
from pathlib import Path

import numpy as np
import pytest

bpy = pytest.importorskip("bpy")

from jelly import scene, seen_at  # noqa: E402, F401
from test_blender_cli import run  # noqa: E402, F401

import conjac  # noqa: E402
from conjac.conjac_addon import playback  # noqa: E402
from conjac.conjac_addon.bake import place  # noqa: E402

BARCUT = Path(conjac.__file__).parent / "examples_blend" / "barcut.blend"


@pytest.mark.long
@pytest.mark.examples
def test_the_bar_comes_apart_in_two_strokes_and_once_more(run, tmp_path):  # noqa: F811
    bpy.ops.wm.open_mainfile(filepath=shutil.copy(BARCUT, tmp_path))
    assert run(["bake", "--frames", "1-66"]) == 0
    bar = bpy.data.objects["Bar"]
    cache = place.cache_of(place.job_folder(bar))
    assert cache.cut_frames() == [26, 38, 60]
    shown = playback.find_cut(bar)
    mesh = shown.data
    rest = np.array([vertex.co for vertex in bar.data.vertices])
    for frame in (1, 26, 27, 39, 61, 66):
        np.testing.assert_allclose(seen_at(shown, frame), cache.read_all_vertices(frame)["Bar"], atol=1e-6)

    # three pieces of the skin, and as many once the inside is counted by where it is
    outer = [polygon.vertices[:] for polygon in mesh.polygons if polygon.material_index < 2]
    piece = np.arange(len(mesh.vertices))
    changed = True
    while changed:
        before = piece.copy()
        for corners in outer:
            piece[list(corners)] = piece[list(corners)].min()
        changed = not np.array_equal(before, piece)
    left, right = (piece[np.argmin(sign * rest[:, 0])] for sign in (1, -1))
    middle = piece[np.argmin(np.abs(rest[:, 0] - 0.31))]
    assert len({left, middle, right}) == 3 and np.isin(piece[: len(rest)], [left, middle, right]).all()

    # the middle falls, the left swings, the right one, with pins and no dynamic node, is in balance at once
    moved = seen_at(shown, 66) - seen_at(shown, 64)
    assert moved[piece == middle][:, 2].max() < -0.05
    assert 1e-3 < np.abs(moved[piece == left]).max() < 0.05
    assert np.abs(moved[piece == right]).max() < 1e-3
