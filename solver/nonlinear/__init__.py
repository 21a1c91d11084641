"""Newton, quasi-Newton and fixed-point solvers for the nonlinear equations of a time integrator's stage."""
