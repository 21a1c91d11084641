"""Panels: thin views of the settings and of what is on disk."""

from .damping import unregister
from .panels import classes

__all__ = ["classes", "unregister"]
