"""A judge of the example data as a person would be one: claims that were written by hand for its answers, and reasons in sentences.

It knows nothing of what a dry run assumes.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from loopback import Response

CLAIMS = {
    "On Saturdays the library opens at 9:00 and closes at 19:00.": [
        "The library opens at 9:00 on Saturdays.",
        "The library closes at 19:00 on Saturdays.",
    ],
    "On Saturdays the library is open from 9:00 to 19:00.": ["The library is open from 9:00 to 19:00 on Saturdays."],
    "You may borrow books for 28 days. A loan can be renewed twice, unless another reader has reserved the item.": [
        "Books may be borrowed for 28 days.",
        "A loan can be renewed twice.",
        "A loan cannot be renewed if another reader has reserved the item.",
    ],
    "Books may be borrowed for 28 days, and a loan can be renewed twice.": [
        "Books may be borrowed for 28 days.",
        "A loan can be renewed twice.",
    ],
    "A late item costs 20 cents per day, and the fee never exceeds 5 euros. "
    "The fee can be paid by credit card in the mobile app.": [
        "A late item costs 20 cents per day.",
        "The fee for a late item never exceeds 5 euros.",
        "The fee can be paid by credit card in the mobile app.",
    ],
    "A late item costs 20 cents per day, but never more than 5 euros.": [
        "A late item costs 20 cents per day.",
        "A late item never costs more than 5 euros.",
    ],
    "The card is free for everyone.": ["The library card is free for everyone."],
    "Readers who live outside of the city pay 15 euros per year.": [
        "Readers who live outside of the city pay 15 euros per year for the library card."
    ],
    "A study room holds up to twelve people.": ["A study room holds up to twelve people."],
    "A study room holds up to six people.": ["A study room holds up to six people."],
    "I don't know.": [],
    "There are bicycle stands behind the building, next to the garden hall.": [
        "There are bicycle stands behind the building.",
        "The bicycle stands are next to the garden hall.",
    ],
    "No. E-books return themselves after 21 days, so no late fee can arise.": [
        "E-books do not cost late fees.",
        "E-books return themselves after 21 days.",
    ],
    "No late fee can arise, because e-books return themselves after 21 days.": [
        "No late fee can arise for e-books.",
        "E-books return themselves after 21 days.",
    ],
    "Nein, sonntags und montags bleibt die Bibliothek geschlossen.": [
        "Sonntags bleibt die Bibliothek geschlossen.",
        "Montags bleibt die Bibliothek geschlossen.",
    ],
    "Nein, montags bleibt die Bibliothek geschlossen.": ["Montags bleibt die Bibliothek geschlossen."],
    "Für Einwohner der Stadt kostet der Ausweis 15 Euro im Jahr.": [
        "Der Bibliotheksausweis kostet für Einwohner der Stadt 15 Euro im Jahr."
    ],
    "Für Einwohner der Stadt ist der Ausweis kostenlos.": [
        "Der Bibliotheksausweis ist für Einwohner der Stadt kostenlos."
    ],
    "Les films sont prêtés pour 7 jours.": ["Les films sont prêtés pour 7 jours."],
    "Un film peut être emprunté pour 7 jours.": ["Un film peut être emprunté pour 7 jours."],
    "彩色打印每页40分。": ["彩色打印每页40分。"],
    "Una sala se puede reservar durante tres horas al día como máximo.": [
        "Una sala de estudio se puede reservar durante tres horas al día como máximo."
    ],
    "Se puede reservar durante tres horas al día como máximo.": [
        "Una sala de estudio se puede reservar durante tres horas al día como máximo."
    ],
}

REASONS = (
    "The first passage states this explicitly.",
    "The contexts only mention other opening hours and prices, and nothing about this point.",
    "One passage gives the same number, so the claim follows from it.",
    "No passage speaks about it.",
    "The second passage says the opposite: only residents of the city get it for free.",
)

GRADE = (
    "The answer gives the same facts as the reference; the wording differs, but nothing is added and nothing of importance is "
    "left out."
)


def read(body: Mapping[str, Any]) -> Response:
    """The reply to one request, with tokens counted as in ``counted``."""
    data = json.loads(next(item["content"] for item in body["messages"] if item["role"] == "user"))
    reply = _reply(data)
    return Response(reply, usage=counted(body, json.dumps(reply, ensure_ascii=False)))


def _reply(data: Mapping[str, Any]) -> dict[str, Any]:
    if "claims" in data:
        return {
            "verdicts": [
                {
                    "number": int(number),
                    "reason": REASONS[(len(claim) + int(number)) % len(REASONS)],
                    "for": [1][: len(claim) % 3],
                    "against": [],
                }
                for number, claim in data["claims"].items()
            ]
        }
    if "number_of_questions" in data:
        return {
            "questions": [
                f"What does the text say about this, asked in way {number}?"
                for number in range(data["number_of_questions"])
            ],
            "noncommittal": False,
        }
    if "first_answer" in data or "reference" in data:
        return {"reason": GRADE, "rating": 4}
    if "context" in data:
        return {"reason": "The context answers the question in its second sentence.", "useful": True}
    return {"claims": CLAIMS[data["answer"]]}


def counted(body: Mapping[str, Any], reply: str) -> dict[str, int]:
    """Tokens as a rough vocabulary would have them: four bytes of UTF-8 in each, for all that was sent and written."""
    form = body.get("response_format")
    sent = [item["content"] for item in body["messages"]] + ([json.dumps(form)] if form else [])
    return {
        "prompt_tokens": sum(len(text.encode()) // 4 for text in sent),
        "completion_tokens": len(reply.encode()) // 4,
    }
