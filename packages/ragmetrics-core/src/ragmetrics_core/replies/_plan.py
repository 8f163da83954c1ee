"""Describe what a pydantic model expects: its plan, computed once, and its shape in one line, for the instructions.

A plan lists the fields of a model with the names that a reply may use for them. It also names the field of the model's list if
there is only one list. A reply that is only that list, or only one item of it, can then be understood.

A JSON schema costs a few hundred tokens in every call; the shape gives the same information in a few dozen. Its placeholders are
written in angle brackets, so that an echo of the shape is never mistaken for an answer.
"""

from __future__ import annotations

import collections.abc
import json
import types
from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum
from functools import cached_property, lru_cache
from itertools import chain
from typing import Annotated, Any, Literal, NamedTuple, Union, get_args, get_origin

from pydantic import AliasChoices, BaseModel, RootModel
from pydantic.fields import FieldInfo
from pydantic.json_schema import SkipJsonSchema

from ._keys import ASIDES, CONTAINERS, NUMBERED, RELATED, WRITTEN, is_opposite, is_quotation, name, stem

_LISTS = (list, set, frozenset, collections.abc.Sequence, collections.abc.Iterable, collections.abc.Collection,
          collections.abc.Set, collections.abc.MutableSequence)  # fmt: skip
_KEYLESS = (str, int, float, bool, type(None))


@dataclass(frozen=True)
class FieldPlan:
    """One field: its name, the key that validation expects, its type, whether it is required, and its highest number (None: no
    limit).
    """

    name: str
    key: str
    hint: Any
    required: bool
    limit: float | None

    @cached_property
    def is_choice(self) -> bool:
        """Whether the field takes verdicts or numbers rather than free text."""
        return any(
            member in (bool, int, float) or get_origin(member) is Literal or is_subclass(member, Enum)
            for member in members(self.hint)
        )

    @cached_property
    def is_number(self) -> bool:
        """Whether the field gives the number of an item in the data."""
        return stem(self.name) in WRITTEN["number"] and members(self.hint) == (int,)

    @cached_property
    def needs_value(self) -> bool:
        """Whether null is read as a value. A null for an optional text means its default; a null for a verdict is an error."""
        return self.required or self.is_choice or type(None) in members(self.hint)

    @cached_property
    def _item(self) -> Any:
        return item_hint(self.hint)

    @cached_property
    def _names(self) -> frozenset[str]:
        return frozenset({name(self.name), name(self.key)})

    def is_named(self, key: str) -> bool:
        """Whether a key is the name of this field in any style."""
        return name(key) in self._names

    def answers_to(self, key: str) -> bool:
        """Whether a reply may give this field under a key that is not its name."""
        mine, theirs = stem(self.name), stem(key)
        if mine == theirs:
            return True
        if self.is_number:
            return theirs in WRITTEN["number"] or theirs in NUMBERED
        if is_quotation(key) or theirs in ASIDES or name(key) in ASIDES:
            return False
        if is_opposite(key) != is_opposite(self.name) and theirs not in WRITTEN["noncommittal"]:
            return False
        if self._item is not None:
            # An optional list is looked for only under its own name: "result" beside a verdict is hardly that list.
            return self.required and self._may_be_list(mine, theirs)
        group = RELATED.get(mine)
        if group is not None and group is not WRITTEN["verdict"] and group is not WRITTEN["score"]:
            return theirs in group
        if not self.is_choice:
            return False
        # A score or verdict may be given under a synonym of the field, or under a longer name such as "final_score".
        return (group is not None and theirs in group) or ("_" not in mine and theirs.split("_")[-1] == mine)

    def _may_be_list(self, mine: str, theirs: str) -> bool:
        """Whether a key may mean this list: it shares a word with the field's name, is a usual name of lists, or is a usual name
        of such items.
        """
        if theirs in CONTAINERS or not set(theirs.split("_")).isdisjoint(mine.split("_")):
            return True
        group = RELATED.get(theirs)
        return group is not None and (group is RELATED.get(mine) or is_subclass(bare(self._item), BaseModel))


