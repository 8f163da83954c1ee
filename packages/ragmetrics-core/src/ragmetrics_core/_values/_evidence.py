"""The evidence of a score, in one sentence.

Details have no fixed form, because every metric, also a custom one, keeps what it has. So they are read by their shape, never by
metric. Of a list of verdicts, the true ones are counted and the failing items quoted; ratings are given with their reasons, texts
are quoted, and numbers are given with their names. A metric that has a better sentence sets ``reason``. Long texts are shortened;
the full texts are in ``details``.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from ._details import ScoreFields

REASONS = ("reason", "why", "explanation", "feedback", "comment", "rationale")
PLAIN_NAMES = frozenset({"verdicts", "results", "items", "judgements", "judgments"})
"""Names of lists that say less than the keys of their items."""

NO_MARKS = ("number", "window")
"""Keys of an item whose numbers are not a rating."""


class Item(NamedTuple):
    """One entry of a list: its text, its verdict or rating, and the reason."""

    text: str | None
    mark: Any
    why: str


def judged_items(values: Sequence[Mapping[str, Any]]) -> tuple[list[Item], str | None]:
    """Turn each mapping into an ``Item``. Return the items, and the key that holds the true or false verdict in every mapping;
    the key is None if the mappings have no such key in common.
    """
    flags = [next((key for key, item in value.items() if isinstance(item, bool)), None) for value in values]
    items = [_item(value, flag) for value, flag in zip(values, flags, strict=True)]
    return items, flags[0] if len(set(flags)) == 1 else None


def _item(value: Mapping[str, Any], flag: str | None) -> Item:
    why = next((value[key] for key in REASONS if isinstance(value.get(key), str)), "")
    text = next((item for key, item in value.items() if isinstance(item, str) and key not in REASONS), None)
    numbers = (item for key, item in value.items() if isinstance(item, int | float) and key not in NO_MARKS)
    return Item(text, value[flag] if flag else next(numbers, None), why)


def plural_name(name: str, values: Sequence[Mapping[str, Any]]) -> str:
    """Return a plural noun for the items, such as ``claims``; empty if there is none."""
    if name not in PLAIN_NAMES:
        return name
    subject = next((key for key, item in values[0].items() if isinstance(item, str) and key not in REASONS), "")
    return f"{subject.replace('_', ' ')}s" if subject else ""


def take_side_by_side(details: dict[str, Any]) -> tuple[str, list[Item], bool] | None:
    """Turn parallel lists in the details, of the same length as the list ``reasons``, into items, and remove these lists from
    ``details``.

    The items get their texts from the first flat list that contains only texts, their marks from the first other flat list, and
    their reasons from ``reasons``. If the reasons are also elsewhere in the details, only ``reasons`` is removed.

    Returns:
        The name of the items, the items, and whether the marks are verdicts (the items have texts, and every mark is 0 or 1).
        None if no items were made.
    """
    reasons = details.get("reasons")
    if not (isinstance(reasons, list) and reasons and all(isinstance(why, str | None) for why in reasons)):
        return None
    parallel = {name: item for name, item in details.items() if isinstance(item, list) and len(item) == len(reasons)}
    if _have_reasons(parallel.values()) or (len(reasons) == 1 and details.get("reason") == reasons[0]):
        del details["reasons"]  # the reasons are repeated in another list, or under "reason"
        return None
    flat = [name for name, value in parallel.items() if name != "reasons" and not any(map(is_nested, value))]
    if not flat:
        return None
    texts = next((name for name in flat if all(isinstance(item, str) for item in details[name])), None)
    marks = next((name for name in flat if name != texts), None)
    columns = [details.pop(name) if name else [None] * len(reasons) for name in (texts, marks, "reasons")]
    items = [Item(text, mark, why or "") for text, mark, why in zip(*columns, strict=True)]
    are_verdicts = bool(texts and marks) and all(item.mark in (0, 1) for item in items)
    return (texts or marks or "").replace("_", " "), items, are_verdicts


def _have_reasons(lists: Iterable[list[Any]]) -> bool:
    """Whether any of the lists has its reasons in its items, like a list of verdicts."""
    return any(all(isinstance(item, Mapping) and "reason" in item for item in values) for values in lists)


def is_nested(value: Any) -> bool:
    """Whether a value is a list or a mapping."""
    return isinstance(value, list | Mapping)


MOST_ITEMS, MOST_PARTS = 3, 8
"""The largest number of items of a list, and of parts of the evidence, that are shown; the rest is counted."""

LONGEST_QUOTE, LONGEST_REASON, LONGEST = 120, 200, 2000
"""The largest number of characters of a quotation, of the reason for an item, and of the sentence."""

NOT_EVIDENCE = frozenset({"prompts", "raw"})
"""Details about how a score was made, which say nothing about the sample."""


def in_words(score: ScoreFields) -> str:
    """Return one sentence on the evidence of a score; if there is no evidence, on its value."""
    if score.error is not None:
        return one_line(f"failed: {score.error}", LONGEST)
    if score.value is None:
        return one_line(f"not scored: {score.reason}", LONGEST)
    scale = f" on a scale from {scalar(score.scale[0])} to {scalar(score.scale[1])}" if score.scale else ""
    return evidence_in_words(score) or f"{scalar(score.value)}{scale}"


def evidence_in_words(score: ScoreFields, *, only_failing: bool = False) -> str:
    """Return the evidence of a score that has a value; empty if there is none.

    ``only_failing``: of lists of verdicts, only quote the failing items, and do not count the others.
    """
    details = {name: item for name, item in score.details.items() if name not in NOT_EVIDENCE}
    repeats = details.pop("repeats", None)
    if score.reason and score.reason.strip():
        return one_line(score.reason + _in_each_repeat(repeats), LONGEST)
    return details_in_words(details, counted=not only_failing)


def details_in_words(details: dict[str, Any], *, counted: bool = True) -> str:
    """Return the details on one line; empty if there is nothing to show. ``details`` is changed."""
    parts = [part for part in _parts(details, counted=counted) if part]
    if len(parts) > MOST_PARTS:
        parts[MOST_PARTS:] = [f"and {len(parts) - MOST_PARTS} more"]
    return one_line("; ".join(parts), LONGEST)


def _in_each_repeat(repeats: Any) -> str:
    several = repeats if isinstance(repeats, list) else []
    values = [_inner(item.get("value")) for item in several if isinstance(item, Mapping)]
    return f": {', '.join(values)}" if values else ""


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
        fields = {key.replace("_", " "): item for key, item in value.items() if item not in (None, "")}
        if not fields:
            return ""
        return f"{name}: {_listed((f'{key} {_inner(item)}' for key, item in fields.items()), len(fields), most=10)}"
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
    verdicts = _verdicts(name, items, held, f"not {held}", counted=counted)
    return "; ".join([verdicts, *_further_flags(values, items, flag)])


def _further_flags(values: Sequence[Mapping[str, Any]], items: Sequence[Item], flag: str) -> Iterable[str]:
    """Yield a text for each other flag that is true of items with a true verdict, such as "supported but contradicted: ..."."""
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
    return Item(value, None, "") if isinstance(value, str) else Item(None, _inner(value), "")


def _verdicts(name: str, items: Sequence[Item], held: str, not_held: str, *, counted: bool) -> str:
    """Return how many verdicts are true, and the failing items. With ``counted``, the count is left out if any item fails."""
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
    are_marks = all(item.text is None for item in items) and any(item.mark is not None for item in items)
    return f"{name} {shown}" if are_marks else f"{_count(len(items), name)}: {shown}"


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
    """Return a plain value as a short text: ``yes``, ``0.3333``, ``none``."""
    if value is None or isinstance(value, bool):
        return {None: "none", True: "yes", False: "no"}[value]
    if isinstance(value, int):
        return str(value) if abs(value) < 10**15 else "a huge number"  # Python refuses to write out thousands of digits
    return f"{value:.4g}" if isinstance(value, float) else str(value)


def _quoted(text: str) -> str:
    return f"'{one_line(text, LONGEST_QUOTE)}'"


def one_line(text: str, length: int) -> str:
    """Return the text on one line, shortened to ``length`` characters, with unprintable characters replaced."""
    line = " ".join(text[: 4 * length].split())
    line = "".join(character if character.isprintable() else "\ufffd" for character in line)
    return line if len(line) <= length and len(text) <= 4 * length else f"{line[: length - 3].rstrip()}..."
