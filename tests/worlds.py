"""Worlds of job folders, for tests that look at their parts."""

from solver.build.soft_bodies import assemble, prepare_all
from solver.build.world import build


def quiet(*stage):
    """Discard the progress of a stage."""


def nodes_of(job, report=quiet, volumes=None):
    """All soft bodies of a job as one part, whatever the method."""
    return assemble(job, prepare_all(job, report, volumes))


def world_of(job, report=quiet, volumes=None):
    """The world that a bake of the job steps."""
    return build(job, report, volumes)[0]
