"""Where the components say they live, which is what a saved pipeline names them by.

Strategy. Haystack loads only classes of its own packages and of ``haystack_integrations`` unless told otherwise, and it writes
``<module>.<class>`` into every saved pipeline. So all components name this one public module, wherever their code stands: files
may be split and renamed, and pipelines saved years ago still load.
"""

from __future__ import annotations

HOME = "haystack_integrations.components.evaluators.ragmetrics"
