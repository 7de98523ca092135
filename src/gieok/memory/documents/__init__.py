"""Documents: keyed JSON of other tools, in namespaces, with versions, a time to live and search."""
