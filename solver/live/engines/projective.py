"""Engine of cloth, ropes and soft bodies on projective dynamics: each step is a few iterations on one factor."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from msgspec import structs

from ...build.fields import Prepared
from ...build.soft_bodies import prepare_all
from ...build.volumes import volumes_of
from ...errors import BadInput
from ...job.folder import Job
from ...job.kinds import kind_of
from ...job.schema import Scene
from ...job.schema_values import Choice
from ...parts.projective.body import TargetRows
from ..layers import Layers
from ..projected import ProjectedBody
from .interface import Inputs, in_cells
from .separate_bodies import SeparateBodiesEngine


class ProjectiveEngine(SeparateBodiesEngine[ProjectedBody]):
    """Live simulation of cloth, ropes and soft bodies, which are coupled only by contact between sheets of cloth."""

    iterations = (10, 5, 8)
    longer = (2, 3)

    @staticmethod
    def plays(scene: Scene) -> bool:
        """Whether a scene has only cloth, without attachments, seams, mechanisms, forces or constraints."""
        return _is_uncoupled(scene) and all(kind_of(body).is_sheet for body in scene.bodies)

    def _prepare(self, job: Job) -> tuple[Job, Sequence[Prepared]]:
        if not _is_uncoupled(job.scene):
            raise BadInput("attached or sewn cloth is not played by projective dynamics",
                           "Play it by Coarse Cells")
        job = _by_projections(job)
        return job, prepare_all(job, self._report, volumes_of(job, self._report))

    def _body(self, job: Job, number: int, prepared: Prepared) -> ProjectedBody:
        return ProjectedBody(job, number, prepared, self._report)

    def _set_up(self, job: Job) -> None:
        super()._set_up(job)
        self._layers = Layers([body.layer for body in self.bodies], self._in_contact)
        self._layer_rows: list[TargetRows] = []

    def _detect_contact(self, h: float) -> None:
        self._layer_rows = self._layers.planes([body.x for body in self.bodies], [body.v for body in self.bodies], h)

    def _step_body(self, number: int, h: float, iterations: int, inputs: Inputs) -> None:
        self.bodies[number].step(h, iterations, inputs, [self._layer_rows[number]])


def _is_uncoupled(scene: Scene) -> bool:
    """Whether each body moves independently."""
    return bool(scene.bodies) and not (scene.mechanisms or scene.forces or scene.constraints) and not any(
        body.attach or kind_of(body).is_sewn for body in scene.bodies)


def _by_projections(job: Job) -> Job:
    """Return the job with projective dynamics instead of its method, and cells instead of its mesher."""
    job = in_cells(job)
    bodies = [structs.replace(body, method=None, integrator=None) for body in job.scene.bodies]
    return replace(job, scene=structs.replace(job.scene, bodies=bodies, method=Choice("projective"),
                                              integrator=Choice("bdf2")))
