"""The solver's command line with a clock around its stepping: what bake_overhead runs as the worker's module.

Writes when the first step began and how long all steps took, as JSON, to the file named in CONJAC_STEP_TIMES.
Nothing inside the steps is touched, so they run as they always do.
"""

from __future__ import annotations

import json
import os
import sys
import time
from typing import Any

from solver import cli, simulate


def main() -> int:
    times: dict[str, Any] = {"first": None, "seconds": 0.0, "frames": 0}
    advance_frame = simulate.advance_frame

    def timed(*arguments: Any, **named: Any) -> Any:
        if times["first"] is None:
            times["first"] = time.time()
        began = time.perf_counter()
        state = advance_frame(*arguments, **named)
        times["seconds"] += time.perf_counter() - began
        times["frames"] += 1
        return state

    simulate.advance_frame = timed
    code = cli.main()
    with open(os.environ["CONJAC_STEP_TIMES"], "w", encoding="utf-8") as file:
        json.dump(times, file)
    return code


if __name__ == "__main__":
    sys.exit(main())
