"""The README's numbers are those of the benchmarks' rows, and the benchmarks' code makes each claim that it names."""

from pathlib import Path

from benchmarks import front_page, ground_page, run
from scripts import marked


def answer(**changed):
    claim = {"claim": "vanilla_ms", "value": 93.25, "unit": "ms", "goal": "<= 90", "paper": 120, "holds": False}
    return {"step": {"benchmark": "step", "claims": [claim | changed]}}


def test_the_readme_has_the_numbers_of_the_stored_rows():
    rows = {row["benchmark"]: row for row in run.stored_results()}
    assert marked.read(front_page.README, front_page.MARKS) == front_page.table(rows)


def test_a_missed_goal_is_marked_and_a_benchmark_without_a_row_has_no_number():
    table = front_page.table(answer())
    assert "| A step of full FEM | 93.2 ms, **missed** | ≤ 90 | 120 |" in table
    assert "Not measured on a commit that is kept: " in table and "`edge_ms` of `sharp_cloth`" in table
    assert table.count("\n|") == 2  # the rule below the heads, and this one


def test_a_reached_goal_has_no_mark_and_rounding_is_zero():
    table = front_page.table(answer(holds=True, value=7e-49, paper=None))
    assert "| A step of full FEM | 0 ms | ≤ 90 |  |" in table


def test_each_line_names_a_benchmark_and_a_claim_that_its_code_makes():
    code = Path(run.ROOT, "benchmarks")
    texts = "\n".join(path.read_text(encoding="utf-8") for path in code.rglob("*.py") if path.name != "front_page.py")
    for line in front_page.LINES:
        assert line.benchmark in run.names(), line
        family = line.claim.rstrip("0123456789")  # a claim for each of several numbers has its number put in
        assert f'"{line.claim}"' in texts or f'"{family}{{' in texts, line


def test_the_table_of_what_lands_has_the_numbers_of_the_stored_row():
    rows = {row["benchmark"]: row for row in run.stored_results()}
    assert marked.read(ground_page.PAGE, ground_page.MARKS) == ground_page.table(rows["impacts"])
