"""Job folders of jointed bodies, written by hand."""

from pathlib import Path

import numpy as np
from small_jobs import write_job

from solver.build.mechanisms import build_mechanisms
from solver.job.load import load

HINGE_ALONG_Y = [0.5**0.5, -(0.5**0.5), 0, 0]  #: quaternion (w, x, y, z) that turns Z to Y


def mechanism_job(folder: Path, bodies, joints, *, end=3, fps=24, step=1 / 24, samples=None, loops=(), springs=(),
                  arrays=None, integrator="semi_implicit", beta=1.0, tolerance=1e-11, name="Robot", **scene) -> Path:
    """A scene with a single mechanism."""
    time = {"start": 1, "end": end, "fps": fps, "step": step, "snapshot_every": 2,
            **({} if samples is None else {"samples_per_frame": samples})}
    mechanism = {"name": name, "bodies": bodies, "joints": joints, "loops": list(loops), "springs": list(springs)}
    return write_job(folder, {
        "version": 1, "name": "robot", "time": time, "mechanisms": [mechanism], "integrator": {"kind": integrator},
        "method": {"kind": "vanilla", "params": {"beta": beta}},
        "stage_solver": {"kind": "newton_d", "params": {"tolerance": max(tolerance, 1e-12), "iterations": 100}},
        **scene}, arrays or {})


def mechanism_world(folder: Path, bodies, joints, **options):
    """The world of a scene with a single mechanism."""
    return build_mechanisms(load(mechanism_job(folder, bodies, joints, **options)))


def double_pendulum(rates=(1.5, -2.0)):
    """Two boxes that hang on hinges about Y, the first in the world's origin, held out along X. [kg, m]"""
    bodies = [{"name": "Upper", "position": [0.3, 0, 0], "mass": 2.0,
               "shape": {"kind": "box", "params": {"size_x": 0.6, "size_y": 0.1, "size_z": 0.1}}},
              {"name": "Lower", "position": [1.0, 0, 0], "mass": 1.0,
               "shape": {"kind": "box", "params": {"size_x": 0.8, "size_y": 0.1, "size_z": 0.1}}}]
    joints = [{"name": "Shoulder", "child": "Upper", "rotation": HINGE_ALONG_Y, "rate": [rates[0]]},
              {"name": "Elbow", "child": "Lower", "parent": "Upper", "position": [0.6, 0, 0],
               "rotation": HINGE_ALONG_Y, "rate": [rates[1]]}]
    return bodies, joints


def run(world, h, steps, state=None):
    """The state after so many steps."""
    state = world.initial_state() if state is None else state
    for _ in range(steps):
        state = world.step(state, h)
    return state


def random_free_tree():
    """A free body with two arms on a ball and a universal joint, a slider at the end of one."""
    box = {"kind": "box", "params": {"size_x": 0.3, "size_y": 0.2, "size_z": 0.5}}
    bodies = [{"name": "Trunk", "shape": box}, {"name": "Left", "position": [0.5, 0, 0], "shape": box, "mass": 4.0},
              {"name": "Right", "position": [-0.5, 0, 0], "shape": box, "mass": 3.0},
              {"name": "Tip", "position": [0.9, 0.1, 0], "shape": {"kind": "sphere", "params": {"radius": 0.1}}}]
    joints = [{"name": "Root", "kind": "free", "child": "Trunk", "rate": [1.0, 2.0, -1.0, 0.3, 0.2, 0.5]},
              {"name": "Ball", "kind": "spherical", "child": "Left", "parent": "Trunk", "position": [0.2, 0, 0],
               "rate": [2.0, -1.0, 1.0]},
              {"name": "Cardan", "kind": "universal", "child": "Right", "parent": "Trunk", "position": [-0.2, 0, 0],
               "rate": [1.0, -2.0]},
              {"name": "Slide", "kind": "prismatic", "child": "Tip", "parent": "Left", "position": [0.8, 0, 0],
               "rotation": list(np.array([1.0, 0.3, 0.2, 0.1])), "rate": [0.4]}]
    return bodies, joints
