"""Cloth with Sharp Edges keeps out of itself and of what is round, and air drags it."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from cloth_jobs import BOX, Quiet, bending, cloth_body, cloth_job, obstacle
from scipy.spatial import ConvexHull
from sheets import grid
from sliding_strips import DENSITY, STRETCH, block, fabric, start, steps_of
from solids import SHARP_ANGLE

from solver.build.world import build
from solver.contact.find.sharp import find_sharp_features
from solver.contact.laws.barrier import Barrier
from solver.coordinates.prescribed import Constant
from solver.errors import BadScene
from solver.forces.cloth.corotated_membrane import CorotatedMembrane
from solver.forces.cloth.sheet import Sheet
from solver.frames.read import Cache
from solver.job.load import load
from solver.parts.eol.barrier_contact import BarrierContacts, ContactSettings
from solver.parts.eol.eol_elements import AirFlow
from solver.parts.eol.obstacles import FeatureObstacles, Obstacle
from solver.parts.eol.remeshing import Remeshing
from solver.parts.eol.step_log import StepLog
from solver.sheet.conform import conform
from solver.sheet.limits import RemeshLimits
from solver.sheet.sheet_mesh import SheetMesh
from solver.sheet.sizing import Sizing
from solver.simulate import advance, bake

NEAR = 2e-3
PLEATS = Path(__file__).parent.parent / "data" / "pleats_on_a_tooth.npz"
NO_TRIANGLES, NOBODY = np.zeros((0, 3), np.int32), np.zeros(0, np.int32)


def barrier(h, friction=0.0):
    def law(surfaces, rest, mesh):
        stiffness = 0.1 * (DENSITY * mesh.vertex_areas / h**2 + STRETCH)
        return Barrier(surfaces, rest, stiffness, np.full(len(rest), friction), NEAR, {"creep_speed": 1e-3},
                       np.zeros(len(rest)))
    return ContactSettings(law, NO_TRIANGLES, NOBODY, [True], ["Strip"])


def folded(gap=0.03, length=0.4, width=0.1):
    """A strip bent around half a circle, whose legs lie over each other and come together at 0.5 m/s each."""
    rest, faces = grid(24, 4, length, width)
    radius = gap / 2.0
    leg = (length - np.pi * radius) / 2.0
    s = rest[:, 0]
    turn = np.clip((s - leg) / radius, 0.0, np.pi)
    past = np.maximum(s - leg - np.pi * radius, 0.0)
    x = np.column_stack([np.minimum(s, leg) + radius * np.sin(turn) - past, rest[:, 1], radius * (1.0 - np.cos(turn))])
    mesh = SheetMesh.at_rest(x, rest[:, :2], faces)
    v = np.zeros_like(x)
    v[s < leg, 2], v[past > 0.0, 2] = 0.5, -0.5
    v[past > 0.0, 0] = 0.2
    return replace(mesh, v=v)


def energy(mesh):
    """Return the energy of motion and of stretch [J]."""
    w = mesh.v[mesh.faces]
    middles = (w + np.roll(w, 1, axis=1)) / 2.0
    moves = 0.5 * DENSITY / 3.0 * float(mesh.areas @ np.einsum("mki,mki->m", middles, middles))
    law = CorotatedMembrane(Sheet(mesh.x, mesh.faces, mesh.material[mesh.faces]),
                            {"stretch_warp": STRETCH, "stretch_weft": STRETCH, "shear": STRETCH / 2,
                             "poisson_ratio": 0.0})
    return moves + law.measure(mesh.x, np.zeros((len(mesh.faces), 4, 3)))


@pytest.mark.parametrize("gap", [1e-6, 1e-9, pytest.param(1e-12, marks=pytest.mark.long)])
def test_layers_without_any_room_between_them_lose_no_bake(gap):
    """A barrier beside which no digit of the rest's mass is left is only as stiff as leaves some; where that does not
    help they are let through there, and it is said."""
    h, mesh = 1 / 192, folded(gap)
    steps = steps_of(mesh, FeatureObstacles([]), fabric(bending=1e-5), gravity=(0.0, 0.0, 0.0), contact=barrier(h))
    cloth = steps.step(start(mesh), 0.0, h)
    assert np.abs(cloth.mesh.x).max() < 0.21
    reported = [sentence.startswith("its layers were pressed together") for sentence in steps.step_log.sentences]
    assert reported == [True] * (gap < 1e-11)


@pytest.mark.parametrize(("friction", "sizing", "lost"), [(0.0, Sizing(0.008, 0.03), 2e-3), (0.5, None, 1e-9)])
def test_layers_that_meet_keep_apart_and_nothing_comes_from_nowhere(friction, sizing, lost):
    """lost: share of the momentum of one leg; remeshing changes it by little, pushes and friction by nothing."""
    h, mesh = 1 / 192, folded()
    apart = barrier(h, friction)
    steps = steps_of(mesh, FeatureObstacles([]), fabric(bending=1e-5), gravity=(0.0, 0.0, 0.0), sizing=sizing,
                     contact=apart)
    cloth, now = start(mesh), FeatureObstacles([]).at(0.0, h)
    whole, had, touched = mesh.momentum, energy(mesh), False
    for k in range(20):
        cloth = steps.step(cloth, k * h, h)
        assert apart.intersecting_pair(cloth.mesh, now) is None
        touched |= apart.of(cloth.mesh, now).is_near(apart.of(cloth.mesh, now).start)
        assert np.abs(cloth.mesh.momentum - whole).max() < lost * 0.5 * 0.5 * mesh.areas.sum()
        assert energy(cloth.mesh) < had * (1.0 + 1e-9)
    assert touched and not any("pushed through" in sentence for sentence in steps.step_log.sentences)


def test_a_step_ends_where_what_pushes_is_what_it_was_solved_with(monkeypatch):
    """Near the barrier's wall a move of a hundredth of its reach is as much as all that pushes, and a step that ends
    with another push than it was solved with throws the cloth in the next one."""
    h, mesh, ways = 1 / 192, folded(), []

    def advance(pushes, at, end, advanced=BarrierContacts.advance):
        ways.append((pushes, at, end))
        return advanced(pushes, at, end)

    monkeypatch.setattr(BarrierContacts, "advance", advance)
    steps = steps_of(mesh, FeatureObstacles([]), fabric(bending=1e-5), gravity=(0.0, 0.0, 0.0), contact=barrier(h))
    cloth, worst, hardest = start(mesh), 0.0, 0.0
    for k in range(20):
        cloth = steps.step(cloth, k * h, h)
        pushes, at, end = ways[-1]
        missed, pushed = (h * force / (DENSITY * pushes.mesh.vertex_areas) for force in pushes.force_errors(at, end))
        worst = max(worst, float((missed / np.maximum(1.0, pushed)).max()))
        hardest = max(hardest, float(pushed.max()))
    assert hardest > 0.1 and 0.0 < worst < 0.03


def test_rounds_begin_where_a_step_goes_on_to():
    """Everything continues as before except what would collide, which moves half as far, and nothing passes through."""
    mesh = folded(gap=0.9 * NEAR)
    pushes = barrier(1.0).of(mesh, FeatureObstacles([]).at(0.0, 1.0))
    for h, meets in ((1e-4, False), (0.05, True)):
        at, near = pushes.initial_guess(h)
        goes = (at.x == mesh.x + h * mesh.v).all(axis=1)
        assert pushes.largest(pushes.start, at) == 1.0 and goes.all() != meets and goes.any() and near
    still = pushes.initial_guess(0.0)
    np.testing.assert_array_equal(still[0].x, mesh.x)


def test_a_layer_that_falls_on_one_over_an_edge_is_not_put_onto_that_edge_through_it():
    """It would come to the edge within the step, but for the layer between: its vertices stay where they are."""
    h, mesh, above = 1 / 96, folded(gap=0.008), 0.003
    edge = FeatureObstacles([block((-1.0, -1.0, -1.0), (0.05, 1.0, -above))])
    upper = mesh.x[:, 2] > 0.004
    mesh = replace(mesh, v=np.where(upper[:, None], [0.0, 0.0, -1.5], [0.0, 0.0, 0.0]))
    apart = barrier(h)
    steps = steps_of(mesh, edge, fabric(bending=1e-5), gravity=(0.0, 0.0, 0.0), contact=apart)
    cloth, now = start(mesh), edge.at(0.0, h)
    for k in range(4):
        cloth = steps.step(cloth, k * h, h)
        assert apart.intersecting_pair(cloth.mesh, now) is None
    assert not steps.step_log.sentences and cloth.mesh.x[:, 2].min() < above


def test_a_fold_that_comes_onto_one_edge_twice_is_not_laid_onto_itself():
    """Pleats of JAWS on one tooth, as a step began: of three vertices that form a triangle and all come onto its edge
    one would end on the line between the others, at no distance from it, where a barrier has no digits left."""
    h, stored = 1 / 96, np.load(PLEATS)
    x, triangles = stored["tooth"], stored["triangles"]
    sharp = find_sharp_features(x, triangles, SHARP_ANGLE)
    tooth = FeatureObstacles([Obstacle("tooth", Constant(x), triangles, True, sharp, 0.05, 0.05, 0.0)])
    mesh = SheetMesh(*(stored[name] for name in ("x", "material", "faces", "v", "slide", "on", "kept")))
    apart, now, cloth = barrier(h), tooth.at(0.0, h), replace(start(mesh), free=stored["free"])
    remeshing = Remeshing(np.zeros(3), RemeshLimits(1e-3, 0.012, 0.0354), None, apart, StepLog(),
                          lambda *_: pytest.fail("nothing is to be looked for"))
    made, _ = remeshing.remesh(cloth, now, h)
    x = np.concatenate([made.mesh.x, now.smooth_x])
    pushes = apart.of(made.mesh, now)
    assert (made.mesh.on >= 0).any() and pushes.law.contact_forces(x)[:, 6].min(initial=NEAR) > 1e-7
    conformed = conform(mesh, now.features, replace(remeshing.limits, leap=1.0, one_layer=True), h, cloth.free,
                        np.zeros(3)).mesh
    assert apart.intersecting_pair(conformed, now) is None
    assert apart.of(conformed, now).law.contact_forces(conformed.x)[:, 6].min() < 1e-12
    assert apart.find_new_intersection(conformed, mesh, now) is not None
    assert apart.find_new_intersection(conformed, conformed, now) is None


@pytest.mark.parametrize("sizing", [None, Sizing(0.01, 0.03)])
def test_where_layers_crossed_the_others_are_still_separated(sizing):
    """One corner goes through the leg below it at the start; all else meets that at 1 m/s and stays on its side."""
    h, mesh = 1 / 192, folded()
    corner = np.lexsort((mesh.x[:, 0], -mesh.material[:, 0]))[0]
    x = mesh.x.copy()
    x[corner, 2] = -0.01
    mesh, apart, now = replace(mesh, x=x), barrier(h), FeatureObstacles([]).at(0.0, h)
    lost = apart.find_tangled_region(mesh, now)
    assert 0 < lost.of(mesh).sum() < 0.3 * len(mesh.x)
    steps = steps_of(mesh, FeatureObstacles([]), fabric(bending=1e-5), gravity=(0.0, 0.0, 0.0), contact=apart,
                     sizing=sizing)
    cloth, touched = start(mesh), False
    for k in range(16):
        cloth = steps.step(cloth, k * h, h)
        assert apart.intersecting_pair(cloth.mesh, now, lost) is None
        pushes = apart.of(cloth.mesh, now, lost)
        touched |= pushes.is_near(pushes.start)
    assert touched and ["pushed through itself" in sentence for sentence in steps.step_log.sentences].count(True) == 1


def test_layers_too_near_for_all_digits_are_separated():
    """At 1e-8 of the distance at which they push nothing is left of all else beside the barrier's stiffness."""
    h, mesh = 1 / 192, folded(gap=0.01)
    upper = np.argmin(np.abs(mesh.material[:, 0] - 0.3) + np.abs(mesh.material[:, 1] - 0.05))
    x = mesh.x.copy()
    x[upper, 2] = 1e-8 * NEAR
    mesh, apart, now = replace(mesh, x=x), barrier(h), FeatureObstacles([]).at(0.0, h)
    assert apart.intersecting_pair(mesh, now) is None
    steps = steps_of(mesh, FeatureObstacles([]), fabric(bending=1e-5), gravity=(0.0, 0.0, 0.0), contact=apart)
    cloth = start(mesh)
    for k in range(6):
        cloth = steps.step(cloth, k * h, h)
        assert apart.intersecting_pair(cloth.mesh, now) is None
    assert not steps.step_log.sentences


