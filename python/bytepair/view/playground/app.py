"""The playground's server: the page, offers, uploads, counts and pictures of texts. It keeps no text.

Each answer except the page is JSON; an error is ``{"error": {"what", "where", "remedy"}}``.
"""

from __future__ import annotations

import asyncio
import json
import logging
import re
from html import unescape
from typing import TYPE_CHECKING, Any

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect
from starlette.responses import HTMLResponse, Response
from starlette.routing import Route

from bytepair.errors import BytepairError, FormatError
from bytepair.model.split_patterns import SPLIT_PATTERNS
from bytepair.view.interactive import SCRIPTS, STYLES
from bytepair.view.page import asset, page
from bytepair.view.playground import reading, uploads
from bytepair.view.playground.guard import CLOSED, Guard, refusal
from bytepair.view.playground.pictured import MOST_AT_ONCE, MOST_TOKENS, PictureRequest, counted, error_data, pictured
from bytepair.view.playground.shelf import MOST_UPLOADS, Shelf
from bytepair.view.playground.working import BusyError, Workers

if TYPE_CHECKING:
    from collections.abc import Callable

    from starlette.requests import Request
    from starlette.types import ASGIApp, Receive, Scope, Send

MOST_OF_TEXT = 1_000_000
"""Bytes of a text, as UTF-8."""

MOST_OF_UPLOAD = 50 << 20
"""Bytes of the files of an upload."""

# JSON may spell each byte of a text with six.
_MOST_OF_REQUEST = 6 * MOST_OF_TEXT + 10_000
# Up to this factor too much is read to its end, since a browser that is still sending does not read an answer.
_DRAINED = 2

_SECONDS = 30.0
# The process that reads an upload ends so much earlier than the answer is due.
_SPARE = 2.0
_THREADS = 2
_MOST_WAITING = 16
# Of all bodies that are being read: a connection that sends nothing takes no place.
_MOST_READ = 4 * MOST_OF_UPLOAD
# Without a byte of the body, and the request is answered.
_SILENCE = 5.0
# Answers in the making.
_MOST_REQUESTS = 64


class TooLargeError(BytepairError):
    """A request is larger than the limit."""


