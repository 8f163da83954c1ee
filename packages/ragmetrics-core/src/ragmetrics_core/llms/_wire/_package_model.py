"""Models that are called through the package of a provider: what they share.

Strategy. An exchange (see ``_attempts``) decides what is sent and how answers are read, but makes no calls. A model makes the
calls with the client for the situation, synchronously or asynchronously. Exceptions of the package become the error messages that
all models share (see ``_package_errors``).
"""

from __future__ import annotations

import copy
import threading
import weakref
from collections.abc import Mapping
from functools import partial
from typing import TYPE_CHECKING, Any, TypeVar

from ..._support._threads import in_own_thread
from ..._values._errors import InvalidInput, Setting
from ._attempts import Exchange, arun_exchange, run_exchange
from ._connections import HOLDS_KEY, PerLoop
from ._failures import Failures, set_key
from ._package_errors import TranslatedErrors

if TYPE_CHECKING:
    from typing_extensions import Self

T = TypeVar("T")
M = TypeVar("M", bound="PackageModel")


OF_PROCESS = ("_made", "_kept", "_lock", "_unretrying")
"""The attributes of clients that another process makes anew."""


class KeptClients:
    """The clients of a package for one server: one for synchronous calls and one for each event loop, made at the first call."""

    _retrying = True

    def _forget_connections(self) -> None:
        self._made: Any = None
        self._kept: PerLoop[Any] = PerLoop()
        self._unretrying: Any = None
        self._lock = threading.Lock()

    def _load(self) -> None:
        """Import the package."""
        raise NotImplementedError

    def _new(self, *, asynchronous: bool) -> Any:
        """Return a new client, without retries unless ``_retrying``."""
        raise NotImplementedError

    @property
    def key_variable(self) -> str:
        """The environment variable of the key, for messages."""
        raise NotImplementedError

    @property
    def _holds_key(self) -> bool:
        raise NotImplementedError

    def __getstate__(self) -> dict[str, Any]:
        """Return the settings for another process, which makes new connections.

        Raises:
            InvalidInput: the settings contain a key.
        """
        if self._holds_key:
            raise InvalidInput(HOLDS_KEY.replace("OPENAI_API_KEY", self.key_variable))
        return {name: value for name, value in vars(self).items() if name not in OF_PROCESS}

    def __setstate__(self, state: Mapping[str, Any]) -> None:
        vars(self).update(state)
        self._forget_connections()

    def without_retries(self) -> Self:
        """Return the same clients without retries, so that every failure is reported at once. A client that cannot be copied
        keeps its retries.

        Every call returns the same object, so that its connections are kept from run to run.
        """
        with self._lock:
            if self._unretrying is None:
                self._load()  # it takes a second, which must not count as latency of the first calls
                other = object.__new__(type(self))
                vars(other).update(vars(self), _retrying=False)
                other._forget_connections()
                self._unretrying = other
            found: Self = self._unretrying
            return found

    @property
    def key_cure(self) -> tuple[str | Setting, ...]:
        """The advice for a key that is refused."""
        return set_key(self.key_variable)

    def sync(self) -> Any:
        """Return the client for synchronous calls.

        Raises:
            ModelError: there is no key, or it cannot be sent.
        """
        with self._lock:
            if self._made is None:
                self._made = made = self._new(asynchronous=False)
                weakref.finalize(self, made.close)
            return self._made

    async def here(self) -> Any:
        """Return the client of the running loop. Raises as ``sync``."""
        return await self._kept.here(partial(self._new, asynchronous=True))


class PackageModel:
    """The common base of models that are called through a package.

    Attributes:
        model: the name of the model.
        price_as: the name of the model in the price table, ``MODEL`` or ``PROVIDER:MODEL``, for a deployment that has a name of its
            own; None: ``model``.
    """

    model: str
    price_as: str | None = None
    _clients: Any  # KeptClients that are also a Place; each model has a class of them
    _errors: type[TranslatedErrors] = TranslatedErrors

    def without_retries(self: M) -> M:
        """Return the same model without retries, for a caller that retries itself, as ``evaluate`` does."""
        other = copy.copy(self)
        other._clients = self._clients.without_retries()
        return other

    @property
    def _failures(self) -> Failures:
        return Failures(self.model, self._clients)

    def _send(self, client: Any, parameters: dict[str, Any]) -> Any:
        """Make one call. With an asynchronous client, the result must be awaited."""
        raise NotImplementedError

    def _run(self, exchange: Exchange[T]) -> T:
        """Make the calls of an exchange."""
        client, failures = self._clients.sync(), self._failures

        def call(parameters: dict[str, Any]) -> Any:
            with self._errors(failures) as errors:
                return self._send(client, parameters)
            return errors.failure

        return run_exchange(exchange, call)

    async def _run_async(self, exchange: Exchange[T]) -> T:
        """Make the calls of an exchange without blocking the running loop."""
        client, failures = await self._clients.here(), self._failures
        if client is None:
            return await in_own_thread(partial(self._run, exchange))

        async def call(parameters: dict[str, Any]) -> Any:
            with self._errors(failures) as errors:
                return await self._send(client, parameters)
            return errors.failure

        return await arun_exchange(exchange, call)

    def __deepcopy__(self: M, memo: Any) -> M:
        return self  # a handle to a server: copies of an object that contains it share the connections

    def _repr(self, settings: dict[str, Any]) -> str:
        given = [f"{name}={value!r}" for name, value in {"base_url": self._clients.base_url, **settings}.items()]
        return f"{type(self).__name__}({', '.join([repr(self.model), *given])})"
