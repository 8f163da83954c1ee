"""The constants by which the window and the pace of a server are learnt (`_limits`).

They were set with simulated servers: 2, 10 and 40 calls a second, bursts of 0.5 to 5 s or counted by the second, 16 to 128 calls in
flight, and refusals at random.
"""

from __future__ import annotations

import math

NEVER = math.inf
"""Seconds to wait where only an answer can help."""
TICK = 1e-7
"""Seconds that do not matter: sums of floating point times."""

FIRST = 8
"""Calls of the opening that go at once; fewer (a quarter of what is allowed, at least four) where few are allowed."""
OPENING = 0.15
"""Seconds between doublings of the opening."""
NEAR_OPENING, NEAR = 0.004, 32
"""The same for a server on the same machine, and the number of calls up to which it holds."""
MANY = 128
"""Calls beyond which the opening starts with an eighth of what is allowed, and doubles ever faster: who allows 256 knows a
server that takes many."""
ISOLATED = 0.2
"""Share of refusals up to which a window that was cut in vain goes on to open, if slower."""
PATIENCE = 0.4
"""Seconds without refusal before a cut window grows by 1, 2, 4, ...; doubled with each further cut."""
LONGEST_PATIENCE = 30.0
CUTS = 2
"""Cuts of a window that does not grow in between; after these it is not the window."""

KEPT = 0.98
"""Share of the measured rate that is used after a cut."""
LEAST_CUT, CUT, DEEP_CUT = 0.04, 0.2, 0.5
"""Bounds of one cut of the pace: at least, at most for a pace that had been well, at most for one in doubt."""
EARLY = 10
"""Calls taken since the last refusal below which a cut was not enough: the pace is in doubt."""
GROWTH, DOUBLING = 2.8e-5, 12
"""Growth of the pace with one answer, and the number of answers that double it."""
HEAD = 128
"""Answers that a pace in full doubt is ahead on the curve of growth."""
CALL_CAP, DOUBT_CAP, SECOND_CAP = 0.03, 0.07, 0.2
"""Bounds of growth: for one answer, what full doubt adds to that, and for one second."""
SLOWEST = 0.5
"""Calls a second at least: the probe of a server that refuses all."""
REGAIN = 4
"""Factor of the pace with each round of answers, until it is what the server took before it refused all for a while."""
OUTAGE = 5.0
"""Seconds without any call taken after which refusals say nothing about the rate."""
ROW = 3
"""Calls refused one after the other, none taken in between, which mean that nothing gets through."""
SLACK = 0.02
"""Seconds that a late timer may catch up."""
