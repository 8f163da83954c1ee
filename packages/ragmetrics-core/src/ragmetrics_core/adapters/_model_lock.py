"""Taking turns with models that do not survive overlapping calls, as those that compute in this process often do not."""

from __future__ import annotations

import threading
from typing import ClassVar
from weakref import WeakValueDictionary


class Turn:
    """Who uses a model now; a context manager. All that use the same model take turns, whichever adapter they come through. ::

        with Turn.with_model(llm):
            llm.complete(...)

    The model is held as long as somebody uses it, and no longer.
    """

    _all: ClassVar[WeakValueDictionary[int, Turn]] = WeakValueDictionary()
    _door: ClassVar[threading.Lock] = threading.Lock()

    def __init__(self, model: object) -> None:
        self._model = model  # as long as it is held here, no other model has its id
        self._lock = threading.Lock()

    @classmethod
    def with_model(cls, model: object) -> Turn:
        """The turn of this very model."""
        with cls._door:
            turn = cls._all.get(id(model))
            if turn is None:
                turn = cls._all[id(model)] = cls(model)
            return turn

    def __enter__(self) -> None:
        self._lock.acquire()

    def __exit__(self, *_: object) -> None:
        self._lock.release()
