"""Inertia, forces and stiffness of cloth whose vertices slide through its material, against what they derive from."""

from dataclasses import replace

import numpy as np
import pytest
from sheets import grid, sheet_of

from solver.forces.cloth.corotated_membrane import CorotatedMembrane
from solver.forces.cloth.quadratic_bending import QuadraticBending
from solver.parts.eol.eol_elements import Assembler, EolElements
from solver.parts.eol.unknowns import MOST, Unknowns
from solver.sheet.sheet_mesh import SheetMesh

STRETCH = {"stretch_warp": 90.0, "stretch_weft": 60.0, "shear": 20.0, "poisson_ratio": 0.2}
DENSITY = 0.3


def fabric(bend=0.0, **more):
    return EolElements(lambda sheet: CorotatedMembrane(sheet, STRETCH),
                       lambda sheet: QuadraticBending(sheet, {"bending_stiffness": bend}), DENSITY, **more)


def limp():
    """Elements with mass but without stiffness."""
    return EolElements(lambda s: CorotatedMembrane(s,
                                                   {**STRETCH, "stretch_warp": 0.0, "stretch_weft": 0.0, "shear": 0.0}),
                       lambda s: QuadraticBending(s, {"bending_stiffness": 0.0}), DENSITY)


def wild(seed=3, share=0.4):
    """A crumpled square, some of whose inner vertices slide."""
    rng = np.random.default_rng(seed)
    rest, faces = grid(4, 4, 0.4, 0.4)
    material = rest[:, :2].copy()
    inner = ((material > 0.01) & (material < 0.39)).all(axis=1)
    slides = inner & (rng.random(len(rest)) < share)
    x = rest + rng.normal(0.0, 0.01, rest.shape)
    material[inner] += rng.normal(0.0, 0.008, material[inner].shape)
    v, slide = rng.normal(size=x.shape), rng.normal(size=material.shape) * slides[:, None]
    return SheetMesh(x, material, faces, v, slide, np.where(slides, 0, -1).astype(np.int32), np.zeros(len(x), bool))


def moving(sheet, v, slide):
    return replace(sheet, v=v, slide=slide)


def kinetic(sheet):
    """½ ∫ ρ |ẋ − F Ẋ|² by the rule of a triangle's three midpoints, which is exact for squares."""
    total = 0.0
    for a, b, c in sheet.faces:
        D = np.column_stack([sheet.material[b] - sheet.material[a], sheet.material[c] - sheet.material[a]])
        F = np.column_stack([sheet.x[b] - sheet.x[a], sheet.x[c] - sheet.x[a]]) @ np.linalg.inv(D)
        w = [sheet.v[k] - F @ sheet.slide[k] for k in (a, b, c)]
        middles = [(w[0] + w[1]) / 2, (w[1] + w[2]) / 2, (w[2] + w[0]) / 2]
        total += 0.5 * DENSITY * abs(np.linalg.det(D)) / 2.0 * sum(m @ m for m in middles) / 3.0
    return total


def whole(lower):
    dense = lower.toarray()
    return dense + np.tril(dense, -1).T


def test_inertia_is_that_of_the_kinetic_energy():
    sheet = wild()
    made = Assembler([limp()], np.zeros(3)).assemble(sheet, 0.0)
    u, M = made.unknowns.join(sheet.v, sheet.slide), whole(made.matrix)
    assert made.unknowns.count == 3 * len(sheet.x) + 2 * (sheet.on >= 0).sum()
    assert 0.5 * u @ M @ u == pytest.approx(kinetic(sheet), rel=1e-12)
    assert np.allclose(M @ u, made.rhs, rtol=0, atol=1e-12 * np.abs(made.rhs).max())
    # the energy is a square of the rates: its slope is exact by differences
    way = np.random.default_rng(0).normal(size=len(u))
    ahead, behind = (kinetic(moving(sheet, *made.unknowns.split(u + s * way))) for s in (1.0, -1.0))
    assert way @ M @ u == pytest.approx((ahead - behind) / 2.0, rel=1e-10)
    v, slide = made.unknowns.split(u)
    assert np.array_equal(v, sheet.v) and np.array_equal(slide, sheet.slide)


