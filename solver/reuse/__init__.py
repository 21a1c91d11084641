"""Reuse of an earlier bake: bodies whose inputs did not change and that nothing new comes near keep their frames."""
