"""An owner's data as a stream of lines: made on a database thread, checked as it comes, sealed meanwhile."""
