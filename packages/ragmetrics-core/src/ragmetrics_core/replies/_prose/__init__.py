"""Replies in words: whose words they are, and the verdicts, numbers and items in them. Below it stands only ``_json_text``."""

__all__ = []
