"""What came of a run.

`_evaluation` is the result that ``evaluate`` returns: rows, scores and the ways to take them elsewhere. `_summary` condenses it
into one `_metric_summary` per metric with its confidence interval (from `statistics`), the `_reasons` why rows were not scored,
and the costs; `_text` draws it for a terminal (`_table`). `_repeats` joins several judgements of a row, `_silence` counts rows
without an answer. `_slices` says which rows have something in common. `_progress` shows how far a run is.

`_compare` compares two runs: it reads each (`_compared_rows`), pairs their rows (`_row_pairs`), asks what may be credited
(`_credit`), cuts slices (`_comparison_parts`), takes what each metric made of them (`_metric_pairs`, `_paired_values`), and
finishes metrics and slices together (`_drafts`) with their `_verdicts` and `_row_changes`. A `_comparison` is what comes of it;
`_comparison_text` and `_comparison_markdown` (with `_markdown`) draw it in the words of `_comparison_words`, `_html_comparison` as
a page, as `_html` does with one run. `_join` makes one run of several.

`_calibrate` holds a run (`_judged_rows`) against people's labels (`_row_labels`), claim by claim too (`_labelled_claims`) and in
slices (`_calibrated_slices`), and warns (`_label_doubts`). A `_calibration` is what comes of it; `_calibration_text` and
`_calibration_markdown` draw it in the words of `_calibration_words`. `_label_lines` draws the rows to label next;
`_corrected_difference` is what labels in two runs tell.

`_gates` reads what a run must show. What it shows of a mean is `_gate_evidence`, what two runs show of a drop `_gate_drops`;
`_gate_cases` brings gates and evidence together, `_gate_decision` decides, `_gate_results` is what comes of it, in `_gate_words`.
"""

from __future__ import annotations

__all__: list[str] = []
