"""Run as `python -m spellbook.web FD…`: the site on sockets that its parent holds open.

The parent keeps listening while the site is started again, so nobody is refused meanwhile.
"""

from __future__ import annotations

import socket
import sys

import uvicorn


def main(descriptors: list[int]) -> None:
    config = uvicorn.Config(
        "spellbook.asgi:application",
        lifespan="off",
        log_config=None,
        server_header=False,
        timeout_graceful_shutdown=5,
    )
    uvicorn.Server(config).run(sockets=[socket.socket(fileno=descriptor) for descriptor in descriptors])


if __name__ == "__main__":
    main([int(text) for text in sys.argv[1:]])
