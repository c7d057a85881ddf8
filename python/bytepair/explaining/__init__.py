"""Why a text has its ids: the stages it goes through, its pieces, and how each becomes tokens, step by step."""

from __future__ import annotations

from bytepair.explaining.composing import explain
from bytepair.explaining.explanation import Change, ExplainedPiece, Explanation, Match, Normalized, Scored, Way
from bytepair.explaining.merging import Made, Step
from bytepair.explaining.timelines import Timeline, TimelineMerge, timeline
from bytepair.explaining.trees import made_by, taken_whole

__all__ = [
    "Change",
    "ExplainedPiece",
    "Explanation",
    "Made",
    "Match",
    "Normalized",
    "Scored",
    "Step",
    "Timeline",
    "TimelineMerge",
    "Way",
    "explain",
    "made_by",
    "taken_whole",
    "timeline",
]
