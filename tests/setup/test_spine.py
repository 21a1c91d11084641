"""The solver's spine: classes that implement each protocol of a step, homes of rows, and writes on other objects. A new
one is a decision, not an accident: use an existing one, or add it here with its reason."""

import ast
import re
from functools import cache
from pathlib import Path

import pytest
from syntax_trees import nodes_of, tree_of

SOLVER = Path(__file__).resolve().parents[2] / "solver"
ROOMS = "iteration nonlinear world coupling parts integrators".split()
#: classes that inherit from each protocol, at any depth
CLASSES = {
    "Part": {"SteppedPart", "NodesPart", "JointsPart", "Nodes", "Joints", "EolCloth", "Draft", "ConstraintDraft",
             "LiveDraft"},
    "Subsystem": {"SteppedPart", "SteppedSoft", "Coupling", "Nodes", "Joints", "EolCloth", "Draft", "ConstraintDraft",
                  "LiveDraft", "FleshOnBones", "StaggeredParts"},
    "Coupling": {"FleshOnBones", "StaggeredParts"},
    "System": {"JointsSystem", "Joints", "CoupledSystem"},
    "StageMethod": {"FullStage", "CondensedStage", "MonolithicCondensedStage"},
    "StageDirections": {"DescentDirections", "FactoredDirections", "ProjectedDirections", "SecantDirections",
                        "FrozenDirections", "InexactDirections", "EarlyDirections", "GroundDirections",
                        "ContactIterations", "RatesDirections", "VelocityDirections", "CondensedDirections",
                        "ReusedFactorDirections", "BoundedDirections", "SaddleDirections",
                        "SweepIterations", "ReducedDirections", "GapActiveSet",
                        "FrictionDirections", "EquilibriumDirections",
                        "IncrementDirections"},
    "Bound": {"LineSearch", "RelaxedRates", "BalancedSteps", "AcceleratedSteps", "ContactBound",
              "LagrangianSearch", "AcceleratedSweeps", "ReducedSearch",
              "GapActiveSet", "SearchWithoutJumps", "EquilibriumSearch", "IncrementBound"},
    "Stop": {"ResidualStop", "StrainStop", "FullStepStop", "VisibleStop", "SlowStop", "EarlyStop",
             "ContactIterations", "ChangeStop", "RatesStop", "CondensedStop", "FixedPointStop", "BoundedStop",
             "SaddleStop", "SweepIterations", "LengthStop", "GapActiveSet", "NoStop",
             "IncrementStop"},
}

#: the room of programs of rows, and the classes there that solve one
PROGRAMS = {
    "rows/bilateral.py Bilateral": "equations by their dual, which the other rows then respond through",
    "rows/eliminated.py EliminatedRows": "equations along given directions, which are taken out of the unknowns",
    "rows/filtered.py FilteredProgram": "equations of single nodes, taken out of the unknowns without a factor",
    "rows/dense_dual.py DenseDual": "equations, bounds and cones by the dual, where A is known by its response",
    "rows/bounded_rows.py BoundedRows": "rows whose bounds another program sets, by their dual, where A is known so",
    "rows/bounded.py BoundedProgram": "impulses within bounds, by a semismooth Newton method or an active set",
    "rows/sparse/program.py SparseProgram": "equations and bounds of single vertices, where A is a sparse matrix",
    "rows/sparse/reduced.py ReducedProgram": "the factor and active set of one SparseProgram",
}
#: the tables in which they take rows, whoever poses them
TABLES = {"DenseRows", "SparseRows", "VertexRows"}
#: program of bare impulses, without rows: that of the others, which only they make
OF_IMPULSES = "BoundedProgram"
#: files outside that make such tables or programs, with their rows
POSED = {
    "bearings/bearings.py": "slips along the lines of bearings",
    "bearings/bisp.py": "friction along those lines, whose normal forces the tree hands on",
    "bearings/staggered.py": "normal forces and friction of bearings in turn, as the dissertation has it",
    "constraints/projection.py": "loops and drives, for positions after a step",
    "constraints/enforcement/acceleration.py": "equations of accelerations between nodes, to compare with",
    "constraints/enforcement/compliant.py": "equations between nodes, hard or with compliance",
    "constraints/enforcement/mass_modification.py": "nodes pinned along some directions",
    "constraints/enforcement/symplectic.py": "equations at the end of a symplectic step of nodes, to compare with",
    "integrators/additive.py": "modes of soft bodies that move as an exponential says",
    "nonlinear/gap_active_set.py": "gaps between surfaces of nodes, along one direction of Newton's method",
    "parts/eol/cone.py": "what vertices of cloth on sharp edges and points may do",
    "parts/eol/contact_rows.py": "contact of vertices, edges and faces of cloth with Sharp Edges",
    "parts/eol/rows.py": "pins of cloth with Sharp Edges",
    "world/constraints.py": "loops, drives, limits and contacts of mechanisms",
    "world/joints_with_friction.py": "those, beside friction inside joints",
}
#: classes of stages with joints: of both parts of the monolithic coupling, of joints alone, and protocols of them
STAGES_WITH_JOINTS = {
    "coupling/coupled_quasistatic.py CoupledQuasistatic",
    "coupling/coupled_quasistatic.py QuasistaticSolution", "coupling/coupled_stage.py CoupledStage",
    "coupling/coupled_stage.py RelinearisedStage", "coupling/coupled_stage.py SolvedCarrier",
    "coupling/skeleton.py SolvedSkeleton", "parts/joints/jointed.py SolvedTree", "parts/interface.py Touched",
    "parts/stage.py NoJoints", "nonlinear/velocity_stage.py PosedVelocities",
    "nonlinear/joint_rates.py SolvedRates"}
