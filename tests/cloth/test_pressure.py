"""Pressure of closed cloth: its force is the slope of −p V, and a balloon stands at the pressure of its tension."""

import numpy as np
import pytest
from cloth_jobs import cloth_body, cloth_job, part_of

from solver.forces.cloth.pressure import Pressure
from solver.meshing.grid import box_tets
from solver.meshing.volume import boundary_faces

P = 250.0
NU = 0.2  #: Poisson's ratio of cloth where nobody says another


def box(size=(0.3, 0.2, 0.1)):
    nodes, tets = box_tets((3, 2, 2), size)
    used, corners = np.unique(boundary_faces(tets)[0], return_inverse=True)
    return nodes[used], corners.reshape(-1, 3).astype(np.int32)


def volume(x, triangles):
    a, b, c = (x[triangles[:, i]] for i in range(3))
    return np.einsum("ti,ti->", a, np.cross(b, c)) / 6.0


def total(table, count):
    force = np.zeros((count, 3))
    table.add_forces(force)
    return force


@pytest.mark.parametrize("inside_out", [False, True])
@pytest.mark.parametrize("moved", [0.0, 5.0])
def test_its_energy_is_that_of_the_volume_and_its_force_the_slope(inside_out, moved):
    rest, triangles = box()
    rest = rest + moved
    if inside_out:
        triangles = np.ascontiguousarray(triangles[:, ::-1])
    rng = np.random.default_rng(2)
    x = rest + 0.01 * rng.standard_normal(rest.shape)
    law = Pressure(triangles, P, rest)
    assert law.measure(x, 0.0).energy == pytest.approx(-P * abs(volume(x, triangles)), rel=1e-9)
    way, step = rng.standard_normal(x.shape), 1e-6
    slope = (law.measure(x + step * way, 0.0).energy - law.measure(x - step * way, 0.0).energy) / (2 * step)
    found = total(law.measure(x, 0.0), len(x))
    assert -np.vdot(found, way) == pytest.approx(slope, rel=1e-6)
    assert np.abs(found.sum(axis=0)).max() < 1e-9 * np.abs(found).max()
    assert np.abs(np.cross(x - moved, found).sum(axis=0)).max() < 1e-9 * np.abs(found).max()


def test_its_stiffness_is_the_slope_of_the_force():
    rest, triangles = box()
    rng = np.random.default_rng(4)
    x, way, step = rest + 0.01 * rng.standard_normal(rest.shape), rng.standard_normal(rest.shape), 1e-6
    law = Pressure(triangles, P, rest)
    change = (total(law.measure(x + step * way, 0.0), len(x))
              - total(law.measure(x - step * way, 0.0), len(x))) / (2 * step)
    table, product = law.fill(x, 0.0, False), np.zeros_like(x)
    for nodes, blocks in zip(table.nodes, table.blocks.reshape(-1, 6, 3, 3)):
        a, b = nodes[:2]
        product[b] += blocks[0] @ (way[a] - way[b])
        product[a] += blocks[0].T @ (way[b] - way[a])
    assert np.allclose(product, change, atol=1e-7 * np.abs(change).max())


def test_what_is_open_is_refused():
    rest, triangles = box()
    with pytest.raises(ValueError, match="not closed"):
        Pressure(triangles[1:], P, rest)


def sphere(radius=0.1):
    """A box's surface blown onto a sphere."""
    nodes, tets = box_tets((5, 5, 5), (2.0, 2.0, 2.0))
    used, corners = np.unique(boundary_faces(tets)[0], return_inverse=True)
    out = nodes[used] - 1.0
    return radius * out / np.linalg.norm(out, axis=1)[:, None], corners.reshape(-1, 3).astype(np.int32)


def test_a_balloon_stands_where_its_tension_bears_the_pressure(tmp_path):
    """T = k ε / (1 − ν) and p = 2 T / R, so a sphere of radius R stretches by p R (1 − ν) / 2 k."""
    arrays, (vertices, triangles) = {}, sphere()
    body = cloth_body("Balloon", vertices, triangles, arrays, pressure=P, drag=0.0, air_friction=0.0,
                      membrane={"kind": "corotated_membrane", "params": {
                          "stretch_warp": 1000.0, "stretch_weft": 1000.0, "shear": 500.0}})
    job = cloth_job(tmp_path / "job", [body], arrays, gravity=[0.0, 0.0, 0.0])
    part = part_of(job)
    state = part.initial_state()
    for _ in range(60):
        state = part.step(state, 1 / 24)
    x = part.coordinates.positions(state.q, state.time)[:len(vertices)]
    assert np.abs(state.u).max() < 1e-4, "it has come to rest"
    stretch = np.linalg.norm(x - x.mean(axis=0), axis=1).mean() / 0.1 - 1.0
    assert stretch == pytest.approx(P * 0.1 * (1.0 - NU) / 2 / 1000.0, rel=0.03)


def test_open_cloth_with_pressure_is_refused_before_anything_runs(tmp_path):
    from solver.errors import BadMesh
    from solver.job.load import load

    arrays, (vertices, triangles) = {}, sphere()
    body = cloth_body("Balloon", vertices, triangles[1:], arrays, pressure=P)
    with pytest.raises(BadMesh, match="it is open: 3 edges have one face alone"):
        load(cloth_job(tmp_path / "job", [body], arrays))
    arrays, mixed = {}, triangles.copy()
    mixed[0] = mixed[0, ::-1]
    body = cloth_body("Balloon", vertices, mixed, arrays, pressure=P)
    with pytest.raises(BadMesh, match="do not all run the same way around"):
        load(cloth_job(tmp_path / "mixed", [body], arrays))
