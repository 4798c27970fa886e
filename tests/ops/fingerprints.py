"""Rows of `ops/fingerprints.py`."""

WITHOUT_ROW = {"fingerprint": "computed by the host; tests/parity compares it"}
