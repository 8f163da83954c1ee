"""What LlamaIndex hands over and asks for besides evaluators: responses, data sets, test sets, retrieval metrics."""
