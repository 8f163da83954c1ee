"""The classes that take the places of Haystack's own evaluators."""
