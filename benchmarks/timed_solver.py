"""The solver's command line with timers around its steps, which bake_overhead runs as the worker's module.

Writes the start of the first step and the duration of all steps, as JSON, to the file named in CONJAC_STEP_TIMES. The
steps themselves are not modified.
"""

from __future__ import annotations

import json
import os
import sys
import time
from functools import partial
from typing import Any

from solver import cli, groups, simulate


def main() -> int:
    times: dict[str, Any] = {"first": None, "seconds": 0.0, "frames": 0}
    def clocked(advance: Any, *arguments: Any, **named: Any) -> Any:
        if times["first"] is None:
            times["first"] = time.time()
        began = time.perf_counter()
        state = advance(*arguments, **named)
        times["seconds"] += time.perf_counter() - began
        times["frames"] += 1
        return state

    simulate.advance_frame = partial(clocked, simulate.advance_frame)
    advance_groups = groups.GroupSteps.advance_frame
    groups.GroupSteps.advance_frame = (  # type: ignore[method-assign, assignment]
        lambda self, *rest: clocked(advance_groups, self, *rest))
    code = cli.main()
    with open(os.environ["CONJAC_STEP_TIMES"], "w", encoding="utf-8") as file:
        json.dump(times, file)
    return code


if __name__ == "__main__":
    sys.exit(main())
