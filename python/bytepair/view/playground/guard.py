"""The guard of the playground: which requests are answered, and the security headers of each answer.

Every page in the user's browser can reach a server on this machine. A foreign page must not make it do anything (its
requests carry its own Origin), and must not read from it by DNS rebinding (its requests carry a foreign name as Host).
"""

from __future__ import annotations

import json
import socket
from ipaddress import ip_address
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import Response

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Message, Receive, Scope, Send

_HEADERS = {
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cache-Control": "no-store",
}

CLOSED = "default-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
"""The content security policy of answers that are not pages."""


def is_loopback(host: str) -> bool:
    """Whether a name or an address is a loopback one, which other machines cannot reach.

    Example:
        >>> is_loopback("127.0.0.1"), is_loopback("::1"), is_loopback("localhost"), is_loopback("0.0.0.0")
        (True, True, True, False)
    """
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return host.lower() == "localhost"


class Guard:
    """Answers requests for this server and from its own page, and refuses others.

    Args:
        app: The application.
        host: The address that the server listens at. At a loopback address only loopback names are its own. At others
            the machine's names and all IP addresses are: only a name can be rebound by an attacker. The port is not
            checked, since it differs behind a tunnel.
    """

    def __init__(self, app: ASGIApp, host: str) -> None:
        self._app = app
        self._is_open = not is_loopback(host)
        self._names = {"localhost"}
        if self._is_open:
            self._names |= {host.lower(), socket.gethostname().lower(), socket.getfqdn().lower()}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request."""
        if scope["type"] == "lifespan":
            await self._app(scope, receive, send)
            return
        if scope["type"] != "http":
            await send({"type": "websocket.close"})
            return

        async def send_guarded(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                for name, value in _HEADERS.items():
                    headers[name] = value
                headers.setdefault("Content-Security-Policy", CLOSED)
            await send(message)

        fault = self._fault(Headers(scope=scope), scope["method"])
        answer = refusal(403, *fault) if fault else self._app
        await answer(scope, receive, send_guarded)

    def _fault(self, headers: Headers, method: str) -> tuple[str, str] | None:
        """The fault of a request, and its remedy; None if there is none."""
        hosts = headers.getlist("host")
        if len(hosts) != 1 or not self._is_own(hosts[0]):
            return "the request has a foreign Host", "open the playground at the address that it printed at its start"
        if method in ("GET", "HEAD"):
            return None
        # A browser sends one of these with every request of a page; a client that sends neither is not a browser.
        origins = headers.getlist("origin")
        sites = headers.getlist("sec-fetch-site")
        if any(origin != f"http://{hosts[0]}" for origin in origins) or any(site != "same-origin" for site in sites):
            return "this request is from a page of another site", "use the playground's own page"
        return None

    def _is_own(self, host: str) -> bool:
        try:
            parts = urlsplit(f"//{host}")
            name = parts.hostname
            _ = parts.port
        except ValueError:
            return False
        if not name or parts.netloc != host or parts.username is not None:
            return False
        try:
            return ip_address(name).is_loopback or self._is_open
        except ValueError:
            return name in self._names


def refusal(status: int, what: str, remedy: str) -> Response:
    """An error as an answer."""
    data = {"error": {"what": what, "where": {}, "remedy": remedy}}
    return Response(json.dumps(data), status, media_type="application/json")
