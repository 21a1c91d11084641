"""Kinds of cuts, one file each."""
