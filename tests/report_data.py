"""Scores to write pages of: few with everything in them, hostile ones, and very many."""

from __future__ import annotations

import base64
import json
import random
import re
import zlib
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

from ragmetrics_core import Evaluation, Usage
from ragmetrics_core._store._prices import ModelUsage
from ragmetrics_core._store._run_settings import MetricColumn, ModelIdentity, RunSettings, ScoredBy

XSS = [
    "<script>window.hacked = 1</script>",
    "</script><script>window.hacked = 1</script>",
    "<img src=x onerror=window.hacked=1>",
    '"><img src=x onerror=window.hacked=1>',
    "'><svg onload=window.hacked=1>",
    "<svg/onload=window.hacked=1>",
    "<svg><script>window.hacked = 1</script></svg>",
    "<body onload=window.hacked=1>",
    "<iframe src=javascript:parent.hacked=1></iframe>",
    "<iframe srcdoc='<script>parent.hacked=1</script>'></iframe>",
    "javascript:window.hacked=1",
    "<a href=javascript:window.hacked=1>click</a>",
    "<a href='https://example.org/'>leave</a>",
    "<style>*{display:none}</style>",
    "</style><script>window.hacked = 1</script>",
    "<!-- <script>window.hacked = 1</script>",
    "--><script>window.hacked = 1</script>",
    "]]><script>window.hacked = 1</script>",
    "<![CDATA[<script>window.hacked = 1</script>]]>",
    "</title><script>window.hacked = 1</script>",
    "</textarea><script>window.hacked = 1</script>",
    "<template><script>window.hacked = 1</script></template>",
    "<noscript><p title='</noscript><img src=x onerror=window.hacked=1>'>",
    "<math><mtext><table><mglyph><style><img src=x onerror=window.hacked=1>",
    "<input autofocus onfocus=window.hacked=1>",
    "<details open ontoggle=window.hacked=1>",
    "<video><source onerror=window.hacked=1></video>",
    "<object data=javascript:window.hacked=1></object>",
    "<embed src=javascript:window.hacked=1>",
    "<base href=javascript:window.hacked=1//>",
    "<meta http-equiv=refresh content='0;url=javascript:window.hacked=1'>",
    "<form action=javascript:window.hacked=1><button>go</button></form>",
    "<link rel=stylesheet href=data:text/css,*%7Bdisplay:none%7D>",
    "{{constructor.constructor('window.hacked=1')()}}",
    "{{script}}{{data}}{{policy}}",
    "${window.hacked=1}`${window.hacked=1}`",
    "\\u003cscript\\u003ewindow.hacked=1\\u003c/script\\u003e",
    "&lt;script&gt;window.hacked=1&lt;/script&gt;&#60;img src=x onerror=window.hacked=1&#62;",
    "\u202e<script>window.hacked=1</script>\u2028\x00\x1b[31m\ud800",
    "' onmouseover='window.hacked=1' style='position:fixed;inset:0' class='__proto__",
]
"""Forty texts that would run a script, load something or change the markup of a page that took them for markup."""


def claim(text: str, verdict: str, span: list[int] | None, by: list[int], against: list[int]) -> dict[str, Any]:
    """A row of evidence as the metrics of claims have it."""
    found = {"claim": text, "supported": verdict == "supported", "reason": f"because of {text}", "verdict": verdict}
    return {**found, "supported_by": by, "contradicted_by": against, **({"span": span} if span else {})}


def score(metric: str, value: float | None, **others: Any) -> dict[str, Any]:
    """A score as a line of a file of scores has it."""
    return {"metric": metric, "value": value, "scale": [0.0, 1.0], "details": {}, **others}


def line(number: int, sample: dict[str, Any], *scores: dict[str, Any]) -> dict[str, Any]:
    """A line of a file of scores."""
    return {
        "row": number,
        "place": f"q.jsonl, line {number}",
        "sample": sample,
        "scores": {item["metric"]: item for item in scores},
    }


