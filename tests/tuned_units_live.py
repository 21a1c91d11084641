"""Small systems in which tuned constants of live/ steer; see `tuned_units`."""

import tempfile
from functools import cache
from pathlib import Path
from types import SimpleNamespace

import numpy as np
from mechanisms import double_pendulum, mechanism_job
from small_jobs import write_job
from solids import ball, square
from solids import box as cube
from tuned_units_contact import Interpreted

from solver.job.load import load
from solver.live import board, body_contact, fading, layer_kernels, layers, skins
from solver.live.bumps import Bump, BumpMesh
from solver.live.clock import FixedClock
from solver.live.engines import world
from solver.live.engines.interface import Hold, Inputs, in_cells
from solver.live.engines.modes import ModesEngine
from solver.live.grabbing import around, radius_of, strength_of
from solver.live.inside_fractions import fraction_inside
from solver.live.pace import Effort, Timekeeper
from solver.live.prescribed_bumps import PrescribedBump
from solver.live.recording import Recording
from solver.live.run import Live, control
from solver.meshing.cells import Cells
from solver.meshing.grid import box_tets

H = 1 / 60
DOWN = np.array([0.0, 0.0, -9.81])


def _quiet(*_):
    pass


class _Interrupted:
    """Number of the newest message, which is looked up so many times; a writer is at it all the time."""

    def __init__(self):
        self.looks = 0

    def __getitem__(self, _):
        self.looks += 1
        return 1


def messages_that_are_being_written():
    """Number of times that a message is read that another process is writing."""
    slot = board.Slot(memoryview(bytearray(board.Slot.room(16))), 0, 16)
    slot._newest = _Interrupted()
    assert slot.read() is None
    return slot._newest.looks


class _Affine:
    """Ball that moves affinely and meets another one in a step."""

    def __init__(self, height, speed, radius=1.0):
        rest, triangles = ball(32)
        rest = radius * rest
        self.rows, self.triangles = np.concatenate([np.ones((len(rest), 1)), rest], axis=1), triangles
        self.state, self.friction = SimpleNamespace(y=np.zeros((4, 3))), skins.friction_of(None)
        self.moved, self.step = np.zeros((4, 3)), np.array([0.03, 0.0, -speed])
        self.start, self.skin = rest + [0.0, 0.0, height], skins.Skin(rest, triangles)
        self.body = SimpleNamespace(responses=lambda forces: forces, subspace=SimpleNamespace(size=2.0 * radius))

    def surface_motion(self):
        end = self.start + self.step
        return skins.SurfaceMotion(self.skin, end, self.start, end, self.start)

    def rows_of(self, contact, is_first):
        return (self.rows[contact.points] if is_first
                else np.einsum("kc,kcp->kp", contact.weights, self.rows[contact.corners]))

    def displace(self, moved):
        self.moved = moved.reshape(3, 4).T


def bodies_that_meet():
    """Displacements of two balls by contact, to nine digits, where one moves into the other and where it was inside."""
    found = []
    for height, speed in ((2.01, 0.3), (1.7, 0.0)):
        bodies = [_Affine(0.0, 0.0), _Affine(height, speed)]
        body_contact.resolve_contact(bodies, [(1, 0), (0, 1)])
        found.append([body.moved.round(9).tolist() for body in bodies])
    return found


def points_of_a_skin():
    """Sampled points of a ball's surface, to nine digits."""
    x, triangles = ball(8)
    return skins.Skin(x, triangles).points(x).round(9).tolist()


def contacts_of_balls():
    """Gaps of contacts, to nine digits, between balls that are so deep in each other."""
    found = []
    for height in (1.95, 1.2):
        upper, lower = _Affine(height, 0.05), _Affine(0.0, 0.0)
        contacts = skins.surface_contacts(upper.surface_motion(), lower.surface_motion(), 30)
        found.append(None if contacts is None else contacts.gaps.round(9).tolist())
    return found


def positions_beside_a_triangle():
    """Whether positions beside a triangle, in its sizes, are projected onto its plane."""
    x, triangles = np.array([[0.0, 0, 0], [1, 0, 0], [0, 1, 0]]), np.array([[0, 1, 2]])
    skin = skins.Skin(x, triangles)
    return [bool(np.abs(skin.below(np.array([0]), np.array([[off, 0.0, 0.0]]), x)).max() > 1.0) for off in (2.0, 9.0)]


