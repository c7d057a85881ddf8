"""Why a text has its ids: its stages, its pieces, and the steps from each piece to its tokens."""

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