def test_without_it_they_go_through_each_other():
    h, mesh = 1 / 192, folded()
    steps = steps_of(mesh, FeatureObstacles([]), fabric(bending=1e-5), gravity=(0.0, 0.0, 0.0))
    cloth = start(mesh)
    for k in range(12):
        cloth = steps.step(cloth, k * h, h)
    assert barrier(h).intersecting_pair(cloth.mesh, FeatureObstacles([]).at(0.0, h)) is not None


def test_what_remeshing_cannot_do_is_reported_once():
    rest, faces = grid(4, 4, 0.4, 0.4)
    mesh = SheetMesh.at_rest(rest, rest[:, :2], faces)
    steps = steps_of(mesh, FeatureObstacles([]), fabric(), sizing=Sizing(0.005, 0.01, most_faces=40))
    cloth = start(mesh)
    for k in range(4):
        cloth = steps.step(cloth, k * 0.01, 0.01)
    assert len(cloth.mesh.faces) > len(faces)  # it tried
    assert len(steps.step_log.sentences) == 1 and "longer than its sizing wants" in steps.step_log.sentences[0]


def test_vertices_on_an_edge_that_stay_apart_are_reported_once_they_do():
    rest, faces = grid(4, 4, 0.4, 0.4)
    mesh = SheetMesh.at_rest(rest + [-0.2, -0.2, 0.0], rest[:, :2], faces)
    things = FeatureObstacles([block((-1.0, -1.0, -1.0), (0.03, 1.0, 0.0))])
    steps = steps_of(mesh, things, fabric())
    found, remeshing = conform(mesh, things.at(0.0, 0.01).features, steps.limits), steps._remeshing
    apart = replace(found, unjoined=[tuple(np.flatnonzero(found.mesh.on >= 0)[:2])])
    few = [apart] * (Remeshing.reported_steps - 1)
    for conformed in [*few, found, *few]:
        remeshing._report(conformed)
    assert not found.unjoined and not steps.step_log.sentences
    for _ in range(2 * Remeshing.reported_steps):
        remeshing._report(apart)
    assert len(steps.step_log.sentences) == 1 and "near (0.03," in steps.step_log.sentences[0]


