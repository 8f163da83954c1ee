"""Names that people look for where they are not: RAGAS' names, with what to use instead, and ours, with their module.

A module asks here before it says that it has no such attribute. For a name of RAGAS it raises an ``ImportError``, since the
text of an ``AttributeError`` is lost on the way out of ``from module import name``. No name of RAGAS becomes another name of ours:
the scores differ, so an error says what to write instead.

What takes the place of each public name of RAGAS 0.1 to 0.4, in words.

Strategy. A row is the names and, for all of them, what to use instead: first the name in our packages, so that a test can look it
up, then what is worth knowing. Where nothing takes their place, the words begin with ``because``. Names that mean the same here
stand in ``SAME``; names with a dot, such as ``langsmith.evaluate``, are those of a module. A test compares the rows with the names
that RAGAS' releases had, so that none is missing.
"""

from __future__ import annotations

import importlib

BECAUSE = "because "
"""How the words begin where nothing takes a name's place."""

RUBRIC = "RubricScore, with rubric= instead of rubrics="
OWN = "a metric of your own, see docs/own-metric.md, or CustomJudge"
BY_ID = "over retrieved_documents and reference_documents"
CRITERION = "Guideline for a verdict by written guidelines, or CustomJudge"
TOKENS = "Evaluation.summary(), which counts calls, tokens and, with the extra prices, dollars of every run"
OWN_FAILURES = "because what calls a model, makes a call again and counts its attempts is inside evaluate"
STORES = "because data sets are files or rows in memory and runs are folders (run_dir=): there is nothing to register or upload"
CHECKED = "because every metric checks its inputs itself, and says which row lacks which field"
ONE_TURN = "because a sample is one question and one answer: give each turn of a conversation a sample of its own"
AGENT = "because the steps and tool calls of agents are not judged, only an answer and what was retrieved for it"
IMAGES = "because contexts are texts"
QUERIES = "because queries and tables are compared by running them, not by what they say"
TYPES = "because the parameters of measure say what a metric needs, and its scale bounds what it gives"
TEXTS = "because models are given texts, and nothing has to count or cut their tokens"
BATCHES = "because embeddings are asked for in batches by evaluate and by each class itself"
FIXED = (
    "because the examples of a prompt are part of its version: were they chosen row by row, scores would not compare"
)
GRAPH = "because generate_testset asks about one or two passages, without a graph of knowledge, scenarios or personas"
EVOLVED = "because generate_testset asks plain questions of different kinds, which are not rewritten step by step"
TRAINED = "because prompts are written by people and have versions: nothing is trained on scores"
TRACED = (
    "because scores are not sent to tracing services; Evaluation.to_jsonl and to_pandas hold all that is known of them"
)
READ = "JsonReply and the other formats of ragmetrics_core.replies, which also read what is not quite JSON"
LANGCHAIN = "(pip install ragmetrics-langchain)"
LLAMA_INDEX = "(pip install ragmetrics-llama-index)"
HAYSTACK = "(pip install ragmetrics-haystack)"

SAME = (
    "AnswerAccuracy AnswerCorrectness AnswerRelevancy ContextPrecision ContextRecall ContextRelevance ContextUtilization Document "
    "ExactMatch Example FactualCorrectness Faithfulness Metric NoiseSensitivity OpenAIEmbeddings Prompt ResponseGroundedness "
    "Sample SemanticSimilarity Testset aevaluate embedding_factory evaluate llm_factory"
)
"""Names that both have for the same thing; what they take, and what they give, differs as the guide says."""

