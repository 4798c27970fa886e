"""Rows of `ops/quantization.py`."""

from typing import Any

#: Public ops without a row, and why.
WITHOUT_ROW: dict[str, Any] = dict.fromkeys(
    (
        f"fake_quant_with_min_max_{kind}{gradient}"
        for kind in ("args", "vars", "vars_per_channel")
        for gradient in ("", "_gradient")
    ),
    "its gradient is not that of its value; see tests/test_ctc.py",
) | dict.fromkeys(
    ("quantize_and_dequantize", "quantize_and_dequantize_v2"),
    "its gradient is not that of its value; see tests/parity/cases_windows_nn.py",
)
