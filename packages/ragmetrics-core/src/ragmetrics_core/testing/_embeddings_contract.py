"""What every embedding model must do to work with every metric, as tests; the companion of ``LLMContract``."""

from __future__ import annotations

import asyncio
import json
import math
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Any

from .._kernel._drive import Models, arun, run
from .._kernel._requests import Reply
from .._kernel._steps import compare, embed
from ._failures import assert_fails_well

TEXTS = (
    "Ada Lovelace was born in London in 1815.",
    "Ada Lovelace was born in London in December 1815.",
    "Der Zug nach Bern fährt um acht Uhr ab.",
    "東京は日本の首都です。",
    "!?",
    "x" * 5000,
    'quotes " and braces {{ }} and \x00 and \u202e and \ud800',
)


class EmbeddingsContract:
    """Subclass it in a test module, give it two fixtures, and pytest runs the suite.

    class TestMyEmbeddings(EmbeddingsContract):
        @pytest.fixture
        def embeddings(self):
            return MyEmbeddings()

        @pytest.fixture
        def failing_embeddings(self):
            return MyEmbeddings(base_url="http://127.0.0.1:9")  # nobody listens there

    Attributes:
        secrets: texts that must never be shown, such as the key that the fixtures use.
        tolerance: how much a component may differ between two batches that hold the same text.
        counts_tokens: whether the model reports token counts.
        can_fail: False for a model that computes in place and cannot fail; it needs no ``failing_embeddings``.
    """

    secrets: tuple[str, ...] = ()
    tolerance: float = 1e-5
    counts_tokens: bool = False
    can_fail: bool = True

    def test_there_is_one_vector_per_text(self, embeddings: Any) -> None:
        """From every method: finite vectors of one length, and no zero vector."""
        for vectors in self._answers(embeddings, TEXTS):
            assert len(vectors) == len(TEXTS), f"{len(TEXTS)} texts got {len(vectors)} vectors"
            assert len({len(vector) for vector in vectors}) == 1, "the vectors have different lengths"
            for text, vector in zip(TEXTS, vectors, strict=True):
                assert all(math.isfinite(number) for number in vector), f"a component is not finite: {text!r}"
                assert any(vector), f"the vector is zero: {text!r}"

    def test_no_texts_get_no_vectors(self, embeddings: Any) -> None:
        """An empty list is not an error."""
        for vectors in self._answers(embeddings, ()):
            assert list(vectors) == []

    def test_a_vector_depends_on_its_text_alone(self, embeddings: Any) -> None:
        """Not on the other texts of the batch, nor on their order."""
        together = self._embed(embeddings, TEXTS)
        backwards = self._embed(embeddings, TEXTS[::-1])[::-1]
        alone = [self._embed(embeddings, [text])[0] for text in TEXTS]
        for text, *vectors in zip(TEXTS, together, backwards, alone, strict=True):
            for other in vectors[1:]:
                assert self._close(vectors[0], other), f"the vector depends on its batch: {text!r}"

    def test_sync_and_async_answer_the_same(self, embeddings: Any) -> None:
        """Two ways to the same vectors, whether the model has both methods or one."""
        first, *others = self._answers(embeddings, TEXTS[:3])
        for other in others:
            assert all(self._close(one, two) for one, two in zip(first, other, strict=True))

    def test_similar_texts_are_more_similar(self, embeddings: Any) -> None:
        """The same text is as similar as can be, a paraphrase is more similar than a text about something else."""
        pairs = [(TEXTS[0], TEXTS[0]), (TEXTS[0], TEXTS[1]), (TEXTS[0], TEXTS[2])]
        same, alike, unlike = run(compare(pairs), Models(embeddings=embeddings))
        assert same == 1.0
        assert same > alike > unlike

    def test_it_counts_what_an_answer_costs(self, embeddings: Any) -> None:
        """At least one call; tokens are what the server reported."""
        answer = embeddings.embed(["one two three"])
        if isinstance(answer, Reply):
            assert answer.usage.calls >= 1
        if self.counts_tokens:
            assert answer.usage.prompt_tokens > 0

    def test_it_works_in_several_event_loops(self, embeddings: Any) -> None:
        """One loop after the other, as repeated ``asyncio.run`` makes them, and synchronously in between."""
        expected = self._embed(embeddings, TEXTS[:2])
        for _ in range(3):
            vectors = asyncio.run(arun(embed(TEXTS[:2]), Models(embeddings=embeddings)))
            assert all(self._close(one, two) for one, two in zip(expected, vectors, strict=True))
            self._embed(embeddings, TEXTS[:2])

    def test_it_answers_many_at_once(self, embeddings: Any) -> None:
        """Every thread gets its own answer."""
        texts = [[f"text number {number}", TEXTS[0]] for number in range(8)]
        expected = [self._embed(embeddings, pair) for pair in texts]
        with ThreadPoolExecutor(8) as pool:
            found = list(pool.map(lambda pair: self._embed(embeddings, pair), texts))
        for one, two in zip(expected, found, strict=True):
            assert all(self._close(left, right) for left, right in zip(one, two, strict=True))

    def test_failures_are_model_errors(self, request: Any) -> None:
        """What a user or an operator can mend is a ``ModelError`` with words, and holds no secret."""
        if not self.can_fail:
            return
        failing = request.getfixturevalue("failing_embeddings")
        for call in self._calls(failing):
            assert_fails_well(partial(call, TEXTS[:1]), self.secrets)

    def test_identity_and_repr_hold_no_secret(self, embeddings: Any) -> None:
        """``identity`` holds JSON values that name all that can change a vector; None or absent for a model that cannot say."""
        identity = getattr(embeddings, "identity", None)
        assert identity is None or isinstance(identity, Mapping), f"identity is a mapping, got {identity!r}"
        shown = f"{embeddings!r} {embeddings} {json.dumps(None if identity is None else dict(identity))}"
        assert not [secret for secret in self.secrets if secret in shown], "identity or repr show a secret"

    def _close(self, one: Sequence[float], two: Sequence[float]) -> bool:
        return all(abs(left - right) <= self.tolerance for left, right in zip(one, two, strict=True))

    def _embed(self, embeddings: Any, texts: Sequence[str]) -> list[list[float]]:
        return run(embed(texts), Models(embeddings=embeddings))

    def _calls(self, embeddings: Any) -> list[Callable[[Sequence[str]], Any]]:
        calls: list[Callable[[Sequence[str]], Any]] = [embeddings.embed]
        if getattr(embeddings, "aembed", None) is not None:
            calls.append(lambda texts: asyncio.run(embeddings.aembed(texts)))
        else:  # asynchronous code reaches it all the same
            calls.append(lambda texts: asyncio.run(arun(embed(texts), Models(embeddings=embeddings))))
        return calls

    def _answers(self, embeddings: Any, texts: Sequence[str]) -> list[Any]:
        answers = [call(texts) for call in self._calls(embeddings)]
        return [answer.value if isinstance(answer, Reply) else answer for answer in answers]
