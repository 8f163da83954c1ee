"""An application behind an address: the question is posted as JSON, and the answer is JSON.

Keys of the application travel in headers, and headers come only from an environment variable, so that no key is in a command, a
file or a message. A redirect is not followed.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any

from .._store._records import json_value
from .._values._errors import InvalidInput, Setting
from .._values._sample import Sample
from ..llms._wire._connections import check_header
from ..llms._wire._post import check_address, post_json

LARGEST = 64 * 2**20
"""The largest number of bytes of an answer."""


def headers_in(variable: str | None) -> dict[str, str]:
    """Return the headers in an environment variable, each on a line: ``Authorization: Bearer ...``. The values are never shown.

    Raises:
        InvalidInput: the variable is not set, or a line is no header.
        ModelError: a value has a character that no header can have.
    """
    if variable is None:
        return {}
    text = os.environ.get(variable, "").strip()
    if not text:
        raise InvalidInput(Setting("headers_from", variable), ": this environment variable is not set")
    headers = {}
    for number, line in enumerate(text.splitlines(), 1):
        name, colon, value = line.partition(":")
        if not colon or not name.strip().replace("-", "").isalnum() or not name.isascii():
            what = f": line {number} of this environment variable is no header: write Name: value"
            raise InvalidInput(Setting("headers_from", variable), what)
        check_header(f"line {number} of {variable}", value.strip())
        headers[name.strip()] = value.strip()
    return headers


def asking(url: str, field: str, headers_from: str | None, timeout: float | None) -> Callable[[Sample], Any]:
    """Return a function that posts a question to an address, and returns the JSON values of the answer.

    Args:
        url: the address.
        field: where the question is in what is sent: ``user_input``, or a path such as ``input.question``.
        headers_from: the environment variable with the headers.
        timeout: seconds without a byte after which the server counts as dead.

    Raises:
        InvalidInput: the address is not one, a key would travel without encryption, or as ``headers_in``.
    """
    headers = headers_in(headers_from)
    address = check_address("app", url, has_key=bool(headers))
    if "@" in url:
        raise InvalidInput(
            f"app must have no password in it, got {address!r}: give it in ", Setting("headers_from", ...)
        )
    secrets = [part for value in headers.values() for part in (value, value.rpartition(" ")[2])]
    *outer, last = field.split(".")

    def ask(sample: Sample) -> Any:
        body: dict[str, Any] = {last: sample.user_input}
        if sample.history:
            body["history"] = json_value(sample.history)
        for name in reversed(outer):
            body = {name: body}
        return post_json(url, body, headers, to=address, secrets=secrets, timeout=timeout, most=LARGEST)

    return ask
