"""Hard limits of lengths and areas: slopes, what they bear in the end, and that nothing is felt within them."""

import numpy as np
import pytest
from cloth_jobs import cloth_body, cloth_job
from rope_jobs import baked, rope_job, stretched
from sheets import grid
from small_jobs import change

from solver.forces.limits import AreaLimit, LengthLimit

PAIRS = ((1, 0), (2, 0), (2, 1), (3, 0), (3, 1), (3, 2))


def limit(kind, low=-0.05, high=0.05):
    """A few elements of each kind, of which some are past their limits, with multipliers of the last step."""
    rng = np.random.default_rng(3)
    x = rng.standard_normal((8, 3))
    if kind is LengthLimit:
        nodes = np.array([[0, 1], [2, 3], [4, 5], [6, 7]])
        size = np.linalg.norm(x[nodes[:, 1]] - x[nodes[:, 0]], axis=1)
    else:
        nodes = np.array([[0, 1, 2], [2, 3, 4], [5, 6, 7], [1, 4, 7]])
        a, b, c = (x[nodes[:, k]] for k in range(3))
        size = 0.5 * np.linalg.norm(np.cross(b - a, c - a), axis=1)
    law = kind(nodes, size / np.array([1.2, 0.7, 1.01, 1.3]), low, high, 0.1, 0.05)
    law.recall(np.array([3.0, 0.0, 0.0, -1.0]))
    return law, x


def total(law, x):
    """Forces on all nodes."""
    forces, out = np.zeros((len(law.nodes), 4, 3)), np.zeros_like(x)
    law.measure(x, forces)
    np.add.at(out, law.nodes, forces[:, : law.nodes.shape[1]])
    return out


def product(law, x, way, project):
    """K way, by its blocks."""
    forces, blocks = np.zeros((len(law.nodes), 4, 3)), np.zeros((len(law.nodes), 6, 9))
    law.fill(x, project, forces, blocks)
    out = np.zeros_like(x)
    for ends, of in zip(law.nodes, blocks.reshape(-1, 6, 3, 3)):
        for (i, j), block in zip(PAIRS, of):
            if i < len(ends):
                out[ends[i]] += block @ (way[ends[j]] - way[ends[i]])
                out[ends[j]] += block.T @ (way[ends[i]] - way[ends[j]])
    return out


@pytest.mark.parametrize("kind", [LengthLimit, AreaLimit])
def test_forces_are_slopes_of_the_energy_and_stiffness_of_forces(kind):
    law, x = limit(kind)
    way, step = np.random.default_rng(4).standard_normal(x.shape), 1e-6
    forces = np.zeros((len(law.nodes), 4, 3))
    slope = (law.measure(x + step * way, forces) - law.measure(x - step * way, forces)) / (2 * step)
    assert -np.vdot(total(law, x), way) == pytest.approx(slope, rel=1e-7) and slope != 0.0
    change = (total(law, x + step * way) - total(law, x - step * way)) / (2 * step)
    assert np.allclose(product(law, x, way, False), change, atol=1e-6 * np.abs(change).max())
    for seed in range(20):
        way = np.random.default_rng(seed).standard_normal(x.shape)
        assert np.vdot(way, product(law, x, way, True)) <= 1e-9
    assert np.abs(total(law, x).sum(axis=0)).max() < 1e-10


@pytest.mark.parametrize("kind", [LengthLimit, AreaLimit])
def test_what_is_within_has_no_force(kind):
    law, x = limit(kind, -0.5, 0.5)
    law.recall(np.zeros(4))
    assert not total(law, x).any() and not product(law, x, x, False).any()


def test_a_springy_rope_stretches_to_its_limit_and_not_a_bit_further(tmp_path):
    places = np.zeros((11, 3))
    places[:, 2] = -np.linspace(0.0, 1.0, 11)
    loads = np.zeros(11)
    loads[-1] = 10.0  # 98 N on a stiffness of 200 N would be half as long again
    length = {"kind": "springy", "params": {"axial_stiffness": 200.0, "most_stretch": 0.2}}
    ends = baked(damped(rope_job(tmp_path / "limited", places, end=73, loads=loads, length=length)))
    assert np.abs(stretched(ends[-1], places) - 0.2).max() < 1e-6
    free = {"kind": "springy", "params": {"axial_stiffness": 200.0}}
    light = [baked(damped(rope_job(tmp_path / name, places, end=73, loads=0.1 * loads, length=kind)))[-1]
             for name, kind in (("light", length), ("free", free))]
    assert np.abs(light[0] - light[1]).max() < 1e-9


def damped(job):
    change(job, "bodies.0.damping", DAMPED)
    return job


def hung(folder, **cloth):
    """A heavy sheet of half a metre that hangs on its upper edge, as it is after three seconds."""
    vertices, triangles = grid(8, 8, 0.5, 0.5)
    places, arrays = np.column_stack([vertices[:, 0], np.zeros(len(vertices)), vertices[:, 1]]), {}
    body = cloth_body("Sheet", places, triangles, arrays, pinned=np.flatnonzero(places[:, 2] > 0.5 - 1e-9),
                      membrane={"kind": "corotated_membrane", "params": {"stretch_warp": 60.0, "stretch_weft": 60.0}},
                      laws={"damping": DAMPED}, area_density=5.0, **cloth)
    return places, triangles, baked(cloth_job(folder, [body], arrays, end=73), body="Sheet")[-1]


DAMPED = {"kind": "rayleigh", "params": {"mass_damping": 8.0, "stiffness_damping": 0.0}}


def test_heavy_cloth_hangs_down_no_further_than_its_limits(tmp_path):
    places, triangles, free = hung(tmp_path / "free")
    _, _, edges = hung(tmp_path / "edges", length_limit=0.1)
    _, _, areas = hung(tmp_path / "areas", area_limit=0.1)
    assert longest(free, places, triangles) > 0.2 and largest(free, places, triangles) > 0.15
    assert longest(edges, places, triangles) == pytest.approx(0.1, abs=1e-5)
    assert largest(areas, places, triangles) == pytest.approx(0.1, abs=1e-5)


def longest(x, rest, triangles):
    """The largest strain of an edge."""
    sides = np.concatenate([triangles[:, [0, 1]], triangles[:, [1, 2]], triangles[:, [2, 0]]])
    now, before = (np.linalg.norm(p[sides[:, 1]] - p[sides[:, 0]], axis=1) for p in (x, rest))
    return (now / before - 1.0).max()


def largest(x, rest, triangles):
    """The largest strain of an area."""
    now, before = (np.linalg.norm(np.cross(p[triangles[:, 1]] - p[triangles[:, 0]],
                                           p[triangles[:, 2]] - p[triangles[:, 0]]), axis=1) for p in (x, rest))
    return np.abs(now / before - 1.0).max()
