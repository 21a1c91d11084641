"""What ropes and wires resist: how their links stretch, and how they bend."""

TENSION = "rope_tension"  #: of all links of a part at the end of the last step [N], in a state's memory
