"""Strips that slide over an edge against what they have to do: Atwood's machine, the capstan, and no loss at all."""

from dataclasses import replace

import numpy as np
import pytest
from sheets import grid
from sliding_strips import DENSITY, STRETCH, block, fabric, folded_strip, run, start, steps_of
from sound_sheets import distances

from benchmarks import sharp_variants
from solver.parts.eol.eol_elements import Assembler
from solver.parts.eol.friction import as_capstan
from solver.parts.eol.obstacles import FeatureObstacles
from solver.rows.sparse.program import SparseProgram
from solver.rows.tables import VertexRows
from solver.sheet.sheet_mesh import SheetMesh
from solver.sheet.sizing import Sizing

G = 9.81


def hanging(mesh):
    """How much material is past the edge [m], from the X of what sits there."""
    at = mesh.on >= 0
    assert at.any()
    return float(np.ptp(mesh.material[:, 0]) - mesh.material[at, 0].mean())


def speed_along(mesh):
    """Return the speed of a strip along itself, the mean of its material's [m/s]."""
    along = mesh.gradients[:, :, 0] / np.linalg.norm(mesh.gradients[:, :, 0], axis=1, keepdims=True)
    corners = mesh.v[mesh.faces] - np.einsum("mij,mkj->mki", mesh.gradients, mesh.slide[mesh.faces])
    return float(mesh.areas @ np.einsum("mki,mi->m", corners, along) / 3.0 / mesh.areas.sum())


@pytest.mark.parametrize(("cells", "worst"), [(20, 5e-3), (40, 0.02)])
def test_it_accelerates_as_atwoods_machine_whatever_its_mesh(cells, worst):
    """x" = g x / L of what hangs where a step begins, in every step until it lifts off, of strips of cotton that is
    remeshed as it runs: the bend over the edge is no obstacle."""
    h = 1 / 96
    mesh, things = folded_strip(cells, 1.0, 0.1, 0.45)
    coarsest = 1.5 / cells
    steps, off = steps_of(mesh, things, fabric(bending=2e-5), sizing=Sizing(0.35 * coarsest, coarsest)), []
    cloth, had, faces = start(mesh), 0.0, set()
    for k in range(28):
        hangs = hanging(cloth.mesh) if k else 0.45
        cloth = steps.step(cloth, k * h, h)
        has = speed_along(cloth.mesh)
        off.append((has - had) / h / (G * hangs) - 1.0)
        had, faces = has, faces | {len(cloth.mesh.faces)}
    assert hanging(cloth.mesh) > 0.65 and len(faces) > 3
    assert np.abs(off).max() < worst and abs(np.mean(off)) < 2e-3


def test_its_way_is_atwoods_but_for_the_half_step_that_it_is_ahead():
    """x₀ cosh(√(g/L) t), until it must lift off. Steps err by an order of h: a start from rest by half a step."""
    length, hangs, end = 1.0, 0.45, 0.25
    exact = hangs * (np.cosh(np.sqrt(G / length) * end) - 1.0)
    off = []
    for h in (1 / 96, 1 / 192, 1 / 384):
        mesh, things = folded_strip(20, length, 0.2, hangs)
        mesh = run(steps_of(mesh, things, fabric()), start(mesh), h, round(end / h)).mesh
        off.append((hanging(mesh) - hangs) / exact - 1.0)
        at = mesh.x[mesh.on >= 0]
        assert np.abs(at[:, [0, 2]]).max() < 1e-9
    assert abs(off[2]) < 0.02 and abs(off[0]) < 0.05
    assert 1.6 < (off[0] - off[1]) / (off[1] - off[2]) < 2.6


def test_exact_forces_on_what_slides_hardly_change_how_far_it_runs():
    """By one part in fifty thousand, so little that the switch is off by default."""
    runs = []
    for exact in (False, True):
        mesh, things = folded_strip(20, 1.0, 0.2, 0.45)
        mesh = run(steps_of(mesh, things, fabric(exact=exact)), start(mesh), 1 / 96, 24).mesh
        runs.append(hanging(mesh) - 0.45)
    assert 1e-6 < abs(runs[1] / runs[0] - 1.0) < 5e-5


