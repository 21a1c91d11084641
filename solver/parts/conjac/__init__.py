"""ConJac: the quasistatic nodes follow the dynamic ones."""
