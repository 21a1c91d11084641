"""Couplings of parts: monolithic, with the unknowns of both parts in one system, or staggered, each part in turn until
they agree."""
