"""Setting a soft body up: add, paint, handles, previews, remove. Baking is in bake/."""

from . import preview, setup, suggest

classes = (*setup.classes, *preview.classes, *suggest.classes)
