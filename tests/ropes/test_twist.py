"""Twist of ropes: slopes, Michell's instability of a ring, and a strand that is wound up."""

import numpy as np
import pytest
from rope_jobs import baked, rope_job

from solver.forces.ropes.bends import RodBends
from solver.forces.ropes.links import Springy, Strand
from solver.forces.ropes.twist import RodTwist, build_winding, find_pinned_strands

B, C = 2.0e-3, 1.5e-3


def ring(count, radius=1.0):
    angle = 2 * np.pi * np.arange(count) / count
    x = np.stack([radius * np.cos(angle), radius * np.sin(angle), np.zeros(count)], axis=1)
    edges = np.stack([np.arange(count), np.roll(np.arange(count), -1)], axis=1).astype(np.int32)
    return x, edges


def matrix(law, x):
    """The true K of all nodes, (3 n, 3 n)."""
    forces, blocks = np.zeros((len(law.nodes), 4, 3)), np.zeros((len(law.nodes), 6, 9))
    law.fill(x, False, forces, blocks)
    out = np.zeros((len(x), 3, len(x), 3))
    for nodes, own in zip(law.nodes.tolist(), blocks.reshape(-1, 6, 3, 3)):
        for (row, column), block in zip(((1, 0), (2, 0), (2, 1)), own):
            if row < len(nodes):
                i, j = nodes[row], nodes[column]
                out[i, :, j] += block
                out[j, :, i] += block.T
                out[i, :, i] -= block
                out[j, :, j] -= block.T
    return out.reshape(3 * len(x), -1)


def total(law, x):
    forces = np.zeros((len(law.nodes), 4, 3))
    energy = law.measure(x, forces)
    out = np.zeros_like(x)
    for nodes, own in zip(law.nodes, forces):
        np.add.at(out, nodes, own[: len(nodes)])
    return energy, out


def spiral(count=12):
    t = np.linspace(0.0, 4.0, count)
    return np.stack([0.3 * np.cos(t), 0.3 * np.sin(t), 0.2 * t], axis=1)


def open_strand(angle, count=12):
    rest = spiral(count)
    edges = np.stack([np.arange(count - 1), np.arange(1, count)], axis=1).astype(np.int32)
    return RodTwist(find_pinned_strands(edges, np.array([0, count - 1]), rest), rest, C, build_winding(angle)), rest


def test_force_is_the_slope_of_the_energy_and_stiffness_that_of_the_force():
    law, rest = open_strand(3.0)
    rng = np.random.default_rng(2)
    # both end links stay where they are: their frames are what twist is measured from
    moved, way, step = rng.standard_normal(rest.shape), rng.standard_normal(rest.shape), 1e-6
    moved[[0, 1, -2, -1]], way[[0, 1, -2, -1]] = 0.0, 0.0
    x = rest + 0.02 * moved
    force = total(law, x)[1]
    ahead, back = total(law, x + step * way), total(law, x - step * way)
    assert -np.vdot(force, way) == pytest.approx((ahead[0] - back[0]) / (2 * step), rel=1e-6)
    # K leaves out what the moment changes by
    k = law._stiffness[0]
    gradient = -force / law.moment(x)[0]
    change = (ahead[1] - back[1]) / (2 * step) + k * np.vdot(gradient, way) * gradient
    product = (matrix(law, x) @ way.ravel()).reshape(-1, 3)
    assert np.abs(product - change)[2:-2].max() < 1e-6 * np.abs(change).max()


def test_what_turns_as_a_whole_has_no_force_and_memory_adds_up():
    law, rest = open_strand(0.0)
    rng = np.random.default_rng(4)
    moved = rng.standard_normal(rest.shape)
    moved[[0, 1, -2, -1]] = 0.0
    x = rest + 0.05 * moved
    at_once = law.moment(x)[0]
    assert abs(at_once) > 1e-6
    law.recall(law.multipliers(rest + 0.02 * moved, 0.0))
    assert law.moment(x)[0] == pytest.approx(at_once, rel=1e-9), "whatever the way there"
    forces = total(law, x)[1]
    assert np.abs(forces.sum(axis=0)).max() < 1e-12


