"""Each zip that can run here installs into an empty Blender and bakes Suzanne; the README has the stored results."""

import json

import pytest

from scripts import installs, marked, wheels


@pytest.mark.long
@pytest.mark.parametrize("name", installs.BLENDERS)
def test_the_zip_installs_and_bakes_suzanne(name, tmp_path):
    try:
        report = installs.run(name, installs.zip_for(name, tmp_path))
    except installs.NotHere as reason:
        pytest.skip(str(reason))
    assert report["passed"], report
    assert report["python"].startswith(installs.BLENDERS[name])
    assert "scikit-sparse" not in report["versions"] and "cvxopt" in report["versions"]


def test_the_readme_has_the_table_of_stored_results():
    rows = json.loads(installs.RESULTS.read_text(encoding="utf-8"))
    assert marked.read(installs.README, installs.MARKS) == installs.table(rows)
    assert set(rows) <= set(installs.BLENDERS)


def test_every_python_has_a_blender_and_every_blender_a_zip():
    assert set(installs.BLENDERS.values()) == set(wheels.PYTHONS)
    assert set(installs.UNASKED) <= set(installs.BLENDERS)


def test_a_failure_stands_in_the_table_as_it_is():
    row = {"blender": "4.2.0", "python": "3.11.7", "numpy": "1.24.3", "passed": False, "why": "exit code 3",
           "zip": "py311-linux-x64", "when": "2026-11-22", "commit": "0000000", "solver": ""}
    table = installs.table({"4.2.0": row})
    assert "| no: exit code 3 |" in table and table.count("never tried") == len(installs.BLENDERS) - 1