def test_air_drags_a_sheet_as_its_law_says():
    """Across the wind: m v = h C (w − v), C = ½ ρ c_n A w; what slides feels what its material does."""
    rest, faces = grid(4, 4, 0.4, 0.4)
    mesh = SheetMesh.at_rest(rest, rest[:, :2], faces)
    wind, h = 3.0, 0.01
    steps = steps_of(mesh, FeatureObstacles([]), replace(fabric(), drag=1.1, air_friction=0.05),
                     gravity=(0.0, 0.0, 0.0),
                     air=AirFlow(1.2, lambda time: np.array([0.0, 0.0, wind * time])))
    moved = steps.step(start(mesh), 0.0, h).mesh
    m, C = DENSITY * 0.16, 0.5 * 1.2 * 1.1 * 0.16 * wind
    # drag stands at corners, mass is that of the elements: what all of it gains is the same
    gained = DENSITY * moved.momentum[2]
    assert gained == pytest.approx(m * wind * h * C / (m + h * C), rel=1e-3)


def ball(rings=8, segments=12, radius=0.15):
    """A sphere of rings, outwards."""
    up, round_ = np.linspace(0.0, np.pi, rings + 1)[1:-1], 2.0 * np.pi * np.arange(segments) / segments
    x = [[0.0, 0.0, 1.0]] + [[np.sin(a) * np.cos(b), np.sin(a) * np.sin(b), np.cos(a)] for a in up for b in round_]
    x.append([0.0, 0.0, -1.0])
    triangles = [[0, 1 + k, 1 + (k + 1) % segments] for k in range(segments)]
    for ring in range(rings - 2):
        a, b = 1 + ring * segments, 1 + (ring + 1) * segments
        for k in range(segments):
            n = (k + 1) % segments
            triangles += [[a + k, b + k, b + n], [a + k, b + n, a + n]]
    last = 1 + (rings - 2) * segments
    triangles += [[last + k, len(x) - 1, last + (k + 1) % segments] for k in range(segments)]
    return radius * np.array(x), np.array(triangles, np.int32)


