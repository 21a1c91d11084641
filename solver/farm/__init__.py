"""Many bakes of one job: wedges, a table of running bakes, and job descriptions for render farms and clouds."""
