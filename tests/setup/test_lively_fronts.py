"""Settings that benchmarks.lively puts on a front, and its pages of them in the manual."""

import json
from dataclasses import replace

import numpy as np
import pytest

from benchmarks.lively import SCENES, mean_ratio
from benchmarks.lively_picture import BEGIN, DOCS, END, at_one_step, front, points, written
from benchmarks.lively_scenes import NUDGE, Watched, late, mean_truth
from benchmarks.scenes import dropped


def row(setting, steps, retained=None, cost=None):
    values = {"setting": setting, "steps_a_second": steps}
    return values | ({"failed": "blew up"} if retained is None else {"kept": retained, "cpu_s_s": cost})


ROWS = {str(k): row_ for k, row_ in enumerate((
    row("calm", 24, 0.2, 0.5), row("calm", 48, 0.4, 1.0), row("lively", 24, 0.9, 0.8), row("lively", 48, 1.0, 1.5),
    row("wild", 24, 1.7, 0.4), row("wild", 48)))}


def test_the_front_is_what_nothing_beats_at_its_price():
    best = front(points([*ROWS.values()]))
    # what has 0.7 more than the truth is as far from it as what has 0.7 less
    assert [(setting, steps) for _, _, setting, steps in best] == [("wild", 24), ("lively", 24), ("lively", 48)]


def test_what_gains_more_than_there_was_is_on_no_front():
    rows = [row("wild", 24, 4.7, 0.1), row("calm", 24, 0.2, 0.5)]
    assert [(setting, steps) for _, _, setting, steps in front(points(rows))] == [("calm", 24)]


def test_the_manual_says_who_stands_on_it_and_nothing_else_of_it_changes():
    page = f"Before.\n\n{BEGIN}\nold\n{END}\n\nAfter.\n"
    once = written(page, {"bar": "A bar", "ears": "Ears"}, {"bar": ROWS})
    assert once.startswith("Before.\n") and once.endswith("\n\nAfter.\n") and "old" not in once and "Ears" not in once
    assert "(lively_bar.png)" in once
    assert "lively at 1/24 s (0.90 for 0.8 s/s); lively at 1/48 s (1.00 for 1.5 s/s)." in once
    assert "Did not come to their end: wild at 1/48 s." in once
    assert written(once, {"bar": "A bar", "ears": "Ears"}, {"bar": ROWS}) == once


def test_the_manual_has_the_marks():
    page = (DOCS / "integrators.md").read_text(encoding="utf-8")
    assert page.count(BEGIN) == page.count(END) == 1


def test_the_manual_has_the_numbers_of_the_stored_rows():
    """Fronts and table are compared character by character."""
    page = (DOCS / "integrators.md").read_text(encoding="utf-8")
    rows = json.loads((DOCS.parent / "benchmarks" / "results" / "lively.json").read_text(encoding="utf-8"))["details"]
    assert written(page, SCENES, {name: rows[name] for name in SCENES}) == page


def test_the_table_has_scenes_that_one_can_compare():
    others = {"0": row("swing", 48, 0.9, 0.1)}
    table = at_one_step({"bar": ROWS, "pendulum": others})
    assert "| | bar |" in table and "| calm | 0.40, 1 |" in table and "| wild | did not come to its end |" in table
    assert not any("swing" in line for line in table)


def test_the_wobble_of_the_cube_is_what_no_rigid_motion_is():
    """Unstrained bodies that fall and spin have no such energy; a stretch and a squeeze at a known speed have
    theirs."""
    scene = dropped.scene()
    world = scene.world("vanilla")
    state = world.initial_state()
    arms = world.rest - world.mass @ world.rest / world.mass.sum()
    rigid = np.cross([0.3, -2.0, 1.0], arms) + [0.0, 0.1, -3.0]
    height, still = dropped.seen(world, replace(state, u=rigid.ravel()))
    assert height == pytest.approx(dropped.DROP + 0.5, abs=1e-9) and abs(still) < 1e-6
    swells = 0.2 * arms
    moved = dropped.seen(world, replace(state, u=(rigid + swells).ravel()))[1]
    assert moved == pytest.approx(0.5 * world.mass @ np.square(swells).sum(axis=1), rel=1e-9)
    strained = dropped.seen(world, replace(state, q=(world.rest + 0.05 * arms).ravel()))[1]
    assert strained > 10.0
    samples = np.column_stack([[1.1, 0.4, 0.9, 1.04, 1.09, 1.05, 0.7], [0.0, 9.0, 9.0, 1.0, 2.0, 3.0, 9.0]])
    assert dropped.wobble(samples) == pytest.approx(2.0) and dropped.wobble(samples * [0.5, 1.0]) == 0.0


def test_nudged_starts_are_a_micrometre_apart_and_come_again():
    scene = replace(dropped.scene(), pulled=dropped.scene().nodes.copy())
    watched = Watched(scene, "sdirk2", 1.0, lambda _: None, late, "", starts=3)
    starts = [watched.nudged(k).scene.pulled - scene.pulled for k in range(watched.starts)]
    assert not starts[0].any()
    for start in starts[1:]:
        assert np.sqrt(np.square(start).mean()) == pytest.approx(NUDGE, rel=0.1)
    assert abs(starts[1] - starts[2]).max() > NUDGE
    assert np.array_equal(watched.nudged(2).scene.pulled - scene.pulled, starts[2])
    with pytest.raises(ValueError, match="begins at rest"):
        replace(watched, scene=dropped.scene()).nudged(1)


def test_the_retained_wobble_is_a_mean_over_starts_on_both_sides():
    assert mean_truth({"value": 2.0}) == 2.0
    assert mean_truth({"value": 2.0, "nudged": {"1": 3.0, "2": 4.0}}) == pytest.approx(3.0)
    assert mean_ratio([0.5]) == {"kept": 0.5}
    assert mean_ratio([0.3, 0.7, 0.8]) == {"kept": 0.6, "kept_least": 0.3, "kept_most": 0.8}
