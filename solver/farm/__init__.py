"""Many bakes of one job: wedges, a table of what runs, and a description of all of it for queues and clouds."""
