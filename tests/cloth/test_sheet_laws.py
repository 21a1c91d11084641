"""Membranes and bending: forces are the slope of the energy, stiffness that of forces, and what is exact is exact."""

import numpy as np
import pytest
from scipy.spatial.transform import Rotation
from sheets import grid, sheet_of

from solver import catalogue
from solver.errors import NoSuchThing
from solver.forces.cloth.corotated_membrane import CorotatedMembrane
from solver.forces.cloth.elements import ClothElements
from solver.forces.cloth.hinge_bending import HingeBending
from solver.forces.cloth.membrane_kernels import definite
from solver.forces.cloth.quadratic_bending import QuadraticBending

UNEQUAL = {"stretch_warp": 900.0, "stretch_weft": 300.0, "shear": 120.0, "poisson_ratio": 0.3}
LIMITED = {**UNEQUAL, "stretch_limit": 0.08}
LAWS = {"membrane": (CorotatedMembrane, UNEQUAL), "limited": (CorotatedMembrane, LIMITED),
        "quadratic": (QuadraticBending, {"bending_stiffness": 0.02}),
        "hinge": (HingeBending, {"bending_stiffness": 0.02})}


def ragged():
    """A sheet of unequal triangles whose material space is stretched and turned against its rest shape."""
    rest, triangles = grid(3, 2, 0.3, 0.2)
    rng = np.random.default_rng(3)
    rest[:, :2] += 0.02 * rng.normal(size=(len(rest), 2))
    flat = rest[:, :2] @ np.array([[1.05, 0.08], [-0.1, 0.97]])
    return sheet_of(rest, triangles, flat[triangles])


def poses(rest):
    rng = np.random.default_rng(4)
    along = rest * [1.0, 1.0, 0.0]
    return {"rest": rest, "random": rest + 0.03 * rng.normal(size=rest.shape), "stretched": rest * [1.6, 0.7, 1.0],
            "mirrored": along * [1.0, -1.0, 1.0] + 0.01 * rng.normal(size=rest.shape),
            "squeezed": 0.4 * rest + 0.004 * rng.normal(size=rest.shape)}


def force(law, x):
    corners = np.full((len(law.nodes), 4, 3), np.nan)
    energy = law.measure(x, corners)
    out = np.zeros_like(x)
    np.add.at(out, law.nodes, corners[:, : law.nodes.shape[1]])
    return energy, out


def matrix(law, x, project):
    corners, blocks = np.full((len(law.nodes), 4, 3), np.nan), np.full((len(law.nodes), 6, 9), np.nan)
    law.fill(x, project, corners, blocks)
    n = len(x)
    K = np.zeros((n, 3, n, 3))
    for nodes, of in zip(law.nodes, blocks):
        pair = 0
        for a in range(1, len(nodes)):
            for b in range(a):
                block = of[pair].reshape(3, 3)
                i, j = nodes[a], nodes[b]
                K[i, :, j] += block
                K[j, :, i] += block.T
                K[i, :, i] -= block
                K[j, :, j] -= block.T
                pair += 1
        assert not of[pair:].any()
    return K.reshape(3 * n, 3 * n)


@pytest.fixture(params=LAWS)
def law(request):
    kind, params = LAWS[request.param]
    return kind(ragged(), params)


@pytest.mark.parametrize("pose", ["rest", "random", "stretched", "mirrored", "squeezed"])
def test_force_is_the_slope_of_energy(law, pose):
    x = poses(ragged().rest)[pose]
    _, f = force(law, x)
    step, numeric = 1e-6, np.zeros_like(x)
    for i in range(len(x)):
        for a in range(3):
            d = np.zeros_like(x)
            d[i, a] = step
            numeric[i, a] = -(force(law, x + d)[0] - force(law, x - d)[0]) / (2 * step)
    assert np.abs(f - numeric).max() <= 3e-6 * max(np.abs(f).max(), 1e-3)


