"""The field's terms: rooms whose private words are gone do not get them back. The glossary is
docs/developers/words.md."""

import ast
import io
import re
import tokenize
from functools import cache
from pathlib import Path

import pytest
from syntax_trees import nodes_of, tree_of

ROOT = Path(__file__).resolve().parents[2]
SOLVER = ROOT / "solver"

#: words that no identifier and no prose of the solver has
EVERYWHERE = frozenset("""
    told tell tells anew struck landing swung swings afloat taut hindered haste swollen lonely stray strayed spoilt
    calmed calmer gripped gripping rubbed rubs rubbing braked brakes owes owed leapt unfelt said held felt
""".split())
CLEAN = {
    "nonlinear": EVERYWHERE | frozenset("""
        ahead besides behind apart grip grips push pushes pushed pushing pulled riding rides carried lies flies meets
        meet kept keeps asked wanted answers
    """.split()),
    "contact/laws": EVERYWHERE | frozenset("""
        ahead besides behind apart grip grips push pushes pushed pushing riding rides meets meet kept asked wanted
        answers places
    """.split()),
    **{room: EVERYWHERE | frozenset("""
        ahead besides behind grip grips push pushes pushed pushing riding rides meets meet kept asked wanted answers
        gives
    """.split()) for room in ("materials", "integrators", "bearings", "contact/find", "coordinates", "iteration")},
    **{room: EVERYWHERE | frozenset("""
        ahead besides grip grips pushes pushed pushing riding rides asked answers
    """.split()) for room in ("sheet", "frames", "job", "parts/joints", "parts/nodes", "assembly", "fields",
                         "embedding", "reshape", "farm", "meshing", "linear", "rows", "forces")},
    "parts/conjac": EVERYWHERE | frozenset("ahead besides grips pushes pushing riding rides asked wanted".split()),
    **{room: EVERYWHERE | frozenset("ahead besides led ride rides rider gives borne meetings wanted".split())
       for room in ("world", "coupling")},
    **{room: EVERYWHERE | frozenset("ahead besides grips pushes pushing riding rides asked".split())
       for room in ("live", "parts/modes")},
    "": EVERYWHERE,
}
#: identifiers that are not this room's to name, and words of the window
ALLOWED = {"nonlinear": {"kept_open"}, "job": {"tell"}, "meshing": {"tell"}, "": {"tell", "UNFELT"}}
#: folders and files beside the solver whose words are the field's, too; a program's messages are `output`
BESIDE = ("scripts", "benchmarks/peer_programs.py")
#: folders of tests whose identifiers are terms, too
TESTS = ("addon", "live", "farm", "setup", "cli", "job", "frames", "room", "nonlinear", "rows", "scenes", "embedding",
         "materials", "bearings", "ropes", "assembly", "constraints", "fields", "forces", "projective", "coordinates",
         "meshing", "cloth", "mechanism", "contact", "integrators", "modes",
         "linear", "reshape", "world")


