"""A score in one sentence for people, made from the evidence that it holds.

Strategy. Details have no fixed form: every metric keeps what it has, and so does a metric that somebody else wrote. The sentence
therefore goes by shapes, never by metrics: a list of verdicts is counted and what did not hold is quoted, a list of ratings is
given with its reasons, texts are quoted, numbers are named. A metric that can say it better sets ``reason``, and that is used.
Whatever is long is shortened, for the evidence itself is in ``details``.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from ._shapes import REASONS, Item, is_nested, judged_items, plural_name, take_side_by_side

if TYPE_CHECKING:
    from ._score import Score

MOST_ITEMS, MOST_PARTS = 3, 8
"""Items of a list and parts of the evidence that are shown; the rest is counted."""

LONGEST_QUOTE, LONGEST_REASON, LONGEST = 120, 200, 2000
"""Characters of a quotation, of the reason for one item, and of the whole."""

NOT_EVIDENCE = frozenset({"prompts", "raw"})
"""Details that say how a score was made, and nothing about the sample."""


def in_words(score: Score) -> str:
    """One sentence on what a score rests on; where it holds no evidence, on its value."""
    if score.error is not None:
        return one_line(f"failed: {score.error}", LONGEST)
    if score.value is None:
        return one_line(f"not scored: {score.reason}", LONGEST)
    return evidence_in_words(score) or _in_numbers(score)


def evidence_in_words(score: Score, *, only_failing: bool = False) -> str:
    """What a score with a value rests on; empty where it holds no evidence.

    With ``only_failing``, lists of verdicts are not counted: what did not hold is quoted, and that is all.
    """
    details = {name: item for name, item in score.details.items() if name not in NOT_EVIDENCE}
    repeats = details.pop("repeats", None)
    if score.reason and score.reason.strip():
        return one_line(score.reason + _in_each_repeat(repeats), LONGEST)
    return details_in_words(details, counted=not only_failing)


def details_in_words(details: dict[str, Any], *, counted: bool = True) -> str:
    """What details say, on one line; empty if they say nothing. The dict is used up."""
    parts = [part for part in _parts(details, counted=counted) if part]
    if len(parts) > MOST_PARTS:
        parts[MOST_PARTS:] = [f"and {len(parts) - MOST_PARTS} more"]
    return one_line("; ".join(parts), LONGEST)


def _in_each_repeat(repeats: Any) -> str:
    several = repeats if isinstance(repeats, list) else []
    values = [_inner(item.get("value")) for item in several if isinstance(item, Mapping)]
    return f": {', '.join(values)}" if values else ""


def _in_numbers(score: Score) -> str:
    value = scalar(score.value)
    if score.scale is None:
        return value
    return f"{value} on a scale from {scalar(score.scale[0])} to {scalar(score.scale[1])}"


def _parts(details: dict[str, Any], *, counted: bool) -> Iterable[str]:
    if isinstance(details.get("ranks"), list) and details.keys() >= {"relevant", "retrieved"}:
        yield _ranking(details.pop("ranks"), details.pop("relevant"), details.pop("retrieved"))
    beside = take_side_by_side(details)
    if beside is not None:
        name, items, are_verdicts = beside
        verdicts = _verdicts(name, items, "scored 1", "scored 0", counted=counted) if are_verdicts else None
        yield _items(name, items) if verdicts is None else verdicts
    for name, value in details.items():
        yield _part(name.replace("_", " "), value, counted=counted)


def _ranking(ranks: list[Any], relevant: Any, retrieved: Any) -> str:
    if not ranks:
        return f"none of {_count(relevant, 'relevant documents')} found among {_inner(retrieved)} retrieved"
    at = "rank" if len(ranks) == 1 else "ranks"
    found = f"{len(ranks)} of {_count(relevant, 'relevant documents')} found"
    return f"{found}, at {at} {_listed(map(_inner, ranks), len(ranks), most=10)} of {_inner(retrieved)}"


def _part(name: str, value: Any, *, counted: bool) -> str:
    if value is None or value in ("", {}):
        return ""
    if isinstance(value, Mapping):
        shown = {key.replace("_", " "): item for key, item in value.items() if item not in (None, "")}
        if not shown:
            return ""
        return f"{name}: {_listed((f'{key} {_inner(item)}' for key, item in shown.items()), len(shown), most=10)}"
    if isinstance(value, list):
        return _list(name, value, counted=counted)
    if isinstance(value, bool):
        return f"{name}: {scalar(value)}"
    if name in REASONS and isinstance(value, str):
        return one_line(value, LONGEST_REASON)
    return f"{name} {_inner(value)}"


def _list(name: str, values: list[Any], *, counted: bool) -> str:
    if not values:
        return f"no {name}"
    if not all(isinstance(value, Mapping) for value in values):
        return _items(name, [_entry(value) for value in values])
    items, flag = judged_items(values)
    if flag is None:
        return _items(name, items)
    name, held = plural_name(name, values), flag.replace("_", " ")
    return "; ".join(
        [_verdicts(name, items, held, f"not {held}", counted=counted), *_further_flags(values, items, flag)]
    )


def _further_flags(values: Sequence[Mapping[str, Any]], items: Sequence[Item], flag: str) -> Iterable[str]:
    """What else is true of items that hold, such as that a claim is supported and contradicted."""
    names = dict.fromkeys(key for value in values for key, item in value.items() if item is True and key != flag)
    for name in names:
        marked = [
            (number, item)
            for number, (value, item) in enumerate(zip(values, items, strict=True), 1)
            if item.mark and value.get(name) is True
        ]
        if marked:
            both = f"{flag} but {name}".replace("_", " ")
            yield f"{both}: {_listed(map(_named, marked), len(marked))}"


def _entry(value: Any) -> Item:
    if isinstance(value, str):
        return Item(value, None, "")
    return Item(None, _inner(value) if is_nested(value) else scalar(value), "")


def _verdicts(name: str, items: Sequence[Item], held: str, not_held: str, *, counted: bool) -> str:
    """How many hold, and which do not; where some do not, their number may be left out."""
    failing = [(number, item) for number, item in enumerate(items, 1) if not item.mark]
    share = " ".join(part for part in (f"{len(items) - len(failing)} of {len(items)}", name, held) if part)
    if not failing:
        return share
    against = f"{not_held}: {_listed(map(_named, failing), len(failing))}"
    return f"{share}; {against}" if counted else against


def _named(numbered: tuple[int, Item]) -> str:
    number, item = numbered
    return _with_reason(f"no. {number}" if item.text is None else _quoted(item.text), item.why)


def _items(name: str, items: Sequence[Item]) -> str:
    shown = _listed(map(_label, items), len(items))
    if any(item.text is not None for item in items):
        return f"{_count(len(items), name)}: {shown}"
    return f"{name} {shown}" if any(item.mark is not None for item in items) else f"{_count(len(items), name)}: {shown}"


def _label(item: Item) -> str:
    if item.text is None and item.mark is None and item.why:
        return one_line(item.why, LONGEST_REASON)
    about = [] if item.text is None else [_quoted(item.text)]
    if item.mark is not None or not about:
        about.append(item.mark if isinstance(item.mark, str) else scalar(item.mark))
    return _with_reason(" ".join(about), item.why)


def _with_reason(label: str, why: str) -> str:
    why = one_line(why, LONGEST_REASON).rstrip(".")
    return f"{label} ({why})" if why else label


def _listed(items: Iterable[str], count: int, most: int = MOST_ITEMS) -> str:
    shown = [item for item, _ in zip(items, range(most), strict=False)]
    return ", ".join(shown) + (f" and {count - most} more" if count > most else "")


def _inner(value: Any) -> str:
    if is_nested(value):
        return f"({_count(len(value), 'entries')})"
    return _quoted(value) if isinstance(value, str) else scalar(value)


def _count(count: Any, name: str) -> str:
    singular = {"entries": "entry"}.get(name, name.removesuffix("s"))
    return f"{_inner(count)} {singular if count == 1 else name}"


def scalar(value: Any) -> str:
    """A plain value, on one line: ``yes``, ``0.3333``, ``none``."""
    if value is None or isinstance(value, bool):
        return {None: "none", True: "yes", False: "no"}[value]
    if isinstance(value, int):
        return str(value) if abs(value) < 10**15 else "a huge number"  # Python refuses to write out thousands of digits
    return f"{value:.4g}" if isinstance(value, float) else str(value)


def _quoted(text: str) -> str:
    return f"'{one_line(text, LONGEST_QUOTE)}'"


def one_line(text: str, length: int) -> str:
    """The text on one line, without what a terminal would obey, cut where it is long."""
    line = " ".join(text[: 4 * length].split())
    line = "".join(character if character.isprintable() else "\ufffd" for character in line)
    return line if len(line) <= length and len(text) <= 4 * length else f"{line[: length - 3].rstrip()}..."
