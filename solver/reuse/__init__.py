"""Reuse of frames of an earlier bake, for bodies with unchanged inputs that no changed object approaches."""
