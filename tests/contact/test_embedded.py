"""Surfaces of vertices that tetrahedra carry: forces, stiffness and bounds against those of the law inside."""

import ipctk
import numpy as np
import pytest
from matrix import some
from touching import box, contact_job, obstacle, resumed_alike, sheet, soft
from worlds import nodes_of

from solver.contact.find.mesh import Surfaces
from solver.contact.laws.barrier import Barrier
from solver.contact.laws.embedded import Embedded, EmbeddedVertices
from solver.embedding.bind import bind
from solver.errors import BadScene
from solver.forces.stencils import block_diagonal
from solver.job.load import load
from solver.meshing.volume import boundary_faces

SIDE = np.array([[0, 1], [1, 2], [2, 0]])


def finer(x, triangles):
    """Every triangle as four."""
    ends = np.sort(triangles[:, SIDE].reshape(-1, 2), axis=1)
    edges, which = np.unique(ends, axis=0, return_inverse=True)
    middle = len(x) + which.reshape(-1, 3)
    a, b, c = triangles.T
    ab, bc, ca = middle.T
    return (np.concatenate([x, x[edges].mean(axis=1)]),
            np.concatenate([np.stack(t, axis=1) for t in ((a, ab, ca), (ab, b, bc), (ca, bc, c), (ab, bc, ca))]))


def two_boxes(gap=0.002):
    """A law between two boxes one above the other, of which the upper one is touched by a finer mesh that stands a
    little inside of its tetrahedra; positions of nodes, (n, 3)."""
    lower, tets = box()
    skin = boundary_faces(tets)[0]
    upper = lower + [0.013, 0.007, 0.1 + gap]
    vertices, triangles = finer(upper, skin)
    vertices = vertices.mean(axis=0) + 0.99 * (vertices - vertices.mean(axis=0))
    bound = bind(upper, tets, vertices, triangles)
    rest = np.concatenate([lower, upper])
    riding = EmbeddedVertices(bound.corners + np.int32(len(lower)), bound.weights, len(rest))
    faces = np.concatenate([skin, triangles + len(rest)]).astype(np.int32)
    places = riding.positions(rest)
    group = np.full(len(places), -1)
    owner = np.zeros(len(places), dtype=int)
    owner[len(lower):] = 1
    inside = Barrier(Surfaces(places, faces, group, owner), places, np.full(len(places), 500.0),
                     np.full(len(places), 0.4), 0.006, {"creep_speed": 1e-3}, np.zeros(len(places)))
    return Embedded(inside, riding), rest, riding


def spread(rng, rest, much):
    return rest + much * rng.normal(size=rest.shape)


def force_of(table, count):
    out = np.zeros((count, 3))
    table.add_forces(out)
    return out


def matrix_of(table, count):
    """Return K of a table, (3 n, 3 n), by the definition in its docstring."""
    nodes, blocks = block_diagonal([table])
    out = np.zeros((count, 3, count, 3))
    for corner, block in zip(nodes, blocks):
        for pair, (a, b) in enumerate(((1, 0), (2, 0), (2, 1), (3, 0), (3, 1), (3, 2))):
            one = block[pair].reshape(3, 3)
            for i, j, k in ((corner[a], corner[b], one), (corner[b], corner[a], one.T)):
                out[i, :, j] += k
                out[i, :, i] -= k
    return out.reshape(3 * count, 3 * count)


def test_forces_and_stiffness_are_slopes_of_the_energy():
    law, rest, _ = two_boxes()
    rng = np.random.default_rng(1)
    x, count = spread(rng, rest, 1e-4), len(rest)
    table = law.fill(x, 0.0, False)
    assert len(law.inner.find_active_pairs(law._embedded.positions(x)).nodes) > 20
    force, stiffness = force_of(table, count), matrix_of(table, count)
    assert np.abs(force_of(law.measure(x, 0.0), count) - force).max() <= 1e-15 * np.abs(force).max()
    assert np.abs(force.sum(axis=0)).max() <= 1e-12 * np.abs(force).sum()
    for _ in range(6):
        d, h = rng.normal(size=rest.shape), 1e-7
        up, down = law.measure(x + h * d, 0.0), law.measure(x - h * d, 0.0)
        assert (down.energy - up.energy) / (2 * h) == pytest.approx(float(np.vdot(force, d)), rel=1e-5)
        slope = (force_of(up, count) - force_of(down, count)) / (2 * h)
        assert np.abs(slope.ravel() - stiffness @ d.ravel()).max() <= 1e-5 * np.abs(slope).max()
    definite = np.linalg.eigvalsh(matrix_of(law.fill(x, 0.0, True), count))
    assert definite.max() <= 1e-9 * -definite.min()


def test_nothing_meets_within_its_bounds():
    law, rest, riding = two_boxes()
    rng, cut = np.random.default_rng(2), 0
    alike = np.arange(len(rest))
    for _ in range(8):
        end = spread(rng, rest, 1e-3)
        end[27:, 2] -= rng.uniform(0.0, 0.01)
        shares = law.largest_steps(rest, end, alike)
        reached = rest + shares[:, None] * (end - rest)
        assert law.largest_step(rest, reached) == 1.0
        assert law.inner.surfaces.intersection(riding.positions(reached)) is None
        whole = law.largest_step(rest, end)
        assert shares.min() <= whole * (1 + 1e-9) or whole == 1.0
        cut += whole < 1.0
    assert cut >= 3


