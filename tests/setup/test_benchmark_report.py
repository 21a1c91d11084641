"""A benchmark's line says what it measured against which goal, and the table repeats it."""

import json

import pytest

from benchmarks import report, run, tables


@pytest.mark.parametrize("value, goal, holds", [(1.08, "<= 1.08", True), (1.09, "<= 1.08", False),
                                                (0.31, ">= 0.3", True), (3, "< 3", False), (4, "> 3", True)])
def test_claim_compares_with_its_goal(value, goal, holds):
    assert report.claim("x", value, "ms", goal).holds is holds


@pytest.mark.parametrize("goal", ["fast", "about 3", "<= ", "3"])
def test_a_goal_is_a_comparison(goal):
    with pytest.raises(ValueError, match="not a comparison"):
        report.claim("x", 1.0, "ms", goal)


def test_the_line_and_the_table(capsys):
    report.emit("step", [report.claim("vanilla_ms", 93.25, "ms", "<= 90", paper=120)], {"runs": 5})
    said = capsys.readouterr()
    assert said.out.count("\n") == 1
    answer = json.loads(said.out)
    assert answer["claims"] == [{"claim": "vanilla_ms", "value": 93.25, "unit": "ms", "goal": "<= 90", "paper": 120,
                                 "holds": False}]
    assert answer["details"] == {"runs": 5} and answer["machine"]["cores"] >= 1
    assert "DOES NOT HOLD" in said.err
    assert "| `vanilla_ms` | 93.25 ms | <= 90 | 120 | **no** |" in run.table([answer])


def test_what_else_was_measured_becomes_tables():
    told = {"peer": "4.0", "dragon": {"vertices": 9932, "paper": {"beta": 3.7}, "reference": None,
                                      "vanilla h 0.005": {"beta": 1.0, "ms_a_step": 71.25, "curve": [0.0] * 40}}}
    lines = tables.rows(told)
    assert lines == [
        "peer: 4.0.", "", "### dragon", "", "vertices: 9932.", "", "| | beta | ms a step |", "| --- | --- | --- |",
        "| paper | 3.7 |  |", "| reference |  |  |", "| vanilla h 0.005 | 1 | 71.25 |", ""]
    assert tables.rows({}) == []


def test_the_page_is_what_the_benchmarks_said_last():
    page = (run.ROOT / "docs" / "benchmarks.md").read_text(encoding="utf-8")
    assert page == run.table(run.kept())
