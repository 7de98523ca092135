"""The HTTP API: `app.py` first, then `gateway/`, `routes/`, `schema/` and `server/`."""
