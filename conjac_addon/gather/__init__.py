"""Blender data → job folder, one file a source."""

from .job import changed_settings, labels, write_job, write_job_steps
from .stack import count_at_mark

__all__ = ["changed_settings", "count_at_mark", "labels", "write_job", "write_job_steps"]
