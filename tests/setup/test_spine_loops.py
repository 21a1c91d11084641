"""Loops of the solver that solve something, and who chooses how a stage is solved. A new loop is a decision, not an
accident: configure `iterate`, or add the loop here with its reason."""

import ast

from syntax_trees import nodes_of
from test_spine import ROOMS, trees

#: functions that factor or pose a stage, advance along a direction, or solve a program of rows
SOLVES = frozenset(
    "factor factor_for_directions refactor_columns pose pose_at posed_at solve_at search solve_with "
    "step_along iterate descend".split())

#: every loop in which that happens, by file and function, and why it is no configuration of `iterate`
LOOPS = {
    "iteration/iterate.py iterate": "the loop that solves a stage: directions, bound and stop are arguments",
    "nonlinear/fixed_point_stage.py solve_stage": "factors of one stage, each of which serves the loop until it stalls",
    "nonlinear/gap_active_set.py _direction": "rounds of contact detection along one direction",
    "nonlinear/gap_active_set.py _gap_program": "active sets of one program",
    "nonlinear/stage_factors.py _factor_between": "blends of two matrices until one is definite: one direction",
    "parts/eol/solving.py solve_substep": "rows of a sliding cloth that come and go while it is solved",
    "parts/eol/solving.py _separate": "barrier forces of a sliding cloth on top of its rows",
    "parts/modes/operators.py factor_with_shift": "shifts until one matrix is definite",
    "integrators/runge_kutta.py step": "the stages of one step, not iterations of one",
    "world/ground_friction.py with_repeated_friction": "linearised friction in turn with a linearised stage",
}

#: functions that solve one linear system, program of rows or whole stage
SOLVES_ONE = frozenset("solve solve_in_contact multipliers".split())
#: every further loop in which one of these is called, in ROOMS, constraints, build and bearings, and what it repeats
OTHER_LOOPS = {
    "bearings/bisp.py solve": "impulses of bearings in turn with the reactions that bound them",
    "bearings/staggered.py solve": "contact and friction in bearings in turn, each by its program",
    "build/explicit_steps.py _fastest": "power iterations for one eigenvalue",
    "build/explicit_steps.py notes_of_explicit": "halved steps until explicit forces are stable",
    "build/satisfiable.py refuse_unmet": "Newton projection on hard rows, that names the row which cannot be met",
    "build/wobble.py slowest": "a second matrix where the first is not definite",
    "constraints/projection.py project_onto_rows": "Newton projection on loops and drives, until they are met",
    "coupling/coupled_quasistatic.py _solve": "conjugate gradients of some columns",
    "nonlinear/on_rows.py on_rows": "Newton projection on hard rows, given up where it makes contact",
    "parts/eol/solving.py _solve_with_friction": "drag of a sliding cloth in turn with its normal impulses",
    "parts/projective/body.py _iterate": "a fixed number of local and global steps, each with one constant matrix",
    "world/half_life_damping.py _loss_of_rates": "one body after the other",
    "world/half_life_damping.py apply": "one body after the other",
    "world/in_contact.py solve_in_contact_stage": "lagged friction around a whole stage, not between its iterations",
    "world/islands.py solve": "groups of bodies, merged and solved again until none make contact",
    "world/sliding_damping.py apply": "one body after the other",
    "world/sliding_damping.py damp": "one right-hand side after the other",
}


def called(nodes):
    """Return names of all functions and methods that are called in statements."""
    return {node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
            for statement in nodes for node in ast.walk(statement) if isinstance(node, ast.Call)
            and not (isinstance(node.func, ast.Attribute) and getattr(node.func.value, "attr", "") == "linalg")}


def solving_loops(tree, solves=SOLVES):
    """Return functions of a file with a loop that solves something, itself or through other functions of the file."""
    functions = {node.name: node for node in nodes_of(tree) if isinstance(node, ast.FunctionDef)}
    calls = {name: called(function.body) for name, function in functions.items()}
    solving, more = set(), set(solves)
    while more:
        solving |= more
        more = {name for name, names in calls.items() if names & solving} - solving
    return [name for name, function in functions.items() if calls[name] & solving and any(
        called(loop.body) & solving for loop in ast.walk(function) if isinstance(loop, ast.For | ast.While))]


def test_every_loop_that_solves_a_stage_is_known():
    found = {f"{file} {name}" for file, tree in trees().items() if file.split("/")[0] in ROOMS
             for name in solving_loops(tree)}
    assert found == set(LOOPS)


def test_every_other_loop_that_solves_something_is_known():
    found = {f"{file} {name}" for file, tree in trees().items()
             if file.split("/")[0] in (*ROOMS, "constraints", "build", "bearings")
             for name in solving_loops(tree, SOLVES | SOLVES_ONE)}
    assert found - set(LOOPS) == set(OTHER_LOOPS)


def path_fields_asked(tree):
    """Return lines of a file where a stop rule's fields `accepts` or `patience` are read, but as a plain argument."""
    passed = {id(keyword.value) for node in ast.walk(tree) if isinstance(node, ast.Call) for keyword in node.keywords}
    return [node.lineno for node in ast.walk(tree) if isinstance(node, ast.Attribute) and id(node) not in passed
            and node.attr in ("accepts", "patience")
            and getattr(node.value, "attr", getattr(node.value, "id", "")) in ("limits", "_limits")]


def test_stages_are_not_chosen_by_fields_of_a_stop_rule():
    """A stop rule answers by name which way a stage is solved; only the room of stage solvers reads its fields."""
    assert [file for file, tree in trees().items()
            if not file.startswith("nonlinear/") and path_fields_asked(tree)] == []


def test_a_field_of_a_stop_rule_in_a_condition_is_found():
    tree = ast.parse("if solver.limits.accepts and limits.patience:\n    solve(accepts=solver.limits.accepts)")
    assert path_fields_asked(tree) == [1, 1]


def test_a_loop_through_another_function_is_found():
    tree = ast.parse("def a():\n    for _ in b:\n        c()\ndef c():\n    x.factor(1)\ndef d():\n    c()\n")
    assert solving_loops(tree) == ["a"]
