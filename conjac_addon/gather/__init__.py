"""Blender data → job folder, one file a source."""

from .job import write_job, write_job_steps
from .mesh import start_mesh
from .stack import count_at_mark
from .stale import changed_settings, labels

__all__ = ["changed_settings", "count_at_mark", "labels", "start_mesh", "write_job", "write_job_steps"]
