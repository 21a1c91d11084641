"""Messages of a bake on edges that were drawn out into needles. Standard library only."""

from __future__ import annotations

from collections.abc import Collection

LONGEST = 4.0  #: times its length at rest: an edge that is longer is reported


def describe(name: str, frames: Collection[int], longest: float) -> str:
    """Return a message, without a full stop, on a body whose edges were too long. name: of the body. frames: those in
    which they were. longest: largest ratio of a length to that at rest."""
    first, last = min(frames), max(frames)
    where = f"frame {first}" if first == last else f"frames {first} to {last}"
    if first != last and len(frames) < last - first + 1:
        where = f"{len(frames)} of the frames {first} to {last}"
    return (f'"{name}" is drawn out in {where}: edges are up to {longest:.2g} times as long as at rest. Take smaller '
            "steps, or make it stiffer")
