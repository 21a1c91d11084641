"""Docstrings name their source in one form, and only sources that docs/equations.txt lists."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

from scripts import equations


@pytest.fixture(scope="module")
def command():
    return subprocess.run([sys.executable, "scripts/equations.py"], cwd=equations.ROOT, capture_output=True, text=True)


def test_every_tag_in_the_code_is_listed(command):
    """The failure names unlisted tags."""
    assert (command.stderr, command.returncode) == ("", 0)


@pytest.mark.parametrize(
    "docstring, tags",
    [
        ("What the nodes owe [m/s]. [ConJac 12]", [("ConJac 12", "")]),
        ("Two lines.\n\n    [ConJac 12, changed: gravity, first, is taken out]",
         [("ConJac 12", "gravity, first, is taken out")]),
        ("Both. [ConJac 6] [Smith 2018].", [("ConJac 6", ""), ("Smith 2018", "")]),
        ("A list. [ConJac 6, 11-13]", [("ConJac 6", ""), ("ConJac 11", ""), ("ConJac 12", ""), ("ConJac 13", "")]),
        ("A heading. [Notes, Hard Constraints]", [("Notes, Hard Constraints", "")]),
        ("A unit only [N/m]", []),
        ("Another unit [Pa s]", []),
        ("A length [Blender units]", []),
        ("[ConJac 12] not at the end", [("ConJac 12", "")]),
        ("A law. [ConJac 12]\n\nx: not on the last line", [("ConJac 12", "")]),
        ("Over lines. [Thesis Alg. 3.2,\n    changed: in both]", [("Thesis Alg. 3.2", "in both")]),
        ("Letters of any alphabet. [Müller 2016]", [("Müller 2016", "")]),
        ("", []),
    ],
)
def test_tags_are_read_off_any_line(docstring, tags):
    assert equations.tags_of(docstring) == tags


@pytest.mark.parametrize("tag", equations.listed())
def test_a_listed_tag_that_a_docstring_has_is_found(tag, everything):
    """Tags in brackets are read from docstrings as plain text, without the command."""
    named, printed = everything
    if tag in named:
        assert f"[{tag}]  " in printed, f"{named[tag]} names [{tag}], and make equations does not say so"


@pytest.fixture(scope="module")
def everything(command):
    """Return where each tag that a docstring quotes is, and what the command prints."""
    named = {}
    for folder in equations.FOLDERS:
        for path in sorted((equations.ROOT / folder).rglob("*.py")):
            for docstring in re.findall(r'"""(.*?)"""', path.read_text(encoding="utf-8"), re.DOTALL):
                for bracket in re.findall(r"\[([^\[\]]*\d[^\[\]]*)\]", docstring):
                    for tag in equations.spread(" ".join(bracket.split()).partition(", changed:")[0]):
                        named.setdefault(tag, path)
    return named, command.stdout


#: of papers of which every equation is implemented
WHOLE = [*(f"MFEM {number}" for number in range(1, 12)), "MFEM Alg. 1", "Notes, Compliant Constraints",
         "Notes, Projective Dynamics", "Notes, Energy Potentials", "Notes, Implicit Integration"]


@pytest.mark.parametrize("tag", WHOLE)
def test_equations_of_subspaces_and_projective_dynamics_are_listed_and_implemented(tag, command):
    """All numbers and the algorithm of the subspace paper, and the headings of the notes on these methods."""
    assert tag in equations.listed()
    assert f"\n[{tag}]  " in "\n" + command.stdout, f"no docstring names [{tag}]"


def test_unlisted_tag_is_found_with_its_line(tmp_path):
    source = tmp_path / "law.py"
    source.write_text('"""A law."""\n\n\ndef law():\n    """A law. [Nobody 7]"""\n')
    assert equations.uses_in(source, tmp_path) == [equations.Use("Nobody 7", "", Path("law.py"), 5 - 1, "law")]
    assert "Nobody 7" not in equations.listed()


def test_list_refuses_a_tag_that_is_listed_twice(tmp_path):
    twice = tmp_path / "equations.txt"
    twice.write_text("ConJac 6\tonce\nConJac 6\ttwice\n")
    with pytest.raises(ValueError, match=r"equations.txt:2: said twice"):
        equations.listed(twice)


def test_the_command_prints_file_and_line(command):
    assert "solver/job/schema.py:" in command.stdout


def test_the_command_names_an_unlisted_tag(tmp_path, monkeypatch, capsys):
    (tmp_path / "solver").mkdir()
    (tmp_path / "solver" / "law.py").write_text('"""A law. [Nobody 7]"""\n')
    monkeypatch.setattr(equations, "all_uses", lambda: equations.uses_in(tmp_path / "solver" / "law.py", tmp_path))
    assert equations.main() == 2
    assert "solver/law.py:1 law: [Nobody 7] is not in docs/equations.txt" in capsys.readouterr().err
