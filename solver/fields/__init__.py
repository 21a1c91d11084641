"""Fields of a body: painted maps as values on elements, and as roles of nodes."""
