"""Joint types, one file each: entries of the catalogue's family "joint"."""
