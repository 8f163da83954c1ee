"""Programs: rounds, joining, errors as values, the forgotten 'from'."""

from __future__ import annotations

import pytest

from ragmetrics_core import (
    BadReply,
    Compare,
    Embed,
    InvalidInput,
    ModelError,
    Models,
    Reply,
    Steps,
    compare,
    embed,
    run,
    together,
)


def test_embed_asks_one_request_and_returns_its_vectors() -> None:
    program = embed(["a", "b"])
    assert next(program) == (Embed(("a", "b")),)
    with pytest.raises(StopIteration) as done:
        program.send([Reply([[1.0], [2.0]])])
    assert done.value.value == [[1.0], [2.0]]


def test_compare_asks_one_request() -> None:
    program = compare([("a", "b")])
    assert next(program) == (Compare((("a", "b"),)),)
    with pytest.raises(StopIteration) as done:
        program.send([Reply([0.5])])
    assert done.value.value == [0.5]


def test_texts_are_checked_before_anything_is_asked() -> None:
    with pytest.raises(InvalidInput, match=r"embed takes a list of texts, got a single str: write \[text\]"):
        next(embed("abc"))
    with pytest.raises(InvalidInput, match=r"embed: text \[1\] must be a str, got int"):
        next(embed(["a", 1]))  # type: ignore[list-item]


def test_errors_are_raised_inside_the_program() -> None:
    program = embed(["a"])
    next(program)
    with pytest.raises(ModelError, match="down"):
        program.send([ModelError("down")])


def counting(name: str, rounds: int) -> Steps[str]:
    seen = []
    for number in range(rounds):
        (outcome,) = yield (Embed((f"{name}{number}",)),)
        assert isinstance(outcome, Reply)
        seen.append(outcome.value)
    return f"{name}:{seen}"


def test_together_joins_rounds_and_keeps_order() -> None:
    program = together(counting("a", 1), counting("b", 0), counting("c", 2))
    assert next(program) == (Embed(("a0",)), Embed(("c0",)))
    assert program.send([Reply(1), Reply(2)]) == (Embed(("c1",)),)
    with pytest.raises(StopIteration) as done:
        program.send([Reply(3)])
    assert done.value.value == ["a:[1]", "b:[]", "c:[2, 3]"]


def test_together_of_nothing_is_an_empty_list() -> None:
    with pytest.raises(StopIteration) as done:
        next(together())
    assert done.value.value == []


def test_together_raises_the_first_error_and_closes_the_rest() -> None:
    left, right = embed(["a"]), embed(["b"])
    program = together(left, right)
    next(program)
    with pytest.raises(ModelError, match="one"):
        program.send([ModelError("one"), ModelError("two")])
    assert right.gi_frame is None


def failing() -> Steps[str]:
    yield (Embed(("x",)),)
    raise BadReply("no verdict", "raw")


def test_together_can_keep_bad_replies_but_no_other_error() -> None:
    program = together(failing(), embed(["b"]), keep_bad_replies=True)
    next(program)
    with pytest.raises(StopIteration) as done:
        program.send([Reply(1), Reply([[1.0]])])
    error, vectors = done.value.value
    assert (str(error), vectors) == ("no verdict", [[1.0]])
    program = together(embed(["b"]), keep_bad_replies=True)
    next(program)
    with pytest.raises(ModelError, match="down"):
        program.send([ModelError("down")])


def test_together_takes_programs_only() -> None:
    with pytest.raises(TypeError, match=r"together\(\) takes programs such as PROMPT.ask\(...\), got list"):
        next(together(["a"]))  # type: ignore[arg-type]


def test_a_forgotten_from_is_named() -> None:
    def program() -> Steps[None]:
        yield embed(["a"])  # type: ignore[misc]

    with pytest.raises(TypeError, match="a program was yielded instead of run: write 'yield from'"):
        run(program(), Models())
