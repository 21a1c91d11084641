"""Simulated world: bodies, forces and prescribed motion as one system that advances in time."""
