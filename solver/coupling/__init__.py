"""Couplings of parts: monolithic, one system with the unknowns of both; staggered, each in turn until they agree."""
