"""The classes that replace Haystack's own evaluators."""
