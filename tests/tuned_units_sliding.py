"""Small systems in which tuned constants of steps of sliding cloth steer; see `tuned_units`."""

from dataclasses import dataclass
from types import SimpleNamespace

import numpy as np
import pytest

from solver.parts.eol import remeshing, sliding_cloth, solving
from solver.parts.eol.barrier_contact import ContactSettings
from solver.parts.eol.friction import FrictionResult, SlipState
from solver.parts.eol.lifting_off import stays_within
from solver.parts.eol.remeshing import Remeshing
from solver.parts.eol.sliding_cloth import SlidingCloth
from solver.parts.eol.solving import Singular, Solving
from solver.parts.eol.step_log import StepLog
from solver.parts.eol.tangled_region import TangledRegion
from solver.parts.eol.tunnelling import _Step

TWO = np.array([[0.0, 0.0, 0.0], [1.0, 0.0, 0.0]])


def stand_in(owner, /, **values):
    """A stand-in for an object of a class with its constants."""
    constants = {name: value for name, value in vars(owner).items() if isinstance(value, int | float)}
    return SimpleNamespace(**{**constants, **values})


def surfaces_that_come_nearer():
    """Whether surfaces touch at such distances, after such ones before, relative to the activation distance."""
    def touches(gap, before):
        settings = stand_in(ContactSettings, find_new_intersecting_pair=lambda *_: None,
                         _nearest=lambda mesh, now: (mesh, np.zeros(3)))
        return ContactSettings.find_new_intersection(settings, gap, before, None) is not None

    return [touches(0.3, 0.9), touches(0.7, 5.0), touches(0.3, 0.5)]


def cloth_that_lifts_off():
    """Distances up to which vertices are put back that slide at such speeds [m/s]."""
    on = SimpleNamespace(vertices=np.arange(3), along=np.tile([1.0, 0.0, 0.0], (3, 1)), fold=np.full(3, 1.0))
    moved = SimpleNamespace(slide=np.array([[0.0, 0.0], [0.3, 0.0], [2.0, 0.0]]))
    limits = SimpleNamespace(thickness=1e-4, shortest=0.01)
    return stays_within(on, moved, 0.01, limits, np.array([0.0, 0.0, -9.81])).tolist()


def _remesher(intersects):
    """Numbers of tries of a mesh that intersects something for so many tries."""
    tries = []

    def conform(*_):
        tries.append(1)
        return SimpleNamespace(mesh=None, was=np.zeros(1, int))

    owner = stand_in(
        Remeshing, _conform=conform, _report=lambda *_: None,
        _adapt=lambda cloth, *_: (cloth, np.zeros(1, int)),
        _find_new_intersection=lambda *_: np.zeros(3) if len(tries) <= intersects else None)
    mesh = SimpleNamespace(x=np.zeros((1, 3)), edges=np.zeros((0, 2), int))
    cloth = SimpleNamespace(mesh=mesh, with_mesh=lambda *_: SimpleNamespace(mesh=mesh))
    Remeshing.remesh(owner, cloth, None, 1.0)
    return len(tries)


def tries_of_remeshing():
    """Numbers of tries of meshes that intersect something for 2 and for 20 tries."""
    return _remesher(2), _remesher(20)


def steps_with_unjoined_vertices():
    """Whether vertices are reported that cannot be joined for 5 and for 12 steps."""
    found = []
    for steps in (5, 12):
        log = StepLog()
        owner = stand_in(Remeshing, _unjoined_steps=0, step_log=log)
        conformed = SimpleNamespace(unjoined=[(0, 1)], mesh=SimpleNamespace(x=TWO))
        for _ in range(steps):
            Remeshing._report(owner, conformed)
        found.append(len(log.sentences))
    return found


def vertices_around_an_intersection():
    """Which vertices of a line with edges of 1 m are near a position at its end."""
    x = np.array([[float(k), 0.0, 0.0] for k in range(6)])
    mesh = SimpleNamespace(x=x, edges=np.stack([np.arange(5), np.arange(1, 6)], axis=1))
    return remeshing._close(mesh, np.zeros((1, 3))).tolist(), remeshing._close(mesh, np.array([[-0.2, 0, 0]])).tolist()


