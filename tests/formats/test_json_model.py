"""A `tokenizer.json` whose vocabulary and merges the core reads is what it is when all of it is Python objects."""

from __future__ import annotations

import json
import random
import warnings
from typing import TYPE_CHECKING, Any

import pytest
from fuzz import kinds

import bytepair as bp
from bytepair._core import FileVocab, read_json_model
from bytepair.errors import FormatError
from bytepair.formats import detection, loading, native
from tests.conftest import WHOLE

if TYPE_CHECKING:
    from pathlib import Path


def read(path: Path, *, in_core: bool) -> Any:
    """What a file holds, or its fault; and what was warned of."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            spec = loading.load(path, partial_alphabet=True, detected=detection.detect(path, in_core=in_core))
            found: Any = native.write(spec)
        except bp.BytepairError as error:
            found = type(error), vars(error)
    return found, [str(warning.message) for warning in caught]


def check_alike(path: Path, data: bytes) -> bool:
    """Compare the two; return whether the vocabulary was read in the core."""
    path.write_bytes(data)
    assert read(path, in_core=True) == read(path, in_core=False)
    return read_json_model(data, False) is not None


MIXED = {"affixes"}
"""Kinds whose merges are of both forms, which the core does not read."""

STRANGE = [
    '"\\ud83d"',
    '"\\u00e9"',
    '"a b"',
    '""',
    "-1",
    "1.0",
    "1e400",
    "NaN",
    "4294967295",
    "true",
    "null",
    "[]",
    "{}",
]
STRANGE += ['"vocab"', '["l", "o"]', '["lo", -1.5]', "0", "3", "-0", "01", "2.0122928619384766"]


@pytest.mark.parametrize("kind", kinds.FILES)
def test_every_kind_of_model_with_strange_members(tmp_path: Path, kind: str) -> None:
    chance = random.Random(kind)
    path, table = tmp_path / "tokenizer.json", json.loads(kinds.FILES[kind])
    for indent in (None, 2):
        assert check_alike(path, json.dumps(table, indent=indent).encode()) == (kind not in MIXED)
        assert check_alike(path, json.dumps(table, indent=indent, ensure_ascii=False).encode()) == (kind not in MIXED)
    assert isinstance(detection.detect(path, in_core=True).content["model"]["vocab"], FileVocab) == (kind not in MIXED)
    in_core = 0
    for _ in range(3000 if WHOLE else 150):
        model = json.loads(json.dumps(table["model"]))
        for _ in range(chance.randint(1, 2)):
            rows = model[chance.choice([key for key in ("vocab", "merges") if key in model])]
            if isinstance(rows, dict):
                rows[chance.choice([*rows, "@0@", "é", "<x>"])] = chance.choice(["@1@", "@2@", 1, 77])
            else:
                row = chance.choice(
                    ["@1@", ["@1@", "@2@"], ["l", "@2@"], "l o", ["lo", "w"], ["é", -3.5], ["x", "@1@"]]
                )
                rows.insert(chance.randrange(len(rows) + 1), row)
        members = list(model.items())
        chance.shuffle(members)
        text = json.dumps({**table, "model": dict(members)}, ensure_ascii=False)
        for hole in ('"@1@"', '"@2@"'):
            text = text.replace(hole, chance.choice(STRANGE))
        in_core += check_alike(path, text.replace('"@0@"', chance.choice(['"a\\u006co"', '"lo"', '"\\/"'])).encode())
    assert in_core > 5 or kind in MIXED


def test_faults_around_the_vocabulary_keep_their_places(tmp_path: Path) -> None:
    whole = kinds.FILES["llama"]
    for old, new in [
        (b'"model"', b'"model": {"vocab": {}}, "model"'),
        (b'"vocab"', b'"vocab": {"a": 0}, "vocab"'),
        (b'"vocab"', b'"x": 1, "vocab"'),
        (b'"version"', b'"a": 1, "a": 2, "version"'),
        (b'"version"', b'"a": "\\ud800", "version"'),
        (b'"version"', b'"version" "version"'),
        (b'"model"', b'"mod\\u0065l"'),
    ]:
        assert old in whole
        check_alike(tmp_path / "tokenizer.json", whole.replace(old, new, 1))
    for cut in (*range(0, len(whole), 29), len(whole) - 1):
        check_alike(tmp_path / "tokenizer.json", whole[:cut])
        check_alike(tmp_path / "tokenizer.json", whole[:cut] + b"," + whole[cut:])


def test_what_the_core_read_is_what_python_reads() -> None:
    for kind, data in kinds.FILES.items():
        model = json.loads(data)["model"]
        found = read_json_model(data, False)
        assert (found is not None) == (kind not in MIXED)
        if found is None:
            continue
        vocab, merges, rest = found
        assert vocab.to_python() == model["vocab"]
        assert (merges.to_python() if merges else None) == model.get("merges")
        assert json.loads(rest)["model"]["vocab"] is None
        assert len(vocab) == len(model["vocab"])
        assert vocab.is_list == isinstance(model["vocab"], list)
        rows = (
            model["vocab"].items() if isinstance(model["vocab"], dict) else enumerate(row[0] for row in model["vocab"])
        )
        for one, other in rows:
            token, id = (one, other) if isinstance(one, str) else (other, one)
            assert (vocab.get(token), token in vocab, vocab.lacks_ids({id})) == (id, True, False)
        assert (vocab.get("none"), "none" in vocab, vocab.lacks_ids({77, 2**32 - 1})) == (None, False, True)


def test_a_list_where_an_object_belongs_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "tokenizer.json"
    for kind, vocab in [("BPE", [["a", 0.5]]), ("WordPiece", [["a", 0.5]]), ("Unigram", {"a": 0})]:
        model = {"type": kind, "vocab": vocab, **({"merges": []} if kind == "BPE" else {})}
        assert check_alike(path, json.dumps({"version": "1.0", "model": model}).encode())
        with pytest.raises(FormatError, match="the vocabulary is not") as caught:
            bp.Tokenizer.from_file(path)
        assert caught.value.pointer == "/model/vocab"