def words(text):
    return {word.lower() for part in re.findall(r"[A-Za-z_]+", text) for piece in part.split("_")
            for word in re.findall(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+", piece)}


@cache
def texts(path):
    """Return (line, text) of every identifier, comment and docstring of a file; not of what a user reads."""
    source = path.read_text(encoding="utf-8")
    texts_of_file = [(token.start[0], token.string) for token in tokenize.generate_tokens(io.StringIO(source).readline)
                     if token.type in (tokenize.NAME, tokenize.COMMENT)]
    texts_of_file += [(getattr(node, "lineno", 1), ast.get_docstring(node) or "") for node in nodes_of(tree_of(path))
                      if isinstance(node, (ast.Module, ast.ClassDef, ast.FunctionDef))]
    return texts_of_file


def files(room):
    """Return all files of a room; for "" those of all rooms."""
    return sorted((SOLVER / room).rglob("*.py"))


@pytest.mark.parametrize("room", CLEAN)
def test_a_clean_room_stays_clean(room):
    assert files(room)
    found = [f"{path.relative_to(SOLVER)}:{line} {sorted(words(text) & CLEAN[room])}" for path in files(room)
             for line, text in texts(path) if text not in ALLOWED.get(room, ()) and words(text) & CLEAN[room]]
    assert not found


#: words that no identifier has in the solver and the programs beside it; what a text says of them is prose
OF_NO_IDENTIFIER = frozenset({"kept"})


def identifiers(path):
    """Return (line, name) of every name in a file."""
    tokens = tokenize.generate_tokens(io.StringIO(path.read_text(encoding="utf-8")).readline)
    return [(token.start[0], token.string) for token in tokens if token.type == tokenize.NAME]


@pytest.mark.parametrize("folder", ["solver", "scripts", "benchmarks"])
def test_identifiers_distinguish_reused_stored_retained_and_required(folder):
    """A factor is reused, a file stored, an unknown of a condensation retained, a vertex of a mesh required."""
    assert not [f"{path.relative_to(ROOT)}:{line} {name}" for path in sorted((ROOT / folder).rglob("*.py"))
                for line, name in identifiers(path) if words(name) & OF_NO_IDENTIFIER]


#: words that no identifier of the solver has: the glossary has the field's term for each
TERMS_INSTEAD = frozenset("""
    share shares place places led gave rides riding rider grips feels rub things who whose whom asks asked lies stands
    stand went way here there thought ahead besides wanted apart borne gives calm landed hits flying flown pushes pushed
    pushing yields yielding answer answers lost gone untouched alone spare begun began heavy rough passes meets meeting
    crossing crossings matter fabric mine theirs met foreseen turned
""".split())
#: names of keys in files and catalogues, and verbs
ELSEWHERE = frozenset("""
    share shares mooney_share MOONEY_SHARE tangential_share shares_face place place_mechanism place_points
    centre_in_place apart PUSH_APART
""".split())


def test_identifiers_of_the_solver_are_terms_of_the_field():
    assert not [f"{path.relative_to(ROOT)}:{line} {name}" for path in sorted(SOLVER.rglob("*.py"))
                for line, name in identifiers(path) if words(name) & TERMS_INSTEAD and name not in ELSEWHERE]


def items_named_one(path):
    """Return file:line of each loop and comprehension whose item is named `one`, which does not say what it is."""
    return [f"{path.name}:{name.lineno}" for node in ast.walk(tree_of(path))
            if isinstance(node, (ast.For, ast.comprehension)) for name in ast.walk(node.target)
            if isinstance(name, ast.Name) and name.id == "one"]


@pytest.mark.parametrize("folder", ["solver", "scripts", "conjac_addon", *(f"tests/{name}" for name in TESTS)])
def test_loops_name_their_item(folder):
    """Kernels keep their names, on which the last digit of compiled code may depend."""
    paths = sorted((ROOT / folder).rglob("*.py"))
    assert paths and not [found for path in paths if not path.name.endswith("kernels.py")
                          for found in items_named_one(path)]


def test_a_loop_over_one_is_found(tmp_path):
    path = tmp_path / "loops.py"
    path.write_text("for k, (one, other) in []:\n    pass\n[one for one in ()]\n[body for body in ()]\n")
    assert items_named_one(path) == ["loops.py:1", "loops.py:3"]


#: words that no identifier, comment and docstring of the add-on has; what an artist reads may have them
OF_ADDON = frozenset("said told held felt unfelt".split())


def test_the_addon_names_what_its_values_are():
    found = [f"{path.relative_to(ROOT)}:{line} {sorted(words(text) & OF_ADDON)}"
             for path in sorted((ROOT / "conjac_addon").rglob("*.py")) for line, text in texts(path)
             if words(text) & OF_ADDON]
    assert not found


#: old words for messages, pins, starts and the like (docs/developers/words.md), which no identifier of TESTS has
PRIVATE_WORDS = frozenset(("said", "told", "tells", "felt", "feels", "held", "kept", "theirs", "rides", "begun",
                           "began", "gone", "met"))
#: a test that docs/developers/contact_goals.md names
NAMED_BY_A_PAGE = {"test_shorter_steps_are_told_with_the_body_and_what_helps"}


@pytest.mark.parametrize("folder", TESTS)
def test_tests_name_what_their_values_are(folder):
    """A message is reported, an output captured, a node pinned, a bake started; strings of code are not read."""
    paths = sorted((ROOT / "tests" / folder).rglob("*.py"))
    assert paths and not [f"{path.name}:{line} {name}" for path in paths for line, name in identifiers(path)
                          if words(name) & PRIVATE_WORDS and name not in NAMED_BY_A_PAGE]


@pytest.mark.parametrize("folder", BESIDE)
def test_what_stands_beside_the_solver_stays_clean(folder):
    paths = sorted((ROOT / folder).rglob("*.py")) or [ROOT / folder]
    assert not [f"{path.name}:{line} {sorted(found)}" for path in paths for line, text in texts(path)
                if (found := words(text) & EVERYWHERE)]


#: words with which a docstring begins that only its neighbours explain
OPENING = re.compile(r"The same\b|Those\b|What\b|As of\b|It does not\b|Who\b|Where\b|Call\b|Of\b")


def without_subject(paths):
    """Return file:line of docstrings that do not stand alone."""
    return [f"{path.name}:{getattr(node, 'lineno', 1)}" for path in paths
            for node in nodes_of(tree_of(path))
            if isinstance(node, (ast.Module, ast.ClassDef, ast.FunctionDef))
            and OPENING.match(ast.get_docstring(node) or "")]


@pytest.mark.parametrize("folder", ["solver", "scripts", "benchmarks", "examples_blend", "tests"])
def test_docstrings_have_their_own_subject(folder):
    assert not without_subject(sorted((ROOT / folder).rglob("*.py")))


def test_docstrings_of_the_addon_have_their_own_subject():
    assert not without_subject(sorted((SOLVER.parent / "conjac_addon").rglob("*.py")))


def test_a_private_word_is_found():
    assert words("_told_off") & EVERYWHERE and words("_gripped_joint") & EVERYWHERE
    assert not words("fraction") & EVERYWHERE
