"""Why a text has its ids: the stages it goes through, its pieces, and how each becomes tokens, step by step."""

from __future__ import annotations

from bytepair.explaining.merging import Made, Step, made_by, taken_whole

__all__ = ["Made", "Step", "made_by", "taken_whole"]
