"""Imported, this has done what each process of the solver does once and that does not depend on its job: for processes
that others are forked from."""

import contextlib

import msgspec

from solver.build import loading
from solver.frames import write
from solver.job import schema

loading.sources()
write.find_installed_versions()
with contextlib.suppress(msgspec.ValidationError):
    msgspec.convert({}, schema.Scene)
