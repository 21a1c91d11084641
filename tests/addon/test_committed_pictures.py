"""Pictures with 256 colors keep the colors of small details."""

import numpy as np
import pytest

pytest.importorskip("bpy")
Image = pytest.importorskip("PIL.Image")

from conjac.examples_blend import contact_sheet  # noqa: E402


def test_a_small_red_face_stays_red(tmp_path):
    rng = np.random.default_rng(1)
    shade = np.linspace(90, 220, 400)[:, None, None] * np.array([1.0, 0.72, 0.4]) * np.linspace(0.6, 1.0, 400)[:, None]
    picture = np.clip(shade + rng.normal(0.0, 4.0, (400, 400, 3)), 0, 255).astype(np.uint8)
    picture[200:212, 100:112] = (170, 60, 60)
    Image.fromarray(picture).save(tmp_path / "all.png")
    contact_sheet.fewer_colours(tmp_path / "all.png", tmp_path / "few" / "few.png")
    few = Image.open(tmp_path / "few" / "few.png")
    assert few.mode == "P" and few.size == (400, 400)
    error = np.abs(np.asarray(few.convert("RGB")).astype(int) - picture).max(axis=2)
    assert error[200:212, 100:112].max() < 25 and error.mean() < 12
