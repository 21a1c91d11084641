"""Changes of topology: bodies are cut, and the world and its state with them."""