class Playground:
    """The handlers of requests.

    Args:
        shelf: The offers.
        text_limit: The most bytes of a text, as UTF-8.
        upload_limit: The most bytes of the files of an upload.
        seconds: The time limit of a request.
    """

    def __init__(
        self,
        shelf: Shelf,
        *,
        text_limit: int = MOST_OF_TEXT,
        upload_limit: int = MOST_OF_UPLOAD,
        seconds: float = _SECONDS,
    ) -> None:
        self._shelf = shelf
        self._text_limit = text_limit
        self._upload_limit = upload_limit
        self._seconds = seconds
        self._workers = Workers(_THREADS, _MOST_WAITING, seconds, "use less text or fewer tokenizers")
        self._loader = Workers(1, _MOST_WAITING, seconds, "pass the file to bytepair serve -m")
        self._read = 0
        self._limits = reading.Limits(max(seconds - _SPARE, 1.0))

    def app(self, host: str) -> ASGIApp:
        """The application, for a server that listens at a host."""
        routes = [
            Route("/", self._page),
            Route("/api/tokenizers", _answered(self._offers), methods=["GET"]),
            Route("/api/tokenizers", _answered(self._upload), methods=["POST"]),
            Route("/api/counts", _answered(self._counts), methods=["POST"]),
            Route("/api/picture", _answered(self._picture), methods=["POST"]),
        ]
        inner = Starlette(routes=routes, exception_handlers={HTTPException: _no_such_page})
        return Guard(_Bounded(inner, _MOST_REQUESTS), host)

    def close(self) -> None:
        """Cancel waiting calls; running ones end by themselves."""
        self._workers.close()
        self._loader.close()

    async def _page(self, _: Request) -> Response:
        text = page(
            "bytepair playground",
            asset("playground.html"),
            styles=(*STYLES, "playground.css"),
            scripts=(*SCRIPTS, "costs.js", "sharing.js", "playground.js"),
            data={
                "offers": self._said_offers(),
                "chosen": self._shelf.first(MOST_AT_ONCE),
                "splits": list(SPLIT_PATTERNS),
                "limits": {
                    "text": self._text_limit,
                    "upload": self._upload_limit,
                    "files": uploads.MOST_FILES,
                    "uploads": MOST_UPLOADS,
                    "at_once": MOST_AT_ONCE,
                    "tokens": MOST_TOKENS,
                },
            },
            talks=True,
        )
        # The page's policy is in its head, where frame-ancestors has no effect.
        found = re.search(r'"Content-Security-Policy" content="([^"]*)"', text)
        policy = f"{unescape(found[1])}; frame-ancestors 'none'" if found else CLOSED
        return HTMLResponse(text, headers={"Content-Security-Policy": policy})

    async def _offers(self, _: Request) -> Response:
        return _json(200, {"offers": self._said_offers()})

    def _said_offers(self) -> list[dict[str, str]]:
        return [offer._asdict() for offer in self._shelf.offers()]

    async def _counts(self, request: Request) -> Response:
        return await self._made(request, lambda wanted: counted(self._shelf, wanted))

    async def _picture(self, request: Request) -> Response:
        return await self._made(request, lambda wanted: pictured(self._shelf, wanted))

    async def _made(self, request: Request, make: Callable[[PictureRequest], bytes]) -> Response:
        _check_type(request, "application/json")
        wanted = _wanted(await self._body(request, _MOST_OF_REQUEST, f"a text may have {self._text_limit:,} bytes"))
        size = len(wanted.text.encode("utf-8", "surrogatepass"))
        if size > self._text_limit:
            raise TooLargeError(
                f"the text has {size:,} bytes, more than {self._text_limit:,}",
                remedy="use less text, or bytepair view and bytepair count for files",
            )
        made = await self._workers.run(lambda: make(wanted))
        return Response(made, media_type="application/json")

    async def _upload(self, request: Request) -> Response:
        _check_type(request, "application/octet-stream")
        body = await self._body(request, self._upload_limit, f"an upload may have {self._upload_limit >> 20} MiB")
        files = _files(request, body)
        split = request.query_params.get("split")
        special_tokens = _special_tokens(request.query_params.getlist("special_token"))
        options: dict[str, Any] = {"split": split, "special_tokens": special_tokens, "limits": self._limits}
        loaded = await self._loader.run(lambda: uploads.load(files, **options))
        name = next((file.name for file in files if len(files) == 1), " + ".join(file.name for file in files))
        offer = self._shelf.add(name, loaded.tokenizer)
        return _json(201, {"offer": offer._asdict(), "notice": loaded.notice, "offers": self._said_offers()})

    async def _body(self, request: Request, most: int, limit: str) -> bytes:
        """The body of a request, within limits on its size and its time, and on all bodies that are read at a time."""
        try:
            body = await asyncio.wait_for(self._parts(request, most), self._seconds)
        except (TimeoutError, asyncio.TimeoutError) as error:
            raise BusyError("the request was not sent in time", remedy="send it again") from error
        if body is None:
            raise TooLargeError(f"the request is too large: {limit}", remedy="send less")
        return body

    async def _parts(self, request: Request, most: int) -> bytes | None:
        """The body, or None if it is longer."""
        length = request.headers.get("content-length", "0")
        if not length.isdecimal() or int(length) > _DRAINED * most:
            return None
        body, size = bytearray(), 0
        parts = request.stream().__aiter__()
        try:
            while True:
                try:
                    part = await asyncio.wait_for(parts.__anext__(), _SILENCE)
                except StopAsyncIteration:
                    return bytes(body) if size <= most else None
                size += len(part)
                if size > _DRAINED * most:
                    return None
                self._read -= len(body)
                if size <= most:
                    body += part
                else:
                    body.clear()
                self._read += len(body)
                if self._read > _MOST_READ:
                    raise BusyError("too many requests are being sent at once", remedy="try again in a moment")
        finally:
            self._read -= len(body)