PLACES: tuple[tuple[str, str], ...] = (
    # metrics
    ("faithfulness", "Faithfulness()"),
    ("FaithfulnesswithHHEM FaithulnesswithHHEM FaithfulnessExperimental", "Faithfulness"),
    ("answer_relevancy", "AnswerRelevancy()"),
    ("ResponseRelevancy", "AnswerRelevancy"),
    ("context_precision", "ContextPrecision()"),
    ("LLMContextPrecisionWithReference ContextPrecisionWithReference", "ContextPrecision"),
    ("context_utilization", "ContextUtilization()"),
    ("LLMContextPrecisionWithoutReference ContextPrecisionWithoutReference", "ContextUtilization"),
    ("context_recall", "ContextRecall()"),
    ("LLMContextRecall", "ContextRecall"),
    ("context_relevancy", "ContextRelevance()"),
    ("ContextRelevancy", "ContextRelevance"),
    ("answer_correctness", "AnswerCorrectness()"),
    ("answer_similarity", "SemanticSimilarity()"),
    ("AnswerSimilarity", "SemanticSimilarity"),
    ("IDBasedContextPrecision", f'Precision(field="id"), {BY_ID}'),
    ("IDBasedContextRecall", f'Recall(field="id"), {BY_ID}'),
    ("NonLLMContextPrecisionWithReference", f"AveragePrecision, {BY_ID}"),
    ("NonLLMContextRecall", f"Recall, {BY_ID}"),
    ("NonLLMStringSimilarity", "TokenF1, which compares words and not letters"),
    ("RubricsScore DomainSpecificRubrics RubricsScoreWithReference RubricsScoreWithoutReference", RUBRIC),
    ("LabelledRubricsScore ReferenceFreeRubricsScore labelled_rubrics_score reference_free_rubrics_score", RUBRIC),
    ("rubrics_score_with_reference rubrics_score_without_reference", RUBRIC),
    ("InstanceRubrics InstanceSpecificRubrics", "RubricScore, with a rubric in every sample"),
    (
        "InstanceRubricsWithReference InstanceRubricsScoreWithoutReference",
        "RubricScore, with a rubric in every sample",
    ),
    ("AspectCritic AspectCritique AspectCriticWithReference CriticClassification", CRITERION),
    ("coherence conciseness correctness harmfulness maliciousness", "Guideline, with the aspect in your own words"),
    ("SimpleCriteria SimpleCriteriaScore", "CustomJudge, a question of your own over columns of your own"),
    (
        "ContextEntityRecall context_entity_recall",
        "because names are judged as part of the claims that they stand in: see ContextRecall",
    ),
    ("noise_sensitivity_relevant", "NoiseSensitivity()"),
    ("noise_sensitivity_irrelevant", "NoiseSensitivity(relevant=False)"),
    (
        "SummarizationScore summarization_score SummaryScore",
        "because a summary is no answer to a question; Faithfulness checks one against its text",
    ),
    (
        "BleuScore RougeScore ChrfScore CHRFScore",
        "because their packages need no wrapper: sacrebleu and rouge-score; TokenF1 counts words in common",
    ),
    ("DistanceMeasure", "because letters are not compared; TokenF1 compares words"),
    ("StringPresence", "because that is one line in a metric of your own, see docs/own-metric.md"),
    (
        "QuotedSpansAlignment quoted_spans_alignment",
        "because quotation marks mean nothing here: Faithfulness checks all that is claimed",
    ),
    ("DataCompyScore LLMSQLEquivalence SQLSemanticEquivalence", QUERIES),
    ("MultiModalFaithfulness MultiModalRelevance multimodal_faithness multimodal_relevance", IMAGES),
    ("AgentGoalAccuracy AgentGoalAccuracyWithReference AgentGoalAccuracyWithoutReference", AGENT),
    ("TopicAdherence TopicAdherenceScore ToolCallAccuracy ToolCallF1", AGENT),
    # metrics of one's own
    ("DiscreteMetric NumericMetric RankingMetric discrete_metric numeric_metric ranking_metric", OWN),
    ("MetricWithLLM MetricWithEmbeddings SingleTurnMetric MultiTurnMetric ModeMetric", OWN),
    ("BaseMetric LLMMetric BaseLLMMetric SimpleBaseMetric SimpleLLMMetric", OWN),
    ("MetricResult", "ragmetrics_core.Score"),
    ("MetricType MetricOutputType EvaluationMode AllowedValuesType", TYPES),
    ("BaseMetricProtocol DiscreteMetricProtocol NumericMetricProtocol RankingMetricProtocol", TYPES),
    ("DiscreteValidator NumericValidator RankingValidator", TYPES),
    ("create_auto_response_model create_metric_decorator get_metric_type_name get_validator_for_allowed_values", TYPES),
    (
        "Ensember ensembler is_reproducable",
        "evaluate(repeats=), which judges every row several times and tells the spread",
    ),
    ("get_required_columns", "Metric.inputs"),
    ("get_available_metrics", "ragmetrics_core.metrics.catalogue()"),
    ("get_segmenter", "because the judge takes a text apart into claims; no sentence splitter is asked"),
    ("fbeta_score", "FactualCorrectness(beta=)"),
    # running
    ("RunConfig", "evaluate(timeout=, max_retries=, max_concurrency=)"),
    ("Result EvaluationResult EvaluationResultRow", "ragmetrics_core.Evaluation"),
    ("DiskCacheBackend CacheInterface cacher", "evaluate(run_dir=), which keeps every reply"),
    ("CostCallbackHandler TokenUsage TokenUsageParser", TOKENS),
    ("get_token_usage_for_anthropic get_token_usage_for_azure_ai get_token_usage_for_bedrock", TOKENS),
    ("get_token_usage_for_openai", TOKENS),
    ("ChainRun ChainRunEncoder ChainType MetricTrace RagasTracer", "Score.details, the evidence of every score"),
    ("new_group new_async_group parse_run_traces", "Score.details, the evidence of every score"),
    ("Executor Runner runner_exception_hook run_async_batch as_completed is_event_loop_running", OWN_FAILURES),
    ("add_retry add_async_retry", OWN_FAILURES),
    ("RagasException RagasError ExceptionInRunner", "ragmetrics_core.RagmetricsError"),
    ("MaxRetriesExceeded LLMDidNotFinishException", "ragmetrics_core.ModelError"),
    ("RagasOutputParserException", "ragmetrics_core.BadReply"),
    ("ValidationError", "ragmetrics_core.InvalidInput"),
    ("DatasetNotFoundError DuplicateDatasetError DuplicateError DuplicateExperimentError", STORES),
    ("DuplicateProjectError DuplicateResourceError ExperimentNotFoundError NotFoundError", STORES),
    ("ProjectNotFoundError ResourceNotFoundError UploadException", STORES),
    ("adapt", "Prompt, translated as docs/prompts-and-replies.md shows"),
    ("remap_column_names", "evaluate(columns=), where the common names of columns do not do"),
    ("handle_deprecated_ground_truths validate_column_dtypes validate_evaluation_modes", CHECKED),
    ("get_supported_metric_type validate_required_columns validate_supported_metrics", CHECKED),
    # data and experiments
    ("SingleTurnSample", "ragmetrics_core.Sample, or a plain dict"),
    ("BaseSample BaseEvalSample SingleTurnSampleOrMultiTurnSample", "ragmetrics_core.Sample"),
    ("MultiTurnSample", "a Sample or a dict for each turn"),
    ("AIMessage HumanMessage ToolMessage ToolCall", ONE_TURN),
    (
        "Message",
        "ragmetrics_core.Message for what a prompt sends; a sample has no messages, so give each turn a sample",
    ),
    ("EvaluationDataset", "a list of dicts or Samples (evaluate takes RAGAS' own EvaluationDataset too)"),
    ("RagasDataset Dataset DataTable", "a list of dicts or Samples, or the path of a file"),
    ("MetricAnnotation PromptAnnotation SampleAnnotation SingleMetricAnnotation", TRAINED),
    ("Experiment experiment version_experiment", "evaluate(run_dir=), with a folder for each run"),
    ("BackendRegistry BaseBackend InMemoryBackend LocalCSVBackend LocalJSONLBackend", STORES),
    ("get_registry print_available_backends register_backend", STORES),
    # models
    ("LangchainLLMWrapper", f"ragmetrics_langchain.LangChainLLM {LANGCHAIN}"),
    ("LangchainEmbeddingsWrapper", f"ragmetrics_langchain.LangChainEmbeddings {LANGCHAIN}"),
    ("LlamaIndexLLMWrapper", f"ragmetrics_llama_index.LlamaIndexLLM {LLAMA_INDEX}"),
    ("LlamaIndexEmbeddingsWrapper", f"ragmetrics_llama_index.LlamaIndexEmbeddings {LLAMA_INDEX}"),
    ("HaystackLLMWrapper", f"ragmetrics_haystack.HaystackLLM {HAYSTACK}"),
    ("HaystackEmbeddingsWrapper", f"ragmetrics_haystack.HaystackEmbeddings {HAYSTACK}"),
    (
        "BaseRagasLLM InstructorBaseRagasLLM",
        "ragmetrics_core.llms.LLM, which is a protocol: a class of your own has nothing to inherit",
    ),
    ("InstructorLLM", "OpenAILLM, which asks for JSON by a schema as far as the server allows it"),
    (
        "LiteLLMStructuredLLM LiteLLMEmbeddings GoogleEmbeddings OCIGenAIWrapper oci_genai_factory",
        "OpenAILLM(base_url=), for a server that speaks the protocol of OpenAI, or LangChain's model in ragmetrics_langchain",
    ),
    ("instructor_llm_factory", "llm_factory"),
    ("modern_embedding_factory", "embedding_factory"),
    ("InstructorModelArgs InstructorTypeVar", "because the settings of a model are arguments of its class"),
    ("is_multiple_completion_supported", "because one call has one reply: answers that belong together come in one"),
    (
        "BaseRagasEmbedding BaseRagasEmbeddings RagasBaseEmbedding",
        "ragmetrics_core.embeddings.Embeddings, which is a protocol: a class of your own has nothing to inherit",
    ),
    (
        "HuggingfaceEmbeddings HuggingFaceEmbeddings",
        "ragmetrics_core.embeddings.SentenceTransformerEmbeddings",
    ),
    ("batch_texts get_optimal_batch_size validate_texts", BATCHES),
    ("BaseTokenizer HuggingFaceTokenizer TiktokenWrapper get_default_tokenizer get_tokenizer", TEXTS),
    ("DeprecationHelper", "because no name here stands for another"),
    # prompts
    ("BasePrompt PydanticPrompt StringPrompt FewShotPydanticPrompt", "ragmetrics_core.Prompt"),
    ("PromptMixin PromptValue", "ragmetrics_core.Prompt, which is a setting of the metric that asks with it"),
    ("InputModel OutputModel BoolIO StringIO TBaseModel", READ),
    ("RagasoutputParser RagasOutputParserOld JsonLoader json_loader load_as_json to_json", READ),
    ("get_json_format_instructions model_to_dict model_to_json_schema", READ),
    ("ImageTextPrompt ImageTextPromptValue", IMAGES),
    ("ExampleStore InMemoryExampleStore SimpleExampleStore SimpleInMemoryExampleStore DynamicFewShotPrompt", FIXED),
    ("json_translatation str_translation", "Prompt, translated as docs/prompts-and-replies.md shows"),
    # test sets
    ("TestsetGenerator", "ragmetrics_core.generate_testset"),
    ("TestDataset", "ragmetrics_core.Testset"),
    ("TestsetSample DataRow", "ragmetrics_core.Sample"),
    ("TestsetPacket", STORES),
    ("ComplexEvolution ConditionalEvolution CurrentNodes Evolution EvolutionFilter EvolutionOutput", EVOLVED),
    ("MultiContextEvolution ReasoningEvolution SimpleEvolution conditional multi_context reasoning simple", EVOLVED),
    ("Distributions Filter QuestionFilter QuestionPotentialInput QuestionPotentialOutput", EVOLVED),
    ("QuestionPotentialPrompt", EVOLVED),
    ("Direction DocumentStore Embedding InMemoryDocumentStore KeyphraseExtractor Node NodeType SimilarityMode", GRAPH),
    ("default_similarity_fns get_top_k_embeddings similarity get_child_nodes get_parent_nodes", GRAPH),
    ("KnowledgeGraph Relationship UUIDEncoder Transforms Parallel BaseGraphTransformation", GRAPH),
    ("Extractor EmbeddingExtractor HeadlinesExtractor KeyphrasesExtractor NERExtractor SummaryExtractor", GRAPH),
    ("TitleExtractor TopicDescriptionExtractor emails_extractor links_extractor markdown_headings_extractor", GRAPH),
    ("NodeFilter CustomNodeFilter Splitter HeadlineSplitter RelationshipBuilder CosineSimilarityBuilder", GRAPH),
    ("JaccardSimilarityBuilder OverlapScoreBuilder SummaryCosineSimilarityBuilder apply_transforms", GRAPH),
    ("default_transforms default_transforms_for_prechunked rollback_transforms", GRAPH),
    ("Persona PersonaGenerationPrompt PersonaList default_filter generate_personas_from_kg", GRAPH),
    ("AbstractQueryScenario AbstractQuerySynthesizer ComparativeAbstractQueryScenario", GRAPH),
    ("ComparativeAbstractQuerySynthesizer SpecificQueryScenario SpecificQuerySynthesizer QuerySynthesizer", GRAPH),
    ("BaseSynthesizer MultiHopQuerySynthesizer MultiHopAbstractQuerySynthesizer MultiHopScenario", GRAPH),
    ("MultiHopSpecificQuerySynthesizer SingleHopQuerySynthesizer SingleHopScenario", GRAPH),
    ("SingleHopSpecificQuerySynthesizer default_query_distribution", GRAPH),
    # integrations, training
    ("EvaluatorChain", f"ragmetrics_langchain.MetricRunnable {LANGCHAIN}"),
    ("langsmith.evaluate", f"ragmetrics_langchain.as_langsmith_evaluator {LANGCHAIN}"),
    ("upload_dataset", "because LangSmith's own client creates its data sets"),
    ("llama_index.evaluate", f"ragmetrics_llama_index.evaluate_query_engine {LLAMA_INDEX}"),
    ("validate_dataset", CHECKED),
    ("CacheConfig HeliconeSingleton helicone_config", "OpenAILLM(base_url=), with the address of the gateway"),
    ("transform_to_ragas_dataset", "a list of dicts or Samples"),
    ("convert_to_ragas_messages extract_kb_trace extract_messages_from_model_invocation", ONE_TURN),
    ("get_last_orchestration_value AGUIEventCollector build_sample call_ag_ui_endpoint", ONE_TURN),
    ("convert_messages_snapshot convert_messages_to_ag_ui extract_contexts extract_response", ONE_TURN),
    ("extract_tool_calls run_ag_ui_row", ONE_TURN),
    ("OpikTracer LangfuseTrace MLflowTrace observe sync_trace add_query_param", TRACED),
    ("BinaryMetricLoss MSELoss Loss GeneticOptimizer Optimizer DemonstrationConfig InstructionConfig", TRAINED),
)


OWN_MODULES = ("metrics", "llms", "embeddings", "replies", "testing")

ELSEWHERE: dict[str, str] = {name: place for names, place in PLACES for name in names.split() if "." not in name}
"""RAGAS' names, and what to use instead, or why there is nothing."""


def where_it_is(name: str) -> str | None:
    """What to use instead of RAGAS' name, in words; None for other names."""
    use = ELSEWHERE.get(name)
    if use is None:
        return None
    if use.startswith(BECAUSE):
        return f"RAGAS' {name} has no counterpart here, {use}"
    return f"instead of RAGAS' {name}, use {use}"


def no_attribute(module: str, name: str) -> Exception:
    """The error for a module that has no such attribute."""
    advice = where_it_is(name)
    if advice is None and name[:1].isupper():
        home = next((home for home in OWN_MODULES if name in _names(home)), None)
        advice = home and f"it is in ragmetrics_core.{home}: from ragmetrics_core.{home} import {name}"
    if advice is None:
        return AttributeError(f"module {module!r} has no attribute {name!r}")
    return ImportError(f"cannot import name {name!r} from {module!r}: {advice}", name=module)


def _names(home: str) -> list[str]:
    names: list[str] = importlib.import_module(f"ragmetrics_core.{home}").__all__
    return names
