"""The viewer: a local server over a folder of runs, read-only except for labels; `_guard` refuses what it must not answer."""
