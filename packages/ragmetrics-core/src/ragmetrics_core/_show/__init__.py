"""The appearance of results: tables, Markdown, progress."""
