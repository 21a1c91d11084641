"""Pins whose weights are strengths: how far they give way, how they swing, and what they do over time."""

import numpy as np
import pytest
from matrix import some
from sheets import grid
from small_jobs import box_job, change, write_job
from worlds import world_of

from solver.build.soft_bodies import assemble, prepare_all
from solver.errors import BadScene
from solver.forces.soft_pins import SoftPins
from solver.frames.read import Cache
from solver.job.load import load
from solver.meshing.volume import boundary_faces
from solver.simulate import bake

G, K, STEP = 9.81, 2000.0, 1 / 96


class Quiet:
    """A reporter that discards its messages."""

    def __getattr__(self, name):
        return lambda *arguments: None


def pinned(job, weights, stiffness=K, **pin):
    """The job with the first body's Pin map, and arrays of its pin by their names."""
    settings = {"weights": np.asarray(weights, float), **pin}
    if stiffness is not None:
        settings["stiffness"] = stiffness
    written = {}
    for name, value in settings.items():
        written[name] = value
        if isinstance(value, np.ndarray):
            np.save(job / "arrays" / f"pin_{name}.npy", value)
            written[name] = f"arrays/pin_{name}.npy"
    change(job, "bodies.0.pin", written)
    return job


def cloth(folder, weights, stiffness=K, *, end=25, cells=4, step=STEP, scene=None, body=None, **pin):
    """A level square of half a metre, frames 1 to `end` at 24 a second, without air."""
    vertices, triangles = grid(cells, cells, 0.5, 0.5)
    made = {"name": "Cloth", "cloth": {"drag": 0.0, "air_friction": 0.0}, "method": {"kind": "vanilla"},
            "surface": {"vertices": "arrays/v.npy", "triangles": "arrays/t.npy"}, **(body or {})}
    job = write_job(folder, {"version": 1, "name": "cloth", "time": {"start": 1, "end": end, "fps": 24, "step": step},
                             "bodies": [made], "integrator": {"kind": "backward_euler"}, **(scene or {})},
                    {"v": vertices, "t": np.asarray(triangles, np.int32)})
    return pinned(job, np.broadcast_to(weights, len(vertices)), stiffness, **pin)


def jelly(folder, weights, stiffness=K, *, end=25, method="vanilla", modulus=1e6, scene=None, cells=(4, 2, 2), **pin):
    """A stiff box of 2 kg whose skin is its surface. weights: of its vertices' places (s, 3) [m]."""
    job = box_job(folder, end=end, motion=False, cells=cells, method={"kind": method}, **(scene or {}))
    nodes, tets = np.load(job / "arrays" / "nodes.npy"), np.load(job / "arrays" / "tets.npy")
    skin = boundary_faces(tets)[0]
    used, faces = np.unique(skin, return_inverse=True)
    np.save(job / "arrays" / "vertices.npy", nodes[used])
    np.save(job / "arrays" / "faces.npy", faces.reshape(-1, 3).astype(np.int32))
    change(job, "bodies.0.surface", {"vertices": "arrays/vertices.npy", "triangles": "arrays/faces.npy"})
    change(job, "bodies.0.material.params.youngs_modulus", modulus)
    return pinned(job, weights(nodes[used]), stiffness, **pin)


def baked(job, *ends, resume=True):
    for end in ends or (load(job).scene.time.end,):
        bake(job, Quiet(), frames=(1, end), resume=resume)
    cache = Cache(job / "cache")
    return np.array([cache.vertices(k) for k in range(1, load(job).scene.time.end + 1)])


def fully(weight):
    return lambda x: np.full(len(x), weight)


@pytest.mark.parametrize("weight", some([0.2, 0.5, 0.9], 0.5))
def test_what_is_painted_all_over_hangs_down_by_its_weight_over_the_stiffness(tmp_path, weight):
    """(1 − w) g / (w k), at any place of cloth, and of all of a stiff body together."""
    sag = G * (1.0 - weight) / weight / K
    out = baked(cloth(tmp_path / "cloth", weight, end=121))
    assert np.abs(out[0, :, 2] - out[-1, :, 2] - sag).max() < 1e-4 * sag + 1e-6
    job = jelly(tmp_path / "jelly", fully(weight), end=121, scene={"integrator": {"kind": "backward_euler"}})
    out = baked(job)
    assert np.mean(out[0, :, 2] - out[-1, :, 2]) == pytest.approx(sag, rel=0.02)


@pytest.mark.parametrize("kind", ["vanilla", "conjac"])
def test_it_hangs_in_conjac_as_in_vanilla(tmp_path, kind):
    sag = G / K
    job = jelly(tmp_path / "jelly", fully(0.5), end=97, method=kind)
    out = baked(job)
    assert np.mean(out[0, :, 2] - out[-1, :, 2]) == pytest.approx(sag, rel=0.03)


