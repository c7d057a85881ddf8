"""Why a text has its ids: the stages it goes through, its pieces, and how each becomes tokens, step by step."""

from __future__ import annotations

from bytepair.study.explain.composing import explain
from bytepair.study.explain.explanation import (
    ExplainedPiece,
    Explanation,
    LongestMatch,
    NormalizedStretch,
    NormalizerChange,
    ScoredToken,
    Segmentation,
)
from bytepair.study.explain.merging import MergeStep, TokenMerge
from bytepair.study.explain.timelines import Timeline, TimelineMerge, timeline
from bytepair.study.explain.trees import made_by, taken_whole

__all__ = [
    "ExplainedPiece",
    "Explanation",
    "LongestMatch",
    "MergeStep",
    "NormalizedStretch",
    "NormalizerChange",
    "ScoredToken",
    "Segmentation",
    "Timeline",
    "TimelineMerge",
    "TokenMerge",
    "explain",
    "made_by",
    "taken_whole",
    "timeline",
]
