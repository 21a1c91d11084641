"""The solver's spine: which loops solve a stage, and which classes implement each protocol of a step. A new one is a
decision, not an accident: use what is there, or add it here with its reason."""

import ast
from functools import cache
from pathlib import Path

import pytest

SOLVER = Path(__file__).resolve().parents[2] / "solver"
ROOMS = "nonlinear world parts integrators".split()
#: functions that factor or pose a stage, search along a direction, or solve a program of rows
SOLVES = frozenset(
    "factor factor_for_directions refactor_columns pose pose_at posed_at search _searched answer_of".split())

#: every loop in which that happens, by file and function, and why it is no configuration of `descend`
LOOPS = {
    "nonlinear/descent.py descend": "the loop of a stage of nodes: directions, bound and stop are given to it",
    "nonlinear/iterations.py solve_stage": "stages of joints and of condensed velocities, which have no merit",
    "nonlinear/gap_active_set.py solve": "open gaps: each direction is the solution of a program of rows",
    "nonlinear/gap_active_set.py _direction": "rounds of contact detection along one direction",
    "nonlinear/gap_active_set.py _gap_program": "active sets of one program",
    "nonlinear/mixed_fem.py _iterated": "a saddle: the search is along the Lagrangian, with multipliers of its own",
    "nonlinear/contact_newton.py _with_final_loads": "the wrapper that updates lagged friction of a converged stage",
    "nonlinear/intersection_free.py intersection_free_start": "a start without intersections, before iterations",
    "nonlinear/problem.py _factored_between": "blends of two matrices until one is definite: one direction",
    "parts/conjac/coupled_quasistatic.py _solve": "block elimination within one direction",
    "parts/conjac/posed.py relax": "equilibrium of quasistatic nodes on the step's factor",
    "parts/eol/solving.py solved": "rows of a sliding cloth that come and go while it is solved",
    "parts/eol/solving.py _kept_apart": "barrier forces of a sliding cloth on top of its rows",
    "parts/modes/operators.py factored_with_shift": "shifts until one matrix is definite",
    "parts/modes/stepping.py _iterate": "a dense stage of a few reduced coordinates",
    "integrators/runge_kutta.py step": "the stages of one step, not iterations of one",
    "world/ground_friction.py with_repeated_friction": "linearised friction in turn with a linearised stage",
}

#: classes that inherit from each protocol, at any depth
CLASSES = {
    "Subsystem": {"Part", "Attachment", "Nodes", "Joints", "EolCloth", "Draft", "ConstraintDraft", "FleshOnBones"},
    "System": {"Joints", "FleshOnBones"},
    "Iterations": {"Rates", "Coupled", "CoupledOnReusedFactor", "Bounded", "BoundedQuasistatic"},
    "DescentDirections": {"FactoredDirections", "ProjectedDirections", "SecantDirections", "FrozenDirections",
                   "InexactDirections", "EarlyDirections", "GroundDirections", "ContactIterations"},
    "Stop": {"ResidualStop", "StrainStop", "FullStepStop", "VisibleStop", "SlowStop", "EarlyStop",
             "ContactIterations"},
}


@cache
def trees():
    return {path.relative_to(SOLVER).as_posix(): ast.parse(path.read_text(encoding="utf-8"))
            for path in sorted(SOLVER.rglob("*.py"))}


def called(nodes):
    """Names of all functions and methods that are called in statements."""
    return {node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
            for statement in nodes for node in ast.walk(statement) if isinstance(node, ast.Call)}


def solving_loops(tree):
    """Functions of a file with a loop that solves something, itself or through other functions of the file."""
    functions = {node.name: node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)}
    solving, more = set(), set(SOLVES)
    while more:
        solving |= more
        more = {name for name, function in functions.items() if called(function.body) & solving} - solving
    return [name for name, function in functions.items() if any(
        called(loop.body) & solving for loop in ast.walk(function) if isinstance(loop, ast.For | ast.While))]


def base_names(node):
    """Names of the bases of a class, without modules and type arguments."""
    for base in node.bases:
        base = base.value if isinstance(base, ast.Subscript) else base
        yield base.attr if isinstance(base, ast.Attribute) else getattr(base, "id", "")


def heirs(protocol):
    """Classes of the solver that inherit from it, at any depth."""
    bases = {node.name: set(base_names(node)) for tree in trees().values() for node in ast.walk(tree)
             if isinstance(node, ast.ClassDef)}
    found, more = set(), {protocol}
    while more:
        found |= more
        more = {name for name, of in bases.items() if of & found} - found
    return found - {protocol}


def test_every_loop_that_solves_a_stage_is_known():
    found = {f"{file} {name}" for file, tree in trees().items() if file.split("/")[0] in ROOMS
             for name in solving_loops(tree)}
    assert found == set(LOOPS)


@pytest.mark.parametrize("protocol", CLASSES)
def test_classes_of_each_protocol_are_known(protocol):
    assert heirs(protocol) == CLASSES[protocol]


def test_every_part_takes_the_one_step():
    """Parts differ in their tries; the loop around them, and what repeats or refuses one, is written once."""
    steps = {(file, node.name) for file, tree in trees().items() for node in ast.walk(tree)
             if isinstance(node, ast.ClassDef) and node.name in CLASSES["Subsystem"] | {"Subsystem"}
             and any(isinstance(item, ast.FunctionDef) and item.name == "step" for item in node.body)}
    assert steps == {("world/interface.py", "Subsystem")}


def test_a_loop_through_another_function_is_found():
    tree = ast.parse("def a():\n    for _ in b:\n        c()\ndef c():\n    x.factor(1)\ndef d():\n    c()\n")
    assert solving_loops(tree) == ["a"]
