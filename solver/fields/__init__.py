"""Painted maps as values on elements and roles of nodes."""
