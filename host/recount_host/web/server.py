"""The page server: uvicorn in a thread of its own, on a socket that is already bound."""

import socket
import threading

import uvicorn
from starlette.applications import Starlette

STOP_TIMEOUT_S = 2
"""A page that is still loading must not hold up the end."""


class PageServer:
    """Serves the pages until it is stopped."""

    def __init__(self, app: Starlette, bound: socket.socket) -> None:
        config = uvicorn.Config(
            app,
            log_level="warning",
            access_log=False,
            server_header=False,
            lifespan="off",
            timeout_graceful_shutdown=STOP_TIMEOUT_S,
        )
        self._server = uvicorn.Server(config)
        self._bound = bound
        self._thread = threading.Thread(target=self._run, name="pages", daemon=True)

    def start(self) -> None:
        """Start the thread."""
        self._thread.start()

    def stop(self) -> None:
        """Answer what is being asked, then end."""
        self._server.should_exit = True
        self._thread.join()

    def _run(self) -> None:
        self._server.run(sockets=[self._bound])