def test_it_swings_as_a_spring_does(tmp_path):
    """A stiff body that falls into its soft pins swings with ω² = k w / (1 − w): at small steps of BDF2, two swings in
    the time of two swings."""
    stiffness, weight = 400.0, 0.4
    omega = np.sqrt(stiffness * weight / (1.0 - weight))
    job = jelly(tmp_path / "jelly", fully(weight), stiffness, end=25, modulus=1e7,
                scene={"integrator": {"kind": "bdf2"}})
    change(job, "time.step", 1 / 960)
    height = baked(job)[:, :, 2].mean(axis=1)
    time = np.arange(25) / 24
    sag = G / omega**2
    assert np.abs(height - height[0] + sag * (1.0 - np.cos(omega * time))).max() < 0.03 * sag


def test_it_follows_what_is_animated(tmp_path):
    """Turned and moved with its mesh, a body without weight stays in place on it."""
    job = jelly(tmp_path / "jelly", lambda x: np.where(x[:, 0] < 0.11, 0.7, 0.0), 4e5, end=25, modulus=3e5,
                scene={"gravity": [0.0, 0.0, 0.0], "integrator": {"kind": "backward_euler"}})
    rest = np.load(job / "arrays" / "vertices.npy")
    turns = 0.5 * (1.0 - np.cos(np.pi * np.minimum(np.arange(49) / 36, 1.0)))
    cos, sin = np.cos(turns), np.sin(turns)
    turn = np.moveaxis(np.array([[cos, -sin, 0 * cos], [sin, cos, 0 * cos], [0 * cos, 0 * cos, 1 + 0 * cos]]), 2, 0)
    led = rest @ np.swapaxes(turn, 1, 2) + turns[:, None, None] * [0.0, 0.2, 0.1]
    animated = np.flatnonzero(rest[:, 0] < 0.11).astype(np.int32)
    pinned(job, np.where(rest[:, 0] < 0.11, 0.7, 0.0), 4e5, motion=led[:, animated], motion_vertices=animated)
    out = baked(job)
    assert np.abs(out[-1] - led[-1]).max() < 1e-3 < 0.1 < np.abs(led[-1] - rest).max()


def test_the_firmer_the_nearer_to_a_hard_pin(tmp_path):
    def edge(weight):
        return np.where(grid(4, 4, 0.5, 0.5)[0][:, 0] < 0.01, weight, 0.0)

    hard = baked(cloth(tmp_path / "hard", edge(1.0)))
    assert np.array_equal(hard, baked(cloth(tmp_path / "old", edge(1.0), None))), "crisp paint holds as it always did"
    off = [np.abs(baked(cloth(tmp_path / f"{k:g}", edge(0.998), k)) - hard).max() for k in (1e3, 1e5, 1e7)]
    assert off[1] < 0.02 * off[0] and off[2] < 0.02 * off[1] and off[2] < 1e-6


def test_without_a_stiffness_more_than_a_half_is_hard_and_less_is_nothing(tmp_path):
    x = grid(4, 4, 0.5, 0.5)[0][:, 0]
    mild, crisp = (cloth(tmp_path / name, weights, None, end=8) for name, weights in (
        ("mild", np.where(x < 0.01, 0.6, 0.4)), ("crisp", np.where(x < 0.01, 1.0, 0.0))))
    assert np.array_equal(baked(mild), baked(crisp))
    soft, skin = (jelly(tmp_path / name, weights, k, end=6) for name, weights, k in (
        ("soft", lambda x: (x[:, 0] < 0.01) * 1.0, K), ("skin", lambda x: (x[:, 0] < 0.01) * 1.0, None)))
    assert np.array_equal(baked(soft), baked(skin))


def test_a_finer_mesh_hangs_as_far(tmp_path):
    """The mass of the body is shared by its skin, so the springs of a half of it together are as firm."""
    found = [sum(pull.add_force(world.parts[0].rest + [0.0, 0.0, 1e-3], 0.0, np.zeros_like(world.parts[0].rest))
                 for pull in world.parts[0].pulls)
             for world in (world_of(load(jelly(tmp_path / f"{n}", lambda x: (x[:, 0] < 0.101) * 0.5, K,
                                               cells=(2 * n, n, n)))) for n in (2, 6))]
    assert found[0] == pytest.approx(0.5 * K * 1e-6 * 1.0, rel=0.35) and found[1] == pytest.approx(found[0], rel=0.25)


