"""Painted maps become numbers per element and roles of nodes."""
