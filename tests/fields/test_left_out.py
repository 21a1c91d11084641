"""Parts of a mesh that no tetrahedra fill are told: they follow the rest, and pass through what they seem to touch."""

import numpy as np
from small_jobs import box_tets, write_job

from solver.build.fields import prepare
from solver.build.volumes import volumes_of
from solver.job.load import load
from solver.meshing.volume import boundary_faces


def notes_on(folder, spike):
    """Return the warnings about a box of 20 × 10 × 10 cm with a spike of so many metres on top."""
    nodes, tets = box_tets()
    faces = boundary_faces(tets)[0]
    tip = len(nodes)
    vertices = np.concatenate([nodes, nodes[faces[0]].mean(axis=0)[None] + [0.0, 0.0, spike]])
    arrays = {"nodes": nodes, "tets": tets, "vertices": vertices,
              "triangles": np.concatenate([faces, [[*faces[0][:2], tip]]]).astype(np.int32)}
    body = {"name": "Hedgehog", "tets": {"nodes": "arrays/nodes.npy", "tets": "arrays/tets.npy"},
            "surface": {"vertices": "arrays/vertices.npy", "triangles": "arrays/triangles.npy"}}
    time = {"start": 1, "end": 2, "fps": 24, "step": 1 / 96}
    job = load(write_job(folder, {"version": 1, "name": "spikes", "time": time, "bodies": [body]}, arrays))
    volume, = volumes_of(job, lambda *_: None)
    return [note for note in prepare(job, job.scene.bodies[0], volume, lambda *_: None).fields.notes
            if "outside its tetrahedra" in note]


def test_a_spike_that_no_tetrahedra_fill_is_reported_with_its_length(tmp_path):
    note, = notes_on(tmp_path / "long", 0.5)
    assert note.startswith("1 of its vertices are outside its tetrahedra, by up to 0.") and "touch nothing" in note
    assert "m near (" in note
    assert notes_on(tmp_path / "short", 0.02) == []