#: integrators of other objects that a file reads or replaces
OTHERS_INTEGRATORS = {
    "parts/modes/body.py how.integrator": "name of its own, or of the step that it is given",
    "world/nodes.py other.integrator": "that of a copy of itself, which it returns",
}
#: classes whose points a staggered coupling may act on
INTERFACES = {"NodePoints", "BonePoints"}
#: attributes of other objects that are written, by file and function: results are returned, and these are left
WRITES = {
    "assembly/pattern.py __init__ self._matrix": "its own matrix of a library",
    "assembly/pattern.py node_graph graph": "a matrix of a library that it has made",
    "assembly/pattern.py update_pairs matrix": "the arrays of its own matrix",
    "build/positions.py place_mechanism error": "a failure gets its body and its field on its way out",
    "build/soft_bodies.py _condensation solver.remarks": "a solver that it has made adds to the remarks of another",
    "contact/find/mesh.py intersections self._tree.can_vertices_collide": "its own tree of a library",
    "embedding/pinned.py __init__ weights": "a matrix of a library that it has made",
    "embedding/tears.py __init__ self._reach": "its own matrix of a library",
    "farm/wedge.py with_row error": "a failure gets its row on its way out",
    "job/folder.py blame error": "a failure gets its body and its field on its way out",
    "job/folder.py read_array array.flags.writeable": "an array that it has read",
    "linear/banded_cholesky.py remarks self._other.remarks": "those of the solver that it contains",
    "linear/cholesky/blas.py addresses api": "the types of a function in C",
    "linear/cholesky/cvxopt_cholmod.py _address api": "the types of a function in C",
    "linear/cholesky/cvxopt_cholmod.py _factor self._matrix.V": "its own matrix of a library",
    "linear/choose.py choose": "the reason of the choice, on a solver that it has made",
    "linear/multigrid/solver.py _iterate self._columns.most": "its own conjugate gradients",
    "linear/multigrid/solver.py tolerance self._columns.tolerance": "its own conjugate gradients",
    "linear/tidy.py tidy_csc matrix": "a matrix of a library that it has made",
    "meshing/child_mesh.py main sys.path": "where a process of its own finds its modules",
    "meshing/parting.py _displacements_back graph": "a matrix of a library that it has made",
    "meshing/random_device.py fix_random_device": "a function in C of a library",
    "meshing/tetrahedralize.py tetrahedralize error.object": "a failure gets its body on its way out",
    "parts/projective/factor.py _factor self._lower": "its own matrix of a library",
    "rows/sparse/program.py take self.reduced": "counts of its own program",
    "rows/sparse/reduced.py _nothing_resists lower": "its own matrix, which it restores",
    "sheet/conform.py _move_onto_corner now.new": "the working mesh of one remeshing",
    "sheet/conform.py _restore_velocities working": "the working mesh of one remeshing",
    "sheet/conform.py _transfer working": "the working mesh of one remeshing",
    "sheet/insertion.py _along now.ordered": "the working mesh of one remeshing",
    "sheet/insertion.py _at_point now.new": "the working mesh of one remeshing",
    "sheet/insertion.py _at_point working": "the working mesh of one remeshing",
    "sheet/insertion.py release self.working": "the working mesh of one remeshing",
    "sheet/insertion.py shift working": "the working mesh of one remeshing",
    "sheet/insertion.py sit working": "the working mesh of one remeshing",
    "sheet/joining.py slip working": "the working mesh of one remeshing",
    "sheet/mending.py _split_and_collapse working": "the working mesh of one remeshing",
    "sheet/mending.py _collapse_any working.thinnest": "a bound that it restores before it returns",
    "nonlinear/directions.py refactor_columns shown.factored": "counts factors of a linear solver",
    "nonlinear/inexact.py _direction self._cg.taken": "a count of its own conjugate gradients",
    "nonlinear/stage_factors.py factor system.factored": "which pairs the factor in the linear solver belongs to",
    "nonlinear/stage_factors.py factor_for_directions system.factored": "those of the factor for directions",
    "nonlinear/quasistatic_factors.py factor self._linear.true": "its own linear solver",
    "nonlinear/reused_factor.py _try_single linear.factored": "counts factors of a linear solver",
    "nonlinear/reused_factor.py factor linear.factored": "counts factors of a linear solver",
    "parts/conjac/conjac.py _condense self._single.too_soft": "its own single precision",
    "parts/conjac/conjac.py forget_past self._single.too_soft": "its own single precision",
    "parts/conjac/reduced_precision.py condense showing.factored": "counts factors of a linear solver",
    "parts/eol/sliding_cloth.py step_with_reaction self.step_log.substeps": "the log's counts",
    "parts/eol/solving.py _count_solution self.step_log": "the log's counts",
    "parts/eol/solving.py _separate self.step_log.barrier_iterations": "the log's counts",
    "parts/joints/jointed.py _add_forces self.on_rates.force": "its own forces on rates, overwritten in each stage",
    "parts/joints/jointed.py by_inertia self.springs.between": "its own springs' blocks, overwritten in each stage",
    "parts/joints/jointed.py _add_explicit self.on_rates.force": "its own forces on rates, overwritten in each stage",
    "parts/joints/jointed.py acceleration self.on_rates.force": "its own forces on rates, overwritten in each stage",
    "parts/modes/stepping.py _direction stage.factor": "the stage of one step, which is made and dropped there",
    "world/constraint_drafts.py initial_state start.x": "the state that its body has just made",
    "world/islands.py solve plain.system.factored": "which pairs the factor in the linear solver belongs to",
    "world/subsystems.py naming_part failure.part": "a failure gets its part's number on its way out",
    "world/world.py check_step_size failure.part": "a failure gets its part's number on its way out",
    "world/world.py explain failure.remedy": "a failure gets its remedy on its way out",
}


