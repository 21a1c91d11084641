"""Panels: thin views of the settings and of what is on disk."""

from .panels import classes

__all__ = ["classes"]
