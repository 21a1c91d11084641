"""Setting a soft body up: add, paint, handles, previews, remove. Baking is in bake/."""

from . import cuts, preview, setup, suggest

classes = (*setup.classes, *cuts.classes, *preview.classes, *suggest.classes)
