"""ConJac: quasistatic nodes that follow the dynamic ones."""
