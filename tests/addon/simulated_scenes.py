"""Scenes that the add-on's operators make, gathered and simulated in this process, with the price of each frame."""

from dataclasses import dataclass, replace

import bpy
import numpy as np

from solver.build.world import build
from solver.groups import GroupSteps
from solver.job.load import load
from solver.reshape.regroup import Regroup
from solver.simulate import Halved, Timeline
from solver.world.soft_system import SoftSystem


@dataclass(frozen=True)
class Frame:
    """A simulated frame. nodes: of all bodies. factors: matrix factorizations in it. shortest: its shortest step [s].
    vertices: those of all bodies, in object space, by name."""

    number: int
    nodes: int
    factors: float
    halved: int
    shortest: float
    vertices: dict[str, np.ndarray]


def gathered(obj, folder, frames):
    """The job of an object and of all that is baked with it, from frame 1 to `frames` at 24 a second."""
    from conjac.conjac_addon import gather, members

    scene = bpy.context.scene
    scene.frame_start, scene.frame_end, scene.render.fps = 1, frames, 24
    bpy.context.view_layer.update()
    gather.write_job(members.owner(obj), scene, folder)
    return load(folder)


def simulated(job):
    """Each frame of a job but the first one."""
    regroup, seen = Regroup(job), {}
    world, line = build(job, lambda *_: None, grouping=regroup.begin).world, Timeline.of(job.scene.time)
    groups = GroupSteps(regroup)
    state, before = groups.begin(replace(world.initial_state(), time=0.0)), 0.0
    for number in range(line.start + 1, line.end + 1):
        halved = Halved()
        world, state = groups.advance_frame(world, state, line, number, lambda: False, halved)
        # parts of groups that merged are worlds' no more, but their factors count
        seen |= {id(part): part for part in world.parts}
        factors = sum(part.factored for part in seen.values() if isinstance(part, SoftSystem))
        nodes = sum(len(part.rest) for part in world.parts if isinstance(part, SoftSystem))
        x = world.output(state, number - line.start)
        yield Frame(number, nodes, factors - before, len(halved), halved.shortest if halved else line.step,
                    {name: x[first : first + count] for name, first, count in world.bodies})
        before = factors
