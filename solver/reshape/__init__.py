"""Where counts change: bodies are cut, and the world and its state with them."""