def test_friction_is_the_slope_of_its_potential():
    law, rest, _ = two_boxes()
    rng = np.random.default_rng(3)
    slides = law.lag_friction(rest, rest, 0.01)
    x = spread(rng, rest, 1e-4)
    force = force_of(slides.fill(x, 0.0, False), len(rest))
    for _ in range(4):
        d, h = rng.normal(size=rest.shape), 1e-8
        fall = (slides.measure(x - h * d, 0.0).energy - slides.measure(x + h * d, 0.0).energy) / (2 * h)
        assert np.isclose(fall, np.vdot(force, d), rtol=1e-4)


def skinned(name, at, arrays, shrunk=0.8, **more):
    """A soft box of coarse tetrahedra whose mesh is finer and stands inside of them, by its share of their size."""
    nodes, tets = box(cells=(1, 1, 1), at=at)
    skin = boundary_faces(tets)[0]
    vertices, triangles = finer(nodes, skin)
    arrays[f"{name}_vertices"] = nodes.mean(axis=0) + shrunk * (vertices - nodes.mean(axis=0))
    arrays[f"{name}_triangles"] = triangles.astype(np.int32)
    return soft(name, nodes, tets, arrays, surface={"vertices": f"arrays/{name}_vertices.npy",
                                                    "triangles": f"arrays/{name}_triangles.npy"}, **more)


def falling(folder, by_mesh=True, method="vanilla", **scene):
    """A job of two such boxes, one above the other, that fall onto a sheet, and its arrays."""
    arrays = {}
    bodies = [skinned(name, at, arrays, touches_by_mesh=by_mesh) for name, at in (
        ("Low", [0.0, 0.0, 0.005]), ("High", [0.002, 0.003, 0.106]))]
    floor = obstacle("Floor", *sheet(), arrays)
    return contact_job(folder, bodies, [floor], arrays, step=1 / 48, method={"kind": method},
                       contact={"law": {"kind": "barrier", "params": {"friction_coefficient": 0.6}}},
                       integrator={"kind": "sdirk2"}, stage_solver={"kind": "quick"}, **scene), arrays


def fallen(folder, by_mesh, method="vanilla"):
    """Return of two falling boxes the least height of what is seen and of the nodes, and the gap between both meshes,
    after .4 s in which nothing that touches crosses."""
    job, arrays = falling(folder, by_mesh, method)
    part = nodes_of(load(job))
    state = part.initial_state()
    faces = arrays["Low_triangles"]
    both = np.concatenate([faces, faces + len(arrays["Low_vertices"])])
    mesh = None
    for _ in range(20):
        state = part.step(state, 1 / 48)
        assert distance_of(part, state) > 0.0
        seen = part.output(state, 1)
        mesh = mesh or ipctk.CollisionMesh(seen, ipctk.edges(both), both)
        assert not ipctk.has_intersections(mesh, seen)
    half = len(seen) // 2
    nodes = part.coordinates.positions(state.q, state.time)[:16]
    return seen[:, 2].min(), nodes[:, 2].min(), seen[half:, 2].min() - seen[:half, 2].max()


def distance_of(part, state):
    """The least distance of a pair that pushes."""
    return part.contact_forces(state)[:, 6].min(initial=np.inf)


@pytest.mark.parametrize("method", some(["vanilla", "conjac"], "vanilla"))
def test_what_is_seen_touches_where_the_mesh_does(tmp_path, method):
    """The invisible tetrahedra pass through."""
    seen, nodes, gap = fallen(tmp_path / "mesh", True, method)
    assert 0.0 < seen < 0.004 and nodes < -0.004
    assert -0.004 < gap < 0.004
    seen, nodes, gap = fallen(tmp_path / "tets", False, method)
    assert 0.009 < seen and 0.0 < nodes < 0.004
    assert gap > 0.016


def test_a_bake_that_goes_on_while_meshes_touch_has_the_same_bytes(tmp_path):
    whole = resumed_alike([falling(tmp_path / name)[0] for name in ("whole", "resumed")], 4, 6)
    assert whole.vertices(4)[:, 2].min() < 0.004  # it lay on the sheet where it was stopped


def test_a_mesh_with_pieces_on_each_other_is_refused(tmp_path):
    arrays = {}
    body = skinned("Low", [0.0, 0.0, 0.02], arrays, touches_by_mesh=True)
    # every triangle by itself
    arrays["Low_vertices"] = arrays["Low_vertices"][arrays["Low_triangles"]].reshape(-1, 3)
    arrays["Low_triangles"] = np.arange(len(arrays["Low_vertices"]), dtype=np.int32).reshape(-1, 3)
    job = load(contact_job(tmp_path / "job", [body], [obstacle("Floor", *sheet(), arrays)], arrays))
    with pytest.raises(BadScene, match=r"Low.*pieces that overlap.*Merge its vertices"):
        nodes_of(job)


def test_tetrahedra_without_a_mesh_have_none_to_touch_by(tmp_path):
    arrays = {}
    body = soft("Low", *box(at=(0.0, 0.0, 0.02)), arrays, touches_by_mesh=True)
    with pytest.raises(BadScene, match="no mesh embedded in tetrahedra"):
        load(contact_job(tmp_path / "job", [body], [obstacle("Floor", *sheet(), arrays)], arrays))
