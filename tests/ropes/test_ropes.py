"""Ropes against closed forms: how they hang, swing and bend, and what they keep."""

import numpy as np
import pytest
from matrix import some
from rope_jobs import baked, chain, rope_job, stretched
from scipy.integrate import solve_bvp
from scipy.optimize import brentq
from scipy.special import ellipk
from small_jobs import change
from worlds import world_of

from solver.assembly.elements import Elements
from solver.build.soft_bodies import assemble, prepare_all
from solver.errors import BadMesh, BadScene, NoFreeNode
from solver.forces.ropes.links import Inextensible, Strand
from solver.job.load import load as load_

G = 9.81
CALM = {"kind": "rayleigh", "params": {"mass_damping": 4.0}}


def level(links, length=1.0):
    return np.stack([np.linspace(0.0, length, links + 1), np.zeros(links + 1), np.zeros(links + 1)], axis=1)


def calm(job):
    change(job, "bodies.0.damping", CALM)
    return job


def test_it_hangs_as_a_catenary_does(tmp_path):
    """200 links without bending, from a V: within 1e-4 of its length of a cosh(x/a)."""
    links, length, span = 200, 1.5, 1.0
    arc = np.linspace(-0.5, 0.5, links + 1) * length
    v = np.stack([arc * span / length, 0 * arc, (np.abs(arc) - 0.5 * length) * np.sqrt(1 - (span / length) ** 2)], 1)
    out = baked(calm(rope_job(tmp_path, v, end=241, step=1 / 48, pinned=(0, links), bending_stiffness=0.0)))
    a = brentq(lambda a: 2 * a * np.sinh(0.5 * span / a) - length, 0.1, 10.0)
    x = a * np.arcsinh(arc / a)
    z = a * (np.cosh(x / a) - np.cosh(0.5 * span / a))
    assert np.abs(out[-1][:, [0, 2]] - np.stack([x, z], axis=1)).max() < 1e-4 * length
    assert np.abs(stretched(out[-1], v)).max() < 1e-5, "as far as single precision of frames tells"


def test_a_net_that_hangs_by_two_sides_hangs_as_a_catenary_does(tmp_path):
    """Three ropes of 200 links with links across at each knot: these hang level, and the net as one rope does."""
    links, length, span = 200, 1.5, 1.0
    arc = np.linspace(-0.5, 0.5, links + 1) * length
    v = np.stack([arc * span / length, 0 * arc, (np.abs(arc) - 0.5 * length) * np.sqrt(1 - (span / length) ** 2)], 1)
    net = np.concatenate([v + [0.0, 0.05 * k, 0.0] for k in range(3)])
    along = np.concatenate([chain(links) + k * (links + 1) for k in range(3)])
    across = np.concatenate([np.stack([np.arange(links + 1), np.arange(links + 1) + links + 1], 1) + k * (links + 1)
                             for k in range(2)])
    pinned_nodes = [k * (links + 1) + end for k in range(3) for end in (0, links)]
    out = baked(calm(rope_job(tmp_path, net, end=241, step=1 / 48, edges=np.concatenate([along, across]),
                              pinned=pinned_nodes, bending_stiffness=0.0)))[-1].reshape(3, links + 1, 3)
    a = brentq(lambda a: 2 * a * np.sinh(0.5 * span / a) - length, 0.1, 10.0)
    x = a * np.arcsinh(arc / a)
    z = a * (np.cosh(x / a) - np.cosh(0.5 * span / a))
    assert np.abs(out[:, :, [0, 2]] - np.stack([x, z], axis=1)).max() < 1e-4 * length
    assert np.abs(out[:, :, 1] - 0.05 * np.arange(3)[:, None]).max() < 1e-6


