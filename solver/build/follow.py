"""Bodies of a job that take part in the motion of an object."""

from __future__ import annotations

from ..job.folder import Job
from ..state import Index
from ..world.following import Followers, Following
from .fields import Prepared
from .inputs import number_over_time, over_time


def followers(job: Job, prepared: list[Prepared], first: Index) -> Followers | None:
    """Return the bodies that take part in the motion of an object; None without any. first: first node of each body,
    (bodies + 1,)."""
    followed = [Following(slice(int(start), int(stop)), over_time(job, prepared_body.body.follow.motion),
                          number_over_time(job, prepared_body.body.follow.share))
                for prepared_body, start, stop in zip(prepared, first, first[1:])
                if prepared_body.body.follow is not None]
    return Followers(followed) if followed else None
