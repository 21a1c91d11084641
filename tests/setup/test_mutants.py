"""The script that breaks one line at a time reports the breaks that are detected, that survive, and that no longer
apply."""

import os
import re

import pytest

from scripts.mutants import ROOT, Mutant, broken, judge, mutants

CODE = "def rises(a, b):\n    return b > a\n\n\ndef unused():\n    return 1\n"
TEST = "from code_of import rises\n\n\ndef test_it():\n    assert rises(1, 2) and not rises(2, 1)\n"


@pytest.fixture
def tree(tmp_path):
    (tmp_path / "tree").mkdir()
    (tmp_path / "tree/code_of.py").write_text(CODE)
    (tmp_path / "tree/test_it.py").write_text(TEST)
    (tmp_path / "tree/test_red.py").write_text("def test_it():\n    assert False\n")
    return tmp_path / "tree"


def mutant(name, old, new, tests=("test_it.py",)):
    return Mutant(name, "code_of.py", old, new, tests)


def test_one_is_caught_and_one_survives(tree, capsys):
    stamp = (tree / "code_of.py").stat().st_mtime_ns
    chosen = [mutant("falls", "b > a", "b < a"), mutant("two", "return 1", "return 2")]
    assert judge(chosen, tree, 60.0) == 1
    output = capsys.readouterr().out
    assert re.search(r"^caught +falls", output, re.MULTILINE) and re.search(r"^SURVIVES +two", output, re.MULTILINE)
    assert "1 of 2 are caught" in output
    # the tree is as it was, and for numba too
    assert (tree / "code_of.py").read_text() == CODE and (tree / "code_of.py").stat().st_mtime_ns == stamp
    assert judge(chosen[:1], tree, 60.0) == 0


@pytest.mark.parametrize("tests", [("test_red.py",), ("test_it.py", "-k", "nothing")])
def test_tests_that_fail_unbroken_or_are_none_prove_nothing(tree, capsys, tests):
    assert judge([mutant("falls", "b > a", "b < a", tests)], tree, 60.0) == 2
    assert "BROKEN" in (output := capsys.readouterr().out) and "0 of 0 are caught" in output


def test_a_text_that_does_not_stand_there_once_is_an_error(tree):
    assert broken(mutant("falls", "b > a", "b < a"), tree) == CODE.replace("b > a", "b < a")
    with pytest.raises(ValueError, match="stands 0 times in code_of.py"):
        broken(mutant("gone", "b >= a", "b < a"), tree)
    with pytest.raises(ValueError, match="stands 2 times"):
        broken(mutant("both", "def ", "def x"), tree)


def test_every_one_of_the_list_can_be_tried():
    """Each mutant's line is where its entry says, so an entry that the code has outlived is noticed at once."""
    assert len(mutants()) >= 5 and all(os.path.exists(mutant.tests[0]) for mutant in mutants())
    for mutant in mutants():
        assert broken(mutant, ROOT) != (ROOT / mutant.file).read_text(encoding="utf-8")