@pytest.mark.parametrize("pose", ["rest", "random", "stretched", "mirrored", "squeezed"])
def test_stiffness_is_the_slope_of_force(law, pose):
    x = poses(ragged().rest)[pose]
    K = matrix(law, x, False)
    step, columns = 1e-7, []
    for i in range(len(x)):
        for a in range(3):
            d = np.zeros_like(x)
            d[i, a] = step
            columns.append(((force(law, x + d)[1] - force(law, x - d)[1]) / (2 * step)).ravel())
    assert np.abs(K - np.array(columns).T).max() <= 2e-6 * np.abs(K).max()


@pytest.mark.parametrize("pose", ["rest", "random", "stretched", "mirrored", "squeezed"])
def test_projected_stiffness_is_negative_semi_definite(law, pose):
    values = np.linalg.eigvalsh(matrix(law, poses(ragged().rest)[pose], True))
    assert values.max() <= 1e-9 * -values.min()


def test_blocks_of_some_elements_are_those_of_all():
    sheet = ragged()
    cloth = ClothElements([CorotatedMembrane(sheet, UNEQUAL), HingeBending(sheet, {"bending_stiffness": 0.02})])
    x, which = poses(sheet.rest)["random"], [0, 3, len(cloth.tets) - 1]
    whole, forces = np.zeros((len(cloth.tets), 6, 9)), np.zeros((len(cloth.tets), 4, 3))
    cloth.fill(x, True, forces, whole)
    some = np.full_like(whole, 7.0)
    cloth.fill_again(x, np.array(which), some)
    assert np.array_equal(some[which], whole[which]) and (np.delete(some, which, axis=0) == 7.0).all()


def test_projection_takes_something_away_where_a_sheet_is_squeezed():
    law = CorotatedMembrane(ragged(), UNEQUAL)
    x = poses(ragged().rest)["squeezed"]
    assert np.linalg.eigvalsh(matrix(law, x, False)).max() > 1.0
    # and nothing where it is pulled both ways
    x = 1.3 * ragged().rest
    assert np.abs(matrix(law, x, True) - matrix(law, x, False)).max() <= 1e-9 * 900


@pytest.mark.parametrize("pose", ["line", "point", "folded"])
def test_what_has_no_area_has_forces_and_a_definite_stiffness(law, pose):
    rest = ragged().rest
    x = {"line": rest * [1.0, 0.0, 0.0], "point": rest * 0.0,
         "folded": np.column_stack([np.abs(rest[:, 0] - 0.15), rest[:, 1:]])}[pose]
    _, f = force(law, x)
    assert np.isfinite(f).all()
    values = np.linalg.eigvalsh(matrix(law, x, True))
    assert np.isfinite(values).all() and values.max() <= 1e-9 * max(-values.min(), 1.0)
    assert np.isfinite(matrix(law, x, False)).all()


def test_rigid_motion_turns_the_forces(law):
    rng = np.random.default_rng(5)
    x = ragged().rest + 0.02 * rng.normal(size=ragged().rest.shape)
    turn = Rotation.from_rotvec([0.4, -1.2, 2.0]).as_matrix()
    energy, f = force(law, x)
    turned, there = force(law, x @ turn.T + [10.0, -3.0, 5.0])
    assert turned == pytest.approx(energy, rel=1e-9)
    assert np.abs(there - f @ turn.T).max() <= 1e-9 * np.abs(f).max()
    assert np.abs(f.sum(axis=0)).max() <= 1e-12 * np.abs(f).max()
    assert np.abs(np.cross(x, f).sum(axis=0)).max() <= 1e-10 * np.abs(f).max()


@pytest.mark.parametrize("kind", LAWS)
def test_rest_is_at_rest_wherever_it_is_turned(kind):
    rest, triangles = grid(4, 3, 0.4, 0.3)
    made, params = LAWS[kind]
    law = made(sheet_of(rest, triangles), params)
    turn = Rotation.from_rotvec([1.0, 2.0, -0.5]).as_matrix()
    energy, f = force(law, rest @ turn.T + [1.0, 2.0, 3.0])
    assert energy <= 1e-25
    assert np.abs(f).max() <= 1e-11