def written(path: Path, lines: Iterator[dict[str, Any]] | list[dict[str, Any]]) -> Evaluation:
    """The lines as a file of scores, and what is read from it."""
    path.write_text("".join(json.dumps(item) + "\n" for item in lines), encoding="utf-8")
    return Evaluation.load(path)


ANSWER = "The tower is in Paris 🗼. It is 330 metres tall. It is green."
CONTEXTS = ["Paris is a city. The tower stands in Paris.", "It is 300 metres tall.", "Rome is far away."]


def small(path: Path) -> Evaluation:
    """Four rows: two scored, one failed, one without retrieved contexts; the first has all kinds of evidence."""
    verdicts = [
        claim("The tower is in Paris.", "supported", [0, 24], [1], []),
        claim("The tower is 330 metres tall.", "contradicted", [25, 47], [], [2]),
        claim("The tower is green.", "not stated", [48, 60], [], []),
    ]
    evidence = {"verdicts": verdicts, "prompts": {"extract_claims": "3", "verify_claims": "4"}}
    usage = {"calls": 2, "prompt_tokens": 700, "completion_tokens": 80, "cached_calls": 1}
    sample = {
        "user_input": "Where is the tower?",
        "response": ANSWER,
        "retrieved_contexts": CONTEXTS,
        "reference": "The tower is in Paris.",
    }
    failed = {"error": "BadReply: no JSON", "details": {"raw": ["I cannot say", "really not"]}}
    return written(
        path,
        [
            line(
                1,
                {**sample, "id": "q1", "metadata": {"lang": "en"}},
                score("faithfulness", 1 / 3, details=evidence, usage=usage),
                score("diagnosis", 0.0, passing=False, label="contradicted"),
            ),
            line(
                2,
                {**sample, "id": "q2", "metadata": {"lang": "de"}},
                score("faithfulness", 1.0),
                score("diagnosis", 1.0, passing=True, label="right"),
            ),
            line(
                3,
                {**sample, "id": "q3", "metadata": {"lang": "de"}},
                score("faithfulness", None, **failed),
                score("diagnosis", 1.0, passing=True, label="right"),
            ),
            line(
                4,
                {"user_input": "Nothing?", "response": "Nothing.", "retrieved_contexts": []},
                score("faithfulness", None, reason="retrieved_contexts is an empty list", label="no_retrieval"),
                score("diagnosis", 0.0, passing=False, label="not_retrieved"),
            ),
        ],
    )


def hostile(path: Path, value: float = 0.5, judge: str = XSS[2]) -> Evaluation:
    """Forty rows with another hostile text each in every field, and hostile names of everything around them."""
    first = XSS[0]
    rows = [_hostile_line(number, text, first, value) for number, text in enumerate(XSS, 1)]
    loaded = written(path, rows)
    models = tuple(ModelUsage(text, f"http://{text}", Usage(1, 10, 10)) for text in XSS)
    columns = tuple(
        MetricColumn(name, scale.scale, f"{first}(x={XSS[1]!r})")
        for name, scale in zip((f"m {first}", "other"), loaded.metrics, strict=True)
    )
    identity = ModelIdentity(judge, {})
    settings = RunSettings(columns, None, {}, {item.name: ScoredBy({}, identity, identity) for item in columns})
    return replace(
        loaded, metrics=columns, source=XSS[4], caveats=tuple(XSS), stopped=XSS[5], models=models, settings=settings
    )


def _hostile_line(number: int, text: str, name: str, value: float) -> dict[str, Any]:
    words = ("supported", "contradicted", text) if value < 1 else ("supported",)
    verdicts = [{**claim(text, word, [0, min(4, len(text))], [1], [1]), "reason": text} for word in words]
    details = {
        "verdicts": verdicts,
        text: {text: [text, {text: text}]},
        "prompts": {text: text},
        "raw": [text],
        "repeats": [{"value": 0.5, "state": text, "reason": text, "details": {"verdicts": verdicts}}],
    }
    document = {"content": text, "id": text, "meta": {text: text}}
    sample = {
        "id": text,
        "user_input": text,
        "response": text,
        "reference": text,
        "retrieved_contexts": [text, text],
        "retrieved_documents": [document, document],
        "reference_contexts": [text],
        "rubric": {text: text},
        "history": [{"role": text, "content": text, text: [text]}, text],
        "metadata": {text: text, "lang": XSS[number % 2], name: number % 3, "deep": {text: [text]}},
    }
    other = score("other", None, error=text, details=details) if number % 2 else score("other", None, reason=text)
    found = line(number, sample, score(f"m {name}", value, reason=text, label=text, details=details), other)
    return {**found, "place": text}


