"""Rows of `ops/candidates.py`."""

WITHOUT_ROW = dict.fromkeys(
    (
        "all_candidate_sampler",
        "compute_accidental_hits",
        "fixed_unigram_candidate_sampler",
        "learned_unigram_candidate_sampler",
        "log_uniform_candidate_sampler",
        "uniform_candidate_sampler",
    ),
    "draws integers: see tests/test_random.py and tests/parity/cases_candidates.py",
)
