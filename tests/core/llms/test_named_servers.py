"""Servers by name: which address and which key a name stands for, and that Azure is called as Azure wants it."""

from __future__ import annotations

import pickle
from typing import Any
from urllib.parse import urlsplit

import hypothesis
import pytest
from hypothesis import strategies as st

from core.conftest import KEY, OUTSIDE, Asking
from loopback import OpenAIServer, dialects
from pages import server_rows
from ragmetrics_core import InvalidInput, MissingExtra, ModelError, embeddings_named, evaluate, llm_named
from ragmetrics_core._names._named import llm_to_price
from ragmetrics_core._support._providers import SERVERS, server_named
from ragmetrics_core.embeddings import OpenAIEmbeddings, embedding_factory
from ragmetrics_core.llms import AnthropicLLM, GeminiLLM, OpenAILLM, llm_factory

pytest.importorskip("openai")

AZURE_KEY = "azure-key-0815-abcdef"
ROWS = [{"response": "Paris.", "reference": "Paris."}]


def address(name: str, base_url: str | None = None) -> str:
    return str(llm_named(name, base_url).identity["base_url"])


@pytest.mark.parametrize(
    ("name", "model", "url"),
    [
        ("ollama:llama3.1:8b", "llama3.1:8b", "http://localhost:11434/v1"),
        ("vllm:Qwen/Qwen3-8B", "Qwen/Qwen3-8B", "http://localhost:8000/v1"),
        ("llamacpp:any", "any", "http://localhost:8080/v1"),
        ("llama.cpp:any", "any", "http://localhost:8080/v1"),
        ("LM-Studio:gemma", "gemma", "http://localhost:1234/v1"),
        ("litellm:gpt-4o", "gpt-4o", "http://localhost:4000/v1"),
    ],
)
def test_servers_of_this_machine(name: str, model: str, url: str) -> None:
    llm = llm_named(name)
    assert (llm.model, llm.identity["base_url"]) == (model, url)
    assert llm.identity == OpenAILLM(model, base_url=url).identity
    embedder = embeddings_named(name)
    assert embedder.identity == OpenAIEmbeddings(model, base_url=url).identity


@pytest.mark.parametrize(
    ("host", "url"),
    [
        ("gpu-box", "http://gpu-box:11434/v1"),
        ("gpu-box:8080", "http://gpu-box:8080/v1"),
        ("0.0.0.0", "http://127.0.0.1:11434/v1"),
        ("0.0.0.0:9000", "http://127.0.0.1:9000/v1"),
        (":9000", "http://127.0.0.1:9000/v1"),
        ("[::]:9000", "http://[::1]:9000/v1"),
        ("[::1]", "http://[::1]:11434/v1"),
        ("https://ollama.example/", "https://ollama.example/v1"),
        ("http://ollama.example/ai/v1/", "http://ollama.example/ai/v1"),
        ("gpu-box/ai/v1", "http://gpu-box:11434/ai/v1"),
    ],
)
def test_what_ollama_host_may_hold(monkeypatch: pytest.MonkeyPatch, host: str, url: str) -> None:
    monkeypatch.setenv("OLLAMA_HOST", host)
    assert address("ollama:m") == url


TEXTS = st.text(st.characters(min_codepoint=32, max_codepoint=0x2FF), max_size=40)
ADDRESSES = st.from_regex(r"[\w.:/@?#\[\]-]{1,30}", fullmatch=True)


@hypothesis.given(TEXTS | ADDRESSES)
@hypothesis.settings(
    suppress_health_check=[
        *hypothesis.settings.default.suppress_health_check,
        hypothesis.HealthCheck.function_scoped_fixture,
    ]
)
def test_whatever_ollama_host_holds(monkeypatch: pytest.MonkeyPatch, host: str) -> None:
    """It is an address, or an error that names the variable."""
    monkeypatch.setenv("OLLAMA_HOST", host)
    try:
        found = address("ollama:m")
    except InvalidInput as error:
        found = str(error)
    if not found.startswith("OLLAMA_HOST must "):
        url = urlsplit(found)
        assert url.scheme in ("http", "https")
        assert url.hostname
        assert (url.query, url.username) == ("", None)


