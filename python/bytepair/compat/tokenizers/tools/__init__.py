"""The tools of ``tokenizers``: `EncodingVisualizer`, which shows the tokens of a text as HTML, and `Annotation`."""

from bytepair.compat.tokenizers.tools.visualizer import Annotation, EncodingVisualizer

__all__ = ["Annotation", "EncodingVisualizer"]