@pytest.mark.parametrize("kind", some(["inextensible", "springy"], "inextensible"))
def test_a_pendulum_swings_in_its_period(tmp_path, kind):
    """A point at a link of 1 m that starts at 60 degrees: at the same place after 4 K(sin 30°) √(L/g)."""
    angle = np.pi / 3
    places = np.array([[0.0, 0.0, 0.0], [np.sin(angle), 0.0, -np.cos(angle)]])
    period = 4.0 * ellipk(np.sin(0.5 * angle) ** 2) * np.sqrt(1.0 / G)
    params = {"axial_stiffness": 1e6} if kind == "springy" else {}
    job = rope_job(tmp_path, places, fps=100, end=int(period * 100) + 3, step=1 / 1000, loads=[0.0, 1.0],
                   length={"kind": kind, "params": params}, scene={"integrator": {"kind": "bdf2"}})
    x = baked(job)[:, 1, 0]
    k = int(np.argmin(x)) + 1
    down = np.flatnonzero((x[:-1] > 0.0) & (x[1:] <= 0.0))[0]
    up = k + np.flatnonzero((x[k:-1] < 0.0) & (x[k + 1:] >= 0.0))[0]
    first, second = (0.01 * (n + x[n] / (x[n] - x[n + 1])) for n in (down, up))
    assert second - first == pytest.approx(0.5 * period, rel=2e-4)
    assert first == pytest.approx(0.25 * period, rel=1e-3)


def test_it_keeps_its_length_while_it_swings(tmp_path):
    """In 10 s no link of 40, of 200, and of one with a thousand times its weight changes by 1e-8 m."""
    for links, load in ((40, 0.0), (200, 0.0), (40, 100.0)):
        x, loads = level(links), np.zeros(links + 1)
        loads[-1] = load
        world = world_of(load_(rope_job(tmp_path / f"{links}_{load}", x, end=241, loads=loads)))
        state, widest, off = world.initial_state(), 0.0, []
        for _ in range(960):
            state = world.step(state, 1 / 96)
            places = np.concatenate([x[:1], state.q.reshape(-1, 3)])
            off.append(np.abs(stretched(places, x)).max() / links)
            widest = max(widest, -places[-1, 0])
        assert off[-1] < 1e-8 and max(off[1:]) < (1e-8 if not load else 1e-7)
        assert widest > 0.8, "it swung"


@pytest.mark.parametrize("load", [100.0, 1000.0])
def test_what_is_a_thousand_times_as_heavy_and_more_swings_without_a_shake(tmp_path, load):
    """100 kg and a tonne on a rope of 100 g and 40 links: its end swings as a pendulum's, and no link is folded or
    shakes."""
    x = level(40)
    loads = np.zeros(41)
    loads[-1] = load
    job = rope_job(tmp_path, x, end=97, step=1 / 240, loads=loads)
    out = baked(job)
    period = 4.0 * ellipk(np.sin(np.pi / 4) ** 2) / np.sqrt(G)
    lowest = int(np.argmin(out[:30, -1, 2]))
    assert lowest / 24 == pytest.approx(0.25 * period, abs=1 / 24)
    taut = out[14:34]
    link = np.diff(taut, axis=1)
    link /= np.linalg.norm(link, axis=2)[:, :, None]
    assert np.einsum("fki,fki->fk", link[:, 1:], link[:, :-1]).min() > 0.9999, "it is straight where it is taut"
    assert max(np.abs(stretched(frame, x)).max() for frame in out[1:]) < 1e-5


def test_a_springy_one_stretches_by_its_load(tmp_path):
    x = level(4)[:, [2, 1, 0]] * [1.0, 1.0, -1.0]
    job = calm(rope_job(tmp_path, x, end=121, step=1 / 48, loads=[0.0] * 4 + [2.0], linear_density=1e-3,
                        length={"kind": "springy", "params": {"axial_stiffness": 400.0}}))
    assert baked(job)[-1, -1, 2] == pytest.approx(-1.0 - 2.0005 * G / 400.0, rel=1e-4)


def test_a_stiff_one_bends_as_a_beam_does(tmp_path):
    """A cantilever whose first two points are held: ρ g L⁴/(8 B) at its end, where that is little."""
    x = level(100)
    stiffness = 2.0
    job = calm(rope_job(tmp_path, x, end=73, step=1 / 48, pinned=(0, 1), bending_stiffness=stiffness))
    change(job, "bodies.0.damping", {"kind": "rayleigh", "params": {"mass_damping": 20.0}})
    assert -baked(job)[-1, -1, 2] == pytest.approx(0.1 * G * 0.995 ** 4 / (8.0 * stiffness), rel=0.01)


