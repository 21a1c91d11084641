"""Engine of soft bodies on skinning eigenmodes. Its steps cost the same on any mesh and are those of a bake."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import permutations

from ...build.fields import Prepared
from ...build.filled import CELLS, fill_quickly
from ...build.soft_bodies import prepare_all
from ...errors import BadInput
from ...job.folder import Job
from ...job.kinds import kind_of
from ...job.schema import Scene
from ...state import Mask
from ..body_contact import resolve_contact
from ..reduced import LiveBody
from .interface import Inputs
from .separate_bodies import SeparateBodiesEngine


class ModesEngine(SeparateBodiesEngine[LiveBody]):
    """Live simulation of soft bodies with a few dozen coordinates each, in contact at points of their surface."""

    iterations = (4, 1, 1)
    _job: Job | None = None  #: the first job, filled with cells

    @staticmethod
    def plays(scene: Scene) -> bool:
        """Whether a scene has only volumetric soft bodies, without attachments, mechanisms, forces or constraints."""
        return bool(scene.bodies) and not (scene.mechanisms or scene.forces or scene.constraints) and not any(
            not kind_of(body).is_filled or body.attach for body in scene.bodies)

    def _prepare(self, job: Job) -> tuple[Job, Sequence[Prepared]]:
        if not self.plays(job.scene):
            raise BadInput("only soft bodies can be played on skinning eigenmodes", "Play it by Coarse Cells")
        job, volumes = fill_quickly(job, CELLS, self._report, self._job)
        self._job = self._job or job
        return job, prepare_all(job, self._report, volumes)

    def _body(self, job: Job, number: int, prepared: Prepared) -> LiveBody:
        return LiveBody(job, number, prepared, self._report)

    def _set_up(self, job: Job) -> None:
        super()._set_up(job)
        self._pairs = contact_pairs(self._in_contact)

    def _step_body(self, number: int, h: float, iterations: int, inputs: Inputs) -> None:
        self.bodies[number].step(h, iterations, inputs)

    def _resolve_contact(self) -> None:
        resolve_contact(self.bodies, self._pairs)


def contact_pairs(in_contact: Mask) -> list[tuple[int, int]]:
    """Return pairs of bodies in contact, tested points of the first. in_contact: which touch, (b, b), symmetric."""
    return [(i, k) for i, k in permutations(range(len(in_contact)), 2) if in_contact[i, k]]
