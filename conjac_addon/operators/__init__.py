"""Operators that set up soft bodies and mechanisms: add, paint, handles, joints, previews, remove. bake/ bakes."""
