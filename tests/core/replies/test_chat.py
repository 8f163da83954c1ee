"""Greetings, offers and questions back are no statements."""

from __future__ import annotations

import pytest
from pydantic import BaseModel

from ragmetrics_core import BadReply, ModelError
from ragmetrics_core.metrics import Faithfulness
from ragmetrics_core.replies import JsonReply, LinesReply, is_chat
from ragmetrics_core.testing import ScriptedLLM

CHAT = """
Hello! How can I assist you?|Hi there!|Good morning.|How may I help you?|Please provide the text.|Sure, I'd be happy to help!
I'm ready to help. Please share the answer.|Let me know if you need anything else.|Is there anything else I can help with?
Hallo! Wie kann ich Ihnen helfen?|Guten Tag! Womit kann ich dienen?|Gerne helfe ich Ihnen weiter.|Bitte geben Sie den Text an.
Bonjour ! Comment puis-je vous aider ?|N'hésitez pas à me poser une question.|¡Hola! ¿En qué puedo ayudarte?
Por favor, comparte la respuesta.|Ciao! Come posso aiutarti?|Olá! Como posso ajudar você hoje?|Hallo! Hoe kan ik u helpen?
Cześć! W czym mogę pomóc?|Здравствуйте! Чем могу помочь?|你好！有什么可以帮你的吗？|请提供需要分析的回答。|你好！
こんにちは！何かお手伝いできますか？|안녕하세요! 무엇을 도와드릴까요?|مرحبا! كيف يمكنني مساعدتك؟|नमस्ते! मैं आपकी कैसे मदद कर सकता हूँ?
Merhaba! Size nasıl yardımcı olabilirim?
"""
STATEMENTS = """
The clinic helps patients.|Hello, Dolly! is a musical from 1964.|Hey Jude was written by McCartney.|Salve Regina is a hymn.
Welcome to the Jungle is a song.|Let me know was released in 1998.|Good Morning America airs daily.|Bitte is a German word.
The guide says how to ask for help.|Estoy aquí is a song by Shakira.|I need the app to pay.|谢谢是中文。|Guten Tag ist ein Gruß.
"""


def lines(text: str) -> list[str]:
    return text.strip().replace("\n", "|").split("|")


class Claims(BaseModel):
    claims: list[str]


class Questions(BaseModel):
    questions: list[str]


@pytest.mark.parametrize("text", lines(CHAT))
def test_chat_is_no_claim(text: str) -> None:
    assert is_chat(text)
    with pytest.raises(BadReply):
        JsonReply(Claims).parse(text)


@pytest.mark.parametrize("text", lines(STATEMENTS))
def test_statements_are_no_chat(text: str) -> None:
    assert not is_chat(text)
    assert JsonReply(Claims).parse(f"- {text}\n- Water is wet.").claims == [text, "Water is wet."]


def test_a_list_of_questions_is_one_where_questions_were_asked_for() -> None:
    text = "- What can I help you with in a clinic?\n- When did it open?"
    asked = ["What can I help you with in a clinic?", "When did it open?"]
    assert JsonReply(Questions).parse(text).questions == asked
    assert LinesReply().parse(text) == asked
    with pytest.raises(BadReply):
        JsonReply(Claims).parse(text)


def test_a_greeting_is_no_line() -> None:
    with pytest.raises(BadReply, match="lists nothing"):
        LinesReply().parse("Hello! How can I assist you today?")


@pytest.mark.parametrize("reply", ["Hello! How can I assist you?", '{"claims": ["Hello! How can I assist you?"]}'])
def test_a_judge_that_chats_is_asked_once_more(reply: str) -> None:
    fields = {"user_input": "Hi", "response": "It opened in 1889.", "retrieved_contexts": ["It opened in 1889."]}
    verified = '{"verdicts": [{"number": 1, "reason": "", "for": [1], "against": []}]}'
    llm = ScriptedLLM([reply, '{"claims": ["It opened in 1889."]}', verified])
    assert Faithfulness(llm=llm).score(**fields).value == 1.0
    assert len(llm.asks) == 3
    with pytest.raises((BadReply, ModelError)):
        Faithfulness(llm=ScriptedLLM([reply, reply])).score(**fields).unwrap()


def test_a_text_from_the_answer_is_no_chat_of_the_judge() -> None:
    answer = "Hello, Dolly! and Who's Afraid of Virginia Woolf?"
    assert is_chat("Hello, Dolly!")
    assert not is_chat("Hello, Dolly!", answer)
    assert not is_chat("One film is Who's Afraid of Virginia Woolf?", answer)
    assert is_chat("Which film do you mean?", answer)