def test_the_stiffness_and_the_weights_may_change_on_the_way(tmp_path):
    """Firm at first, then a tenth as firm; painted half at first, then nothing: it falls freely."""
    stiffness = np.where(np.arange(2 * 240 + 1) < 240, 2000.0, 200.0)
    out = baked(cloth(tmp_path / "stiffness", 0.5, stiffness, end=241))[:, :, 2]
    assert out[0] - out[100] == pytest.approx(G / 2000.0, rel=1e-3)
    assert out[0] - out[-1] == pytest.approx(G / 200.0, rel=1e-2)

    frames = np.where(np.arange(49) < 36, 0.5, 0.0)[:, None] * np.ones(25)
    out = baked(cloth(tmp_path / "weights", 0.5, end=49, strengths=frames,
                      strength_vertices=np.arange(25, dtype=np.int32)))[:, :, 2]
    assert np.abs(out[0] - out[33] - G / K).max() < 0.1 * G / K
    assert np.abs(np.diff(out[38:], 2, axis=0) * 24.0**2 + G).max() < 0.05


def test_what_is_hard_and_fades_is_pinned_softly_on_its_way(tmp_path):
    """Hard to frame 4, then by less and less: its pins go as `until` says, and springs take over."""
    frames = np.clip(1.0 - (np.arange(97) - 3) / 8.0, 0.5, 1.0)[:, None] * np.ones(25)
    job = cloth(tmp_path / "job", 1.0, end=97, until=np.full(25, 5, np.int32), strengths=frames,
                strength_vertices=np.arange(25, dtype=np.int32))
    out = baked(job)[:, :, 2]
    assert np.abs(out[:4] - out[0]).max() < 1e-7
    assert out[0] - out[-1] == pytest.approx(G / K, rel=1e-2)


def test_a_resumed_bake_is_the_same(tmp_path):
    settings = {"strengths": np.linspace(0.2, 0.9, 25)[:, None] * np.ones(25),
                "strength_vertices": np.arange(25, dtype=np.int32)}
    whole, parts = (cloth(tmp_path / name, 0.2, np.linspace(500.0, 3000.0, 49), **settings)
                    for name in ("whole", "parts"))
    assert np.array_equal(baked(whole), baked(parts, 7, 16, 25))


def test_its_force_is_the_slope_of_its_energy(tmp_path):
    job = load(jelly(tmp_path / "jelly", lambda x: np.clip(x[:, 0] / 0.21, 0.0, 1.0)))
    part = assemble(job, prepare_all(job, lambda *stage: None))
    [pins] = part.pulls
    assert isinstance(pins, SoftPins)
    x = part.rest + 1e-2 * np.random.default_rng(4).standard_normal(part.rest.shape)
    way, step = np.random.default_rng(5).standard_normal(part.rest.shape), 1e-6
    found, blocks, ahead, behind = np.zeros_like(x), np.zeros((len(x), 3, 3)), np.zeros_like(x), np.zeros_like(x)
    pins.add_force(x, 0.0, found)
    pins.add_stiffness(0.0, blocks)
    slope = (pins.add_force(x + step * way, 0.0, ahead) - pins.add_force(x - step * way, 0.0, behind)) / (2 * step)
    assert -np.vdot(found, way) == pytest.approx(slope, rel=1e-7)
    assert np.allclose(np.einsum("nij,nj->ni", blocks, way), (ahead - behind) / (2 * step), atol=1e-5)


@pytest.mark.parametrize("wrong, sentence", [
    ({"stiffness": 0.0}, "stiffness"), ({"stiffness": np.zeros(49)}, "holds nothing"),
    ({"stiffness": np.ones(7)}, "stiffness"),
    ({"strengths": np.zeros((25, 2))}, "weights over time need"),
    ({"strengths": np.full((25, 2), 1.5), "strength_vertices": np.array([0, 1], np.int32)}, "outside of 0 to 1"),
    ({"strengths": np.zeros((25, 2)), "strength_vertices": np.array([1, 1], np.int32)}, "listed twice"),
    ({"strengths": np.zeros((24, 2)), "strength_vertices": np.array([0, 1], np.int32)}, "strengths")])
def test_what_cannot_be_is_refused_in_one_sentence(tmp_path, wrong, sentence):
    with pytest.raises(BadScene, match=sentence):
        load(cloth(tmp_path / "job", 0.5, **{"stiffness": K, **wrong}))


def test_cloth_with_sharp_edges_is_refused(tmp_path):
    with pytest.raises(BadScene, match="Sharp Edges has no soft pins"):
        load(cloth(tmp_path / "job", 0.5, body={"cloth": {"eulerian": {}}}))