class ModelPlan(NamedTuple):
    """The fields of a model, its only list, and every key that its clean JSON may contain.

    ``synonyms``: for each field with several keys, the set of keys that validation accepts. ``others``: the keys in these sets
    that are not the first key of their field.
    """

    fields: tuple[FieldPlan, ...]
    list_field: FieldPlan | None
    scalar_field: FieldPlan | None
    extra: str | None
    top: frozenset[str]
    known: frozenset[str] | None
    synonyms: tuple[frozenset[str], ...]
    others: frozenset[str]

    @property
    def item(self) -> Any:
        """The type of the items of the only list; None if there is no such list."""
        return bare(item_hint(self.list_field.hint)) if self.list_field else None

    def knows(self, data: dict[str, Any]) -> bool:
        """Whether validation sees every key of an object, because every key belongs to the model or to a model inside it.

        An object with two keys of the same field is refused too, because validation would use one key and ignore the other. If
        some part of the model accepts keys of any name, every object is accepted.
        """
        return self.known is None or (self.known.issuperset(data) and self._has_each_field_once(data))

    def takes(self, data: Any) -> bool:
        """Whether a reply is a non-empty object of which validation sees every top-level key."""
        return type(data) is dict and bool(data) and self.top.issuperset(data) and self._has_each_field_once(data)

    def _has_each_field_once(self, data: dict[str, Any]) -> bool:
        return self.others.isdisjoint(data) or all(len(keys & data.keys()) < 2 for keys in self.synonyms)


def bare(hint: Any) -> Any:
    """Return a type without ``Annotated``, ``NewType`` and ``type X = ...`` around it."""
    while True:
        if get_origin(hint) is Annotated:
            hint = get_args(hint)[0]
        elif hasattr(hint, "__supertype__"):
            hint = hint.__supertype__
        elif hasattr(hint, "__value__") and not isinstance(hint, type):
            hint = hint.__value__
        else:
            return hint


def members(hint: Any) -> tuple[Any, ...]:
    """Return the members of a union; for any other type, the type itself."""
    hint = bare(hint)
    options: tuple[Any, ...] = get_args(hint) if get_origin(hint) in (Union, types.UnionType) else (hint,)
    return tuple(bare(option) for option in options)


def is_subclass(hint: Any, base: type) -> bool:
    """Whether ``hint`` is a class derived from ``base``. A generic such as ``list[str]`` is not, although Python 3.10 calls it a
    class.
    """
    return isinstance(hint, type) and get_origin(hint) is None and issubclass(hint, base)


def item_hint(hint: Any) -> Any | None:
    """Return the type of the items if ``hint`` is a list of any length, or an optional list; else None."""
    for member in members(hint):
        origin = get_origin(member)
        arguments = get_args(member)
        if member in _LISTS:
            return Any
        if origin in _LISTS or (origin is tuple and len(arguments) == 2 and arguments[1] is Ellipsis):
            return arguments[0]
    return None


def _keys_of(field: str, info: FieldInfo) -> tuple[str, ...]:
    """Return all keys that validation accepts for a field, in the order in which it looks for them."""
    alias = info.validation_alias
    choices = alias.choices if isinstance(alias, AliasChoices) else (alias,)
    return tuple(choice for choice in choices if isinstance(choice, str)) or (field,)


def _limit(info: FieldInfo) -> float | None:
    bounds = (getattr(item, "le", None) for item in info.metadata)
    return next((float(bound) for bound in bounds if isinstance(bound, (int, float))), None)


