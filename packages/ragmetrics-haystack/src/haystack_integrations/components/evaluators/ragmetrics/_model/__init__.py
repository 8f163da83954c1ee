"""Haystack's generators and embedders as the core's models."""