def over_a_ball(folder, end=9, **scene):
    arrays = {}
    vertices, triangles = grid(8, 8, 0.5, 0.5)
    body = cloth_body("Cloth", vertices + [-0.25, -0.25, 0.154], triangles, arrays, eulerian={}, thickness=2e-3,
                      laws={"damping": {"kind": "rayleigh", "params": {"stiffness_damping": 2e-3}}})
    x, faces = ball(12, 20)
    return cloth_job(folder, [body], arrays, end=end, contact={}, obstacles=[obstacle("Ball", x, faces, arrays)],
                     **scene)


def test_cloth_over_a_ball_stays_out_of_it_and_of_itself(tmp_path):
    folder = over_a_ball(tmp_path / "job")
    bake(folder, Quiet())
    cache = Cache(folder / "cache")
    part = build(load(folder), lambda *_: None)[0].parts[0]
    now = part.steps.obstacles.at(0.0, 1 / 96)
    for frame in range(1, 10):
        sheet = cache.sheets(frame)["Cloth"]
        mesh = SheetMesh.at_rest(sheet.x, sheet.material, sheet.faces)
        assert part.steps.contact.intersecting_pair(mesh, now) is None
        assert np.linalg.norm(sheet.x, axis=1).min() > 0.14
    assert sheet.x[:, 2].min() < 0.08  # and it came down around it