@pytest.mark.parametrize("keeps_shape", [False, True], ids=["straight", "as drawn"])
def test_a_limp_one_bends_as_the_heavy_elastica_does(tmp_path, keeps_shape):
    """A level cantilever that hangs nearly straight down at its end: B θ″ = −ρ g (L − s) cos θ from half a link on, as
    far as bending begins there."""
    links, length = 60, 0.25
    x, first = level(links, length), 0.5 * length / links
    free, weight = length - first, 0.1 * G
    stiffness = weight * length**3 / 15.0

    def slope(s, y):
        return [y[1], -weight / stiffness * (free - s) * np.cos(y[0]), np.cos(y[0]), np.sin(y[0])]

    s = np.linspace(0.0, free, 101)
    guess = np.stack([s / free, np.ones(101) / free, s, 0.5 * s], axis=0)
    exact = solve_bvp(slope, lambda a, b: np.array([a[0], b[1], a[2], a[3]]), s, guess, tol=1e-8)
    assert exact.success and exact.y[0, -1] > np.radians(60.0), "it hangs down"
    at = exact.sol(np.maximum(np.linspace(0.0, length, links + 1) - first, 0.0))
    job = rope_job(tmp_path, x, end=49, step=1 / 48, pinned=(0, 1), bending_stiffness=stiffness,
                   keeps_shape=keeps_shape)
    change(job, "bodies.0.damping", {"kind": "rayleigh", "params": {"mass_damping": 10.0}})
    out = baked(job)[-1]
    assert np.abs(out[2:, [0, 2]] - np.stack([first + at[2], -at[3]], axis=1)[2:]).max() < 0.02 * length
    end = out[-1] - out[-2]
    # of the last link, half a link before its end
    assert np.arctan2(-end[2], end[0]) == pytest.approx(exact.sol(free - first)[0], rel=0.02)


def test_forces_are_slopes_of_the_energy_and_stiffness_of_forces(tmp_path):
    """All laws at once, with tensions that are remembered; projected the matrix is negative semi-definite."""
    rng = np.random.default_rng(7)
    for kind in ("inextensible", "springy"):
        x = level(6) + 0.02 * rng.standard_normal((7, 3))
        edges = np.concatenate([chain(6), [[6, 3]]])  # a knot
        job = load_(rope_job(tmp_path / kind, x, edges=edges, bending_stiffness=3.0, length={"kind": kind}))
        part = assemble(job, prepare_all(job, lambda *stage: None))
        part.links[0].recall(rng.uniform(-50.0, 900.0, len(edges)))
        found = Elements(part.elastic, [], len(x))
        x = x + 0.02 * rng.standard_normal(x.shape)
        way, step = rng.standard_normal(x.shape), 1e-7

        def at(where, project=False, found=found):
            force = np.zeros_like(where)
            return found.fill(where, 0.0, project, force), force

        energies = [found.measure(x + s * step * way, 0.0, np.zeros_like(x), 0.0) for s in (1, -1)]
        at(x)
        product = np.zeros((7, 3, 7, 3))
        for project in (False, True):
            _, force = at(x, project)
            product[:] = 0.0
            for nodes, blocks in zip(found.tets, found.blocks):
                for k, (a, b) in enumerate([(1, 0), (2, 0), (2, 1), (3, 0), (3, 1), (3, 2)]):
                    one, i, j = blocks[k].reshape(3, 3), nodes[a], nodes[b]
                    product[i, :, j] += one
                    product[j, :, i] += one.T
                    product[i, :, i] -= one
                    product[j, :, j] -= one.T
            matrix = product.reshape(21, 21)
            assert np.allclose(matrix, matrix.T, rtol=1e-9, atol=1e-6 * np.abs(matrix).max())
            if project:
                assert np.linalg.eigvalsh(matrix).max() < 1e-9 * np.abs(matrix).max()
            else:
                slope = (at(x + step * way)[1] - at(x - step * way)[1]) / (2 * step)
                assert np.abs((matrix @ way.ravel()).reshape(-1, 3) - slope).max() < 1e-4 * np.abs(slope).max()
                assert -np.vdot(force, way) == pytest.approx((energies[0] - energies[1]) / (2 * step), rel=1e-4)


