"""Time integrators: one whole step, from (system, state, h) to a new state."""