def test_cloth_that_starts_through_a_ball_is_refused(tmp_path):
    arrays = {}
    vertices, triangles = grid(8, 8, 0.5, 0.5)
    body = cloth_body("Cloth", vertices + [-0.25, -0.25, 0.05], triangles, arrays, eulerian={}, thickness=2e-3)
    x, faces = ball()
    folder = cloth_job(tmp_path / "job", [body], arrays, end=2, contact={}, obstacles=[
        obstacle("Ball", x, faces, arrays)])
    with pytest.raises(BadScene, match='crosses "Ball" at the start'):
        build(load(folder), lambda *_: None)


def test_cloth_sits_on_the_sharp_edges_of_what_is_open_below_and_round(tmp_path):
    """The rim of a lid without a bottom, its thickness away from it as where the lid is closed."""
    arrays, count, radius, tall = {}, 20, 0.15, 0.1
    turn = 2.0 * np.pi * np.arange(count) / count
    ring = radius * np.column_stack([np.cos(turn), np.sin(turn), np.zeros(count)])
    after = (np.arange(count) + 1) % count
    top = np.column_stack([np.full(count, 2 * count), np.arange(count), after])
    sides = [np.column_stack([np.arange(count), np.arange(count) + count, after]),
             np.column_stack([after, np.arange(count) + count, after + count])]
    x = np.concatenate([ring, ring - [0.0, 0.0, tall], np.zeros((1, 3))])
    vertices, triangles = grid(8, 8, 0.5, 0.5)
    body = cloth_body("Cloth", vertices + [-0.25, -0.25, 0.004], triangles, arrays, eulerian={}, thickness=2e-3)
    lid = obstacle("Lid", x, np.concatenate([top, *sides]), arrays)
    world = build(load(cloth_job(tmp_path / "job", [body], arrays, contact={}, obstacles=[lid])), lambda *_: None)[0]
    state, part = world.initial_state(), world.parts[0]
    for _ in range(32):
        state = advance(world, state, 1 / 96, 1)
    cloth, now = part.cloth(world.split_state(state)[0]), part.steps.obstacles.at(state.time, 1 / 96)
    mesh, on = cloth.mesh, cloth.mesh.x[(cloth.mesh.on >= 0) & ~cloth.free]
    assert len(on) > count and part.steps.contact.intersecting_pair(mesh, now) is None
    # the lowest point of the corners of a regular polygon, and those themselves
    outside = (np.linalg.norm(on[:, :2], axis=1) - 2e-3) / radius
    assert np.abs(on[:, 2] - 2e-3).max() < 1e-9 and outside.min() > np.cos(np.pi / count) and outside.max() < 1.001
    # its lower border is none of its sharp edges
    assert len(now.features.edges) == count