def test_across_it_is_as_stiff_as_a_linear_step_expects():
    """A link of 1 m with k 1e8 N/m that moves sideways by 1 cm: its length asks for 5 kN, a linear step for none."""
    links = Inextensible(Strand(np.array([[0, 1]], np.int32), np.ones(1), np.ones(1), 0.01), {})
    before = np.array([[0.0, 0.0, 0.0], [1.0, 0.0, 0.0]])
    k = float(links.stiffness[0])

    def across(after):
        links.recall(np.array([3.0]))
        links.expect(before, after, 0.0)
        forces, blocks = np.zeros((1, 4, 3)), np.zeros((1, 6, 9))
        links.fill(after, True, forces, blocks)
        u = after[1] - after[0]
        u /= np.linalg.norm(u)
        sideways = np.array([-u[1], u[0], 0.0])
        return sideways @ blocks[0, 0].reshape(3, 3) @ sideways * np.linalg.norm(after[1] - after[0])

    for side, along, expected in ((0.01, 0.0, 3.0), (0.01, 2e-8, 3.0 + 2e-8 * k), (0.0, -1e-6, 0.0)):
        assert across(before + [[0.0, 0.0, 0.0], [along, side, 0.0]]) == pytest.approx(expected, rel=1e-6, abs=1e-6)


def test_a_resumed_bake_is_the_same(tmp_path):
    x = level(12)
    whole, parts = (rope_job(tmp_path / name, x, loads=[0.0] * 12 + [3.0]) for name in ("whole", "parts"))
    baked(whole), baked(parts, 8, 17, 25)
    for frame in sorted((whole / "cache" / "frames").glob("*.npy")):
        assert frame.read_bytes() == (parts / "cache" / "frames" / frame.name).read_bytes()


def test_many_strands_in_one_object_and_a_net(tmp_path):
    """Strands apart from each other swing as each by itself; a square net hangs on its corners and keeps its meshes."""
    x, count = level(8), 9
    both = np.concatenate([x, x + [0.0, 1.0, 0.0]])
    edges = np.concatenate([chain(8), chain(8) + count])
    alone = baked(rope_job(tmp_path / "alone", x))
    many = baked(rope_job(tmp_path / "many", both, edges=edges, pinned=(0, count)))
    assert np.abs(many[:, :count] - alone).max() < 1e-3
    assert np.abs(many[:, count:] - alone - [0.0, 1.0, 0.0]).max() < 1e-3
    n = 6
    number = np.arange(n * n).reshape(n, n)
    places = np.stack([*np.meshgrid(np.arange(n) * 0.2, np.arange(n) * 0.2, indexing="ij"), np.zeros((n, n))], -1)
    net = np.concatenate([np.stack([number[:-1].ravel(), number[1:].ravel()], 1),
                          np.stack([number[:, :-1].ravel(), number[:, 1:].ravel()], 1)])
    places = places.reshape(-1, 3) * [0.9, 0.9, 1.0] + [0.0, 0.0, 0.02] * np.cos(np.arange(n * n) * 3.1)[:, None]
    out = baked(calm(rope_job(tmp_path / "net", places, edges=net, pinned=(0, n - 1, n * n - n, n * n - 1), end=49)))
    assert np.abs(stretched(out[-1], places, net)).max() < 1e-4 and out[-1][:, 2].min() < -0.02


