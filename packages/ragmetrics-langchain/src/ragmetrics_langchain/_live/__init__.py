"""Live chains: what is watched of a run, what sample it stands for, and how that is judged in the background."""