@lru_cache(maxsize=256)
def plan_of(model: type[BaseModel]) -> ModelPlan:
    """Return the plan of a model. It is cached because it depends only on the class."""
    fields = tuple(
        FieldPlan(field, _keys_of(field, info)[0], info.annotation, info.is_required(), _limit(info))
        for field, info in model.model_fields.items()
    )
    lists = [field for field in fields if item_hint(field.hint) is not None]
    required = [field for field in fields if field.required]
    list_field = lists[0] if len(lists) == 1 and all(field is lists[0] for field in required) else None
    choices = [field for field in fields if field.is_choice and stem(field.name) not in WRITTEN["number"]]
    scalar_field = required[0] if len(required) == 1 else choices[0] if not required and len(choices) == 1 else None
    parts: dict[type[BaseModel], None] = {}
    is_closed = _gather(model, parts)
    names = {part: [_keys_of(*item) for item in part.model_fields.items()] for part in parts}
    every = [keys for part in parts for keys in names[part]]
    return ModelPlan(
        fields,
        list_field,
        scalar_field,
        extra=model.model_config.get("extra"),
        top=frozenset(chain(*names[model])),
        known=frozenset(chain(*every)) if is_closed else None,
        synonyms=tuple(frozenset(keys) for keys in every if len(keys) > 1),
        others=frozenset(chain(*(keys[1:] for keys in every))),
    )


def fields_of(item: Any) -> tuple[FieldPlan, ...]:
    """Return the fields of a model; for any other type, an empty tuple."""
    return plan_of(item).fields if is_subclass(item, BaseModel) else ()


def _gather(hint: Any, parts: dict[type[BaseModel], None]) -> bool:
    """Add a model and the models inside it to ``parts``. Return False if some part takes keys of any name."""
    hint = bare(hint)
    if is_subclass(hint, BaseModel):
        if hint in parts:
            return True
        parts[hint] = None
        inner = [info.annotation for info in hint.model_fields.values()]
        return hint.model_config.get("extra") != "allow" and all(_gather(part, parts) for part in inner)
    if hint in _KEYLESS or get_origin(hint) is Literal or is_subclass(hint, Enum):
        return True
    if get_origin(hint) is None or is_subclass(get_origin(hint), Mapping):
        return False
    return all(_gather(argument, parts) for argument in get_args(hint) if argument is not Ellipsis)


SKIPPED: Any = SkipJsonSchema
_PLAIN: dict[Any, str] = {int: "<integer>", float: "<number>", bool: "<boolean>", type(None): "null"}
_MAX_DEPTH = 6


def shape_of(hint: Any, description: str | None = None, depth: int = 0) -> str:
    """Return the shape of a type: ``{"statements": [{"statement": "<text>", "verdict": <0 or 1>}, ...]}``."""
    options = [bare(option) for option in members(hint)]
    if len(options) > 1:
        shapes = list(dict.fromkeys(shape_of(option, description, depth) for option in options))
        return " or ".join(shapes)
    hint = options[0]
    if is_subclass(hint, BaseModel):
        return _object(hint, depth)
    if is_subclass(hint, Enum):
        return _menu([member.value for member in hint], description)
    if get_origin(hint) is Literal:
        return _menu(list(get_args(hint)), description)
    item = item_hint(hint)
    if item is not None:
        return f"[{shape_of(item, description, depth)}, ...]"
    if is_subclass(get_origin(hint), Mapping):
        return f'{{"<name>": {shape_of(get_args(hint)[1], description, depth)}, ...}}'
    if hint is str:
        return f'"<{description or "text"}>"'
    shape = _PLAIN.get(hint, "<value>")
    return f"{shape[:-1]}: {description}>" if description and shape.endswith(">") else shape


def _menu(values: list[Any], description: str | None) -> str:
    menu = " or ".join(json.dumps(value, ensure_ascii=False, default=str) for value in values)
    return f"<{menu}: {description}>" if description else f"<{menu}>"


def _object(model: type[BaseModel], depth: int) -> str:
    if depth >= _MAX_DEPTH:
        return "{...}"
    if issubclass(model, RootModel):
        return shape_of(model.model_fields["root"].annotation, None, depth)
    parts = [
        f"{json.dumps(info.serialization_alias or info.alias or field, ensure_ascii=False)}: "
        f"{shape_of(info.annotation, info.description, depth + 1)}"
        for field, info in model.model_fields.items()
        if SKIPPED not in map(type, info.metadata)  # these fields are read, but the model is not asked for them
    ]
    return "{" + ", ".join(parts) + "}"
