"""The paper's TWIST bar from its committed file, baked as `blender -b bar.blend -c conjac bake` does."""

import shutil
from pathlib import Path

import numpy as np
import pytest

bpy = pytest.importorskip("bpy")

from jelly import assert_plays, frames_of, rest_of, scene, seen_at  # noqa: E402, F401
from test_blender_cli import run  # noqa: E402, F401

import conjac  # noqa: E402
from conjac.conjac_addon.bake import place  # noqa: E402

BAR = Path(conjac.__file__).parent / "examples_blend" / "bar.blend"
PUSHED = 14  #: the frame where the bone has pushed the right end 6 cm to the left


@pytest.mark.long
@pytest.mark.examples
def test_the_bar_bakes_and_its_end_follows_the_bone(run, tmp_path):  # noqa: F811
    bpy.ops.wm.open_mainfile(filepath=shutil.copy(BAR, tmp_path))
    assert run(["bake", "--frames", f"1-{PUSHED}"]) == 0
    bar = bpy.data.objects["Bar"]
    assert set(frames_of(bar)) >= {f"{frame:06d}" for frame in range(1, PUSHED + 1)}
    assert_plays(bar, (1, 8, PUSHED))

    (made,) = (place.job_folder(bar) / "stages").glob("*.npz")
    assert len(np.load(made)["nodes"]) == 1029
    rest = rest_of(bar)
    np.testing.assert_allclose(seen_at(bar, 1), rest, atol=1e-6)
    pushed = seen_at(bar, PUSHED)
    base, tip, middle = rest[:, 0] < 0.005, rest[:, 0] > 0.195, np.abs(rest[:, 0] - 0.1) < 0.005
    np.testing.assert_allclose(pushed[base], rest[base], atol=1e-6)
    np.testing.assert_allclose(pushed[tip], rest[tip] - [0.06, 0.0, 0.0], atol=1e-6)
    assert np.ptp(pushed[middle, 1]) > 1.05 * np.ptp(rest[middle, 1])  # what is pushed together bulges