def _tries(solvable=1.0, slides=np.inf, thin=np.inf):
    """Lengths of tries of a step of 1 s. solvable: longest that can be solved. slides, thin: longest in which triangles
    keep their area, and their angles too."""
    tried = []

    def solve(cloth, now, barrier, on_pins, free_rates, time, h, warm):
        tried.append(round(h, 6))
        return None if h > solvable else SimpleNamespace(
            deepest=False, mesh=SimpleNamespace(replace=lambda slide: None), solution=None)

    owner = stand_in(SlidingCloth, _step_pins=lambda time: None, _solving=SimpleNamespace(solve_substep=solve),
                     _warm=None, _explain_failure=lambda barrier: "",
                     _advance_mesh=lambda *_: SimpleNamespace(slide=None))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sliding_cloth, "build_pin_rows", lambda *_: None)
        patch.setattr(sliding_cloth, "limit_slide",
                      lambda mesh, h, *least: min(1.0, (thin if least else slides) / h))
        SlidingCloth._take_step(owner, None, None, None, 0.0, 1.0, 1.0 / 64.0, None, lambda h: None)
    return tried


def tries_of_steps_of_sliding_cloth():
    """Lengths of tries of steps that are hard to solve, in which cloth slides too far, by a little, or gets thin."""
    return _tries(solvable=0.2), _tries(slides=0.4), _tries(slides=0.95), _tries(thin=0.001)


def substeps_of_sliding_cloth():
    """Lengths of substeps of a step whose first half is hard, and the least length that they may have."""
    asked = []

    def substep(cloth, time, tried, shortest, left):
        taken = min(tried, 0.02) if time < 0.1 else tried
        asked.append((round(taken, 6), shortest))
        return cloth, taken, np.zeros((0, 3)), left

    owner = stand_in(SlidingCloth, pins=None, _substep=substep, step_log=SimpleNamespace(substeps=0))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sliding_cloth, "follow_rigid_jump", lambda cloth, pins, *_: (cloth, pins))
        SlidingCloth.step_with_reaction(owner, None, 0.0, 1.0)
    return asked


def obstacles_that_are_off():
    """Whether obstacles may be off their prediction by so much of the activation distance."""
    barrier = SimpleNamespace(find_near_points=lambda end: slice(None), activation=1.0, largest=lambda *_: 1.0,
                              start=None)
    owner = stand_in(SlidingCloth, contact=SimpleNamespace(of=lambda *_: barrier),
                  obstacles=SimpleNamespace(at=lambda *_: SimpleNamespace(smooth_x=np.zeros((1, 3)))))
    cloth = SimpleNamespace(mesh=SimpleNamespace(x=TWO))
    return [SlidingCloth.may_finish(owner, cloth, 0.0, np.array([[off, 0.0, 0.0]])) for off in (0.03, 0.3)]


def vertices_on_their_feature():
    """Which vertices are free that barriers keep so far from their feature [m]."""
    mesh = SimpleNamespace(x=TWO)
    moved = SimpleNamespace(x=TWO.copy(), slide=np.zeros((2, 2)), replace=lambda x: None)
    on = SimpleNamespace(vertices=np.arange(2), flat=np.zeros(2, bool))
    solved = SimpleNamespace(mesh=mesh, on_features=on, solution=SimpleNamespace(warm=None), obstacle_rates=None,
                             pressing=np.zeros(2))
    now = SimpleNamespace(smooth_x=np.zeros((0, 3)))
    barrier = SimpleNamespace(advance_positions=lambda *_: np.zeros((0, 3)), largest=lambda *_: 0.5)
    owner = stand_in(
        SlidingCloth, obstacles=SimpleNamespace(at=lambda *_: now), limits=None, gravity=None,
        _remesh=lambda cloth, *_: cloth, _barrier=lambda *_: barrier, _impulses=lambda *_: None,
        _take_step=lambda *_: (solved, moved, 1.0, now, barrier))
    left = SimpleNamespace(off=np.zeros(1), free_rates=None, after=lambda *_: None)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sliding_cloth, "displacements_off", lambda *_: np.array([[1e-11, 0.0, 0.0], [1e-6, 0.0, 0.0]]))
        patch.setattr(sliding_cloth, "stays_within", lambda *_: np.ones(2))
        cloth = SlidingCloth._substep(owner, SimpleNamespace(mesh=mesh, pin=None), 0.0, 1.0, 0.1, left)[0]
    return cloth.free.tolist()


