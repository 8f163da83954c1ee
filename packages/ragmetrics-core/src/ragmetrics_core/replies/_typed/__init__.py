"""What JSON data means to the one who asked: names of keys, types of values, pydantic models. Below it stands ``_prose``."""

__all__ = []
