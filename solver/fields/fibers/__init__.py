"""Which way fibers run: one file a source, each an entry of the catalogue's family "fiber_field"."""
