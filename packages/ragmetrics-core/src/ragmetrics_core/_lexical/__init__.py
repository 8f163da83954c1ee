"""Text analysis without a model: claims, support, relevance and agreement, from the words that texts share.

All functions are pure: the same texts give the same answer on every machine. They are a baseline for real judges, and should
themselves be compared with people's judgement.
"""

__all__ = []
