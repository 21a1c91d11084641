"""From a job to the world of soft bodies that hang on bones: who rides on what, and both worlds in one."""

from __future__ import annotations

import numpy as np

from .. import catalogue
from ..coordinates.attached import RidingNodes
from ..coordinates.free_nodes import FreeNodes
from ..coordinates.prescribed import Motion
from ..job.folder import Job
from ..meshing.volume import Volume
from ..state import Index, Vec
from ..world.beside import Beside
from .soft_bodies import assemble, prepare_all
from .fields import Prepared
from ..world.joined import JoinedWorld, rates_that_move
from ..world.mechanism import MechanismWorld
from .riders import riders
from .volumes import Stage as Report


def build_joined(job: Job, report: Report, volumes: list[Volume], rigid: MechanismWorld) -> Beside:
    """The world of soft bodies of which some hang on a mechanism. Raises as `build.build` does."""
    prepared = prepare_all(job, report, volumes)
    report("world", None, None, "Analysing the stiffness matrix")
    bearings = [joint.friction for one in job.scene.mechanisms for joint in one.joints]
    bearings += [loop.friction for one in job.scene.mechanisms for loop in one.loops]
    by_body = job.scene.joint_friction.kind != "none" and any(one is not None for one in bearings)
    riding = Riding(prepared, rigid, 1.0 / (job.scene.time.fps * job.scene.time.samples_per_frame), by_body)
    soft = assemble(job, prepared, riding.coordinates)
    if not len(riding.riders):
        return Beside(soft, rigid)
    return JoinedWorld(soft, rigid, by_body, catalogue.find("integrator", job.scene.integrator.kind).iterates)


class Riding:
    """Makes the coordinates of soft bodies of which some hang on a mechanism."""

    def __init__(self, prepared: list[Prepared], rigid: MechanismWorld, interval: float, by_body: bool) -> None:
        """interval: between samples of what moves as told [s]."""
        self._prepared, self._rigid, self._interval, self._by_body = prepared, rigid, interval, by_body
        self.riders: Index = np.zeros(0, dtype=np.int32)  #: nodes on bodies that joints move

    def coordinates(self, rest: Vec, prescribed: Index, motion: Motion | None, first: Index) -> FreeNodes:
        """Nodes on bodies that nothing moves, or that move as told, are prescribed; the others ride."""
        on = riders(self._prepared, first, self._rigid)
        nodes, motion = on.led(rest, prescribed, motion, self._interval)
        self.riders = on.attached.nodes
        if not len(self.riders):
            return FreeNodes(rest, nodes, motion)
        tree, bodies = self._rigid.tree, on.attached.bodies
        columns = 6 * len(np.unique(bodies)) if self._by_body else len(rates_that_move(tree, bodies))
        return RidingNodes(rest, nodes, motion, on.attached, columns)
