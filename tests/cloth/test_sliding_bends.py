"""Bending where cloth is on something sharp: a clamped strip on a prop is Euler's beam; and a cone of normals locks."""

from dataclasses import replace

import numpy as np
import pytest
from sheets import grid, lattice
from sliding_strips import DENSITY, block, fabric, run, start, steps_of

from benchmarks.sharp_variants import SCENES, measured
from solver.contact.find.sharp import wires
from solver.coordinates.prescribed import Still
from solver.linear.constrained.rows import MOST, VertexRows
from solver.parts.eol.cone import Cone
from solver.parts.eol.sliding_cloth import LIFTS, OFF
from solver.parts.eol.things import Thing, Things
from solver.sheet.sheet_mesh import SheetMesh
from solver.sheet.sizing import Sizing

LENGTH, WIDTH, PROP, STIFF = 0.6, 0.16, 0.35, 0.1  #: [m], [m], [m], [N m]
CELLS, PULL, END = 20, 0.5, 48  #: along it, gravity [m/s²], steps
NONE = np.zeros((0, 3), np.int32)


def tip_of(propped):
    """How far the free end of a strip sinks, by its own weight, to rest [m]."""
    rest, faces = lattice(CELLS, LENGTH, WIDTH)
    mesh = SheetMesh.at_rest(rest + [0.0, -WIDTH / 2, 0.0], rest[:, :2], faces)
    line = np.array([[PROP, -1.0, 0.0], [PROP, 1.0, 0.0]])
    things = Things([Thing("Wire", Still(line), NONE, False, wires(line, np.array([[0, 1]])), 0.0, 0.0, 0.0)]
                    if propped else [])
    clamped = np.flatnonzero(rest[:, 0] < LENGTH / CELLS + 1e-9)
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
    freely, held = tip_of(False), tip_of(True)
    assert freely == pytest.approx(sinks, rel=0.12)  # no hinge is at the strip's borders, so it is softer there
    assert held / freely == pytest.approx(1.0 - push * at**2 * (3 * long - at) / 6 / STIFF / sinks, rel=0.03)


def test_the_cone_locks_vertices_that_keep_their_material_and_not_those_that_slide():
    """A strip over a blade, 70 cm of 100 on one side."""
    which = replace(SCENES["wire"], across=2)
    runs = {name: measured(name, 8, which, dict.fromkeys(("detect", "remesh", "fill", "program"), 0.0))["runs_m"]
            for name in ("conf., cone", "EOL")}
    assert runs["EOL"] > 0.08
    assert abs(runs["conf., cone"]) < 0.1 * runs["EOL"]


def test_the_cone_locks_a_strip_that_begins_bent_at_the_edge_of_a_box():
    """Over the same edge one that lies flat at first is slowed alone, as what hangs swings and lifts it off."""
    runs = {name: measured(name, 8, SCENES["strand_bent"], dict.fromkeys(("detect", "remesh", "fill", "program"), 0.0))
            for name in ("conf., cone", "EOL")}
    assert runs["EOL"]["runs_m"] > 0.08 and runs["EOL"]["gap_m"] < 1e-6
    assert abs(runs["conf., cone"]["runs_m"]) < 0.02 * runs["EOL"]["runs_m"]


def test_cloth_that_slides_slowly_over_a_corner_stays_on_its_edges():
    """Slack comes and goes there, hundreds of times what its weight stretches it: it lets go of no edge for that but
    the upright one, over which nothing hangs."""
    rest, faces = grid(10, 10, 1.0, 1.0)
    turn = np.array([[np.cos(0.21), np.sin(0.21)], [-np.sin(0.21), np.cos(0.21)]])
    place = (rest[:, :2] - 0.5) @ turn + [0.42, -0.16]
    mesh = SheetMesh.at_rest(np.column_stack([place, np.full(len(place), 0.004)]), rest[:, :2].copy(), faces)
    steps = steps_of(mesh, Things([block((-0.55, -0.5, -0.7), (0.55, 0.5, 0.0), 0.1)]),
                     replace(fabric(bending=1e-6, damping=2e-3), density=0.05), sizing=Sizing(0.05, 0.105))
    cloth = run(steps, start(mesh), 1 / 96, 30)
    assert cloth.mesh.x[:, 2].min() < -0.4
    assert (cloth.mesh.on >= 0).sum() > 18 and (cloth.mesh.x[cloth.free, 2] < -0.005).all()


def test_only_what_weight_hangs_across_is_put_back_where_slack_lifts_it():
    """Cloth that comes from both sides of an upright edge leaves it: nothing pulls it back."""
    rest, faces = grid(2, 2, 0.1, 0.1)
    mesh, h, none = SheetMesh.at_rest(rest, rest[:, :2], faces), 1 / 96, np.zeros((2, 3))
    steps = steps_of(mesh, Things([]), fabric())
    rows = VertexRows(np.zeros(0, np.int32), np.zeros((0, MOST)), np.zeros(0), np.zeros(0, bool), np.zeros(0, np.int64))
    level, upright = [1.0, 0.0, 0.0], [0.0, 0.0, 1.0]
    found = steps._stays(Cone(rows, np.array([0, 1]), np.zeros(2, bool), none, none, np.array([level, upright]),
                              np.full(2, 1.5)), mesh, h)
    assert found == pytest.approx([LIFTS * h, OFF * steps.limits.thickness])
