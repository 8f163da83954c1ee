"""JSON as models write it: found in a text, read tolerantly, decoded. This room knows none of the others."""

__all__ = []