def bevelled_without_bottom(half=0.1, bevel=0.015):
    """A cube whose edges and corners are cut off, all of them sharp: vertices, and triangles but those below."""
    near = half - bevel
    ways = [(a, b, c) for a in (-1, 1) for b in (-1, 1) for c in (-1, 1)]
    x = np.array([np.multiply(way, size) for way in ways for size in (
        (half, near, near), (near, half, near), (near, near, half))])
    triangles = ConvexHull(x).simplices
    a, b, c = x[triangles].transpose(1, 0, 2)
    inwards = np.einsum("ti,ti->t", np.cross(b - a, c - a), a + b + c) < 0.0
    triangles[inwards] = triangles[inwards][:, [0, 2, 1]]
    return x, triangles[x[triangles][:, :, 2].max(axis=1) > -near].astype(np.int32)


@pytest.mark.long
def test_cloth_sits_on_both_edges_of_a_bevel_of_what_is_open_below(tmp_path):
    """Bevels are narrower than faces of the cloth: a face from edge to edge is on neither side of their faces."""
    arrays = {}
    vertices, triangles = grid(8, 8, 0.4, 0.4)
    body = cloth_body("Cloth", vertices + [-0.189, -0.207, 0.104], triangles, arrays, eulerian={}, thickness=1e-3,
                      area_density=0.05, bending=bending(1e-6),
                      laws={"damping": {"kind": "rayleigh", "params": {"stiffness_damping": 2e-3}}})
    x, faces = bevelled_without_bottom()
    world = build(load(cloth_job(tmp_path / "job", [body], arrays, contact={}, obstacles=[
        obstacle("Cube", x, faces, arrays)])), lambda *_: None)[0]
    state, part = world.initial_state(), world.parts[0]
    for _ in range(40):
        state = advance(world, state, 1 / 96, 1)
    mesh, now = part.cloth(world.split_state(state)[0]).mesh, part.steps.obstacles.at(state.time, 1 / 96)
    assert part.steps.contact.intersecting_pair(mesh, now) is None and mesh.x[:, 2].min() < 0.0
    on = mesh.x[mesh.on >= 0]
    upper, lower = np.abs(on[:, 2] - 0.101) < 2e-4, on[:, 2] < 0.099
    assert upper.sum() > 8 and lower.sum() > 8 and (np.abs(on[lower, :2]).max(axis=1) > 0.09).all()


@pytest.mark.parametrize(("own", "its", "both"), [(0.9, 0.4, 0.6), (None, 0.4, np.sqrt(0.4 * 0.5)), (0.0, 1.0, 0.0)])
def test_two_rub_with_the_geometric_mean_of_what_both_say(tmp_path, own, its, both):
    arrays = {}
    vertices, triangles = grid(2, 2, 0.2, 0.2)
    body = cloth_body("Cloth", vertices + [0.0, 0.0, 1.0], triangles, arrays, eulerian={},
                      laws={} if own is None else {"friction": own})
    box = obstacle("Box", BOX[0], BOX[1], arrays, friction=its)
    contact = {"law": {"kind": "barrier", "params": {"friction_coefficient": 0.5}}}
    folder = cloth_job(tmp_path / "job", [body], arrays, end=2, contact=contact, obstacles=[box])
    thing = build(load(folder), lambda *_: None)[0].parts[0].steps.obstacles.each[0]
    assert thing.friction == pytest.approx(both) and thing.sharp_friction == pytest.approx(both)
