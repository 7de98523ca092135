"""The process that serves the API: sockets, lifecycle, health checks and the documentation page."""