def velocities_that_fade():
    """Velocity after a step of a body with pins that is damped, to twelve digits."""
    body = SimpleNamespace(pins=SimpleNamespace(groups=[1]))

    class State(SimpleNamespace):
        def __replace__(self, **changes):
            return State(**{**vars(self), **changes})

    fading_replace, fading.replace = fading.replace, lambda state, u: State(u=u)
    try:
        return fading.damp_oscillations(State(u=np.ones((1, 3))), H, 0.1, body, np.zeros((1, 3))).u.round(12).tolist()
    finally:
        fading.replace = fading_replace


def parts_of_a_body_that_are_grabbed():
    """Number of nodes that a hand grabs on a bar, and its stiffness [N/m]."""
    nodes = box_tets((40, 4, 4), (1.0, 0.1, 0.1))[0]
    return len(around(nodes, nodes[0], radius_of(0.0, 1.0))[0]), round(strength_of(2.0, 1.0), 9)


def cells_that_are_inside_in_part():
    """Fractions of the cells of a coarse and a fine ball that are inside of them, to nine digits."""
    found = []
    for segments in (4, 16):
        x, triangles = ball(segments)
        nodes, tets = Cells().mesh(x, triangles, {"edge_length": 0.5})
        found.append(fraction_inside(nodes, tets, x, triangles).round(9).tolist())
    return found


def boxes_of_vertices():
    """Numbers of boxes along the axes into which vertices of a long sheet are sorted."""
    x, start = square(12)[0] * [1.0, 0.1, 1.0], np.zeros(layers.BOXES**3 + 1, np.int32)
    grid, shape, order = np.zeros(6), np.zeros(3, np.int64), np.zeros(len(x), np.int32)
    with Interpreted(layer_kernels):
        layer_kernels.sort_into_boxes(x, 0.01, grid, shape, np.zeros((len(x), 3), np.int32), start, order)
    return shape.tolist()


def sheets_that_face_each_other():
    """Numbers of planes between two sheets that approach each other, and of those that there is room for."""
    x, triangles = square(12)
    layer = layers.Layer(layers.neighbours(triangles, len(x)), triangles, len(x), 1 / 12, 0.02, 0.4)
    both = layers.Layers([layer, layer], np.array([[False, True], [True, False]]))
    upper = x * [1.0, 1.0, 0.0] + [0.03, 0.02, 0.03] + np.outer(x[:, 0], [0.0, 0.0, 0.06])
    planes = both.planes([x, upper], [np.zeros_like(x), np.zeros_like(x)], H)
    return len(planes[0].nodes), len(both._pairs)


def _played(costs, frames, busy):
    """Efforts and rates, frame by frame. costs: of the efforts, of their time. busy: factor of a frame's costs."""
    pace, found = Timekeeper([Effort("", 0.02), Effort("fewer iterations", 0.02), Effort("longer steps", 0.04)]), []
    for frame in range(frames):
        spent = 0.0
        while pace.is_due and spent < 0.1:
            cost = costs[pace.effort] * pace.step * busy(frame)
            pace.took(cost)
            spent += cost
        pace.pass_time(max(spent, 0.3 if frame % 700 == 13 else 0.02))
        found.append((pace.effort, pace.rate))
    return found


def efforts_of_a_slow_computer():
    """Efforts and rates, frame by frame, where steps cost so much of their time."""
    return [_played(costs, 2000, lambda frame: 1.0 if frame % 1000 < 500 else 0.55) for costs in (
        (0.9, 0.5, 0.2), (1.5, 0.7, 0.3), (1.2, 0.95, 0.9), (6.0, 2.5, 0.8), (0.7, 0.3, 0.1))]


def efforts_that_are_tried_again():
    """Efforts and rates, frame by frame, of a computer that is too slow for long, and then quick for a while."""
    pauses = ((2000, 2300), (2600, 5600))
    return _played((0.9, 0.3, 0.1), 9000,
                   lambda frame: 0.5 if any(first <= frame < last for first, last in pauses) else 1.0)


def motion_of_a_flat_obstacle():
    """Affine motion, to six digits, of obstacles of this thickness that are sheared."""
    found = []
    for thin in (1e-11, 1e-7):
        x = cube((0, 0, 0), (1, 1, thin))[0]
        sheared = x + np.outer(x[:, 2], [0.5, 0.0, 0.0])
        bump = PrescribedBump(x, None, SimpleNamespace(at=lambda time, sheared=sheared: sheared), 0)
        found.append(bump.in_step(0.0, H).matrix.round(3).tolist())
    return found


def frames_of_a_recording():
    """Number of frames of recordings whose end lacks so much of a frame."""
    found = []
    for short in (1e-8, 1e-4):
        recording = Recording(24.0)
        for time in (0.0, (2.0 - short) / 24.0):
            recording.add(time, np.zeros((1, 3)), np.zeros((0, 4, 4)))
        found.append(recording.frames)
    return found


