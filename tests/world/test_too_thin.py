"""A tail without tetrahedra is reported if everything else of the body is pinned."""

import numpy as np
import pytest
from small_jobs import box_tets, write_job
from worlds import world_of

from solver.errors import NoFreeNode
from solver.job.load import load
from solver.meshing.volume import boundary_faces


def tailed(folder, length):
    """A box, all of it pinned, with a needle of this length on it that its tetrahedra leave out."""
    nodes, tets = box_tets((2, 2, 2), (0.2, 0.2, 0.2))
    faces = boundary_faces(tets)[0]
    needle = np.array([[0.1, 0.1, 0.2], [0.102, 0.1, 0.2], [0.1, 0.102, 0.2], [0.1, 0.1, 0.2 + length]])
    vertices = np.concatenate([nodes, needle])
    triangles = np.concatenate([faces, len(nodes) + np.array([[0, 2, 1], [0, 1, 3], [1, 2, 3], [2, 0, 3]])])
    weights = np.r_[np.ones(len(vertices) - 1), 0.0]
    arrays = {"vertices": vertices, "triangles": triangles.astype(np.int32), "nodes": nodes,
              "tets": tets.astype(np.int32), "weights": weights}
    body = {"name": "Cat", "surface": {"vertices": "arrays/vertices.npy", "triangles": "arrays/triangles.npy"},
            "tets": {"nodes": "arrays/nodes.npy", "tets": "arrays/tets.npy"}, "pin": {"weights": "arrays/weights.npy"}}
    time = {"start": 1, "end": 2, "fps": 24, "step": 1 / 96}
    return write_job(folder, {"version": 1, "name": "thin", "time": time, "bodies": [body]}, arrays)


@pytest.mark.parametrize("length, message", [(0.5, r"1 of its vertices are outside them, by up to 0\.51 m near "
                                                r"\(0\.1, 0\.1, 0\.7\) m: that part is too thin"),
                                          (0.01, "every node is pinned, so nothing can move")])
def test_what_is_free_but_too_thin_is_reported(tmp_path, length, message):
    with pytest.raises(NoFreeNode, match=message) as refused:
        world_of(load(tailed(tmp_path, length)))
    assert refused.value.where.endswith("pin.weights") and refused.value.object == "Cat"