def test_a_constant_strain_is_exact():
    """Patch test: any mesh, forces inside are nothing, those at the border carry the stress."""
    rest, triangles = grid(5, 4, 0.5, 0.4)
    inner = (rest[:, 0] > 1e-9) & (rest[:, 0] < 0.5 - 1e-9) & (rest[:, 1] > 1e-9) & (rest[:, 1] < 0.4 - 1e-9)
    rng = np.random.default_rng(6)
    rest[inner, :2] += 0.02 * rng.normal(size=(inner.sum(), 2))
    law = CorotatedMembrane(sheet_of(rest, triangles), UNEQUAL)
    stretch = np.array([[1.04, 0.01], [0.01, 0.98]])
    turn = Rotation.from_rotvec([0.3, 0.7, -0.2]).as_matrix()
    x = np.column_stack([rest[:, :2] @ stretch, np.zeros(len(rest))]) @ turn.T
    energy, f = force(law, x)
    assert np.abs(f[inner]).max() <= 1e-12 * np.abs(f).max()
    e11, e22, e12 = 0.04, -0.02, 0.01
    c11, c22, c12 = 900 / 0.91, 300 / 0.91, 0.3 * np.sqrt(900 * 300) / 0.91
    whole = 0.5 * c11 * e11**2 + 0.5 * c22 * e22**2 + c12 * e11 * e22 + 2 * 120 * e12**2
    assert energy == pytest.approx(0.2 * whole, rel=1e-12)
    # what the side at x = 0.5 is pulled with, along the turned warp: T₁₁ and what T that does not commute with S adds
    side = rest[:, 0] > 0.5 - 1e-9
    pulled = (f[side] @ turn).sum(axis=0)
    t11, t22, t12 = c11 * e11 + c12 * e22, c12 * e11 + c22 * e22, 2 * 120 * e12
    turning = (t12 * (1.04 - 0.98) + (t22 - t11) * 0.01) / (1.04 + 0.98)
    assert pulled == pytest.approx([-0.4 * t11, -0.4 * (t12 - turning), 0.0], rel=1e-9, abs=1e-12)


@pytest.mark.parametrize("degrees, along, gives", [(0, 900.0, 1.0), (90, 300.0, 1.0), (45, np.sqrt(270000.0), 2.0)])
def test_past_its_limit_a_sheet_is_five_hundred_times_as_stiff(degrees, along, gives):
    """Pulled along a thread, or a diagonal, which gives twice as much; up to the limit nothing is different."""
    rest, triangles = grid(5, 4, 0.5, 0.4)
    sheet = sheet_of(rest, triangles)
    free, limited = CorotatedMembrane(sheet, UNEQUAL), CorotatedMembrane(sheet, LIMITED)
    way = np.array([np.cos(np.radians(degrees)), np.sin(np.radians(degrees))])
    turned = np.outer(way, way) - (np.eye(2) - np.outer(way, way))  # narrower across, so that other ways are slack

    def more(stretch):
        """Energy that the limit adds to a square metre."""
        x = np.column_stack([rest[:, :2] @ (np.eye(2) + stretch * turned), np.zeros(len(rest))])
        return (force(limited, x)[0] - force(free, x)[0]) / 0.2

    limit = gives * 0.08
    assert more(0.99 * limit) == 0.0
    assert more(1.1 * limit) == pytest.approx(500.0 * along * (0.1 * limit) ** 2 / 6.0, rel=1e-9)
    # a straight line from there on: its second difference is the stiffness
    second = (more(2.2 * limit) - 2.0 * more(2.0 * limit) + more(1.8 * limit)) / (0.2 * limit) ** 2
    assert second == pytest.approx(500.0 * along, rel=1e-6)


