"""American spelling in all that an artist reads, as in Blender's own window and manual. The rule is in
docs/developers/words.md."""

import ast
import re
from pathlib import Path

import pytest
from syntax_trees import tree_of

ROOT = Path(__file__).resolve().parents[2]
#: written by code, from texts of the solver and of the benchmarks
WRITTEN = {"settings.md", "benchmarks.md"}
PAGES = [ROOT / "README.md", ROOT / "docs" / "gallery" / "README.md",
         *sorted(page for page in (ROOT / "docs").glob("*.md") if page.name not in WRITTEN)]
MODULES = sorted((ROOT / "conjac_addon").rglob("*.py"))

#: verbs in -ise and -yse, by their beginnings; others, such as exercise and promise, are spelled so in America too
VERBS = ("anal|normal|organ|recogn|linear|minim|maxim|stabil|optim|initial|visual|real|general|symmetr|penal|emphas|"
         "summar|equal|synchron|custom|regular|vulcan|discret|factor|parametr")
BRITISH = re.compile(rf"\b(?:\w*colour\w*|centre[ds]?|\w*fibre\w*|grey\w*|\w*behaviour\w*|\w*metres?|licences?|"
                     rf"neighbour\w*|favour\w*|(?:model|label|cancel|travel|level)l(?:ed|ing)|mould\w*|tyres?|"
                     rf"(?!analyses\b)(?:{VERBS})[iy]s(?:e[ds]?|ing|ation))\b", re.IGNORECASE)
#: parts of a page that are no prose: what code wrote, code, and where links lead to
NO_PROSE = re.compile(r"<!-- ([\w ]+): written by .*?<!-- end of \1 -->|<!-- written by .*?<!-- up to here -->|"
                      r"<!--.*?-->|```.*?```|`[^`]*`|\]\([^)]*\)|https?://\S+", re.DOTALL)


def prose(page):
    """Return the text of a page without code, links and what code wrote."""
    return NO_PROSE.sub(" ", page)


def sentences(tree):
    """Return (line, text) of the strings of a module that somebody may read: titles, and two words or more; no
    docstrings."""
    documented = (ast.Module, ast.ClassDef, ast.FunctionDef)
    docstrings = {id(node.body[0].value) for node in ast.walk(tree) if isinstance(node, documented) and node.body
                  and isinstance(node.body[0], ast.Expr)}
    return [(node.lineno, node.value) for node in ast.walk(tree) if isinstance(node, ast.Constant)
            and isinstance(node.value, str) and (" " in node.value or node.value.istitle())
            and id(node) not in docstrings]


def british(text):
    return [match.group() for match in BRITISH.finditer(text)]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(ROOT).as_posix())
def test_the_manual_is_spelled_as_blenders_is(page):
    assert not british(prose(page.read_text(encoding="utf-8")))


def test_the_window_is_spelled_as_blenders_is():
    british_words = [f"{path.relative_to(ROOT)}:{line} {words}" for path in MODULES
                     for line, text in sentences(tree_of(path))
                     if (words := british(text))]
    assert MODULES and not british_words


@pytest.mark.parametrize("text, expected", [
    ("The colour of each fibre is grey", ["colour", "fibre", "grey"]),
    ("A step is linearised a millimetre from the centre", ["linearised", "millimetre", "centre"]),
    ("It behaves, promises exercise, and is canceled after analyses of four meters", []),
    ("See [gray](grey.md#the-colour) and `linearised`, <!--row linearised: x, .2f-->", []),
])
def test_what_counts_as_british(text, expected):
    assert british(prose(text)) == expected


def test_strings_that_nobody_reads_do_not_count():
    tree = ast.parse('"""Its colour is grey."""\nkind = "grey"\ntext = f"{kind} is a colour of it"\nlabel = "Grey"\n')
    assert {text for _, text in sentences(tree)} == {" is a colour of it", "Grey"}