def slope(value, step=2e-4):
    """Return the slope of a function of one number at zero, by two differences, of fourth order in the step."""
    near, far = ((value(s) - value(-s)) / (2.0 * s) for s in (step, 2.0 * step))
    return (4.0 * near - far) / 3.0


def turning(sheet):
    """−Ṁ u + ∂T/∂q as (n, 3) and (n, 2): the terms of a step besides M u, per second."""
    parts = []
    for h in (1.0, 0.0):
        made = Assembler([limp()], np.zeros(3)).assemble(sheet, h)
        parts.append(made.unknowns.split(made.rhs))
    return tuple(first - second for first, second in zip(*parts))


def momenta(sheet, time):
    """M u as (n, 3) and (n, 2) where the sheet is after a time with the rates that it has."""
    there = replace(sheet, x=sheet.x + time * sheet.v, material=sheet.material + time * sheet.slide)
    made = Assembler([limp()], np.zeros(3)).assemble(there, 0.0)
    return made.unknowns.split(made.rhs)


def test_what_turns_with_the_cloth_is_lagranges():
    """d/dt (M u) = f + ∂T/∂q, against differences of T and of M u."""
    sheet = wild()
    of_x, of_X = turning(sheet)
    momentum, in_material = (slope(lambda t, k=k: momenta(sheet, t)[k]) for k in (0, 1))
    assert np.abs(momentum).max() > 0.01
    for i in range(len(sheet.x)):
        for found, lost, name in ((of_x, momentum, "x"), (of_X, in_material, "material")):
            for k in range(found.shape[1] if name == "x" or sheet.on[i] >= 0 else 0):
                way = np.zeros(found.shape)
                way[i, k] = 1.0
                grown = slope(lambda s, way=way, name=name: kinetic(
                    replace(sheet, **{name: getattr(sheet, name) + s * way})), 1e-4)
                assert found[i, k] == pytest.approx(grown - lost[i, k], abs=1e-9)
    assert not of_X[sheet.on < 0].any()


def test_it_keeps_momentum_and_energy():
    """Without forces M u̇ is all of it: Σ M u changes by nothing in the world, and ½ uᵀ M u neither."""
    sheet = wild(seed=5)
    of_x, of_X = turning(sheet)
    assert of_x.sum(axis=0) == pytest.approx(-slope(lambda t: momenta(sheet, t)[0].sum(axis=0)), abs=1e-9)
    power = (of_x * sheet.v).sum() + (of_X * sheet.slide).sum()
    assert power == pytest.approx(-slope(lambda t: kinetic(
        replace(sheet, x=sheet.x + t * sheet.v, material=sheet.material + t * sheet.slide))), abs=1e-9)
    # where the material moves evenly and its vertices slide over it, nothing has to be done
    way, turn = np.array([0.7, -0.4, 0.2]), np.array([[0.3, -0.5], [0.8, 0.1], [-0.2, 0.6]])
    flat = replace(sheet, x=sheet.material @ turn.T)
    even = moving(flat, way + np.einsum("ij,nj->ni", turn, sheet.slide), sheet.slide)
    of_x, of_X = turning(even)
    assert np.abs(of_x).max() < 1e-12 and np.abs(of_X).max() < 1e-12


def energy(sheet, x, material):
    cloth = sheet_of(x, sheet.faces, material[sheet.faces])
    return CorotatedMembrane(cloth, STRETCH).measure(x, np.zeros((len(sheet.faces), 4, 3)))


def force_of(sheet, exact):
    """The force f̂ of the step, as (n, 3) and (n, 2)."""
    h = 1.0
    still = moving(sheet, np.zeros_like(sheet.v), np.zeros_like(sheet.slide))
    made = Assembler([fabric(exact=exact)], np.zeros(3)).assemble(still, h)
    return made, *made.unknowns.split(made.rhs)