def test_it_presses_the_edge_by_what_tension_has_left_and_then_lets_go():
    """At the edge T = λ g x (L − x)/L turns what comes at v² = g (x² − x₀²)/L and takes λ v² for it: the rest presses.
    Nothing is left at x = (L + √(L² + 8 x₀²))/4."""
    length, width, start_at, h = 1.0, 0.2, 0.45, 1 / 384
    mesh, things = folded_strip(40, length, width, start_at)
    steps, impulses, line = steps_of(mesh, things, fabric()), [], DENSITY * width
    solve_rows = steps._solving.solve_rows

    def asked(posed, rows, warm):
        answer, on_edge = solve_rows(posed, rows, warm), rows.on_features.rows
        impulses.append(answer.on_vertex[: len(on_edge)] @ on_edge.factor[:, :3] / h)
        return answer

    steps._solving.solve_rows = asked
    cloth, x, pressed = start(mesh), [start_at], []
    for k in range(130):
        impulses.clear()
        cloth = steps.step(cloth, k * h, h)
        if not (cloth.mesh.on >= 0).any() or cloth.free.any():
            break
        x.append(hanging(cloth.mesh))
        pressed.append(impulses[-1][[0, 2]])
    x, pressed = np.array(x), np.array(pressed)
    middle = (x[1:] + x[:-1]) / 2.0
    tension = line * G * middle * (length - middle) / length
    left = tension - line * G * (middle**2 - start_at**2) / length
    # the first steps stretch it; what lies before the edge weighs on it too, for half a column of triangles
    late = (middle > 0.5) & (middle < 0.65)
    assert late.sum() > 30 and pressed[late, 0] == pytest.approx(left[late], abs=0.03 * tension.max())
    assert pressed[late, 1] == pytest.approx(left[late] + line * G * 0.025 / 2.0, abs=0.06 * tension.max())
    leaves = (length + np.sqrt(length**2 + 8.0 * start_at**2)) / 4.0
    separated = x[1:][pressed.min(axis=1) < 1e-3 * tension.max()]
    assert separated[0] == pytest.approx(leaves, rel=0.02)
    # to there as Atwood's machine runs, and soon all of it is off
    share = np.arccosh(separated[0] / start_at) / np.sqrt(G / length)
    assert share == pytest.approx((np.argmax(x >= separated[0])) * h, rel=0.02)
    assert x[-1] < 1.1 * leaves


@pytest.mark.parametrize("sharp", [True, False])
def test_it_does_not_stand_off_the_edge_where_a_regular_mesh_does(sharp):
    """A strip that lies on a box and hangs over its edge by 43 cm, let go: it touches the edge along its whole width
    and slides; a mesh that bends at its own edges alone is lifted by its vertices as they pass, and snags."""
    rest, faces = grid(20, 4, 1.0, 0.2)
    mesh = SheetMesh.at_rest(rest + [-0.57, -0.1, 0.0], rest[:, :2].copy(), faces)
    along = np.array([[0.0, y, 0.0] for y in np.linspace(-0.09, 0.09, 19)])
    gaps, steps = [], steps_of(mesh, FeatureObstacles([block((-4, -2, -4), (0, 2, 0))]), fabric(bending=2e-5),
                               sharp=sharp)
    cloth = run(steps, start(mesh), 1 / 96, 36, lambda cloth, k: gaps.append(
        distances(along, cloth.mesh.x[cloth.mesh.faces]).max()))
    slid = cloth.mesh.x[:, 0].min() + 0.57
    if sharp:
        assert max(gaps) < 1e-6 and slid > 0.24
    else:
        assert max(gaps) > 1e-3 and slid < 0.2


def test_nothing_drives_it_along_the_edge():
    """A square of a metre that runs over a frictionless edge goes straight over it."""
    mesh, _ = folded_strip(10, 1.0, 1.0, 0.45)
    mesh = run(steps_of(mesh, FeatureObstacles([block((-1, -1, -1), (0, 1, 0))]), fabric()), start(mesh), 1 / 96,
               20).mesh
    assert hanging(mesh) > 0.55
    middle = mesh.areas @ mesh.x[mesh.faces].mean(axis=1)[:, 1] / mesh.areas.sum()
    ends = mesh.x[mesh.on >= 0, 1]
    assert abs(middle) < 1e-3
    assert (ends.min(), ends.max()) == pytest.approx((-0.5, 0.5), abs=2e-3)


def test_fast_cloth_gets_no_second_row_onto_an_edge():
    """A square over a box's edge whose next column comes over it within the step: it does so through the vertices that
    sit there. Two rows at one place tear the cloth off."""
    scene = sharp_variants.SCENES["edge"]
    steps, cloth = sharp_variants.variant("EOL", 20, scene)
    for k in range(35):
        cloth = steps.step(cloth, k * sharp_variants.H, sharp_variants.H)
        sits = cloth.mesh.on >= 0
        if k >= scene.warm:
            assert sharp_variants.gap_at_edge(cloth.mesh, scene) <= 1e-6
            assert np.ptp(cloth.mesh.material[sits, 0]) < 0.005
    assert np.linalg.norm(cloth.mesh.slide[sits], axis=1).min() * sharp_variants.H > 0.015


