"""Frames of cloth with faces of their own are complete or absent, read back, and recognised where they are damaged."""

import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

sys.path[:0] = [str(Path(__file__).parents[1] / name) for name in ("cloth", "embedding")]
from cloth_jobs import square  # noqa: E402
from ragged_sheets import PLACE, ragged  # noqa: E402
from sheets import grid  # noqa: E402

from solver.embedding.sheets import ShownSheet  # noqa: E402
from solver.errors import BadInput, NoSuchThing  # noqa: E402
from solver.frames.layout import SHEETS, file_of  # noqa: E402
from solver.frames.read import Cache  # noqa: E402
from solver.frames.write import FrameStore  # noqa: E402
from solver.job import hashes  # noqa: E402
from solver.job.load import load  # noqa: E402
from solver.sheet.sheet_mesh import SheetMesh  # noqa: E402


def cloth_at(frame):
    """Return the cloth at a frame, with another mesh at each."""
    rest, triangles = grid(6, 6, 1.0, 1.0)
    material, faces = ragged(100 + 10 * frame, frame)
    mesh = SheetMesh.at_rest(material @ PLACE + [0.0, 0.0, 0.01 * frame], material, faces)
    on, slide = mesh.on.copy(), mesh.slide.copy()
    on[40], slide[40] = 0, [0.1, 0.2]
    shown = ShownSheet(rest, rest[:, :2].copy(), triangles)
    mesh = replace(mesh, on=on, slide=slide)
    return shown.vertices(mesh, 0), shown.record(mesh, 0), triangles


def store_of(folder, origins=None, count=4):
    job = load(square(folder, end=count, cells=6, size=1.0))
    store = FrameStore(job.cache)
    store.begin(job, hashes.settings(job), [("Cloth", 0, 49)], backend="by hand", first=1, sheets=["Cloth"],
                origins=origins)
    for frame in range(1, count + 1):
        vertices, record, _ = cloth_at(frame)
        store.write_sheets(frame, {0: record})
        store.write(frame, vertices)
    return Cache(job.cache)


def test_each_frame_has_a_mesh_of_its_own_and_the_artists_vertices(tmp_path):
    cache = store_of(tmp_path / "job")
    assert cache.sheet_names() == ["Cloth"] and cache.frames_done() == [1, 2, 3, 4]
    counts = []
    for frame in range(1, 5):
        vertices, record, triangles = cloth_at(frame)
        sheet = cache.sheets(frame)["Cloth"]
        assert (sheet.x == record.x.astype(np.float32)).all() and (sheet.faces == record.faces).all()
        assert (sheet.sliding == [40]).all() and np.abs(sheet.speed - record.speed).max() < 1e-7
        assert np.abs(cache.frame(frame)["Cloth"] - vertices).max() < 1e-6
        # the UV map equals the rest position
        rest = np.array(grid(6, 6, 1.0, 1.0)[0][:, :2])
        at = np.einsum("mck,mcki->mci", sheet.barycentric_weights(triangles), rest[triangles[sheet.source]])
        assert np.abs(at - record.material[record.faces]).max() < 1e-6
        counts.append(len(sheet.x))
    assert len(set(counts)) == 4


def test_a_frame_without_its_mesh_is_none(tmp_path):
    cache = store_of(tmp_path / "job")
    assert cache.verify() == []
    path = file_of(cache.folder, SHEETS, 2)
    path.write_bytes(bytes(path.stat().st_size))
    file_of(cache.folder, SHEETS, 3).unlink()
    again = Cache(cache.folder)
    assert again.frames_done() == [1, 4] and again.verify() == [2, 3]
    assert again.status().state == "broken"
    with pytest.raises(BadInput, match="000002"):
        again.sheets(2)
    with pytest.raises(NoSuchThing, match="Frame 3 is not in"):
        again.sheets(3)


@pytest.mark.parametrize("name,value", [("faces", 10**6), ("sliding", -1), ("x", None), ("source", None)])
def test_arrays_that_do_not_fit_are_damage_and_no_crash(tmp_path, name, value):
    cache = store_of(tmp_path / "job", count=2)
    path = file_of(cache.folder, SHEETS, 1)
    arrays = dict(np.load(path))
    wrong = arrays[f"0.{name}"]
    arrays[f"0.{name}"] = wrong[:-1] if value is None else np.full_like(wrong, value)
    np.savez(path, **arrays)
    with pytest.raises(BadInput, match="is damaged"):
        cache.sheets(1)


def test_far_from_zero_they_are_counted_from_the_origin(tmp_path):
    origin = np.array([4096.0, 0.0, -8192.0])
    sheet = store_of(tmp_path / "job", origins={"Cloth": origin}, count=1).sheets(1)["Cloth"]
    assert sheet.x.dtype == np.float64 and np.abs(sheet.x - (cloth_at(1)[1].x + origin)).max() < 1e-6


def test_free_takes_them_away(tmp_path):
    cache = store_of(tmp_path / "job", count=2)
    cache.free()
    assert not cache.folder.exists()


def test_a_cache_without_them_is_as_it_was(tmp_path):
    job = load(square(tmp_path / "job", end=2, cells=6, size=1.0))
    store = FrameStore(job.cache)
    store.begin(job, hashes.settings(job), [("Cloth", 0, 49)], backend="by hand", first=1)
    store.write(1, cloth_at(1)[0])
    cache = Cache(job.cache)
    assert "sheets" not in cache.manifest and cache.sheet_names() == [] and cache.frames_done() == [1]
