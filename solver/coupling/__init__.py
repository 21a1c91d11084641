"""Couplings of parts: monolithic, one system with the unknowns of both; staggered, in turn until they agree."""
