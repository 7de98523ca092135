"""The baseline of the service benchmark: one empty FastAPI route on the same kind of server."""

from __future__ import annotations

import socket

import uvicorn
from fastapi import FastAPI

app = FastAPI()


@app.get("/")
async def empty() -> dict[str, bool]:
    """An empty route."""
    return {"success": True}


if __name__ == "__main__":
    with socket.create_server(("127.0.0.1", 0)) as listening:
        print(f"http://127.0.0.1:{listening.getsockname()[1]}", flush=True)
        config = uvicorn.Config(app, log_config=None, access_log=False, server_header=False, ws="none")
        uvicorn.Server(config).run([listening])
