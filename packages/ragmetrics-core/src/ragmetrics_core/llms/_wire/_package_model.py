"""Models that are called through the package of a provider: what they share.

Strategy. An exchange (see ``_attempts``) decides what is sent and how answers are read, but makes no calls. A model makes the
calls with the client for the situation, synchronously or asynchronously. Exceptions of the package become the error messages that
all models share (see ``_package_errors``).
"""

from __future__ import annotations

import copy
from functools import partial
from typing import Any, Protocol, TypeVar

from ..._support._threads import in_own_thread
from ._attempts import Exchange, arun_exchange, run_exchange
from ._failures import Failures, Place
from ._package_errors import TranslatedErrors

T = TypeVar("T")
M = TypeVar("M", bound="PackageModel")


class ClientsOfPackage(Place, Protocol):
    """The clients of a package for one server."""

    def sync(self) -> Any:
        """Return the client for synchronous calls."""
        ...

    async def here(self) -> Any:
        """Return the client of the running loop; None: the synchronous client serves it, from a thread."""
        ...

    def without_retries(self) -> Any:
        """Return the same clients without retries."""
        ...


class PackageModel:
    """The common base of models that are called through a package.

    Attributes:
        model: the name of the model.
        price_as: the name of the model in the price table, ``MODEL`` or ``PROVIDER:MODEL``, for a deployment that has a name of its
            own; None: ``model``.
    """

    model: str
    price_as: str | None = None
    _clients: Any  # ClientsOfPackage; each model has its own class of them
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
