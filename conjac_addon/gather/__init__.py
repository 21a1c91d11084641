"""Blender data → job folder, one file a source."""

from .job import changed_settings, frame_range, scene_settings, write_job, write_job_steps

__all__ = ["changed_settings", "frame_range", "scene_settings", "write_job", "write_job_steps"]