@dataclass(frozen=True)
class Stage:
    """Rows of a step of one vertex, or its barrier, as far as solving needs them."""

    touched: SimpleNamespace | None = None
    on_features: SimpleNamespace | None = None
    on_vertices: SimpleNamespace | None = None
    pressing: np.ndarray | None = None
    rates: np.ndarray | None = None
    slips: SlipState | None = None
    deepest: float = 0.0
    max_stiffness: float = np.inf
    on_pins: SimpleNamespace | None = None


class Rows:
    """Rows on one vertex."""

    def __init__(self, factor):
        self.factor, self.vertex = factor, np.zeros(1, int)

    def __len__(self):
        return 1


def _solver(**values):
    """A stand-in for `Solving` of one vertex without contact."""
    unknowns = SimpleNamespace(split=lambda u: (np.zeros((1, 3)), np.zeros((1, 2))), diagonal=np.zeros(1, int),
                               count=3)
    posed = SimpleNamespace(unknowns=unknowns, blocks=np.ones((1, 3, 3)))
    return stand_in(Solving, assembler=SimpleNamespace(assemble=lambda *_: posed),
                 detect=lambda *_: SimpleNamespace(rows=lambda unknowns: None), needs_reactions=False, tolerance=0.0,
                 **values)


CLOTH = SimpleNamespace(mesh=SimpleNamespace(x=np.zeros((1, 3)), v=np.zeros((1, 3)), slide=np.zeros((1, 2))),
                        flat=None, pressing=np.zeros(1))


def _patched(patch, rows):
    """Let `solving` take these rows."""
    patch.setattr(solving, "cone", lambda *_: None)
    patch.setattr(solving, "StepRows", lambda *_: rows)
    patch.setattr(solving, "StepResult", lambda *given: given)


def barriers_without_digits():
    """Whether a barrier that leaves no digits is limited to more than 100,000 and less than 10¹¹ of the diagonal."""
    found = []

    def separate(*_):
        raise Singular(np.zeros(1, int), np.zeros(1, int), 0.0)

    owner = _solver(_separate=separate, solve_substep=lambda cloth, now, softer, *_: found.append(
        softer.max_stiffness) or 1)
    with pytest.MonkeyPatch.context() as patch:
        _patched(patch, Stage())
        Solving.solve_substep(owner, CLOTH, SimpleNamespace(features=None, smooth_x=np.zeros((0, 3))), Stage(), None,
                              None, 0.0, 1.0)
    return 1e5 < found[0], found[0] < 1e11


def rounds_through_an_obstacle():
    """Numbers of solutions where cloth goes through an obstacle for 4 and for 40 rounds."""
    found = []
    for rounds in (4, 40):
        solved = []
        solution = SimpleNamespace(u=None, warm=None, multipliers=SimpleNamespace(at=lambda name: np.zeros(3)))
        owner = _solver(_frictional=lambda *_: None,
                        solve_rows=lambda *_, solved=solved, solution=solution: solved.append(1) or solution)
        touched = SimpleNamespace()
        touched.with_more = lambda more, touched=touched: touched
        with pytest.MonkeyPatch.context() as patch:
            _patched(patch, Stage(touched=touched, pressing=np.zeros(1), on_pins=SimpleNamespace(name=None)))
            patch.setattr(solving, "detect_tunnelling",
                          lambda *_, solved=solved, rounds=rounds: (None, float(len(solved) <= rounds)))
            Solving.solve_substep(owner, CLOTH, SimpleNamespace(features=None, smooth_x=np.zeros((0, 3))), None, None,
                                  None, 0.0, 1.0)
        found.append(len(solved))
    return found


