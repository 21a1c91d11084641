"""Bodies that never meet are baked separately and joined to the result of a single bake; those that meet stay
together."""

import numpy as np
import pytest
from small_jobs import box_tets, write_job

from solver import cli
from solver.errors import BadInput
from solver.farm import islands
from solver.frames.read import Cache
from solver.job.load import load

POSITIONS = {"Left": 0.0, "Near": 0.13, "Right": 2.0}


def three_boxes(folder, end=9, positions=POSITIONS):
    """Boxes of .1 m that are pinned at one face and swing under gravity, at positions along x [m]."""
    arrays, bodies = {}, []
    for k, (name, at) in enumerate(positions.items()):
        nodes, tets = box_tets((2, 2, 2), (0.1, 0.1, 0.1))
        arrays |= {f"nodes{k}": nodes + [at, 0, 0], f"tets{k}": tets,
                   f"pinned{k}": np.flatnonzero(nodes[:, 2] == nodes[:, 2].max()).astype(np.int32)}
        bodies.append({"name": name, "tets": {"nodes": f"arrays/nodes{k}.npy", "tets": f"arrays/tets{k}.npy"},
                       "material": {"kind": "stable_neo_hookean",
                                    "params": {"youngs_modulus": 2e4, "poisson_ratio": 0.4}},
                       "pin": {"nodes": f"arrays/pinned{k}.npy"}, "method": {"kind": "vanilla"}})
    time = {"start": 1, "end": end, "fps": 24, "step": 1 / 48}
    return write_job(folder, {"version": 1, "name": "boxes", "time": time, "bodies": bodies}, arrays)


def bake(job):
    assert cli.main(["bake", str(job), "--threads", "1"], read_stdin=False) == 0


def test_islands_are_joined_to_what_one_bake_gives(tmp_path, capfd):
    job, draft, out = three_boxes(tmp_path / "job"), three_boxes(tmp_path / "draft"), tmp_path / "out"
    bake(draft)
    assert cli.main(["islands", str(job), "--draft", str(draft), "--out", str(out)], read_stdin=False) == 0
    output = capfd.readouterr().out
    assert "island-001: Left, Near" in output and "island-002: Right" in output and "Memory: about" in output
    for folder in sorted(out.iterdir()):
        bake(folder)
    assert cli.main(["islands", str(job), "--join", "--out", str(out)], read_stdin=False) == 0
    joined, whole = Cache(job / "cache"), Cache(draft / "cache")
    assert joined.status().state == "complete" and joined.verify() == []
    for frame in range(1, 10):
        for name, points in whole.frame(frame).items():
            assert np.abs(joined.frame(frame)[name] - points).max() <= 1e-6 * 0.1


def test_islands_that_were_in_contact_are_not_joined(tmp_path):
    job = three_boxes(tmp_path / "job", end=3, positions={"Left": 0.0, "Near": 0.1})
    folders = islands.part(load(job), [["Left"], ["Near"]], tmp_path / "out")
    for folder in folders:
        bake(folder)
    with pytest.raises(BadInput, match='met "Near"'):
        islands.join(load(job), folders)
    assert not (job / "cache/manifest.json").exists()


def test_a_draft_that_is_not_baked_is_one_sentence(tmp_path):
    job = three_boxes(tmp_path / "job", end=3)
    with pytest.raises(BadInput, match="Frame 1 is not baked"):
        islands.find(load(job), three_boxes(tmp_path / "draft", end=3))