def test_the_exact_force_is_the_slope_of_the_energy():
    sheet = wild()
    _, f, along = force_of(sheet, exact=True)
    step = 1e-6
    rng = np.random.default_rng(5)
    for _ in range(3):
        dx, dX = rng.normal(size=f.shape), rng.normal(size=along.shape) * (sheet.on >= 0)[:, None]
        up, down = (energy(sheet, sheet.x + s * dx, sheet.material + s * dX) for s in (step, -step))
        assert (f * dx).sum() + (along * dX).sum() == pytest.approx(-(up - down) / (2 * step), rel=1e-6)


def test_a_sliding_force_has_the_power_that_its_corners_have():
    """f·(ẋ − F Ẋ) of each face's corners is f_L·ẋ + f_E·Ẋ."""
    sheet = wild()
    made, f, along = force_of(sheet, exact=False)
    cloth = sheet_of(sheet.x, sheet.faces, sheet.material[sheet.faces])
    corners = np.zeros((len(sheet.faces), 4, 3))
    CorotatedMembrane(cloth, STRETCH).measure(sheet.x, corners)
    moved = sheet.v[sheet.faces] - np.einsum("mab,mkb->mka", sheet.gradients, sheet.slide[sheet.faces])
    assert (f * sheet.v).sum() + (along * sheet.slide).sum() == pytest.approx((corners[:, :3] * moved).sum(), rel=1e-11)


