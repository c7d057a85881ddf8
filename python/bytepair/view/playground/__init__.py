"""The playground: a local web page that shows typed text as tokens."""

from __future__ import annotations

import errno
import os
import socket
import warnings
from typing import TYPE_CHECKING, Any

from bytepair.errors import ArtifactError, TokenizerWarning
from bytepair.resolver import load

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from starlette.types import ASGIApp

    from bytepair.resolver import TokenizerLike
    from bytepair.view.playground.app import Playground

PORT = 8765
"""The default port: fixed, so that links to the playground stay valid."""

_SECONDS_TO_END = 2
_LAST_PORT = 65535


def application(
    tokenizers: Mapping[str, TokenizerLike] | None = None,
    *,
    host: str = "127.0.0.1",
    encodings: str | os.PathLike[str] | None = None,
) -> ASGIApp:
    """The playground as an ASGI application.

    Args:
        tokenizers: The tokenizers by name, each a tokenizer or a name that `bytepair.load` takes; published encodings
            whose files are on this machine are added. If there are none, a small demo tokenizer is trained.
        host: The address that it will be served at. At a loopback address, only requests for that are answered.
        encodings: The folder of the encodings' rank files; None for the user's cache. Nothing is downloaded.

    Raises:
        ArtifactError: Starlette is not installed.
    """
    return _playground(tokenizers, encodings).app(host)


def serve(
    tokenizers: Mapping[str, TokenizerLike] | None = None,
    *,
    host: str = "127.0.0.1",
    port: int = PORT,
    encodings: str | os.PathLike[str] | None = None,
    ready: Callable[[str], None] | None = None,
) -> None:
    """Serve the playground until Ctrl-C.

    Args:
        tokenizers: As for `application`.
        host: The address to listen at. Unless it is a loopback address, everybody who can reach the machine can use the
            playground, and a `TokenizerWarning` warns of it.
        port: The port to listen at; 0 for a free one.
        encodings: As for `application`.
        ready: Called with the URL when it can be opened.

    Raises:
        ArtifactError: Starlette or uvicorn is not installed, or the address cannot be used, such as a taken port.
        KeyboardInterrupt: Ctrl-C.
    """
    uvicorn = _needed()
    listener = _listen(host, port)
    with listener:
        from bytepair.view.playground.connections import Connection  # noqa: PLC0415 (needs uvicorn)
        from bytepair.view.playground.guard import is_loopback  # noqa: PLC0415 (needs Starlette)

        if not is_loopback(host):
            warnings.warn(
                f"everybody who reaches {host} can use this playground, and upload files to it",
                TokenizerWarning,
                stacklevel=2,
            )
        playground = _playground(tokenizers, encodings)
        config = uvicorn.Config(
            playground.app(host),
            log_level="warning",
            access_log=False,
            server_header=False,
            proxy_headers=False,  # Headers of proxies are not trusted.
            http=Connection,
            ws="none",
            lifespan="off",
            timeout_graceful_shutdown=_SECONDS_TO_END,
        )
        try:
            if ready:
                ready(_url(host, listener.getsockname()[1]))
            uvicorn.Server(config).run(sockets=[listener])
        finally:
            playground.close()


def _playground(tokenizers: Mapping[str, TokenizerLike] | None, encodings: str | os.PathLike[str] | None) -> Playground:
    _needed()
    from bytepair.view.playground.app import Playground  # noqa: PLC0415 (the extra `serve`)
    from bytepair.view.playground.shelf import Shelf  # noqa: PLC0415 (as above)

    return Playground(Shelf({name: load(tokenizer) for name, tokenizer in (tokenizers or {}).items()}, encodings))


def _needed() -> Any:
    """Import uvicorn; raise ArtifactError if it or Starlette is not installed."""
    try:
        import starlette  # noqa: F401, PLC0415 (the extra `serve`)
        import uvicorn  # noqa: PLC0415 (as above)
    except ImportError as error:
        what = f"the playground needs the package {error.name}"
        raise ArtifactError(what, remedy="pip install 'starlette>=0.40' 'uvicorn>=0.30'") from error
    return uvicorn


def _listen(host: str, port: int) -> socket.socket:
    """A listening socket."""
    listener: socket.socket | None = None
    if not 0 <= port <= _LAST_PORT:  # Some systems would truncate it.
        raise ArtifactError(f"{port} is not a port", remedy=f"use one from 0 to {_LAST_PORT}")
    try:
        family, kind, protocol, _, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
        listener = socket.socket(family, kind, protocol)
        if os.name == "posix":  # Elsewhere it would let two servers listen at one port.
            listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind(address)
        listener.listen()
    except OSError as error:
        if listener:
            listener.close()
        if error.errno == errno.EADDRINUSE:
            what, remedy = f"port {port} of {host} is taken", "use another port, or port 0 for a free one"
        else:
            reason = error.strerror or str(error)
            what, remedy = f"cannot listen at port {port} of {host}: {reason}", "use another host or port"
        raise ArtifactError(what, remedy=remedy) from error
    return listener


def _url(host: str, port: int) -> str:
    # A server that listens on all addresses is reached from this machine by loopback.
    name = {"0.0.0.0": "127.0.0.1", "::": "[::1]"}.get(host, f"[{host}]" if ":" in host else host)
    return f"http://{name}:{port}/"