@cache
def trees():
    return {path.relative_to(SOLVER).as_posix(): tree_of(path) for path in sorted(SOLVER.rglob("*.py"))}


def base_names(node):
    """Return names of the bases of a class, without modules and type arguments."""
    for base in node.bases:
        base = base.value if isinstance(base, ast.Subscript) else base
        yield base.attr if isinstance(base, ast.Attribute) else getattr(base, "id", "")


def heirs(protocol):
    """Return the classes of the solver that inherit from a protocol, at any depth."""
    bases = {node.name: set(base_names(node)) for tree in trees().values() for node in nodes_of(tree)
             if isinstance(node, ast.ClassDef)}
    subclasses, more = set(), {protocol}
    while more:
        subclasses |= more
        more = {name for name, of in bases.items() if of & subclasses} - subclasses
    return subclasses - {protocol}


@pytest.mark.parametrize("protocol", CLASSES)
def test_classes_of_each_protocol_are_known(protocol):
    assert heirs(protocol) == CLASSES[protocol]


def test_every_part_takes_the_one_step():
    """Parts differ in their attempts at a step; the loop around them, which repeats or refuses one, is written once."""
    steps = {(file, node.name) for file, tree in trees().items() for node in nodes_of(tree)
             if isinstance(node, ast.ClassDef) and node.name in CLASSES["Subsystem"] | {"Subsystem"}
             and any(isinstance(item, ast.FunctionDef) and item.name == "step" for item in node.body)}
    assert steps == {("world/interface.py", "Subsystem")}


