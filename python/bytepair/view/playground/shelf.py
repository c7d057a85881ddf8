"""The tokenizers that a playground offers: named ones, encodings on this machine, a demo, and uploads."""

from __future__ import annotations

from collections import OrderedDict
from functools import partial
from threading import Lock
from typing import TYPE_CHECKING, NamedTuple

from bytepair.drawing.characters import show_line
from bytepair.errors import FormatError
from bytepair.formats.encodings import ENCODINGS, models_of
from bytepair.formats.fetching import is_stored
from bytepair.resolver import get_encoding
from bytepair.view.playground.demo import demo

if TYPE_CHECKING:
    import os
    from collections.abc import Callable, Mapping

    from bytepair.tokenizer import Tokenizer

MOST_UPLOADS = 8
"""The most uploads that are kept: those used last."""

_MOST_OF_NAME = 60
_MOST_OF_MODELS = 2
_NEWEST = "o200k_base"


class Offer(NamedTuple):
    """A tokenizer that can be chosen.

    Attributes:
        key: Its key in requests and shared links.
        name: Its name on the page.
        origin: ``"given"``, ``"encoding"``, ``"demo"`` or ``"upload"``. Only uploads cannot be shared.
        note: Words about it: the models that use an encoding, or where it is from.
    """

    key: str
    name: str
    origin: str
    note: str


class Shelf:
    """The offers of a playground. Each is loaded once, when it is first requested, by the requesting thread.

    Args:
        given: Tokenizers by name. Without any, the demo is offered as well.
        encodings: The folder of rank files of encodings; None for the configured one, or the caches. Only encodings
            with a file there are offered: nothing is downloaded.
    """

    def __init__(self, given: Mapping[str, Tokenizer], encodings: str | os.PathLike[str] | None = None) -> None:
        self._lock = Lock()
        self._loaded = dict(given)
        self._loaders: dict[str, Callable[[], Tokenizer]] = {}
        self._locks: dict[str, Lock] = {}
        self._offers = [Offer(name, show_line(name, _MOST_OF_NAME), "given", _models(name)) for name in given]
        for name in ENCODINGS:
            if name not in given and is_stored(name, folder=encodings):
                self._add_later(
                    Offer(name, name, "encoding", _models(name)), partial(get_encoding, name, folder=encodings)
                )
        if not given:
            self._add_later(Offer("demo", "demo", "demo", "trained on Python’s manual"), demo)
        self._uploads: OrderedDict[str, tuple[int, Offer, Tokenizer]] = OrderedDict()
        self._uploaded = 0

    def _add_later(self, offer: Offer, load: Callable[[], Tokenizer]) -> None:
        self._offers.append(offer)
        self._loaders[offer.key] = load
        self._locks[offer.key] = Lock()

    def offers(self) -> list[Offer]:
        """All offers, in order."""
        with self._lock:
            uploads = sorted(self._uploads.values(), key=lambda row: row[0])
            return [*self._offers, *(offer for _, offer, _ in uploads)]

    def first(self, most: int) -> list[str]:
        """The keys of the initial choice: the named tokenizers, else the newest encoding, else any."""
        keys = [offer.key for offer in self._offers]
        given = [offer.key for offer in self._offers if offer.origin == "given"]
        return given[:most] or [_NEWEST if _NEWEST in keys else keys[0]]

    def add(self, name: str, tokenizer: Tokenizer) -> Offer:
        """Add an upload; the least recently used one is dropped if there are too many."""
        name = show_line(name, _MOST_OF_NAME) or "upload"
        with self._lock:
            taken = {offer.name for offer in self._offers} | {offer.name for _, offer, _ in self._uploads.values()}
            shown, number = name, 1
            while shown in taken:
                number += 1
                shown = f"{name} ({number})"
            self._uploaded += 1
            while f"upload:{self._uploaded}" in self._loaded:  # A tokenizer may have this name.
                self._uploaded += 1
            offer = Offer(f"upload:{self._uploaded}", shown, "upload", "uploaded")
            self._uploads[offer.key] = (self._uploaded, offer, tokenizer)
            while len(self._uploads) > MOST_UPLOADS:
                self._uploads.popitem(last=False)
            return offer

    def get(self, key: str) -> tuple[str, Tokenizer]:
        """The name and the tokenizer.

        Raises:
            FormatError: There is no such offer, or it was dropped.
            BytepairError: It cannot be loaded.
        """
        with self._lock:
            if key in self._uploads:
                self._uploads.move_to_end(key)
                _, offer, tokenizer = self._uploads[key]
                return offer.name, tokenizer
        name = next((offer.name for offer in self._offers if offer.key == key), None)
        if name is None:
            remedy = f"choose another one; the last {MOST_UPLOADS} uploads are kept until the server stops"
            raise FormatError(f"there is no tokenizer {show_line(key, _MOST_OF_NAME)!r} here", remedy=remedy)
        if key in self._loaders:
            with self._locks[key]:
                if key not in self._loaded:
                    self._loaded[key] = self._loaders[key]()
        return name, self._loaded[key]


def _models(encoding: str) -> str:
    return ", ".join([model for model in models_of(encoding) if model != encoding][:_MOST_OF_MODELS])
