"""The routes of the HTTP API, one file per resource. They validate, call the facade and return a record."""
