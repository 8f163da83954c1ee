"""Question, answer, contexts and references in the values that LangChain programs take and return.

From the parts to the whole: ``_names`` is the table of names that mean something; ``_messages`` and ``_contexts`` read what has a
class of its own in LangChain; ``_texts`` finds question, answer and reference in any value; ``_samples`` makes a sample of a
whole row.
"""
