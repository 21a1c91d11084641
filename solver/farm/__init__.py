"""Many bakes of one job: wedges, a table of running bakes, and job descriptions for queues and clouds."""