def friction_that_agrees():
    """Whether friction agrees with its normal impulse that is off by so much of it."""
    found = []
    for off in (0.007, 0.06):
        factor = np.zeros((1, 5))
        factor[0, 2] = 1.0
        rows = Stage(
            on_features=SimpleNamespace(rows=[0]), touched=SimpleNamespace(rows=[], spread=None),
            on_vertices=Rows(factor), pressing=np.ones(1), rates=np.array([[1.0, 0, 0, 0, 0]]),
            slips=SlipState.unknown(1))
        projectors = np.diag([1.0, 1.0, 0.0, 0.0, 0.0])[None]
        friction = FrictionResult(np.zeros(1, int), projectors, np.zeros((1, 5)), np.ones(1))
        unknowns = SimpleNamespace(split=lambda u: (np.array([[1.0, 0, 0]]), np.zeros((1, 2))))
        posed = SimpleNamespace(impulse=np.zeros((1, 5)), with_resistance=lambda *_: None, unknowns=unknowns)
        solution = SimpleNamespace(warm=None, u=None, on_vertex=np.array([1.0 + off]))
        owner = stand_in(Solving, solve_rows=lambda *_, solution=solution: solution)
        found.append(Solving._solve_with_friction(owner, posed, rows, friction, None, 0, None)[1])
    return found


def region_of_an_intersection():
    """Which vertices of a line with edges of 1 m are in the region around its end."""
    material = np.array([[0.0, 0.0], [1.0, 0.0], [2.0, 0.0], [3.0, 0.0], [6.0, 0.0]])
    mesh = SimpleNamespace(x=np.zeros((5, 3)), material=material, edges=np.array([[0, 1], [1, 2]]))
    return TangledRegion.at(mesh, np.zeros(1, int)).of(mesh).tolist()


def depths_that_are_asked_about():
    """Whether remeshed cloth is asked for depths of more than a thousandth, and less than a tenth, of its thickness."""
    asked = []
    mesh = SimpleNamespace(x=TWO, required=np.zeros(2, bool), on=np.full(2, -1))
    mesh.replace = lambda **_: mesh
    adapted = SimpleNamespace(changed=True, message="", mesh=mesh, was=np.arange(2))
    runs = SimpleNamespace(from_edges=lambda on: on, to_edges=lambda on, x: on, points=None, ends=None)
    owner = stand_in(Remeshing, sizing=1, limits=SimpleNamespace(thickness=1.0), detect=lambda *_: None,
                  _runs_of=lambda now: runs, _find_new_intersection=lambda *_: None)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(remeshing, "adapt", lambda *_: adapted)
        patch.setattr(remeshing, "inside", lambda detection, tolerance: asked.append(tolerance) or (TWO, 0.0))
        Remeshing._adapt(owner, SimpleNamespace(mesh=mesh, with_mesh=lambda *_: None), None, 1.0)
    return asked[0] > 1e-3, asked[0] < 0.1


def rows_that_are_added_at_a_time():
    """Numbers of rows of 30 and of 120 pairs that are crossed."""
    found = []
    for count in (30, 120):
        step = stand_in(_Step, detection=SimpleNamespace(mesh=SimpleNamespace(x=np.zeros((4, 3)))), v=np.zeros((4, 3)))
        rows, _ = _Step._pairs(step, np.zeros((count, 4), int), np.ones((count, 4)), np.ones((count, 3)),
                               (np.arange(count), 1.0, np.ones(count)), np.arange(count))
        found.append(len(rows.target))
    return found


UNITS = (
    surfaces_that_come_nearer, cloth_that_lifts_off, tries_of_remeshing, steps_with_unjoined_vertices,
    vertices_around_an_intersection, tries_of_steps_of_sliding_cloth, substeps_of_sliding_cloth, obstacles_that_are_off,
    vertices_on_their_feature, barriers_without_digits, rounds_through_an_obstacle, friction_that_agrees,
    region_of_an_intersection, depths_that_are_asked_about, rows_that_are_added_at_a_time)
