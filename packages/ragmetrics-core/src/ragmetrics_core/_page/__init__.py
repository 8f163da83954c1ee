"""The HTML pages of a run and of a comparison; `sources` has their HTML, CSS and JavaScript."""