def efforts_of_mechanisms():
    """Lengths of steps of mechanisms and of soft bodies [s]."""
    return [effort.step for h in (1 / 200, 1 / 100) for rigid in (True, False) for effort in world._efforts(h, rigid)]


@cache
def _folder():
    """A folder with a job of a soft cube with a surface, and one of a pendulum."""
    folder = tempfile.TemporaryDirectory()
    vertices, triangles = cube((-0.05, -0.05, -0.05), (0.05, 0.05, 0.05))
    body = {"name": "Cube", "surface": {"vertices": "arrays/v.npy", "triangles": "arrays/t.npy"},
            "material": {"kind": "stable_neo_hookean", "params": {"youngs_modulus": 4e4, "poisson_ratio": 0.4}},
            "mesher": {"kind": "cells", "params": {"edge_length": 0.03}}, "wobble_half_life": 0.2}
    scene = {"version": 1, "name": "cube", "time": {"start": 1, "end": 1, "fps": 30, "step": H}, "bodies": [body],
             "contact": {"law": {"kind": "barrier"}}}
    write_job(Path(folder.name) / "cube", scene, {"v": vertices, "t": triangles})
    mechanism_job(Path(folder.name) / "pendulum", *double_pendulum(), step=1 / 96)
    return folder


def cells_of_what_is_played():
    """Edge of the cells that a soft body gets."""
    [body] = in_cells(load(Path(_folder().name) / "cube")).scene.bodies
    return body.mesher


def hand_on_a_mechanism():
    """Poses of a pendulum, to nine digits, after three steps in which a hand pulls it."""
    engine = world.WorldEngine(load(Path(_folder().name) / "pendulum"), _quiet)
    tip = engine.poses[1, :3, 3]
    for _ in range(3):
        engine.step(0, Inputs(np.zeros(3), grabs=(Hold(1, tip, tip + [0.1, 0.0, 0.3], 0.0, 1.0, rigid=1),)))
    return engine.poses.round(9).tolist()


def cube_that_is_played():
    """Positions of a soft cube, to nine digits, that a hand draws along a collider, and whether it is then thrown so
    far away, in its sizes."""
    engine = ModesEngine(load(Path(_folder().name) / "cube"), _quiet)
    start = engine.positions[0]
    wall = BumpMesh(*cube((0.051, -1.0, -1.0), (1.0, 1.0, 1.0)))
    for _ in range(3):
        engine.step(0, Inputs(DOWN, grabs=(Hold(1, start, start + [0.1, 0.0, 0.02], 0.0, 20.0),),
                              bumps=(Bump(wall, np.eye(4)),)))
    [body] = engine.bodies
    thrown = [body._is_in_world(SimpleNamespace(y=np.full((1, 1), far * body.body.subspace.size * body._mass**0.5)))
              for far in (20.0, 200.0)]
    return engine.positions.round(9).tolist(), thrown


class _Engine:
    """Engine whose steps cost a millisecond of a clock."""

    efforts, restarts, positions, poses, grabbed = [Effort("", 0.002)], 0, np.zeros((1, 3)), np.zeros((0, 4, 4)), []

    def __init__(self, clock):
        self.clock, self.steps = clock, 0

    def step(self, effort, inputs):
        self.clock.wait(0.001)
        self.steps += 1

    def take_notes(self):
        return []


def loop_that_falls_behind():
    """Numbers of steps until what is done is shown, and of updates until a slow step is due."""
    clock = FixedClock()
    with tempfile.TemporaryDirectory() as folder:
        shared = board.create_board(Path(folder) / "board", 1, np.zeros(3))
        engine = _Engine(clock)
        live = Live(Path(_folder().name) / "cube", engine, shared, clock)
        shared.write_control(control(DOWN))
        live.update()
        clock.wait(0.2)
        live.update()
        engine.efforts, updates, until = [Effort("", 1.0)], [], clock.now() + 1.0
        live._pace = Timekeeper(engine.efforts)
        live.run(lambda: updates.append(1) or clock.now() > until)
        shared.close()
    return engine.steps, len(updates)


UNITS = (
    messages_that_are_being_written, bodies_that_meet, points_of_a_skin, contacts_of_balls,
    positions_beside_a_triangle, velocities_that_fade, parts_of_a_body_that_are_grabbed, cells_that_are_inside_in_part,
    boxes_of_vertices, sheets_that_face_each_other, efforts_of_a_slow_computer,
    efforts_that_are_tried_again, motion_of_a_flat_obstacle,
    frames_of_a_recording, efforts_of_mechanisms, cells_of_what_is_played, hand_on_a_mechanism, cube_that_is_played,
    loop_that_falls_behind)