def functions(node, name):
    return [item for item in node.body if isinstance(item, ast.FunctionDef) and item.name == name]


def imported(tree):
    """Return modules and names that a file imports, also in functions."""
    for node in nodes_of(tree):
        if isinstance(node, ast.ImportFrom):
            yield from (f"{node.module}.{alias.name}" for alias in node.names)
        elif isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)


def test_rows_are_solved_in_one_room():
    """The room has the classes that solve programs and the library that solves quadratic programs."""
    found = {f"{file} {node.name}" for file, tree in trees().items() if file.startswith("rows/")
             for node in nodes_of(tree) if isinstance(node, ast.ClassDef) and functions(node, "solve")}
    assert found == set(PROGRAMS)
    assert {file.split("/")[0] for file, tree in trees().items() if "daqp" in imported(tree)} == {"rows"}


def made(tree):
    """Return names of classes that a file instantiates, directly or by a method of the class."""
    for node in nodes_of(tree):
        if isinstance(node, ast.Call):
            made_by = node.func.value if isinstance(node.func, ast.Attribute) else node.func
            yield getattr(made_by, "id", "")


def test_every_file_that_poses_rows_is_known():
    names = TABLES | {name.rpartition(" ")[2] for name in PROGRAMS}
    found = {file for file, tree in trees().items() if not file.startswith("rows/") and names & {*made(tree)}}
    assert found == set(POSED)


def test_all_rows_are_in_the_tables_of_one_room():
    """Every program takes the tables, and no other room has its own or poses impulses without rows."""
    assert {file for file, tree in trees().items() if OF_IMPULSES in {*made(tree)}} == {
        "rows/bounded_rows.py", "rows/dense_dual.py"}
    assert heirs("RowTable") == TABLES
    assert {file for file, tree in trees().items() for node in nodes_of(tree)
            if isinstance(node, ast.ClassDef) and node.name in TABLES | {"RowTable", "ConeRows"}} == {"rows/tables.py"}
    fields = {"target", "low", "high", "compliance", "name"}
    table = next(node for node in ast.walk(trees()["rows/tables.py"])
                 if isinstance(node, ast.ClassDef) and node.name == "RowTable")
    assert {item.target.id for item in table.body if isinstance(item, ast.AnnAssign)} == fields


def test_parts_are_coupled_in_two_ways():
    """A world takes couplings, monolithic or staggered, which act on each other at interface points."""
    protocol = next(node for node in ast.walk(trees()["coupling/interface_points.py"])
                    if isinstance(node, ast.ClassDef) and node.name == "InterfacePoints")
    needed = {item.name for item in protocol.body if isinstance(item, ast.FunctionDef)} - {"part"}
    found = {node.name for tree in trees().values() for node in nodes_of(tree) if isinstance(node, ast.ClassDef)
             and needed <= {item.name for item in node.body if isinstance(item, ast.FunctionDef)}}
    assert found == INTERFACES | {"InterfacePoints"}


def test_stages_of_two_parts_are_in_the_room_of_couplings():
    found = {f"{file} {node.name}" for file, tree in trees().items() for node in nodes_of(tree)
             if isinstance(node, ast.ClassDef) and node.name != "State" and any(
                 getattr(item, "name", "") == "tree_stage"
                 or isinstance(item, ast.AnnAssign) and ast.unparse(item.target) == "tree_stage"
                 for item in node.body)}
    assert found == STAGES_WITH_JOINTS


