"""Table 2.1 in docs/benchmarks.md: seventeen rows, two of them twice, ours as the stored rows have them."""

from benchmarks import run, table_2_1


def test_the_page_has_ours_beside_the_dissertations():
    stored = {stored_row["benchmark"]: stored_row for stored_row in run.stored_results()}
    lines = table_2_1.lines(stored)
    page = (run.ROOT / "docs" / "benchmarks.md").read_text(encoding="utf-8")
    assert "\n".join(lines) in page
    rows = [line for line in lines if line.startswith("| ") and not line.startswith(("| scene", "| ---"))]
    assert len(rows) == 19
    assert all(row.ours in stored[row.benchmark]["details"]["steps"] for row in table_2_1.ROWS)
    ours = stored["sharp_scenes"]["details"]["steps"]["THROW"]
    assert f"| THROW (EOL) | {ours['faces']} / 1913 | {ours['sliding_%']:.1f} / 3.9 |" in rows[15]


def test_a_row_that_nobody_measured_has_no_number_of_ours():
    assert "| LO-RES (EOL) | – / 133 | – / 6.0 |" in "\n".join(table_2_1.lines({}))


def test_the_dissertations_percentages_add_up_but_for_the_listed_row():
    for row in table_2_1.ROWS:
        whole = sum(value for value in row.values[2:6] if value is not None)
        assert abs(whole - 100.0) < 0.4 or (row.scene == "WIRE (non-conf.)" and abs(whole - 106.4) < 0.1), row