def whole_stiffness(blocks, corners):
    """K of an element, (3 c, 3 c), from its blocks of pairs."""
    K = np.zeros((3 * corners,) * 2)
    for a in range(1, corners):
        for b in range(a):
            B = blocks[a * (a - 1) // 2 + b].reshape(3, 3)
            K[3 * a:3 * a + 3, 3 * b:3 * b + 3] += B
            K[3 * b:3 * b + 3, 3 * a:3 * a + 3] += B.T
            K[3 * a:3 * a + 3, 3 * a:3 * a + 3] -= B
            K[3 * b:3 * b + 3, 3 * b:3 * b + 3] -= B.T
    return K


def test_stiffness_goes_through_the_same_map():
    """Compared with the motion of every corner by the F of its faces, written out densely: an end of a hinge moves by
    both."""
    sheet, h = wild(), 0.01
    bend = 3e-4
    made = Assembler([fabric(bend)], np.zeros(3)).assemble(sheet, h)
    cloth = sheet_of(sheet.x, sheet.faces, sheet.material[sheet.faces], slides=True)
    laws = CorotatedMembrane(cloth, STRETCH), QuadraticBending(cloth, {"bending_stiffness": bend})
    first, dense = made.unknowns.first, np.zeros((made.unknowns.count,) * 2)

    def rate_of(node, face):
        """(1 −F) of a vertex in a face, (3, m)."""
        T = np.zeros((3, made.unknowns.count))
        T[:, first[node]:first[node] + 3] = np.eye(3)
        if sheet.on[node] >= 0:
            T[:, first[node] + 3:first[node] + 5] = -sheet.gradients[face]
        return T

    for law in laws:
        forces, blocks = np.zeros((len(law.nodes), 4, 3)), np.zeros((len(law.nodes), 6, 9))
        law.fill(sheet.x, True, forces, blocks)
        for e, nodes in enumerate(law.nodes):
            K = whole_stiffness(blocks[e], len(nodes))
            if len(nodes) == 3:
                T = np.concatenate([rate_of(node, e) for node in nodes])
            else:  # of opposite corners as seen from the points of the edge that are nearest in either face
                T, K = [], K[6:, 6:]
                a, b, *opposite = nodes
                for c in opposite:
                    face = next(f for f, corners in enumerate(sheet.faces) if {a, b, c} == set(corners.tolist()))
                    edge = sheet.material[b] - sheet.material[a]
                    share = (sheet.material[c] - sheet.material[a]) @ edge / (edge @ edge)
                    T.append(rate_of(c, face) - (1.0 - share) * rate_of(a, face) - share * rate_of(b, face))
                T = np.concatenate(T)
            dense -= h * h * T.T @ K @ T
    dense += whole(Assembler([limp()], np.zeros(3)).assemble(sheet, h).matrix)
    assert np.allclose(whole(made.matrix), dense, rtol=0, atol=1e-11 * np.abs(dense).max())
    assert np.linalg.eigvalsh(whole(made.matrix))[0] > -1e-12


def test_a_fold_resists_no_cloth_that_slides_through_it():
    """Cloth folded over a line runs along itself, its columns of different heights: the bend keeps its energy, so
    nothing has to be done, though it pulls at the corners opposite to its edge by what their heights are."""
    rest, faces = grid(4, 3, 0.4, 0.3)
    material = rest[:, :2].copy()
    material[:, 0] = np.interp(material[:, 0], [0.0, 0.1, 0.2, 0.3, 0.4], [0.0, 0.07, 0.2, 0.24, 0.4])
    turn, past = 1.8, np.maximum(material[:, 0] - 0.2, 0.0)
    x = np.column_stack([material[:, 0] - past + np.cos(turn) * past, material[:, 1], -np.sin(turn) * past])
    below, on_fold = past > 1e-9, np.abs(material[:, 0] - 0.2) < 1e-9
    v = np.where(below[:, None], [np.cos(turn), 0.0, -np.sin(turn)], [1.0, 0.0, 0.0]) * ~on_fold[:, None]
    sheet = SheetMesh(x, material, faces, v, np.where(on_fold[:, None], [-1.0, 0.0], 0.0),
                      np.where(on_fold, 0, -1).astype(np.int32), np.zeros(len(x), bool))
    bends = EolElements(limp().membrane, fabric(bend=3e-4).bending, DENSITY)
    still = moving(sheet, np.zeros_like(v), np.zeros_like(material))
    made = Assembler([bends], np.zeros(3)).assemble(still, 1.0)
    f, along = made.unknowns.split(made.rhs)
    assert np.abs((f * sheet.v).sum()) > 1e-3  # what corners alone would have to do
    assert (f * sheet.v).sum() + (along * sheet.slide).sum() == pytest.approx(0.0, abs=1e-15)

    def stored(time):
        moved, there = sheet.x + time * sheet.v, sheet.material + time * sheet.slide
        cloth = sheet_of(moved, faces, there[faces], slides=True)
        return bends.bending(cloth).measure(moved, np.zeros((len(cloth.hinges.nodes), 4, 3)))

    assert stored(0.01) == pytest.approx(stored(0.0), rel=1e-12)


def test_a_pattern_that_a_few_more_join_is_that_of_all_of_them():
    rng = np.random.default_rng(5)
    slides, elements = rng.random(40) < 0.2, rng.integers(0, 40, (60, 4)).astype(np.int32)
    own = Unknowns(slides, elements)
    blocks = rng.standard_normal((own.blocks, MOST, MOST))
    for more in (rng.integers(0, 43, (5, 4)).astype(np.int32), elements[:3], np.zeros((0, 4), np.int32)):
        joined, spread = own.joining(more, blocks, 3)
        whole = Unknowns(np.concatenate([slides, np.zeros(3, bool)]), np.concatenate([elements, more]))
        for name in ("keys", "diagonal", "first"):
            np.testing.assert_array_equal(getattr(joined, name), getattr(whole, name))
        assert np.abs((joined.lower(spread) - whole.lower(spread)).data).max(initial=0.0) == 0.0
        place = np.searchsorted(whole.keys, own.keys)
        np.testing.assert_array_equal(spread[place], blocks)
        assert np.count_nonzero(np.delete(spread, place, axis=0)) == 0
