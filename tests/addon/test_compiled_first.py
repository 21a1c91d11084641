"""The kernels of a new soft body are compiled first after an install."""

from conjac.conjac_addon import first_solvers
from conjac.solver.build import compiling


def test_a_new_bodys_solver_is_the_one_that_is_compiled_first(soft_cube):
    assert dict(compiling.SOLVER) == {family: first_solvers.SOLVER[family] for family, _ in compiling.SOLVER}
    assert soft_cube.conjac.material == compiling.MATERIAL[1]
