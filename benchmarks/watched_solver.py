"""The solver's command line with a report on contact, which contact_scenes runs as the worker's module.

Writes seconds and steps, the numbers of halved and linearised steps, and for the frames the smallest distance of the
skins of the tetrahedra and whether they intersect, as JSON, to the file named in CONJAC_WATCHED. The steps themselves
are not modified: the clock is around a frame, and distances are computed when the frame's file is written anyway.
"""

from __future__ import annotations

import json
import os
import re
import sys
import time
from typing import Any

from solver import cli, groups, simulate
from solver.contact.laws.embedded import Embedded
from solver.job.schema import step_size

CALMED, LINEARISED = re.compile(r"(\d+) steps? \w+ too violent"), re.compile(r"(\d+) of the shortest steps")
CLOCKS = {"stepping_s": time.perf_counter, "processor_s": time.process_time}  #: of all threads, the second one


class Watch:
    """Events of a bake, frame by frame."""

    def __init__(self) -> None:
        self.step_log: dict[str, Any] = {"frames": 0, "steps": 0, "halved": 0, "shortest_s": None, "calmed": 0,
                                         "linearised": 0, "most_pairs": 0, "clearance": None, "crossing": [],
                                         **dict.fromkeys(CLOCKS, 0.0)}
        self._worlds: list[Any] = []  #: a cut makes a new one, which counts anew

    def advanced(self, world: Any, timeline: Any, halved: Any, spent: dict[str, float]) -> None:
        """A frame was stepped."""
        count, h = step_size(timeline.fps, timeline.step)
        self.step_log["steps"] += count
        self.step_log["halved"] += len(halved)
        self.step_log["shortest_s"] = min([self.step_log["shortest_s"] or h, *(tried / 2 for tried, _ in halved)])
        for key, seconds in spent.items():
            self.step_log[key] += seconds
        if not any(world is one for one in self._worlds):
            self._worlds.append(world)
        sentences = [sentence for one in self._worlds for sentence in one.summary]
        for key, pattern in (("calmed", CALMED), ("linearised", LINEARISED)):
            self.step_log[key] = sum(int(found[1]) for sentence in sentences if (found := pattern.search(sentence)))

    def look(self, world: Any, state: Any, frame: int) -> None:
        """At the skins of the tetrahedra, and of what they meet, in a frame."""
        self.step_log["frames"] += 1
        for part, mine in zip(world.parts, world.split_state(state)):
            for law in getattr(part, "contacts", ()):
                x = part.coordinates.positions(mine.q, mine.time, mine.carrier_motion)
                near = law.contact_forces(x)[:, -1]  # before the exact test: the step's own answer to the same question
                self.step_log["most_pairs"] = max(self.step_log["most_pairs"], len(near))
                farthest = [] if self.step_log["clearance"] is None else [self.step_log["clearance"]]
                if len(near) or farthest:
                    self.step_log["clearance"] = float(min([*near, *farthest]))
                if crossing(law, x):
                    self.step_log["crossing"].append(frame)


def crossing(law: Any, x: Any) -> bool:
    """Whether what touches goes through anything at positions of all nodes (n, 3) [m], by the exact test."""
    if isinstance(law, Embedded):
        return law.inner.surfaces.intersection(law.embedded.positions(x)) is not None
    return law.surfaces.intersection(x) is not None


def main() -> int:
    watch = Watch()
    advance_frame, write = simulate.advance_frame, simulate.write
    advance_groups = groups.GroupSteps.advance_frame

    def timed(world: Any, state: Any, timeline: Any, frame: int, stop: Any, halved: Any, *others: Any) -> Any:
        began = {key: clock() for key, clock in CLOCKS.items()}
        after = advance_frame(world, state, timeline, frame, stop, halved, *others)
        watch.advanced(world, timeline, halved, {key: clock() - began[key] for key, clock in CLOCKS.items()})
        return after

    def groups_timed(self: Any, world: Any, state: Any, timeline: Any, frame: int, stop: Any, halved: Any) -> Any:
        began = {key: clock() for key, clock in CLOCKS.items()}
        after = advance_groups(self, world, state, timeline, frame, stop, halved)
        watch.advanced(world, timeline, halved, {key: clock() - began[key] for key, clock in CLOCKS.items()})
        return after

    def watched(world: Any, state: Any, frame: int, *others: Any) -> None:
        watch.look(world, state, frame)
        write(world, state, frame, *others)

    simulate.advance_frame, simulate.write = timed, watched
    groups.GroupSteps.advance_frame = groups_timed  # type: ignore[method-assign]
    code = cli.main()
    with open(os.environ["CONJAC_WATCHED"], "w", encoding="utf-8") as file:
        json.dump(watch.step_log, file)
    return code


if __name__ == "__main__":
    sys.exit(main())
