"""Setting a soft body up: add, paint, handles, preview, remove. Baking is in bake/."""

from . import preview, setup

classes = (*setup.classes, *preview.classes)
