"""Why a text has its ids: the stages it goes through, its pieces, and how each becomes tokens, step by step."""

from __future__ import annotations

from bytepair.study.explain.composing import explain
from bytepair.study.explain.explanation import Change, ExplainedPiece, Explanation, Match, Normalized, Scored, Way
from bytepair.study.explain.merging import Made, Step
from bytepair.study.explain.timelines import Timeline, TimelineMerge, timeline
from bytepair.study.explain.trees import made_by, taken_whole

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