class _Bounded:
    """An application that answers so many requests at a time, and others with 503."""

    def __init__(self, app: ASGIApp, most: int) -> None:
        self._app, self._left = app, most

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if self._left <= 0:
            await refusal(503, "the playground is busy", "try again in a moment")(scope, receive, send)
            return
        self._left -= 1
        try:
            await self._app(scope, receive, send)
        finally:
            self._left += 1


def _wanted(body: bytes) -> PictureRequest:
    """Parse a request for a picture."""
    try:
        parsed = json.loads(body.decode())
    except (ValueError, RecursionError) as error:
        raise FormatError(f"the request is not JSON: {error}", remedy="send text and tokenizers") from error
    text, keys, special = (parsed.get(key) if isinstance(parsed, dict) else None for key in PictureRequest._fields)
    if not isinstance(text, str):
        raise FormatError("text is not a string", pointer="/text")
    if not isinstance(keys, list) or not all(isinstance(key, str) for key in keys) or len(set(keys)) < len(keys):
        raise FormatError("tokenizers is not a list of distinct keys", pointer="/tokenizers")
    if not 1 <= len(keys) <= MOST_AT_ONCE:
        what = f"{len(keys)} tokenizers are chosen"
        raise FormatError(what, pointer="/tokenizers", remedy=f"choose 1 to {MOST_AT_ONCE}")
    if special not in ("allow", "text"):
        raise FormatError('special is neither "allow" nor "text"', pointer="/special")
    return PictureRequest(text, tuple(keys), special)


def _files(request: Request, body: bytes) -> list[uploads.Upload]:
    """The files of an upload: concatenated in the body, with their names and sizes in the query."""
    names, sizes = request.query_params.getlist("name"), request.query_params.getlist("size")
    if not names:
        raise FormatError("the upload has no name", remedy="add ?name=...")
    if len(names) == 1 and not sizes:
        sizes = [str(len(body))]
    if (
        len(sizes) != len(names)
        or not all(re.fullmatch("[0-9]{1,12}", size) for size in sizes)
        or sum(map(int, sizes)) != len(body)
    ):
        raise FormatError("names and sizes of the files do not match the upload", remedy="send it again")
    files, place = [], 0
    for name, size in zip(names, map(int, sizes), strict=True):
        files.append(uploads.Upload(name[:200], body[place : place + size]))
        place += size
    return files


def _special_tokens(rows: list[str]) -> dict[str, int]:
    tokens = {}
    for row in rows:
        token, _, id = row.rpartition("=")
        if not token or not re.fullmatch("[0-9]{1,10}", id):
            raise FormatError(f"{row[:100]!r} is not a special token", remedy="write one per line: <|endoftext|>=50256")
        tokens[token] = int(id)
    if len(tokens) < len(rows):
        raise FormatError("a special token is listed twice", remedy="omit one")
    return tokens


def _check_type(request: Request, wanted: str) -> None:
    found = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if found != wanted:
        raise HTTPException(415, f"this accepts {wanted}, not {found or 'a body without a type'}")


def _answered(handler: Callable[[Request], Any]) -> Callable[[Request], Any]:
    """Turn the errors of a handler into answers."""

    async def answer(request: Request) -> Response:
        try:
            made: Response = await handler(request)
        except ClientDisconnect:
            return Response(status_code=400)  # The client is gone.
        except TooLargeError as error:
            return fault(413, error)
        except BusyError as error:
            return fault(503, error)
        except HTTPException:
            raise
        except BytepairError as error:
            return fault(422, error)
        except Exception as error:
            # A bug: the page reports it, and the next request is answered.
            logging.getLogger(__name__).exception("the playground failed")
            return refusal(500, f"the playground failed: {error}", "this is a bug; the server's log has the traceback")
        return made

    return answer


def fault(status: int, error: BytepairError) -> Response:
    """An error as an answer."""
    return _json(status, {"error": error_data(error)})


def _json(status: int, data: Any) -> Response:
    # Names and messages may hold halves of surrogate pairs, which JSON in ASCII can spell.
    return Response(json.dumps(data), status, media_type="application/json")


async def _no_such_page(_: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)
    return refusal(error.status_code, error.detail, "see bytepair serve --help")
