"""The JSON line of a benchmark has its results and goals, and the table repeats them."""

import json
import subprocess
import sys
from dataclasses import asdict
from pathlib import Path

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
    captured = capsys.readouterr()
    assert captured.out.count("\n") == 1
    answer = json.loads(captured.out)
    assert answer["claims"] == [{"claim": "vanilla_ms", "value": 93.25, "unit": "ms", "goal": "<= 90", "paper": 120,
                                 "holds": False}]
    assert answer["details"] == {"runs": 5} and answer["machine"]["cores"] >= 1
    assert "DOES NOT HOLD" in captured.err
    assert "| `vanilla_ms` | 93.25 ms | <= 90 | 120 | **no** |" in run.table([answer])


def answered(**facts):
    """Return a line as a benchmark writes it, of a commit."""
    answer = {"benchmark": "step", "claims": [asdict(report.claim("vanilla_ms", 93.25, "ms", "<= 90"))],
              "details": {"dragon": {"step": 70.0}}, "machine": report.machine() | {"commit": "0123abcd"} | facts}
    return answer | {"seal": report.seal(answer)}


def test_a_row_has_the_code_the_commit_and_the_machine_that_made_it():
    assert report.why_not(answered()) is None
    assert "commit" in report.why_not(answered(commit=None))
    assert "commit" in report.why_not(answered(commit="0123abcd-dirty"))
    assert "machine" in report.why_not(answered(cpu=""))
    by_hand = answered()
    by_hand["details"]["dragon"]["step"] = 60.0
    assert "wrote" in report.why_not(by_hand)
    by_hand = answered()
    del by_hand["seal"]
    assert "wrote" in report.why_not(by_hand)


def test_no_result_is_stored_or_shown_without_the_commit_that_was_measured(tmp_path, monkeypatch):
    monkeypatch.setattr(run, "RESULTS", tmp_path)
    with pytest.raises(RuntimeError, match="is not kept: the code that was measured is in no commit"):
        run.keep("step", answered(commit=None))
    assert run.stored_results() == []
    run.keep("step", answered())
    [stored] = run.stored_results()
    assert stored == answered(load_before=stored["machine"]["load_before"])
    path = run.path_of("step")
    path.write_text(path.read_text().replace("93.25", "53.25"))
    assert run.stored_results() == []
    assert "93.25" not in run.table(run.stored_results())


def test_what_has_no_row_is_named_on_the_page_and_by_the_command(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(run, "RESULTS", tmp_path)
    run.keep("step", answered())
    assert "`lively`" in run.table(run.stored_results()) and "`step`" not in run.table(run.stored_results())
    monkeypatch.setattr(sys, "argv", ["run", "--list"])
    assert run.main() == 0
    lines = capsys.readouterr().out.splitlines()
    assert "step: 0123abcd" in lines and "lively: no row" in lines and len(lines) == len(run.names())
    path = run.path_of("step")
    path.write_text(path.read_text().replace("93.25", "53.25"))
    assert "`step`" in run.table(run.stored_results())


def test_every_stored_result_is_one_that_a_benchmark_of_this_repository_wrote():
    for path in run.RESULTS.glob("*.json"):
        answer = json.loads(path.read_text(encoding="utf-8"))
        assert path.stem == answer["benchmark"] and path.stem in run.names(), path.name
        assert report.why_not(answer) is None, path.name


def test_what_is_measured_is_dirty_where_code_is_in_no_commit(tmp_path):
    def git(*arguments):
        subprocess.run(["git", "-c", "user.name=a", "-c", "user.email=a@b", *arguments], cwd=tmp_path, check=True,
                       capture_output=True)

    for name in ("solver/a.py", "benchmarks/results/step.json", "benchmarks/report.py"):
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("1\n" if name != "benchmarks/report.py" else Path(report.__file__).read_text())
    (tmp_path / ".gitignore").write_text("__pycache__/\n")
    git("init")
    git("add", ".")
    git("commit", "-m", "first")

    def commit():
        code = "from benchmarks import report; print(report.machine()['commit'])"
        return subprocess.run([sys.executable, "-c", code], cwd=tmp_path, check=True, capture_output=True,
                              text=True).stdout.strip()

    assert report.COMMIT.fullmatch(commit())
    (tmp_path / "benchmarks/results/step.json").write_text("2\n")
    assert report.COMMIT.fullmatch(commit())
    (tmp_path / "solver/a.py").write_text("2\n")
    assert commit().endswith("-dirty")


def test_what_else_was_measured_becomes_tables():
    results = {"peer": "4.0", "dragon": {"vertices": 9932, "paper": {"beta": 3.7}, "reference": None,
                                         "vanilla h 0.005": {"beta": 1.0, "ms_a_step": 71.25, "curve": [0.0] * 40}}}
    lines = tables.rows(results)
    assert lines == [
        "peer: 4.0.", "", "### dragon", "", "vertices: 9932.", "", "| | beta | ms a step |", "| --- | --- | --- |",
        "| paper | 3.7 |  |", "| reference |  |  |", "| vanilla h 0.005 | 1 | 71.25 |", ""]
    assert tables.rows({}) == []


def test_the_page_has_the_results_that_the_benchmarks_stored_last():
    page = (run.ROOT / "docs" / "benchmarks.md").read_text(encoding="utf-8")
    assert page == run.table(run.stored_results())
