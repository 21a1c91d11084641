"""Mass, centre and inertia against integrals over a fine grid of points and against closed forms."""

import numpy as np
import pytest
from trees import rotation

from solver import catalogue
from solver.coordinates import inertia
from solver.errors import BadMesh, BadScene

CUBE = np.array([[x, y, z] for x in (0.0, 1.0) for y in (0.0, 1.0) for z in (0.0, 1.0)]) - 0.5
SIDES = np.array([[0, 1, 3], [0, 3, 2], [4, 6, 7], [4, 7, 5], [0, 4, 5], [0, 5, 1], [2, 3, 7], [2, 7, 6], [0, 2, 6],
                  [0, 6, 4], [1, 5, 7], [1, 7, 3]], dtype=np.int32)


def integral(inside, half, density, count=160):
    """(mass, inertia about the origin) of the points of a grid over ±half that are inside."""
    axes = [np.linspace(-h, h, 2 * count + 1)[1::2] for h in half]
    x = np.stack(np.meshgrid(*axes, indexing="ij"), axis=-1).reshape(-1, 3)
    x = x[inside(x)]
    cell = density * np.prod([axis[1] - axis[0] for axis in axes])
    second = cell * x.T @ x
    return cell * len(x), np.trace(second) * np.eye(3) - second


def test_box():
    solid = inertia.box(1.0, 2.0, 3.0, 10.0)
    assert solid.mass == 60.0
    assert np.diag(solid.inertia) == pytest.approx([5.0 * 13.0, 5.0 * 10.0, 5.0 * 5.0])
    assert np.count_nonzero(solid.inertia) == 3


def test_sphere():
    solid = inertia.sphere(0.5, 3.0)
    mass, about = integral(lambda x: (x * x).sum(axis=1) < 0.25, [0.5] * 3, 3.0)
    assert solid.mass == pytest.approx(mass, rel=1e-3)
    assert solid.inertia == pytest.approx(about, rel=2e-3, abs=1e-12)


def test_capsule():
    solid = inertia.capsule(0.4, 1.3, 7.0)

    def inside(x):
        z = np.maximum(np.abs(x[:, 2]) - 0.65, 0.0)
        return x[:, 0] ** 2 + x[:, 1] ** 2 + z**2 < 0.16

    mass, about = integral(inside, [0.4, 0.4, 1.05], 7.0)
    assert solid.mass == pytest.approx(mass, rel=1e-3)
    assert solid.inertia == pytest.approx(about, rel=2e-3, abs=1e-12)
    ball, same = inertia.sphere(0.4, 7.0), inertia.capsule(0.4, 0.0, 7.0)
    assert same.mass == pytest.approx(ball.mass) and same.inertia == pytest.approx(ball.inertia)


def test_mass_may_be_given_instead_of_density():
    solid = inertia.box(1.0, 2.0, 3.0).weighing(12.0)
    assert solid.mass == 12.0 and solid.inertia[0, 0] == pytest.approx(13.0)
    spatial = solid.spatial()
    assert spatial[:3, :3] == pytest.approx(solid.inertia) and spatial[3:, 3:] == pytest.approx(12.0 * np.eye(3))
    assert not spatial[3:, :3].any() and not spatial[:3, 3:].any()


def close(one, other, scale=1.0):
    assert one.mass == pytest.approx(other.mass, rel=1e-12)
    assert one.centre == pytest.approx(other.centre, abs=1e-12 * scale)
    assert one.inertia == pytest.approx(other.inertia, abs=1e-12 * other.mass * scale**2)


def moved(solid, turn, shift):
    return inertia.Solid(solid.mass, turn @ solid.centre + shift, turn @ solid.inertia @ turn.T)


def both(one, other):
    """Two solids as one, by the parallel axis theorem."""
    mass = one.mass + other.mass
    centre = (one.mass * one.centre + other.mass * other.centre) / mass
    total = np.zeros((3, 3))
    for part in (one, other):
        arm = part.centre - centre
        total += part.inertia + part.mass * (arm @ arm * np.eye(3) - np.outer(arm, arm))
    return inertia.Solid(mass, centre, total)


@pytest.mark.parametrize("seed", range(3))
def test_a_box_s_surface_and_hull_are_the_box(seed):
    """Turned, and far from its origin, as in a scene of buildings."""
    rng = np.random.default_rng(seed)
    size, turn = rng.uniform(0.5, 2.0, 3), rotation(rng)
    shift = 10.0 ** (2 * seed - 2) * rng.normal(size=3)
    vertices = (CUBE * size) @ turn.T + shift
    wanted = moved(inertia.box(*size, density=7.0), turn, shift)
    far = max(1.0, np.abs(shift).max())
    close(inertia.mesh(vertices, SIDES, 7.0), wanted, far)
    inside = (rng.uniform(-0.5, 0.5, (50, 3)) * size) @ turn.T + shift
    close(inertia.hull(np.concatenate([inside, vertices]), 7.0), wanted, far)


def test_a_tetrahedron():
    """∫ x xᵀ of the corner of a cube by hand: mass 1/6, second moments 1/60 and 1/120."""
    corner = np.concatenate([np.zeros((1, 3)), np.eye(3)])
    solid = inertia.hull(corner)
    second = np.full((3, 3), 1 / 120) + np.eye(3) / 120 - np.full((3, 3), 1 / 6 / 16)
    close(solid, inertia.Solid(1 / 6, np.full(3, 0.25), np.trace(second) * np.eye(3) - second))


