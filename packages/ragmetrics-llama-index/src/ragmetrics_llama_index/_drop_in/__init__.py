"""The classes that take the places of those that LlamaIndex has under the same names."""
