"""Which form of reply a model is asked for, and what a server's refusal of it leads to."""

from __future__ import annotations

from typing import Any

import pytest

from ragmetrics_core import Ask, ModelError, Prompt
from ragmetrics_core.adapters import Explained, FormsOfReply
from ragmetrics_core.replies import LinesReply, ObjectReply, RatingReply, YesNoReply

SCHEMA = Prompt("Is it so?", YesNoReply())
OBJECT = Prompt("Is it so?", ObjectReply(("so",)))
LINES = Prompt("What is it?", LinesReply())
DOES_NOT = "response_format json_object is not supported"


def ask(prompt: Prompt[Any] = SCHEMA, text: str = "yes?") -> Ask:
    return Ask(prompt.messages({"text": text}), prompt.reply, prompt, {"text": text})


class Refusal(Exception):
    def __init__(self, message: str = "Bad Request", status: int = 400, **fields: str) -> None:
        super().__init__(message)
        self.status_code = status
        self.__dict__.update(fields)


def answer(forms: FormsOfReply, question: Ask, **refusals: Exception) -> list[str]:
    """The forms that were asked for, the last of which worked; the error where none did."""
    asked: list[str] = []
    attempts = forms.attempts(question)
    for form in attempts:
        asked.append(form)
        with (attempt := Explained("judge")):
            if form in refusals:
                raise refusals[form]
            attempts.answered()
            return asked
        attempts.failed(attempt)
    raise ModelError(f"{asked}: {attempt.problem}")


def test_what_wants_json() -> None:
    asks = [ask(Prompt("?", reply)) for reply in (YesNoReply(), RatingReply((0, 1)), ObjectReply(("a",)), LinesReply())]
    assert [item.wants_json for item in asks] == [True, True, True, False]


def test_the_highest_form_that_the_question_has() -> None:
    forms = FormsOfReply()
    assert answer(forms, ask()) == ["schema"]
    assert answer(forms, ask(OBJECT)) == ["json"]
    assert answer(forms, ask(LINES)) == ["text"]
    assert answer(FormsOfReply("json"), ask()) == ["json"]
    assert answer(FormsOfReply("text"), ask()) == ["text"]


def test_the_parameters_of_the_openai_protocol() -> None:
    attempts = FormsOfReply().attempts(ask())
    sent = [attempts.parameters() for _ in zip(attempts, range(1), strict=False)]
    assert [item["response_format"]["json_schema"]["name"] for item in sent] == ["prompt"]
    for highest, parameters in (("json", {"response_format": {"type": "json_object"}}), ("text", {})):
        attempts = FormsOfReply(highest).attempts(ask())  # type: ignore[arg-type]
        assert next(iter(attempts)) == highest
        assert attempts.parameters() == parameters


def test_a_refusal_that_points_at_the_form_is_remembered_at_once() -> None:
    forms = FormsOfReply("json")
    assert answer(forms, ask(), json=Refusal(DOES_NOT, param="response_format")) == ["json", "text"]
    assert answer(forms, ask(OBJECT)) == ["text"]


@pytest.mark.parametrize("refusal", [Refusal(), Refusal(DOES_NOT, 500), Refusal("Unprocessable", 422)], ids=str)
def test_a_refusal_in_any_words_is_remembered_once_a_second_question_met_it(refusal: Exception) -> None:
    forms = FormsOfReply("json")
    for _ in range(2):
        assert answer(forms, ask(), json=refusal) == ["json", "text"]
    assert answer(forms, ask()) == ["text"]


def test_a_refusal_for_another_reason_costs_no_form() -> None:
    forms = FormsOfReply("json")
    for _ in range(3):
        with pytest.raises(ModelError, match=r"^\['json', 'text'\]: judge refuses the request \(400\): too long$"):
            answer(forms, ask(), json=Refusal("too long"), text=Refusal("too long"))
    for other in (
        Refusal("who?", 401),
        Refusal("busy", 503),
        Refusal("no", 400, code="content_filter"),
        OSError(9, "x"),
    ):
        with pytest.raises(ModelError, match=r"^\['json'\]: "):
            answer(forms, ask(), json=other)
    assert answer(forms, ask()) == ["json"]


def test_a_schema_that_is_refused_alone() -> None:
    forms = FormsOfReply()
    refusal = Refusal("Invalid schema for response_format 'x'", param="response_format")
    assert answer(forms, ask(), schema=refusal) == ["schema", "json"]
    assert answer(forms, ask()) == ["json"]
    assert answer(forms, ask(Prompt("?", RatingReply((0, 1))))) == ["schema"]
