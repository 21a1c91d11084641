"""Near parts of a mesh that tetrahedra take for one are named before anything moves."""

import json

import numpy as np
import pytest
from small_jobs import write_job
from worlds import quiet

from solver.build.fields import find_fused_lines_of_body
from solver.build.soft_bodies import prepare_all
from solver.cli import main
from solver.job.load import load
from solver.meshing.grid import box_tets
from solver.meshing.volume import boundary_faces


def fingers(folder, gap, filled, inside_out=False):
    """Two bars of 4 × 4 × 20 cm side by side, so far apart [m], in tetrahedra that fill the air or do not."""
    bars = [box_tets((2, 2, 10), (0.04, 0.04, 0.2), (x, 0.0, 0.0)) for x in (0.0, 0.04 + gap)]
    faces = [boundary_faces(tets)[0] for _, tets in bars]
    vertices = np.concatenate([nodes for nodes, _ in bars])
    triangles = np.concatenate([faces[0], faces[1] + len(bars[0][0])]).astype(np.int32)
    if filled:
        nodes, tets = box_tets((4, 2, 10), (0.08 + gap, 0.04, 0.2))
    else:
        nodes, tets = vertices, np.concatenate([bars[0][1], bars[1][1] + len(bars[0][0])])
    arrays = {"vertices": vertices, "triangles": triangles[:, ::-1] if inside_out else triangles, "nodes": nodes,
              "tets": tets.astype(np.int32)}
    body = {"name": "Hand", "surface": {"vertices": "arrays/vertices.npy", "triangles": "arrays/triangles.npy"},
            "tets": {"nodes": "arrays/nodes.npy", "tets": "arrays/tets.npy"}}
    time = {"start": 1, "end": 2, "fps": 24, "step": 1 / 96}
    return load(write_job(folder, {"version": 1, "name": "hand", "time": time, "bodies": [body]}, arrays))


@pytest.mark.parametrize("inside_out", [False, True])
@pytest.mark.parametrize("gap", [0.005, 1e-4])
def test_what_moves_as_one_is_named_with_its_place(tmp_path, gap, inside_out):
    job = fingers(tmp_path, gap, True, inside_out)
    one = prepare_all(job, quiet)[0]
    notes = [note for note in one.fields.notes if "move as one" in note]
    assert len(notes) == 1 and f"{gap:.2g} m apart" in notes[0]
    ends, apart = find_fused_lines_of_body(job, one.body, one.volume)
    assert apart == pytest.approx(gap, rel=1e-6)
    # all of them lie in the air between, all along the bars
    middle = ends.mean(axis=1)
    assert middle[:, 0] == pytest.approx(0.04 + gap / 2, abs=1e-9)
    assert np.ptp(middle[:, 2]) > 0.15


def test_what_has_tetrahedra_of_its_own_is_not_named(tmp_path):
    job = fingers(tmp_path, 1e-4, False)
    one = prepare_all(job, quiet)[0]
    assert not any("move as one" in note for note in one.fields.notes)
    assert not len(find_fused_lines_of_body(job, one.body, one.volume)[0])


def test_a_thin_part_has_no_air_inside(tmp_path):
    nodes, tets = box_tets((1, 8, 8), (0.01, 0.2, 0.2))
    arrays = {"vertices": nodes, "triangles": boundary_faces(tets)[0], "nodes": nodes, "tets": tets.astype(np.int32)}
    body = {"name": "Plate", "surface": {"vertices": "arrays/vertices.npy", "triangles": "arrays/triangles.npy"},
            "tets": {"nodes": "arrays/nodes.npy", "tets": "arrays/tets.npy"}}
    time = {"start": 1, "end": 2, "fps": 24, "step": 1 / 96}
    job = load(write_job(tmp_path, {"version": 1, "name": "plate", "time": time, "bodies": [body]}, arrays))
    one = prepare_all(job, quiet)[0]
    assert not len(find_fused_lines_of_body(job, one.body, one.volume)[0])


def test_the_command_that_fills_a_body_says_so_before_a_bake(tmp_path, capsys):
    fingers(tmp_path, 0.005, True)
    assert main(["tets", str(tmp_path), "--json"]) == 0
    event = next(line for line in map(json.loads, capsys.readouterr().out.splitlines()) if line["event"] == "tets")
    assert len(event["fused"]) > 10 and any("0.005 m apart" in note for note in event["notes"])
