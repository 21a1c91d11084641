"""`pip install .` gives the solver alone, without Blender: the package conjac_solver and the command conjac-solver."""

from setuptools import find_packages, setup

setup(packages=["conjac_solver", *(f"conjac_solver.{name}" for name in find_packages("solver"))],
      package_dir={"conjac_solver": "solver"},
      package_data={"conjac_solver.farm": ["in_blender.py.txt"], "conjac_solver.linear": ["quickest.json"]})