def lowest(angle, count=80):
    """The lowest eigenvalue of a twisted ring's stiffness but for the six rigid motions, hardly stretching [N/m]."""
    x, edges = ring(count)
    bends = np.stack([np.roll(edges[:, 0], 1), edges[:, 0], edges[:, 1]], axis=1)
    twist = RodTwist(find_pinned_strands(edges, np.zeros(0, int), x), x, C, build_winding(angle))
    side = np.linalg.norm(x[1] - x[0])
    links = Springy(Strand(edges, np.full(count, side), np.ones(count), 0.01), {"axial_stiffness": 50.0})
    force = total(twist, x)[1]
    gradient = (-force / twist.moment(x)[0]).ravel()
    K = matrix(RodBends(bends, x, B), x) + matrix(twist, x) + matrix(links, x)
    K -= twist._stiffness[0] * np.outer(gradient, gradient)
    values, vectors = np.linalg.eigh(-0.5 * (K + K.T))
    centred = x - x.mean(axis=0)
    rigid = [np.tile(axis, (count, 1)).ravel() for axis in np.eye(3)]
    rigid += [np.cross(axis, centred).ravel() for axis in np.eye(3)]
    basis = np.linalg.qr(np.array(rigid).T)[0]
    shape = np.linalg.norm(basis.T @ vectors, axis=0) < 0.5
    return values[shape].min()


def test_a_ring_buckles_where_michell_says():
    """Θ = 2π √3 B/C, to 3 %: found by bisection of the lowest eigenvalue's sign."""
    critical = 2 * np.pi * np.sqrt(3.0) * B / C
    low, high = 0.5 * critical, 1.5 * critical
    assert lowest(low) > 0.0 > lowest(high)
    while high - low > 1e-3 * critical:
        middle = 0.5 * (low + high)
        low, high = (middle, high) if lowest(middle) > 0.0 else (low, middle)
    assert low == pytest.approx(critical, rel=0.03)


def test_a_slack_strand_that_is_wound_up_leaves_its_plane(tmp_path):
    """An arc between two pins without gravity: flat as long as nothing turns its ends, and coiled once they turn."""
    t = np.linspace(0.0, np.pi, 33)
    x = np.stack([0.2 * np.cos(t), np.zeros(33), 0.2 * np.sin(t)], axis=1)
    scene = {"gravity": [0.0, 0.0, 0.0]}
    kind = {"end": 25, "pinned": (0, 1, 31, 32), "scene": scene, "bending_stiffness": 1e-3, "twisting_stiffness": 1e-3}
    flat = baked(rope_job(tmp_path / "flat", x, **kind))
    wound = baked(rope_job(tmp_path / "wound", x + 1e-4 * np.sin(3 * t)[:, None] * [0.0, 1.0, 0.0], twist=25.0,
                           twist_time=0.8, **kind))
    assert np.abs(flat[-1, :, 1]).max() < 1e-9
    assert np.abs(wound[-1, :, 1]).max() > 0.03
    long, rest = (np.linalg.norm(np.diff(line, axis=0), axis=1) for line in (wound[-1], x))
    assert np.abs(long - rest).max() < 1e-4
    again = baked(rope_job(tmp_path / "again", x + 1e-4 * np.sin(3 * t)[:, None] * [0.0, 1.0, 0.0], twist=25.0,
                           twist_time=0.8, **kind), 13, 25)
    assert np.array_equal(wound, again), "resumed, the same bytes"


def test_a_twist_over_time_is_that_of_its_samples(tmp_path):
    """Wound up evenly by samples it goes where it does by *Twists In*, and unwound it is as if it never was."""
    x = np.stack([np.linspace(0.0, 0.5, 21), 1e-3 * np.sin(np.linspace(0.0, 9.0, 21)), np.zeros(21)], 1)
    kind = {"end": 13, "pinned": (0, 1, 19, 20), "bending_stiffness": 1e-3, "twisting_stiffness": 1e-3,
            "scene": {"gravity": [0.0, 0.0, 0.0]}}
    plain = baked(rope_job(tmp_path / "plain", x, twist=9.0, twist_time=0.5, **kind))
    still = baked(rope_job(tmp_path / "still", x, twist=0.0, **kind))
    found = {}
    for name, samples in (("wound", np.linspace(0.0, 9.0, 25)), ("none", np.zeros(25))):
        job = rope_job(tmp_path / name, x, twist="arrays/twist.npy", **kind)
        np.save(job / "arrays" / "twist.npy", samples)
        found[name] = baked(job)
    assert np.abs(plain[-1] - still[-1]).max() > 1e-5
    assert np.abs(found["wound"] - plain).max() < 1e-9 and np.array_equal(found["none"], still)
