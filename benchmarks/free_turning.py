"""Compare Free Turning, linearised SDIRK2 without stiffness against rotation, with the same without it and the default.

    python -m benchmarks.free_turning
    python -m benchmarks.free_turning --only bar,ears

Scenes of `lively`: what is kept of the truth and what it costs, as there, at steps of 1/24 to 1/96 s. `braked` are the
steps that would have gained energy so and were taken with that stiffness, `calmed` steps are told in the notes. All are
Vanilla FEM; `free_turning_keeps` and `free_turning_costs` are of BAR at 1/48 s.
"""

from __future__ import annotations

from benchmarks import lively
from benchmarks.lively_scenes import WATCHED
from benchmarks.mixed import chosen_scenes, scene_rows
from benchmarks.report import claim, emit

STEPS = (1 / 24, 1 / 48, 1 / 96)
BRAKED, FREE = "Vanilla, Semi-Implicit SDIRK2", "Vanilla, Semi-Implicit SDIRK2, Free Turning"
SETTINGS = {label: lively.Setting("vanilla", "ssdirk2") for label in (BRAKED, FREE)} | {
    lively.DEFAULT: lively.Setting("vanilla", "sdirk2", {"kind": "quick"})}


def main() -> None:
    names, only = chosen_scenes(__doc__.partition("\n")[0])
    found = {name: scene_rows(name, WATCHED[name](), SETTINGS, STEPS, (FREE,)) for name in names}
    if only:
        return
    fails = {label: sum("failed" in found[name][lively.row_key(label, h)] for name in names for h in STEPS)
             for label in (BRAKED, FREE)}
    half = {label: found["bar"][lively.row_key(label, 1 / 48)] for label in (BRAKED, FREE)}
    emit("free_turning", [
        claim("free_turning_keeps", half[FREE]["kept"] / half[BRAKED]["kept"], "times as much", ">= 1.5"),
        claim("free_turning_costs", half[FREE]["cpu_s_s"] / half[BRAKED]["cpu_s_s"], "times as much", "<= 1.5"),
        claim("free_turning_fails", fails[FREE], "of the scenes and steps", "<= 0"),
    ], {"failed_with_and_without_stiffness_against_turning": [fails[BRAKED], fails[FREE]]} | found)


if __name__ == "__main__":
    main()
