"""How servers of the OpenAI protocol differ: their own paths, and their own words and forms of errors.

The bodies are those that the servers send, shortened where they quote the request.
"""

from __future__ import annotations

import json
import re
from typing import Any
from urllib.parse import parse_qs, urlsplit

from ._protocol import Response

DEPLOYMENT = re.compile(r"/openai/deployments/([^/]+)/(?:chat/completions|embeddings)$")


def azure(path: str, headers: Any, deployments: set[str], key: str) -> Response | None:
    """What Azure says against a request: to a path that it lacks, without its key, without a version, to no deployment."""
    parts = urlsplit(path)
    classic, newer = DEPLOYMENT.search(parts.path), parts.path.startswith("/openai/v1/")
    given = headers.get("api-key") if classic else headers.get("authorization", "").removeprefix("Bearer ")
    if not classic and not newer:
        return said(404, {"error": {"code": "404", "message": "Resource not found"}})
    if given != key:
        message = (
            "Access denied due to invalid subscription key or wrong API endpoint. Make sure to provide a valid key for an active "
            "subscription and use a correct regional API endpoint for your resource."
        )
        return said(401, {"error": {"code": "401", "message": message}})
    if classic and not parse_qs(parts.query).get("api-version"):
        return said(404, {"error": {"code": "404", "message": "Resource not found"}})
    if classic and classic[1] not in deployments:
        message = (
            "The API deployment for this resource does not exist. If you created the deployment within the last 5 minutes, please "
            "wait a moment and try again."
        )
        return said(404, {"error": {"code": "DeploymentNotFound", "message": message}})
    return None


def ollama_lacks(model: str) -> Response:
    message = f'model "{model}" not found, try pulling it first'
    return said(404, {"error": {"message": message, "type": "not_found_error", "param": None, "code": None}})


def openrouter_failed(code: int, message: str, raw: str | None = None) -> Response:
    """An error after the answer had begun: the status is 200, and the body says otherwise."""
    return openrouter_status(200, message, raw, code)


def openrouter_status(status: int, message: str, raw: str | None = None, code: int | None = None) -> Response:
    metadata = {"provider_name": "Acme", **({"raw": raw} if raw else {})}
    return said(status, {"error": {"code": code or status, "message": message, "metadata": metadata}})


def openrouter_cut(code: int, message: str) -> Response:
    """An answer that broke off."""
    error = {"code": code, "message": message}
    choice = {"index": 0, "message": {"role": "assistant", "content": "The"}, "finish_reason": "error", "error": error}
    return said(200, {"id": "gen-1", "object": "chat.completion", "created": 1, "model": "m", "choices": [choice]})


def openrouter_lacks_credit() -> Response:
    message = "Insufficient credits. Add more using https://openrouter.ai/settings/credits"
    return said(402, {"error": {"code": 402, "message": message}})


def litellm(status: int, message: str, kind: str = "None") -> Response:
    """LiteLLM writes what it does not know as the text None, and its codes as texts."""
    return said(status, {"error": {"message": message, "type": kind, "param": "None", "code": str(status)}})


def llamacpp_loads() -> Response:
    return said(503, {"error": {"code": 503, "message": "Loading model", "type": "unavailable_error"}})


def vllm_refuses(message: str) -> Response:
    return said(400, {"object": "error", "message": message, "type": "BadRequestError", "param": None, "code": 400})


def lmstudio_refuses_json_mode() -> Response:
    return said(400, {"error": "'response_format.type' must be 'json_schema' or 'text'"})


def said(status: int, body: Any) -> Response:
    return Response(status=status, body=json.dumps(body))
