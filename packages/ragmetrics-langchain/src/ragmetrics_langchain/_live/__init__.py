"""Live chains: what is watched of a run, what sample it stands for, and how that is judged in the background.

From the event to the score: ``_events`` makes finished runs of LangChain's events; ``_tree`` notes what happens in one call of a
chain; ``_record`` makes a sample and a record of it; ``_callback`` is what users use.
"""
