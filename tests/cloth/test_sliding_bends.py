"""Bending where cloth is on something sharp: a clamped strip on a prop is Euler's beam; and a cone of normals locks."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.integrate import solve_bvp
from sheets import grid, lattice
from sliding_strips import DENSITY, block, fabric, run, start, steps_of
from solids import SHARP_ANGLE

from benchmarks.sharp_variants import SCENES, measured
from solver.contact.find.sharp import wires
from solver.coordinates.prescribed import Constant
from solver.parts.eol.cone import Cone
from solver.parts.eol.lifting_off import LIFTS, OFF, stays_within
from solver.parts.eol.obstacles import FeatureObstacles, Obstacle
from solver.rows.tables import no_vertex_rows
from solver.sheet.sheet_mesh import SheetMesh
from solver.sheet.sizing import Sizing

LENGTH, WIDTH, PROP, STIFF = 0.6, 0.16, 0.35, 0.1  #: [m], [m], [m], [N m]
CELLS, PULL, END = 20, 0.5, 48  #: along it, gravity [m/s²], steps
NONE = np.zeros((0, 3), np.int32)


def on_a_wire(cells, prop):
    """A level strip, a wire below it, and the two columns at its end that are clamped."""
    rest, faces = lattice(cells, LENGTH, WIDTH)
    mesh = SheetMesh.at_rest(rest + [0.0, -WIDTH / 2, 0.0], rest[:, :2], faces)
    line = np.array([[prop, -1.0, 0.0], [prop, 1.0, 0.0]])
    wire = Obstacle("Wire", Constant(line), NONE, False, wires(line, np.array([[0, 1]]), SHARP_ANGLE), 0.0, 0.0, 0.0)
    return mesh, FeatureObstacles([wire]), np.flatnonzero(rest[:, 0] < LENGTH / cells + 1e-9)


def tip_of(propped):
    """How far the free end of a strip sinks, by its own weight, to rest [m]."""
    mesh, things, clamped = on_a_wire(CELLS, PROP)
    things = things if propped else FeatureObstacles([])
    stiff = replace(fabric(bending=STIFF), mass_damping=8.0)
    steps = steps_of(mesh, things, stiff, gravity=(0.0, 0.0, -PULL), pins=mesh.x[clamped])
    mesh = run(steps, start(mesh, clamped), 1 / 24, END).mesh
    assert (mesh.on >= 0).any() == propped
    assert np.abs(mesh.v).max() < 5e-4
    return -mesh.x[mesh.material[:, 0] > LENGTH - 1e-9, 2].mean()


@pytest.mark.long
def test_a_clamped_strip_on_a_wire_bends_as_eulers_beam():
    """Without the wire its tip sinks by w L⁴/8 B. The wire's force R a³/3 = w a² (6 L² − 4 L a + a²)/24 makes up for
    what it would sag there, and takes R a² (3 L − a)/6 B of that: all but 6 %."""
    # the clamp is midway between the columns that are held
    weight, long, at = PULL * DENSITY, LENGTH - 0.5 * LENGTH / CELLS, PROP - 0.5 * LENGTH / CELLS
    push = weight * (6 * long**2 - 4 * long * at + at**2) / (8 * at)
    sinks = weight * long**4 / 8 / STIFF
    freely, with_tip = tip_of(False), tip_of(True)
    assert freely == pytest.approx(sinks, rel=0.12)  # no hinge is at the strip's borders, so it is softer there
    assert with_tip / freely == pytest.approx(1.0 - push * at**2 * (3 * long - at) / 6 / STIFF / sinks, rel=0.03)


def elastica_over_a_wire(length, at, weight, stiffness):
    """A level strip clamped at one end, over a wire of its height without friction, at rest: where its end is, (x, z)
    [m], and which of it is on the wire [m].

    B θ'' = (w (L − s) − R cos θ₁) cos θ − R sin θ₁ sin θ up to the wire at s₁, which pushes by R along the strip's
    normal, and without R behind it. Both parts over t in [0, 1], with s₁, R and θ₁ as parameters.
    """
    def slopes(t, y, known):
        s1, push, turn = known
        before, after = y[:4], y[4:]
        bends = (np.cos(before[0]) * (weight * (length - s1 * t) - push * np.cos(turn))
                 - push * np.sin(turn) * np.sin(before[0])) / stiffness
        rest = length - s1
        return np.concatenate([
            s1 * np.stack([before[1], bends, np.cos(before[0]), np.sin(before[0])]),
            rest * np.stack([after[1], weight * rest * (1.0 - t) * np.cos(after[0]) / stiffness, np.cos(after[0]),
                             np.sin(after[0])])])

    def ends(a, b, known):
        return np.array([a[0], a[2], a[3], b[2] - at, b[3], b[0] - known[2], *(b[:4] - a[4:]), b[5]])

    t = np.linspace(0.0, 1.0, 60)
    past = 0.7 * (length - at) * t
    guess = np.stack([-0.3 * t, 0.0 * t, at * t, 0.0 * t, -0.3 - 0.8 * t, t - 1.0, at + past, -past])
    found = solve_bvp(slopes, ends, t, guess, p=[1.02 * at, 0.7 * weight * length, -0.5], tol=1e-8, max_nodes=20000)
    assert found.success
    return found.y[6:8, -1], found.p[0]


@pytest.mark.parametrize(("cells", "off"), [((10, 20), 0.025), pytest.param((20, 40), 0.02, marks=pytest.mark.long)])
def test_a_heavy_strip_over_a_wire_drapes_as_the_elastica_does(cells, off):
    """By its own weight at 9.81 m/s² it leaves the wire steeply and ends nearly upright. It finds itself which of it is
    on the wire, to a few tenths of a millimetre."""
    prop, stiff, errors = 0.3, 0.012, []
    for count in cells:
        mesh, things, clamped = on_a_wire(count, prop)
        made = replace(fabric(bending=stiff), mass_damping=6.0)
        mesh = run(steps_of(mesh, things, made, pins=mesh.x[clamped]), start(mesh, clamped), 1 / 24, 96).mesh
        half, on = 0.5 * LENGTH / count, mesh.on >= 0
        end, lies = elastica_over_a_wire(LENGTH - half, prop - half, 9.81 * DENSITY, stiff)
        tip = mesh.x[mesh.material[:, 0] > LENGTH - 1e-9].mean(axis=0)
        errors.append(np.hypot(tip[0] - half - end[0], tip[2] - end[1]) / LENGTH)
        assert np.ptp(mesh.x[:, 2]) > 0.15 and np.abs(mesh.x[on] - [prop, 0.0, 0.0])[:, ::2].max() < 1e-6
        assert mesh.material[on, 0].mean() - half == pytest.approx(lies, abs=1e-3)
    assert errors[1] <= off and errors[1] < errors[0], errors


def test_the_cone_locks_vertices_that_keep_their_material_and_not_those_that_slide():
    """A strip over a blade, 70 cm of 100 on one side."""
    which = replace(SCENES["wire"], across=2)
    runs = {name: measured(name, 8, which, dict.fromkeys(("detect", "remesh", "fill", "program"), 0.0))["runs_m"]
            for name in ("conf., cone", "EOL")}
    assert runs["EOL"] > 0.08
    assert abs(runs["conf., cone"]) < 0.1 * runs["EOL"]


def test_it_does_not_lift_off_where_a_conformal_mesh_that_keeps_its_material_does():
    """EDGE, two cells wide: the largest gap along the edge in .17 s."""
    which = replace(SCENES["edge"], across=2)
    rows = {name: measured(name, 8, which, dict.fromkeys(("detect", "remesh", "fill", "program"), 0.0))
            for name in ("conf.", "EOL")}
    assert rows["EOL"]["gap_m"] <= 1e-6 and rows["conf."]["gap_m"] > 1e-4, {k: row["gap_m"] for k, row in rows.items()}


@pytest.mark.parametrize("begins", ["held", "bent"])
def test_the_cone_locks_a_strip_that_is_bent_at_the_edge_of_a_box_before_it_is_let_go(begins):
    """A strip that starts flat on the same edge is only slowed, since its hanging part swings and lifts it off."""
    which = SCENES[f"strand_{begins}"]
    runs = {name: measured(name, 8, which, dict.fromkeys(("detect", "remesh", "fill", "program"), 0.0))
            for name in ("conf., cone", "EOL")}
    assert runs["EOL"]["runs_m"] > 0.08 and runs["EOL"]["gap_m"] < 1e-6
    assert abs(runs["conf., cone"]["runs_m"]) < 0.02 * runs["EOL"]["runs_m"]


def test_cloth_that_slides_slowly_over_a_corner_stays_on_its_edges():
    """The cloth there slackens by hundreds of times its stretch under gravity, but leaves only the upright edge, over
    which nothing hangs."""
    rest, faces = grid(10, 10, 1.0, 1.0)
    turn = np.array([[np.cos(0.21), np.sin(0.21)], [-np.sin(0.21), np.cos(0.21)]])
    place = (rest[:, :2] - 0.5) @ turn + [0.42, -0.16]
    mesh = SheetMesh.at_rest(np.column_stack([place, np.full(len(place), 0.004)]), rest[:, :2].copy(), faces)
    steps = steps_of(mesh, FeatureObstacles([block((-0.55, -0.5, -0.7), (0.55, 0.5, 0.0), 0.1)]),
                     replace(fabric(bending=1e-6, damping=2e-3), density=0.05), sizing=Sizing(0.05, 0.105))
    cloth = run(steps, start(mesh), 1 / 96, 30)
    assert cloth.mesh.x[:, 2].min() < -0.4
    assert (cloth.mesh.on >= 0).sum() > 18 and (cloth.mesh.x[cloth.free, 2] < -0.005).all()


def test_only_what_weight_hangs_across_is_put_back_where_slack_lifts_it():
    """Cloth that comes from both sides of an upright edge leaves it: nothing pulls it back."""
    rest, faces = grid(2, 2, 0.1, 0.1)
    mesh, h, none = SheetMesh.at_rest(rest, rest[:, :2], faces), 1 / 96, np.zeros((2, 3))
    steps = steps_of(mesh, FeatureObstacles([]), fabric())
    rows = no_vertex_rows()
    level, upright = [1.0, 0.0, 0.0], [0.0, 0.0, 1.0]
    on_features = Cone(rows, np.array([0, 1]), np.zeros(2, bool), none, none, np.array([level, upright]),
                       np.full(2, 1.5))
    found = stays_within(on_features, mesh, h, steps.limits, steps.gravity)
    assert found == pytest.approx([LIFTS * h, OFF * steps.limits.thickness])