@pytest.mark.parametrize("degrees", [0, 17, 45, 90])
@pytest.mark.parametrize("kind", ["quadratic", "hinge"])
def test_bending_of_a_roll_is_half_k_a_curvature_squared(kind, degrees):
    """Rolled around a cylinder of radius R in any direction a sheet of even triangles has ½ k area / R²."""
    radius, errors = 0.5, []
    for cells in (12, 24, 48):
        rest, triangles = grid(cells, cells, 0.5, 0.5 * np.sqrt(0.75), alternate=False)
        rest[:, 0] -= rest[:, 1] / np.sqrt(3.0)  # a lattice of equal sides
        along = np.array([np.cos(np.radians(degrees)), np.sin(np.radians(degrees))])
        u, v = rest[:, :2] @ along, rest[:, :2] @ np.array([-along[1], along[0]])
        x = np.column_stack([radius * np.sin(u / radius), v, radius * (1 - np.cos(u / radius))])
        energy, _ = force(LAWS[kind][0](sheet_of(rest, triangles), {"bending_stiffness": 0.01}), x)
        errors.append(energy / (0.5 * 0.01 * 0.25 * np.sqrt(0.75) / radius**2) - 1.0)
    assert abs(errors[2]) <= 0.04
    assert abs(errors[2]) <= 0.6 * abs(errors[1]) <= 0.36 * abs(errors[0])


def test_hinges_remember_their_angles_and_the_quadratic_law_does_not():
    rest, triangles = grid(4, 2, 0.4, 0.2)
    rest[:, 2] = 0.1 * np.sin(6 * rest[:, 0])
    sheet = sheet_of(rest, triangles)
    assert force(HingeBending(sheet, {"bending_stiffness": 1.0}), rest)[0] <= 1e-25
    assert force(QuadraticBending(sheet, {"bending_stiffness": 1.0}), rest)[0] > 1e-3


def test_faces_may_look_either_way():
    """Which way a face is wound is no matter to any law."""
    sheet = ragged()
    flipped = sheet.triangles.copy()
    flipped[::2] = flipped[::2][:, [0, 2, 1]]
    material = sheet.material.copy()
    material[::2] = material[::2][:, [0, 2, 1]]
    other = sheet_of(sheet.rest, flipped, material)
    x = poses(sheet.rest)["random"]
    for kind, params in LAWS.values():
        one, two = force(kind(sheet, params), x), force(kind(other, params), x)
        assert two[0] == pytest.approx(one[0], rel=1e-12)
        assert np.abs(one[1] - two[1]).max() <= 1e-12 * np.abs(one[1]).max()


@pytest.mark.parametrize("family", ["membrane", "bending"])
def test_every_law_of_the_catalogue_holds_a_sheet_at_rest(family):
    rest, triangles = grid(4, 3, 0.4, 0.3)
    entries = catalogue.family(family).values()
    assert entries
    for entry in entries:
        law = entry.load()(sheet_of(rest, triangles), {param.key: param.default for param in entry.params})
        assert force(law, rest)[0] <= 1e-20
        assert force(law, 1.1 * rest + 0.05 * rest[:, :1] ** 2 * [0, 0, 1])[0] > 0.0
    with pytest.raises(NoSuchThing):
        catalogue.find(family, "steel")


@pytest.mark.parametrize("size", [2, 4])
@pytest.mark.parametrize("negative", range(5))
def test_what_is_negative_goes_and_nothing_else(size, negative):
    """Against numpy's eigenvalues, also where two are alike, one is zero, or the only negative one is tiny."""
    rng, room = np.random.default_rng(size + negative), (np.empty((4, 4)), np.empty((4, 4)), np.empty(4))
    for k in range(200):
        values = np.where(np.arange(size) < negative, -1.0, 1.0) * 10.0 ** rng.uniform(-6.0, 3.0, size)
        values[-1] = [values[-1], 0.0, values[-2], -1e-12][k % 4]
        turn = np.linalg.qr(rng.normal(size=(size, size)))[0]
        matrix = np.zeros((4, 4))
        matrix[:size, :size] = (turn * values) @ turn.T
        matrix = 0.5 * (matrix + matrix.T)
        definite(matrix, size, *room)
        assert np.abs(matrix[:size, :size] - (turn * np.maximum(values, 0.0)) @ turn.T).max() \
            < 2e-14 * np.abs(values).max()