def written(function):
    """Return attributes of other objects that a function writes, whole or in part: not of itself, nor of a copy that it
    made."""
    makes = re.compile(r"(copy\.copy|self\.of|self\.under|cls|[A-Z]\w*)\(")
    copies = {target.id for node in ast.walk(function) if isinstance(node, ast.Assign)
              and makes.search(ast.unparse(node.value)) for target in node.targets
              for target in ast.walk(target) if isinstance(target, ast.Name)}
    for node in ast.walk(function):
        targets = (node.targets if isinstance(node, ast.Assign)
                   else [node.target] if isinstance(node, ast.AugAssign | ast.AnnAssign) else [])
        for target in (item for assigned in targets
                       for item in (assigned.elts if isinstance(assigned, ast.Tuple) else [assigned])):
            owner = target
            while isinstance(owner, ast.Subscript):
                owner = owner.value
            if isinstance(owner, ast.Attribute) and not (
                    isinstance(owner.value, ast.Name) and owner.value.id in {"self", "cls"} | copies):
                yield ast.unparse(owner)


def memory_keys(tree):
    """Return names of imported keys by which a file reads or writes the memory of a state."""
    names = {alias.asname or alias.name for node in nodes_of(tree) if isinstance(node, ast.ImportFrom)
             for alias in node.names}

    def is_memory(node):
        return "memory" in (getattr(node, "attr", ""), getattr(node, "id", ""))

    for node in nodes_of(tree):
        key = []
        if isinstance(node, ast.Subscript) and is_memory(node.value):
            key = [node.slice]
        elif isinstance(node, ast.Call) and is_memory(getattr(node.func, "value", None)):
            key = node.args[:1]
        elif isinstance(node, ast.Compare) and any(map(is_memory, node.comparators)):
            key = [node.left]
        elif isinstance(node, ast.Dict) and any(value is None for value in node.keys):
            key = node.keys
        yield from (part.id for expression in key if expression is not None for part in ast.walk(expression)
                    if isinstance(part, ast.Name) and part.id in names)


def test_no_coupling_names_a_key_of_a_part_s_memory():
    """A part gets external inputs as an argument of its step, and returns its results with the state."""
    assert [f"{file} {name}" for file, tree in trees().items() if file.startswith("coupling/")
            for name in memory_keys(tree)] == []
    tree = ast.parse("from ..world.joints_part import EFFORT\nfound = state.memory[EFFORT]")
    assert [*memory_keys(tree)] == ["EFFORT"]


def test_each_subsystem_of_a_world_owns_its_integrator():
    """No object steps with another object's integrator, so an independent subsystem keeps its own."""
    found = {f"{file} {ast.unparse(node)}" for file, tree in trees().items() if file.split("/")[0] in {*ROOMS, "live"}
             for node in nodes_of(tree) if isinstance(node, ast.Attribute) and node.attr == "integrator"
             and ast.unparse(node.value) not in ("self", "scene", "job.scene")}
    assert found == set(OTHERS_INTEGRATORS)


def test_parts_in_a_coupling_have_no_integrator():
    """The system that is stepped receives the integrator when it is made."""
    bare = CLASSES["Part"] - CLASSES["Subsystem"]
    assert bare == {"NodesPart", "JointsPart"}
    named = {node.name for tree in trees().values() for node in nodes_of(tree) if isinstance(node, ast.ClassDef)
             if any(ast.unparse(name) in ("integrator", "self.integrator") for item in node.body
                    for name in ([item.target] if isinstance(item, ast.AnnAssign) else ast.walk(item))
                    if isinstance(name, ast.Attribute) or name is getattr(item, "target", None))}
    assert not named & {*bare, "SoftSystem", "SoftBodies", "Part"} and {"Nodes", "Joints"} <= named


def test_every_write_on_another_object_is_known():
    found = {f"{file} {node.name} {target}" for file, tree in trees().items()
             for node in nodes_of(tree) if isinstance(node, ast.FunctionDef)
             for target in written(node)}
    unknown = {write for write in found if not write.startswith(tuple(WRITES))}
    missing = {known for known in WRITES if not any(write.startswith(known) for write in found)}
    assert not unknown and not missing
