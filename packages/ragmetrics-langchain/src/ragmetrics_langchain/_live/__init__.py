"""Live chains: what is watched of a run, what sample it stands for, and how that is judged in the background.

From the event to the score: ``_events`` makes finished runs of LangChain's events; ``_tree`` notes what happens in one call of a
chain; ``_recover`` makes a sample of it; ``_record`` is what users get; ``_callback`` is what they use.
"""
