"""Gathering of Blender's data into a job folder, one file for each source."""

from .animated import refusal as animated_refusal
from .beside import Beside, Groups
from .beside import look as look_beside
from .evaluation import check_mode
from .in_memory import mechanism_now
from .job import write_job, write_job_steps
from .mesh import start_mesh
from .placed import moved
from .sources import plan
from .stack import count_at_mark
from .stale import changed_settings, labels

__all__ = ["Beside", "Groups", "animated_refusal", "changed_settings", "check_mode", "count_at_mark", "labels",
           "look_beside", "mechanism_now", "moved", "plan", "start_mesh", "write_job", "write_job_steps"]
