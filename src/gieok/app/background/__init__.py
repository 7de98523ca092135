"""Background work: the worker, how each kind of job runs, and discovery of work that no request queues."""
