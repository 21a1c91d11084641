"""Bodies whose mesh is finer than their tetrahedra touch by fewer faces around all of what is drawn."""

import numpy as np
import pytest
from scipy.spatial.transform import Rotation
from solids import globe
from touching import box, contact_job, obstacle, sheet, soft
from worlds import nodes_of

from solver.build.thinned_mesh import simplify_mesh
from solver.embedding.bind import bind
from solver.job.load import load
from solver.meshing.volume import Volume
from solver.meshing.winding import winding_numbers

SHARE = 0.01
VERTICES = 2 + 23 * 48  #: of the mesh
RADIUS = 0.1


def around(height=RADIUS):
    """A round mesh, its vertices and triangles, and coarse tetrahedra in which it is."""
    vertices, triangles = globe(24)
    nodes, tets = box((3, 3, 3), (2.2 * RADIUS,) * 3, (-1.1 * RADIUS,) * 3)
    up = np.array([0.0, 0.0, height])
    return RADIUS * vertices + up, triangles.astype(np.int32), nodes + up, tets


def test_the_surface_encloses_the_mesh_and_follows_the_tetrahedra():
    vertices, triangles, nodes, tets = around()
    volume = Volume(nodes, tets)
    made = simplify_mesh(volume, bind(nodes, tets, vertices, triangles), triangles, SHARE)
    assert len(made.triangles) < 0.7 * len(triangles)
    x = made.positions(nodes)
    assert (np.abs(winding_numbers(vertices * 0.9999 + 0.0001 * vertices.mean(axis=0), x, made.triangles)) > 0.5).all()
    out = np.linalg.norm(x - [0.0, 0.0, RADIUS], axis=1) - RADIUS
    assert out.max() < 3.0 * SHARE * 2.0 * RADIUS
    turn = np.array([[0.0, -1.0, 0.0], [1.3, 0.0, 0.0], [0.0, 0.2, 0.8]])
    assert made.positions(nodes @ turn.T) == pytest.approx(x @ turn.T, abs=1e-12)


def test_none_is_made_where_most_faces_would_stay():
    vertices, triangles, nodes, tets = around()
    rng = np.random.default_rng(1)
    rough = vertices + 2e-3 * rng.normal(size=vertices.shape)
    volume = Volume(nodes, tets)
    assert simplify_mesh(volume, bind(nodes, tets, rough, triangles), triangles, 1e-3) is None


def over_a_floor(folder, gap, **more):
    """A job of the ball over a sheet, so far apart [m]."""
    arrays = {}
    vertices, triangles, nodes, tets = around(RADIUS + gap)
    arrays["Ball_vertices"], arrays["Ball_triangles"] = vertices, triangles
    surface = {"vertices": "arrays/Ball_vertices.npy", "triangles": "arrays/Ball_triangles.npy"}
    body = soft("Ball", nodes, tets, arrays, surface=surface, touches_by_mesh=True, **more)
    return load(contact_job(folder, [body], [obstacle("Floor", *sheet(), arrays)], arrays))


def test_a_job_touches_by_it_where_it_simplifies(tmp_path):
    fewer, every = (nodes_of(over_a_floor(tmp_path / str(share), 0.05, simplify=share)).contacts[0].embedded.corners
                    for share in (SHARE, 0.0))
    assert len(fewer) < 0.7 * len(every) and len(every) == VERTICES


def test_what_would_cross_by_it_at_the_start_touches_otherwise(tmp_path):
    """The faces go some tenths of a millimetre outside of the mesh, which is nearer to the floor than that."""
    part = nodes_of(over_a_floor(tmp_path / "near", 1e-5, simplify=SHARE))
    assert len(part.contacts[0].embedded.corners) == VERTICES


def test_a_mesh_with_more_faces_than_that_touches_by_its_tetrahedra_and_the_log_says_so(tmp_path):
    part = nodes_of(over_a_floor(tmp_path / "fine", 0.05, simplify=1e-6))
    assert not hasattr(part.contacts[0], "embedded")
    assert any("After Simplify its mesh" in note for note in part.notes)


def test_a_turned_mesh_has_as_few_faces():
    """Its tolerance is a share of its extent along the axes of its object, not along those of the world."""
    vertices, triangles, nodes, tets = around()
    count = []
    for turn in (np.eye(3), Rotation.from_euler("xyz", (0.0, -35.3, 45.0), degrees=True).as_matrix()):
        shape, inside = (points * [1.0, 0.3, 0.3] @ turn.T for points in (vertices, nodes))
        made = simplify_mesh(Volume(inside, tets, axes=turn), bind(inside, tets, shape, triangles), triangles, SHARE)
        count.append(len(made.triangles))
    assert count[1] == pytest.approx(count[0], rel=0.05)  # but for ties