def test_it_follows_what_holds_it(tmp_path):
    """Its first point is carried along, and the rest comes after; a soft pin gives way by what it carries."""
    x = level(10)[:, [2, 1, 0]] * [1.0, 1.0, -1.0]
    job = rope_job(tmp_path, x)
    way = np.linspace(0.0, 0.5, 49)[:, None, None] * [1.0, 0.0, 0.0] + x[:1]
    np.save(job / "arrays" / "way.npy", way)
    np.save(job / "arrays" / "told.npy", np.array([0], np.int32))
    change(job, "bodies.0.pin", {"weights": "arrays/Rope_p.npy", "motion": "arrays/way.npy",
                                 "motion_vertices": "arrays/told.npy"})
    out = baked(job)
    assert np.abs(out[:, 0] - way[::2, 0]).max() < 1e-6 and out[-1, -1, 0] > 0.3
    assert np.abs(stretched(out[-1], x)).max() < 1e-5


def zero(job):
    np.save(job / "arrays" / "Rope_v.npy", np.zeros((5, 3)))


def no_edge(job):
    np.save(job / "arrays" / "Rope_e.npy", np.zeros((0, 2), np.int32))


def twice(job):
    np.save(job / "arrays" / "Rope_e.npy", np.array([[0, 1], [1, 0]], np.int32))


def unknown_end(job):
    np.save(job / "arrays" / "Rope_e.npy", np.array([[0, 1], [1, 9]], np.int32))


def faces(job):
    np.save(job / "arrays" / "Rope_t.npy", np.array([[0, 1, 2]], np.int32))


def pinned_all_over(job):
    np.save(job / "arrays" / "Rope_p.npy", np.ones(5))


@pytest.mark.parametrize("spoil, error, sentence", [
    (zero, BadMesh, "4 of its 4 edges have no length"), (no_edge, BadMesh, "has no edge, so it has no length"),
    (twice, BadMesh, "join the same points"), (unknown_end, BadScene, "does not fit the 5 vertices"),
    (faces, BadMesh, "its surface has faces"),
    (pinned_all_over, NoFreeNode, "every point is pinned"),
    (lambda job: change(job, "bodies.0.method.kind", "conjac"), BadScene, "whose points all move on their own"),
    (lambda job: change(job, "bodies.0.rope.length.kind", "magic"), BadScene, 'there is no rope "magic"'),
    (lambda job: change(job, "bodies.0.cloth", {}), BadScene, "which has no")])
def test_what_cannot_be_is_refused_in_one_sentence(tmp_path, spoil, error, sentence):
    job = rope_job(tmp_path, level(4))
    spoil(job)
    with pytest.raises(error, match=sentence):
        world_of(load_(job))


def test_threads_do_not_change_a_byte(tmp_path):
    """A rope of 600 links, which two threads share."""
    from solver import threads

    x, found = level(600), []
    before = threads.count()
    try:
        for count in (1, 2):
            threads.configure(count)
            job = rope_job(tmp_path / str(count), x, end=3, loads=[0.0] * 600 + [1.0])
            world = world_of(load_(job))
            state = world.initial_state()
            for _ in range(6):
                state = world.step(state, 1 / 96)
            found.append(state)
    finally:
        threads.configure(before)
    assert np.array_equal(found[0].q, found[1].q) and np.array_equal(found[0].u, found[1].u)
    for key, value in found[0].memory.items():
        assert np.array_equal(value, found[1].memory[key])


def test_the_stiffer_a_springy_one_the_nearer_to_an_inextensible_one(tmp_path):
    """Penalty, compliance and constraint have one limit, and differ in proportion to the compliance."""
    x = level(10)
    found = []
    for stiffness in (None, 1e4, 1e5, 1e6):
        springy = {"kind": "springy", "params": {"axial_stiffness": stiffness}}
        length = springy if stiffness else {"kind": "inextensible"}
        scene = {"stage_solver": {"kind": "newton_d", "params": {"tolerance": 1e-12}}}
        world = world_of(load_(rope_job(tmp_path / f"{stiffness}", x, bending_stiffness=0.0, length=length,
                                        scene=scene)))
        state, way = world.initial_state(), []
        for _ in range(48):
            state = world.step(state, 1 / 96)
            way.append(state.q)
        found.append(np.array(way))
    off = [np.abs(path - found[0]).max() for path in found[1:]]
    assert off[1] == pytest.approx(0.1 * off[0], rel=0.1) and off[2] == pytest.approx(0.1 * off[1], rel=0.1)
    assert off[2] < 1e-5