def test_an_l_shape_is_the_sum_of_its_boxes_and_a_hollow_their_difference():
    x, z = np.array([0.0, 1.0, 2.0]), np.array([0.0, 0.7])
    outline = np.array([[x[0], x[0]], [x[2], x[0]], [x[2], x[1]], [x[1], x[1]], [x[1], x[2]], [x[0], x[2]]])
    vertices = np.array([[*p, h] for h in z for p in outline])
    fan = np.array([[0, 1, 2], [0, 2, 3], [0, 3, 4], [0, 4, 5]])
    walls = [[[k, (k + 1) % 6, 6 + (k + 1) % 6], [k, 6 + (k + 1) % 6, 6 + k]] for k in range(6)]
    triangles = np.concatenate([fan[:, ::-1], fan + 6, np.reshape(walls, (-1, 3))]).astype(np.int32)
    still = np.eye(3)
    long = moved(inertia.box(2.0, 1.0, 0.7), still, [1.0, 0.5, 0.35])
    close(inertia.mesh(vertices, triangles), both(long, moved(inertia.box(1.0, 1.0, 0.7), still, [0.5, 1.5, 0.35])))

    hollow = inertia.mesh(np.concatenate([CUBE, 0.5 * CUBE + 0.1]), np.concatenate([SIDES, SIDES[:, ::-1] + 8]))
    less = moved(inertia.box(0.5, 0.5, 0.5), still, np.full(3, 0.1))
    whole = both(hollow, less)
    close(whole, inertia.box(1.0, 1.0, 1.0))


def test_the_hull_s_surface_faces_outwards():
    rng = np.random.default_rng(1)
    vertices, triangles = inertia.hull_surface(rng.normal(size=(200, 3)))
    a, b, c = (vertices[triangles[:, k]] for k in range(3))
    normal = np.cross(b - a, c - a)
    assert (np.einsum("ta,ta->t", normal, a - vertices.mean(axis=0)) > 0).all()
    assert len(np.unique(triangles)) == len(vertices) < 200


def test_every_shape_of_the_catalogue_is_made_from_its_keys():
    given = {"vertices": CUBE, "triangles": SIDES}
    for entry in catalogue.family("shape").values():
        solid = entry.load()(**{param.key: param.default for param in entry.params},
                             **{key: given[key] for key in entry.reads}, density=500.0)
        assert solid.mass > 0 and np.linalg.eigvalsh(solid.inertia)[0] > 0


@pytest.mark.parametrize("made, sentence", [
    (lambda: inertia.hull(CUBE * [1, 1, 0]), "Its surface is flat and encloses no volume."),
    (lambda: inertia.hull(CUBE * [1, 1, 1e-8]), "Its surface is flat"),
    (lambda: inertia.hull(CUBE * 0), "Its surface is flat"),
    (lambda: inertia.hull(CUBE[:3]), "Its surface is flat"),
    (lambda: inertia.hull(CUBE * np.nan), "A vertex is not a finite number."),
    (lambda: inertia.mesh(CUBE * np.inf, SIDES), "A vertex is not"),
    (lambda: inertia.mesh(CUBE * [1, 1, 0], SIDES), "Its surface is flat"),
    # both sides of a bent sheet: not in a plane, and nothing inside
    (lambda: inertia.mesh(np.concatenate([np.eye(3), np.zeros((1, 3))]),
                          np.array([[0, 1, 2], [2, 1, 0], [0, 1, 3], [3, 1, 0]])), "Its surface is flat"),
    (lambda: inertia.mesh(CUBE, SIDES[:, ::-1]), "Its surface is inside out. Flip its normals."),
    (lambda: inertia.mesh(np.concatenate([CUBE, CUBE * [9, .1, .1] + [9, 0, 0]]),
                          np.concatenate([SIDES, SIDES[:, ::-1] + 8])), "Parts of its surface are inside out."),
    (lambda: inertia.mesh(CUBE, SIDES[1:]), "Its surface is open."),
    (lambda: inertia.mesh(CUBE, np.concatenate([SIDES[:1, ::-1], SIDES[1:]])),
     "Neighbours on its surface face different ways."),
    (lambda: inertia.mesh(CUBE, SIDES + 1), "Its triangles name vertices that are not there."),
    (lambda: inertia.mesh(CUBE, SIDES[:0]), "Its triangles name"),
])
def test_what_is_no_solid_surface_is_refused_in_a_sentence(made, sentence):
    with pytest.raises(BadMesh) as refused:
        made()
    assert str(refused.value).startswith(sentence)


@pytest.mark.parametrize("made, sentence", [
    (lambda: inertia.box(1.0, 0.0, 1.0), "Its edge is 0. Give it a value above zero."),
    (lambda: inertia.box(1.0, np.nan, 1.0), "Its edge is nan."),
    (lambda: inertia.box(1.0, 1.0, 1.0, 0.0), "Its density is 0."),
    (lambda: inertia.sphere(-1.0, 1.0), "Its radius is -1."),
    (lambda: inertia.sphere(np.inf, 1.0), "Its radius is inf."),
    (lambda: inertia.capsule(1.0, -1.0, 1.0), "Its length is -1."),
    (lambda: inertia.capsule(0.0, 1.0, 1.0), "Its radius is 0."),
    (lambda: inertia.sphere(1.0, 1.0).weighing(0.0), "Its mass is 0."),
])
def test_what_is_no_solid_is_refused_in_a_sentence(made, sentence):
    with pytest.raises(BadScene) as refused:
        made()
    assert str(refused.value).startswith(sentence)