def test_sliding_along_itself_costs_nothing():
    """Cloth that runs over an edge at constant speed, pressed to both faces: only the material moves."""
    speed, h = 0.5, 1e-3
    mesh, _ = folded_strip(12, 0.6, 0.2, 0.25)
    at_edge = np.abs(mesh.x[:, [0, 2]]).max(axis=1) < 1e-12
    below = mesh.x[:, 2] < -1e-9
    v = np.where(below[:, None], [0.0, 0.0, -speed], [speed, 0.0, 0.0]) * ~at_edge[:, None]
    slide = np.where(at_edge[:, None], [-speed, 0.0], 0.0)
    mesh = replace(mesh, v=v, slide=slide, on=np.where(at_edge, 0, -1).astype(np.int32))
    assembler, program = Assembler([fabric()], np.zeros(3)), SparseProgram()

    def kinetic(sheet):
        w = sheet.v[sheet.faces] - np.einsum("mij,mkj->mki", sheet.gradients, sheet.slide[sheet.faces])
        middles = (w + np.roll(w, 1, axis=1)) / 2.0
        return 0.5 * DENSITY / 3.0 * float(sheet.areas @ np.einsum("mki,mki->m", middles, middles))

    before = kinetic(mesh)
    for _ in range(20):
        posed = assembler.assemble(mesh, h)
        n = np.arange(len(mesh.x))
        one = np.where((below | at_edge)[:, None], [1.0, 0, 0], 0.0), np.where((~below)[:, None], [0, 0, 1.0], 0.0)
        rows = [(n[r.any(axis=1)], np.column_stack([r, np.zeros((len(r), 2))])[r.any(axis=1)]) for r in one]
        edge = n[at_edge]
        rows += [(edge, np.tile(way, (len(edge), 1))) for way in ([0.0, 0, 0, 0, 1.0], [0, 1.0, 0, 0, 0])]
        vertex, factor = (np.concatenate([part[k] for part in rows]) for k in (0, 1))
        table = VertexRows.hard(vertex.astype(np.int32), factor, np.zeros(len(vertex)), np.ones(len(vertex), bool),
                                np.arange(len(vertex), dtype=np.int64))
        answer = program.solve(posed.matrix, posed.rhs, posed.unknowns.table, table)
        v, slide = posed.unknowns.split(answer.u)
        mesh = replace(mesh, x=mesh.x + h * v, material=mesh.material + h * slide, v=v, slide=slide)
    assert kinetic(mesh) == pytest.approx(before, rel=1e-6)
    # and it got somewhere: ten millimetres went over the edge
    assert hanging(mesh) == pytest.approx(0.25 + 20 * h * speed, rel=1e-6)
    assert np.allclose(mesh.gradients, np.where((mesh.x[mesh.faces][:, :, 2].min(axis=1) < -1e-9)[:, None, None],
                                                [[0, 0], [0, 1], [-1, 0]], [[1, 0], [0, 1], [0, 0]]), atol=1e-6)


def tensions(mesh, width, mu):
    """Return the strip's tensions right before and behind the edge [N]: of the faces next to it, and what rubs or
    hangs between: the edge pulls what lies there by that much more, as friction holds it back."""
    middle = mesh.x[mesh.faces].mean(axis=1)
    pull = STRETCH * width * (np.linalg.norm(mesh.gradients[:, :, 0], axis=1) - 1.0)
    weight = DENSITY * width * G
    top, below = (middle[:, 2] > -1e-6) & (middle[:, 0] > -0.05), (middle[:, 2] < -1e-6) & (middle[:, 2] > -0.05)
    return (float(np.average((pull - mu * weight * middle[:, 0])[top], weights=mesh.areas[top])),
            float(np.average((pull - weight * middle[:, 2])[below], weights=mesh.areas[below])))


@pytest.mark.parametrize("law", [None, as_capstan])
def test_friction_at_an_edge_holds_as_a_capstan_does(law):
    """A strip that is let down slowly over an edge with friction: by the law of a fold T₂ = T₁ e^{μθ}; by Coulomb's
    at one sharp line T₂ − T₁ = μ √(T₁² + T₂²), within 15 % of that."""
    mu, width, speed, h = 0.3, 0.2, 0.04, 1 / 192
    mesh, things = folded_strip(20, 1.0, width, 0.8, friction=mu)
    pinned = np.flatnonzero(mesh.material[:, 0] < 1e-9)
    steps = steps_of(mesh, things, replace(fabric(damping=0.02), friction=law))
    origin = mesh.x[pinned]
    steps.pins = lambda time: origin + [speed * time, 0.0, 0.0]
    found = []
    run(steps, start(mesh, pinned), h, 70, lambda cloth, k: found.append(tensions(cloth.mesh, width, mu)))
    before, behind = np.array(found[35:]).mean(axis=0)
    capstan = np.exp(mu * np.pi / 2.0)
    if law is None:
        assert behind - before == pytest.approx(mu * np.hypot(before, behind), rel=0.03)
        assert behind / before == pytest.approx(capstan, rel=0.15)
    else:
        assert behind / before == pytest.approx(capstan, rel=0.01)
