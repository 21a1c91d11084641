"""Setting a soft body up: add, paint, handles, previews, remove. Baking is in bake/."""

from . import cuts, nails, preview, setup, suggest

classes = (*setup.classes, *cuts.classes, *nails.classes, *preview.classes, *suggest.classes)
