"""What ropes and wires resist: how their links stretch, and how they bend."""
