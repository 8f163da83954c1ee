"""Text analysis without a model: claims, support, relevance and agreement by the words that texts share.

Pure functions of their arguments: the same texts give the same answer, on every machine. They are a baseline, meant to
be measured against people's judgement and to be beaten by a real judge.
"""

__all__ = []