def test_the_option_comes_before_the_variable(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("VLLM_BASE_URL", "http://from-variable:1/v1")
    assert address("vllm:m") == "http://from-variable:1/v1"
    assert address("vllm:m", "http://from-option:2") == "http://from-option:2/v1"
    monkeypatch.setenv("OPENAI_BASE_URL", "http://of-openai:3/v1")
    assert address("vllm:m") == "http://from-variable:1/v1"


def test_a_server_far_away_is_never_called_without_tls(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AZURE_OPENAI_API_KEY", AZURE_KEY)
    monkeypatch.setenv("AZURE_OPENAI_ENDPOINT", "name.openai.azure.com")
    assert address("azure:dep") == "https://name.openai.azure.com/openai/v1"


def test_an_address_that_is_none_is_named_by_its_variable(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OLLAMA_HOST", "http://gpu box")
    with pytest.raises(InvalidInput) as caught:
        llm_named("ollama:m")
    assert str(caught.value) == (
        "OLLAMA_HOST must be an address such as http://localhost:8000/v1, with a valid host and port, got 'http://gpu box'"
    )


@pytest.mark.parametrize(
    ("name", "message"),
    [
        (
            "azure:dep",
            (
                "the provider 'azure' needs an address "
                "(set the environment variable AZURE_OPENAI_ENDPOINT, or give base_url=...) "
                "and a key (set the environment variable AZURE_OPENAI_API_KEY or AZURE_OPENAI_AD_TOKEN, or give api_key=...)"
            ),
        ),
        (
            "openrouter:a/b",
            "the provider 'openrouter' needs a key (set the environment variable OPENROUTER_API_KEY, or give api_key=...)",
        ),
        ("ollama:", "llm='ollama:' lacks the model's name: write ollama:MODEL"),
        ("azure", "llm='azure' lacks the model's name: write azure:MODEL"),
    ],
)
def test_what_is_missing_is_named(monkeypatch: pytest.MonkeyPatch, name: str, message: str) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-of-openai-alone")
    with pytest.raises(InvalidInput) as caught:
        llm_named(name)
    assert str(caught.value) == message


def test_a_model_may_have_the_name_of_a_server() -> None:
    assert llm_named("ollama", "http://localhost:1/v1").model == "ollama"
    assert llm_named("openai:ollama:x", "http://localhost:1/v1").model == "ollama:x"


def test_embeddings_need_a_name_of_a_model() -> None:
    with pytest.raises(InvalidInput) as caught:
        embeddings_named("ollama")
    assert str(caught.value) == "embeddings='ollama' lacks the model's name: write ollama:MODEL"


def test_a_named_server_sees_its_own_key_and_no_other(
    monkeypatch: pytest.MonkeyPatch, server: OpenAIServer, ask: Asking
) -> None:
    server.api_key = None
    monkeypatch.setenv("OPENAI_API_KEY", "sk-of-openai-alone")
    monkeypatch.setenv("VLLM_BASE_URL", server.origin)
    llm = llm_named("vllm:m")
    llm.generate(ask())
    monkeypatch.setenv("VLLM_API_KEY", " token-abc123 ")
    llm_named("vllm:m").generate(ask())
    assert [item.headers["authorization"] for item in server.requests] == ["Bearer no-key", "Bearer token-abc123"]
    assert {item.path for item in server.requests} == {"/v1/chat/completions"}
    assert pickle.loads(pickle.dumps(llm)).identity == llm.identity


def test_a_refused_key_is_named_by_its_variable(
    monkeypatch: pytest.MonkeyPatch, server: OpenAIServer, ask: Asking
) -> None:
    monkeypatch.setenv("LITELLM_API_KEY", "sk-litellm-wrong-1234")
    llm = llm_named("litellm:gpt-4o", server.origin)
    with pytest.raises(ModelError) as caught:
        llm.generate(ask())
    assert str(caught.value) == (
        f"gpt-4o: {server.base_url} refuses the API key (401): Incorrect API key provided: ***. You can find your API key in your "
        "account settings. Set the environment variable LITELLM_API_KEY, or give api_key."
    )
    assert "wrong" not in repr(llm) + str(llm.identity)


class TestAzure:
    @pytest.fixture
    def azure(self, monkeypatch: pytest.MonkeyPatch, server: OpenAIServer) -> OpenAIServer:
        server.api_key = None
        server.refusal_of = lambda got: dialects.azure(got.path, got.headers, {"my-dep", "my-emb"}, AZURE_KEY)
        monkeypatch.setenv("AZURE_OPENAI_API_KEY", AZURE_KEY)
        monkeypatch.setenv("AZURE_OPENAI_ENDPOINT", f"{server.origin}/")
        return server

    async def test_the_newer_address(self, azure: OpenAIServer, ask: Asking) -> None:
        llm = llm_named("azure:my-dep")
        assert llm.generate(ask()).value == (await llm.agenerate(ask())).value
        assert [item.path for item in azure.requests] == ["/openai/v1/chat/completions"] * 2
        assert azure.chats[0]["model"] == "my-dep"
        assert llm.identity == OpenAILLM("my-dep", base_url=f"{azure.origin}/openai/v1/").identity

    @pytest.mark.parametrize("variable", ["OPENAI_API_VERSION", "AZURE_OPENAI_API_VERSION"])
    async def test_the_older_address(
        self, azure: OpenAIServer, ask: Asking, monkeypatch: pytest.MonkeyPatch, variable: str
    ) -> None:
        monkeypatch.setenv("AZURE_OPENAI_API_KEY", f" {AZURE_KEY}\n")
        monkeypatch.setenv(variable, "2024-10-21")
        llm = llm_named("azure:my-dep")
        assert llm.generate(ask()).value == (await llm.agenerate(ask())).value
        assert [item.path for item in azure.requests] == [
            "/openai/deployments/my-dep/chat/completions?api-version=2024-10-21"
        ] * 2
        assert llm.identity["base_url"] == f"{azure.origin}/openai"
        assert llm.identity["query"] == {"api-version": "2024-10-21"}
        assert AZURE_KEY not in repr(llm) + str(llm.identity)

    def test_a_token_of_entra(self, azure: OpenAIServer, ask: Asking, monkeypatch: pytest.MonkeyPatch) -> None:
        azure.refusal_of = lambda got: None
        monkeypatch.delenv("AZURE_OPENAI_API_KEY")
        monkeypatch.setenv("AZURE_OPENAI_AD_TOKEN", "eyJ-token-of-entra")
        llm_named("azure:my-dep").generate(ask())
        monkeypatch.setenv("OPENAI_API_VERSION", "2024-10-21")
        llm_named("azure:my-dep").generate(ask())
        assert [item.headers["authorization"] for item in azure.requests] == ["Bearer eyJ-token-of-entra"] * 2

    @pytest.mark.parametrize("path", ["", "/", "/openai", "/openai/v1", "/openai/v1/"])
    def test_endpoints_as_people_write_them(self, azure: OpenAIServer, path: str) -> None:
        assert address("azure:my-dep", azure.origin + path) == f"{azure.origin}/openai/v1"

    def test_the_address_that_the_portal_shows(self, azure: OpenAIServer) -> None:
        shown = f"{azure.origin}/openai/deployments/my-dep/chat/completions?api-version=2024-10-21"
        assert address("azure:my-dep", shown) == f"{azure.origin}/openai/v1"

    def test_a_gateway_before_it(self, azure: OpenAIServer) -> None:
        assert address("azure:my-dep", "https://gateway.example/ai") == "https://gateway.example/ai"
        llm = llm_factory("my-dep", "azure", base_url="https://gateway.example/ai", api_version="2024-10-21", timeout=7)
        assert llm.identity["base_url"] == "https://gateway.example/ai/openai"  # type: ignore[attr-defined]
        newer = llm_factory("my-dep", "azure", base_url=f"{azure.origin}/openai/v1", api_version="2024-10-21")
        assert newer.identity["base_url"] == f"{azure.origin}/openai/v1"  # type: ignore[attr-defined]

    def test_embeddings(self, azure: OpenAIServer, monkeypatch: pytest.MonkeyPatch) -> None:
        newer = embeddings_named("azure:my-emb")
        monkeypatch.setenv("OPENAI_API_VERSION", "2024-10-21")
        older: Any = embedding_factory("azure", "my-emb", dimensions=4)
        assert [len(model.embed(["a", "b"]).value[0]) for model in (newer, older)] == [16, 4]
        assert [item.path for item in azure.requests] == [
            "/openai/v1/embeddings",
            "/openai/deployments/my-emb/embeddings?api-version=2024-10-21",
        ]

    def test_evaluate_by_name(self, azure: OpenAIServer, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("OPENAI_API_VERSION", "2024-10-21")
        result = evaluate(ROWS, "semantic_similarity", embeddings="azure:my-emb", progress=False)
        assert result.scores["semantic_similarity"][0].value == 1.0

    @pytest.mark.parametrize("version", ["", "2024-10-21"])
    def test_a_refused_key(
        self, azure: OpenAIServer, ask: Asking, monkeypatch: pytest.MonkeyPatch, version: str
    ) -> None:
        monkeypatch.setenv("AZURE_OPENAI_API_KEY", "wrong-key-4711-abcdef")
        monkeypatch.setenv("OPENAI_API_VERSION", version)
        with pytest.raises(ModelError) as caught:
            llm_named("azure:my-dep").generate(ask())
        path = "/openai" if version else "/openai/v1"
        assert str(caught.value) == (
            f"my-dep: {azure.origin}{path} refuses the API key (401): Access denied due to invalid subscription key or wrong API "
            "endpoint. Make sure to provide a valid key for an active subscription and use a correct regional API endpoint for "
            "your resource. Set the environment variable AZURE_OPENAI_API_KEY, or give api_key."
        )
        assert caught.value.fatal

    @pytest.mark.parametrize("version", ["", "2024-10-21"])
    def test_no_key_for_an_address_of_ones_own(
        self, azure: OpenAIServer, ask: Asking, monkeypatch: pytest.MonkeyPatch, version: str
    ) -> None:
        azure.refusal_of = lambda got: None
        monkeypatch.delenv("AZURE_OPENAI_API_KEY")
        monkeypatch.setenv("OPENAI_API_VERSION", version)
        llm_named("azure:my-dep", azure.origin).generate(ask())
        header = "api-key" if version else "authorization"
        assert azure.requests[0].headers[header].removeprefix("Bearer ") == "no-key"

    def test_a_missing_deployment(self, azure: OpenAIServer, ask: Asking, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("OPENAI_API_VERSION", "2024-10-21")
        with pytest.raises(ModelError) as caught:
            llm_named("azure:typo").generate(ask())
        assert str(caught.value) == (
            f"typo: {azure.origin}/openai has no such model or address (404): The API deployment for this resource does not exist. "
            "If you created the deployment within the last 5 minutes, please wait a moment and try again. Check the model name and "
            "the base URL."
        )


HOSTED = {
    "anthropic": ("https://api.anthropic.com", "ANTHROPIC_API_KEY"),
    "deepseek": ("https://api.deepseek.com/v1", "DEEPSEEK_API_KEY"),
    "fireworks": ("https://api.fireworks.ai/inference/v1", "FIREWORKS_API_KEY"),
    "gemini": ("https://generativelanguage.googleapis.com", "GEMINI_API_KEY"),
    "groq": ("https://api.groq.com/openai/v1", "GROQ_API_KEY"),
    "mistral": ("https://api.mistral.ai/v1", "MISTRAL_API_KEY"),
    "openrouter": ("https://openrouter.ai/api/v1", "OPENROUTER_API_KEY"),
    "together": ("https://api.together.xyz/v1", "TOGETHER_API_KEY"),
}


PACKAGES = {"anthropic": "anthropic", "gemini": "google.genai"}
"""The packages of those that are called by their own protocol."""


@pytest.mark.parametrize("name", HOSTED)
class TestHosted:
    def test_address(self, monkeypatch: pytest.MonkeyPatch, name: str) -> None:
        pytest.importorskip(PACKAGES.get(name, "openai"))
        url, variable = HOSTED[name]
        monkeypatch.setenv(variable, KEY)
        assert address(f"{name}:m") == url
        assert KEY not in repr(llm_named(f"{name}:m"))

    def test_it_needs_its_own_key(self, monkeypatch: pytest.MonkeyPatch, name: str) -> None:
        monkeypatch.setenv("OPENAI_API_KEY", KEY)
        with pytest.raises(InvalidInput) as caught:
            llm_named(f"{name}:m")
        assert f"the provider {name!r} needs a key (set the environment variable {HOSTED[name][1]}" in str(caught.value)

    def test_the_key_goes_there_only(
        self, server: OpenAIServer, ask: Asking, monkeypatch: pytest.MonkeyPatch, name: str
    ) -> None:
        pytest.importorskip(PACKAGES.get(name, "openai"))
        monkeypatch.setenv("OPENAI_API_KEY", "sk-of-openai-0815-abcdefgh")
        monkeypatch.setenv(HOSTED[name][1], KEY)
        monkeypatch.setenv(f"{name.upper()}_BASE_URL", server.origin if name == "gemini" else server.base_url)
        assert llm_named(f"{name}:m").generate(ask()).value
        headers = server.requests[0].headers
        assert KEY in {headers.get("authorization", "")[7:], headers.get("x-goog-api-key")}


def test_bedrock_has_an_address_for_each_region(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AWS_BEARER_TOKEN_BEDROCK", KEY)
    with pytest.raises(InvalidInput) as caught:
        llm_named("bedrock:m")
    assert "needs a region (set the environment variable AWS_REGION or AWS_DEFAULT_REGION" in str(caught.value)
    monkeypatch.setenv("AWS_DEFAULT_REGION", "eu-west-1")
    assert address("bedrock:m") == "https://bedrock-mantle.eu-west-1.api.aws/v1"
    monkeypatch.setenv("AWS_REGION", "us-east-2")
    assert address("bedrock:m") == "https://bedrock-mantle.us-east-2.api.aws/v1"
    monkeypatch.setenv("BEDROCK_BASE_URL", "http://localhost:1/v1")
    assert address("bedrock:m") == "http://localhost:1/v1"


@pytest.mark.parametrize(
    ("name", "kind", "package"), [("anthropic", AnthropicLLM, "anthropic"), ("gemini", GeminiLLM, "google.genai")]
)
def test_their_own_packages(monkeypatch: pytest.MonkeyPatch, name: str, kind: type, package: str) -> None:
    """A price needs no package, and is that of the same model."""
    pytest.importorskip(package)
    monkeypatch.setenv(f"{name.upper()}_API_KEY", KEY)
    assert isinstance(llm_named(f"{name}:m"), kind)
    identity = llm_named(f"{name}:m").identity
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    with pytest.raises(MissingExtra) as caught:
        llm_named(f"{name}:m")
    assert str(caught.value) == f'the {package} package is not installed: pip install "ragmetrics-core[{name}]"'
    assert llm_to_price(f"{name}:m").identity == identity


def test_the_table_is_sound() -> None:
    """And docs/models.md says the same."""
    rows = server_rows()
    assert [row.name for row in rows] == ["openai", *SERVERS]
    for row, (name, server) in zip(rows[1:], SERVERS.items(), strict=True):
        assert server_named(name) == name
        assert row.url == (server.url if "://" in server.url else "none")
        assert row.url_variables == (*server.url_variables, *server.region_variables)
        assert row.key_variables == server.key_variables
        assert row.needs_key is server.needs_key
        can = {"JSON schema": "schema", "JSON mode": "json"}
        assert (*(can[form] for form in row.forms.split(", ")), "text") == server.forms
        assert (row.seed, row.prices) == (server.seed or "none", server.prices or "none")
        assert row.caching == (server.caching or "not known")
        assert server.url_variables
        assert server.key_variables
        variables = (
            *(*server.url_variables, *server.key_variables),
            *(*server.version_variables, *server.region_variables),
        )
        assert all(variable.startswith(OUTSIDE) for variable in variables), (
            "no test must see what is set on this machine"
        )
    assert server_named("openai") is None


class TestCapabilities:
    """What the table says a provider can do decides what it is sent."""

    def test_mistral_has_another_name_for_the_seed(self) -> None:
        llm = llm_factory("m", "mistral", api_key=KEY, seed=7, extra_body={"safe_prompt": True})
        assert llm.parameters == {"extra_body": {"random_seed": 7, "safe_prompt": True}}
        assert llm_factory("m", "groq", api_key=KEY, seed=7).parameters == {"seed": 7}

    @pytest.mark.parametrize("name", ["anthropic", "deepseek"])
    def test_a_seed_that_a_provider_does_not_take(self, name: str) -> None:
        with pytest.raises(InvalidInput, match=f"^{name} takes no seed: leave seed out$"):
            llm_factory("m", name, api_key=KEY, seed=7)

    @pytest.mark.parametrize(
        ("name", "form"), [("deepseek", "json"), ("lmstudio", "schema"), ("anthropic", "schema"), ("groq", "schema")]
    )
    def test_the_highest_form_of_reply_is_asked_first(self, name: str, form: str) -> None:
        pytest.importorskip(PACKAGES.get(name, "openai"))
        assert llm_factory("m", name, api_key=KEY).structured == form
        assert llm_factory("m", name, api_key=KEY, structured="text").structured == "text"

    def test_the_price_table_has_these_providers(self) -> None:
        """So that a name in our table is one there."""
        genai_prices = pytest.importorskip("genai_prices")
        from genai_prices.data import providers

        assert genai_prices is not None
        listed = {each.id for each in providers}
        assert {each.prices for each in SERVERS.values() if each.prices} - listed == set()
        no_price = sorted(name for name, each in SERVERS.items() if not each.prices)
        assert no_price == ["litellm", "llamacpp", "lmstudio", "ollama", "vllm"]


def test_a_key_that_no_header_can_carry(monkeypatch: pytest.MonkeyPatch, ask: Asking) -> None:
    monkeypatch.setenv("AZURE_OPENAI_API_KEY", "bad\u00e9key-12345")
    monkeypatch.setenv("AZURE_OPENAI_ENDPOINT", "https://a.example")
    monkeypatch.setenv("OPENAI_API_VERSION", "2024-10-21")
    with pytest.raises(ModelError) as caught:
        llm_named("azure:dep").generate(ask())
    assert str(caught.value).startswith("the API key contains a character that is not allowed in a header (position 3)")


def test_without_the_openai_package(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    monkeypatch.setenv("OPENAI_API_VERSION", "2024-10-21")
    for name in ("azure:dep", "vllm:m"):
        with pytest.raises(MissingExtra) as caught:
            llm_named(name, "https://a.example")
        assert str(caught.value) == 'the openai package is not installed: pip install "ragmetrics-core[openai]"'
