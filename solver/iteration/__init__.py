"""The loop that solves a stage, whatever its unknowns, and protocols of its directions, bound and stop rule."""
