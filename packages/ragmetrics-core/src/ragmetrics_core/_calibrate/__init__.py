"""Calibration of a judge with people's labels: agreement, thresholds, the corrected score, the rows to label next."""
