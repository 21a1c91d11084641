"""Where a body comes apart: one file for each kind of cut."""
