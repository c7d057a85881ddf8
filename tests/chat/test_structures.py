"""Labels on made templates of every structure, against an oracle that writes each text part by part.

A share runs always. ``BYTEPAIR_WHOLE=1`` runs 10,000 conversations for each structure.
"""

from __future__ import annotations

import random

import pytest
from fuzz.case import case
from fuzz.structured import check_structure
from fuzz.structures import STRUCTURES, Structure

from tests.conftest import WHOLE

CONVERSATIONS = 10_000 if WHOLE else 10


def test_there_are_thirty_structures() -> None:
    assert len({structure.name for structure in STRUCTURES}) == len(STRUCTURES) >= 30


@pytest.mark.parametrize("structure", STRUCTURES, ids=lambda structure: structure.name)
def test_what_a_model_writes_is_trained_and_nothing_else(structure: Structure) -> None:
    for number in range(CONVERSATIONS):
        with case(number=number):
            check_structure(random.Random(f"structure/{structure.name}/{number}"), structure)
