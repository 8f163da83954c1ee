"""Live chains: what is watched of a run, what sample it stands for, and how that is judged in the background.

From the event to the score: ``_hooks`` are LangChain's events, ``_runs`` knows which of them belong together, ``_tree`` what is
noted of one call of a chain, ``_recover`` what sample that stands for, ``_record`` what becomes of it; ``_callback`` is what users
see.
"""
