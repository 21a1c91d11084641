"""Setting soft bodies and mechanisms up: add, paint, handles, joints, previews, remove. Baking is in bake/."""