def unpacked(page: str, name: str) -> Any:
    """What lies packed in a page under this name."""
    (content,) = re.findall(rf'<script type="application/octet-stream" id="{name}">([^<]*)</script>', page)
    return json.loads(zlib.decompress(base64.b64decode(content)))


def half_of_evidence(result: Any, path: Path) -> None:
    """Write a page that has room for about half of the evidence."""
    sizes = []
    for most in (12, 0.001):
        result.to_html(path, max_megabytes=most)
        sizes.append(path.stat().st_size)
    result.to_html(path, max_megabytes=sum(sizes) / 2e6)


def exchanges_shown(
    evaluation: Evaluation, folder: Path
) -> tuple[list[dict[str, list[dict[str, Any]]]], dict[str, str]]:
    """What the page of a run shows of messages and replies, by row and metric; and by metric why it shows none."""
    evaluation.to_html(folder / "report.html")
    page = (folder / "report.html").read_text(encoding="utf-8")
    index = unpacked(page, "index")
    found: dict[int, Any] = {}
    for number, rows in enumerate(index["blocks"]):
        found |= zip(rows, (row["exchanges"] for row in unpacked(page, f"block-{number}")), strict=True)
    return [found[row] for row in sorted(found)], index["problems"]


WORDS = ["".join(random.Random(number).choices("etaoinshrdlucmfwypvbgk", k=2 + number % 9)) for number in range(4000)]


def many(path: Path, rows: int, system: int = 0) -> Evaluation:
    """So many rows with five contexts of 800 characters, five claims each, four metrics; hardly a text stands twice.

    Each system answers the same questions, finds two of the five contexts that the others find, and says other things.
    """
    return written(path, (_one_of_many(number, system) for number in range(1, rows + 1)))


def _text(chance: random.Random, length: int) -> str:
    # some words are said far more often than others, as in any language
    words = chance.choices(WORDS, weights=WEIGHTS, k=length // 4)
    return f"{' '.join(words)[: length - 1]}."


WEIGHTS = [1 / (place + 1) for place in range(len(WORDS))]


def _one_of_many(number: int, system: int) -> dict[str, Any]:
    chance = random.Random(number)
    contexts = [_text(chance, 800) for _ in range(5)]
    question, reference, lang = _text(chance, 70), _text(chance, 120), chance.choice(["en", "de", "fr"])
    if system:
        chance = random.Random(number * 1000 + system)
        contexts[2:] = [_text(chance, 800) for _ in range(3)]
    claims = [_text(chance, 60) for _ in range(5)]
    response = " ".join(claims)
    verdicts = []
    for place, text in enumerate(claims):
        held = chance.random() < 0.8
        word = "supported" if held else chance.choice(["contradicted", "not stated"])
        found = claim(text, word, [place * 61, place * 61 + 60], [1 + place] if held else [], [])
        verdicts.append({**found, "reason": _text(chance, 80)})
    value = sum(row["supported"] for row in verdicts) / 5
    sample = {
        "id": f"q{number}",
        "user_input": question,
        "response": response,
        "reference": reference,
        "retrieved_contexts": contexts,
        "metadata": {"lang": lang, "topic": f"topic {number % 12}"},
    }
    usage = {"calls": 2, "prompt_tokens": 1700, "completion_tokens": 300, "cached_calls": 0}
    return line(
        number,
        sample,
        score("faithfulness", value, details={"verdicts": verdicts}, usage=usage),
        score("context_recall", chance.randrange(6) / 5),
        score("answer_relevancy", round(chance.random(), 4)),
        score("diagnosis", float(value > 0.5), passing=value > 0.5, label="right" if value > 0.5 else "misled"),
    )
