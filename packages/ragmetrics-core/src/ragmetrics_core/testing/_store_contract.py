"""What every ``ReplyStore`` must do, as tests; the companion of ``LLMContract``."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

from .._kernel._prompt import Prompt
from .._values._requests import Ask, Embed, Reply, Usage
from ._contracts import AnyText

COST = Usage(1, 120, 30)
PROMPT = Prompt("Is it so?", AnyText(), name="contract")
QUESTION = Ask(PROMPT.messages({"text": "The city is in Iceland."}), PROMPT.reply, PROMPT, {})

VALUES: tuple[Any, ...] = (
    "",
    '{"verdict": true}',
    "two\nlines\r\nand\x00a NUL, \u2028 and \x85",
    "naïve 日本 🎉 \u202e",
    "lone \ud800 and \udfff, and a pair of them \ud83d\ude00",
    "x" * 1_000_000,
    [0.1, -2.5, -0.0, 5e-324, 1.7976931348623157e308],
    [1 / 3],
    [],
    [[0.1, 0.2], [0.3, -0.4], [1 / 3, 2 / 3]],
    [[1.0]],
    [[], []],
    [[]],
)


class ReplyStoreContract:
    """Subclass it in a test module, give it one fixture, and pytest runs the suite.

    class TestMyStore(ReplyStoreContract):
        @pytest.fixture
        def open_store(self, tmp_path):
            return lambda: MyStore(tmp_path / "replies")

    The fixture is a function that opens the same store again at each call. The suite closes one before it opens the next.
    """

    @staticmethod
    def key(number: int) -> bytes:
        """A key, as long as the keys of real questions."""
        return number.to_bytes(16, "big")

    def test_values_come_back_as_they_were(self, open_store: Callable[[], Any]) -> None:
        """At once and after the store was opened again: texts, numbers and vectors, tokens, and whether the reply was cut off."""
        replies = {
            self.key(number): Reply(value, Usage(1, number, 2 * number), truncated=number % 2 == 0)
            for number, value in enumerate(VALUES)
        }
        store = open_store()
        for key, reply in replies.items():
            request = QUESTION if isinstance(reply.value, str) else Embed(("a", "b"))
            assert store.keep(key, reply, request) == reply
        for again in (store, None):
            store = again or _reopened(store, open_store)
            for key, reply in replies.items():
                found = store.find(key)
                assert found == reply, f"{reply.value!r:.100} came back as {found!r:.200}"
                assert repr(found.value) == repr(reply.value), "a value differs in the sign of a zero"
        store.close()

    def test_the_earliest_reply_counts(self, open_store: Callable[[], Any]) -> None:
        """A second one under the same key is not written; the earlier value is returned, with the usage of the second call."""
        store = open_store()
        store.keep(self.key(1), Reply("yes", COST), QUESTION)
        for again in (store, None):
            store = again or _reopened(store, open_store)
            kept = store.keep(self.key(1), Reply("no", Usage(1, 7, 8), truncated=True), QUESTION)
            assert kept == Reply("yes", Usage(1, 7, 8), truncated=False)
            assert store.find(self.key(1)) == Reply("yes", COST)
        store.close()

    def test_a_struck_reply_stays_struck(self, open_store: Callable[[], Any]) -> None:
        """The others stay, and keys without a reply are ignored. A new reply takes the place of a struck one, even an equal one."""
        store = open_store()
        store.strike([self.key(9)])
        for number in range(4):
            store.keep(self.key(number), Reply(f"reply {number}", COST), QUESTION)
        store.strike(self.key(number) for number in (0, 2, 9))
        store.strike([])
        for again in (store, None):
            store = again or _reopened(store, open_store)
            found = [store.find(self.key(number)) for number in range(4)]
            assert found == [None, Reply("reply 1", COST), None, Reply("reply 3", COST)]
        for value in ("reply 0", "better"):
            assert store.keep(self.key(0), Reply(value, COST), QUESTION) == Reply(value, COST)
            store = _reopened(store, open_store)
            assert store.find(self.key(0)) == Reply(value, COST)
            store.strike([self.key(0)])
        store.close()

    def test_it_does_what_a_dictionary_does(self, open_store: Callable[[], Any]) -> None:
        """Any sequence of finding, keeping, striking and opening again."""
        chance, expected, store = random.Random(7), dict[bytes, Any](), open_store()  # noqa: S311  no secret
        for step in range(400):
            key = self.key(chance.randrange(12))
            what = chance.choices(("keep", "strike", "open"), (6, 3, 1))[0]
            if what == "keep":
                reply = Reply(chance.choice(("yes", "no", f"reply {step}")), COST)
                assert store.keep(key, reply, QUESTION) == expected.setdefault(key, reply)
            elif what == "strike":
                store.strike([key])
                expected.pop(key, None)
            else:
                store = _reopened(store, open_store)
            found = {number: store.find(self.key(number)) for number in range(12)}
            assert found == {number: expected.get(self.key(number)) for number in range(12)}, f"after step {step}"
        store.close()

    def test_it_may_be_closed_twice(self, open_store: Callable[[], Any]) -> None:
        """Also if nothing was kept."""
        store = open_store()
        store.close()
        store.close()


def _reopened(store: Any, open_store: Callable[[], Any]) -> Any:
    store.close()
    return open_store()
