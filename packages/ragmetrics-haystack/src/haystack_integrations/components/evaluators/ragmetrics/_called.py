"""A component of Haystack as a model calls it: warmed up once, and on request without the retries of its own client.

Strategy. Who makes many calls makes lost ones again itself; if the client of a component did so too, six tries of six tries would
be made. So such a driver is given a copy of the component, whose clients are those of the original without their retries: they
share its connections, and nothing of the user's object changes. Clients that cannot be told are left as they are.
"""

from __future__ import annotations

import copy
import threading
from typing import Any

from ragmetrics_core.adapters import HomeLoop

from ._chat import warm_up
from ._identity import explained

__all__ = ["Called"]


class Called:
    """A chat generator or embedder, ready to be called.

    Args:
        component: the user's.
        home: the event loop that its connections belong to; None: not known yet.
        retries: whether its client may make lost calls again.
    """

    def __init__(self, component: Any, home: HomeLoop | None = None, *, retries: bool = True) -> None:
        self.component = component
        self.home = HomeLoop() if home is None else home
        self.has_async = hasattr(component, "run_async")
        self._target = component
        self._retries = retries or not _retries(component)
        self._taken: set[str] = set()
        self._lock = threading.Lock()
        self._warm = False

    def without_retries(self) -> Called:
        """The same without the retries of its client."""
        return Called(self.component, self.home, retries=False)

    def ready(self) -> Any:
        """What to call, warmed up.

        Raises:
            ModelError: it cannot be warmed up, as where its key is not set.
        """
        attempt = explained(self.component, fatal=True)
        with self._lock, attempt:
            if not self._warm:
                warm_up(self.component)
                self._take("client")
                self._warm = True
            return self._target
        raise attempt.problem

    async def ready_async(self) -> Any:
        """The same on the running loop, for ``run_async``."""
        if not hasattr(self.component, "warm_up_async"):
            return self.ready()
        attempt = explained(self.component, fatal=True)
        with attempt:
            await self.component.warm_up_async()
            with self._lock:
                self._take("async_client")
            return self._target
        raise attempt.problem

    def _take(self, name: str) -> None:
        """Give the copy the client of this name, without its retries."""
        client: Any = getattr(self.component, name, None)
        if self._retries or name in self._taken or not hasattr(client, "with_options"):
            return
        if self._target is self.component:
            self._target = copy.copy(self.component)
            self._target.max_retries = 0
            if hasattr(self._target, "raise_on_failure"):
                self._target.raise_on_failure = True  # a lost call that is only logged would not be made again
        setattr(self._target, name, client.with_options(max_retries=0))
        self._taken.add(name)


def _retries(component: Any) -> bool:
    most = getattr(component, "max_retries", 0)
    return most is None or (isinstance(most, int) and most > 0)
