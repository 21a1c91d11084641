"""Operators that set up bodies and mechanisms: add, paint, handles, joints, previews, remove. Baking is in bake/."""
