"""What a writer may put where anything else is expected: JSON as text, values of Avro by type, bytes, texts of hints.

JSON is kept as text, since much of it (a lone surrogate, 1e999, a key twice) is not what `json.dumps` would write.
"""

from __future__ import annotations

from typing import Any

TEXTS = {
    "markup": "<script>alert(1)</script>",
    "escape": "\x1b]0;owned\x07\x1b[31m",
    "direction": "a\u202eb\u2066c",
    "nul": "nul\x00bell\x07",
    "lines": "one\ntwo\r\n\tthree\u2028four",
    "passwd": "../../../../../../../../etc/passwd",
    "absolute": "/etc/passwd",
    "url": "https://user:secret@host.invalid/x?sig=1",
    "file-url": "file:///dev/null",
    "scheme": "s3://bucket/t/data/f",
    "windows": "C:\\t\\f",
    "unc": "\\\\host\\share",
    "number": "9" * 5000,
    "exponent": "1e999",
    "time": "99999-99-99T99:99:99",
    "brackets": "bucket[0]",
    "type": "decimal(99, -3)",
    "nested-type": "ARRAY<" * 300 + "INT" + ">" * 300,
    "wide": "\U0001f600é" * 40,
    "long": "x" * 3000,
    "empty": "",
    "dot": ".",
    "percent": "%2e%2e%2f%00",
    "format": "{0.__class__} %s %(x)s",
}
#: JSON by name, as it stands in the document.
JSON: dict[str, str] = {
    "null": "null",
    "true": "true",
    "zero": "0",
    "minus": "-1",
    "minus-zero": "-0.0",
    "int32": str(2**31),
    "int63": str(2**63 - 1),
    "int63-low": str(-(2**63)),
    "int64": str(2**64),
    "digits": "9" * 400,
    "half": "0.5",
    "huge": "1e308",
    "beyond": "1e999",
    "nan": "NaN",
    "list": "[]",
    "object": "{}",
    "list-of-null": "[null]",
    "list-of-object": "[{}]",
    "list-of-text": '["x"]',
    "deep": "[" * 900 + "]" * 900,
    "deep-object": '{"a":' * 400 + "1" + "}" * 400,
    "twice": '{"id":1,"id":"two","type":"int","type":[]}',
    "surrogate": '"\\ud800"',
    "surrogate-in-text": '"a\\udfffb"',
    **{f"text-{name}": "" for name in TEXTS},
}


def _quote(text: str) -> str:
    import json

    return json.dumps(text)


JSON.update({f"text-{name}": _quote(text) for name, text in TEXTS.items()})

#: Values of Avro's types by name; what a schema does not take makes the edit impossible, which is counted.
AVRO: dict[str, dict[str, Any]] = {
    "int": {"zero": 0, "minus": -1, "most": 2**31 - 1, "least": -(2**31)},
    "long": {"zero": 0, "minus": -1, "most": 2**63 - 1, "least": -(2**63), "mid": 2**40},
    "float": {"nan": float("nan"), "infinity": float("inf"), "minus-zero": -0.0},
    "double": {"nan": float("nan"), "infinity": float("-inf"), "minus-zero": -0.0},
    "boolean": {"true": True, "false": False},
    "string": dict(TEXTS),
    "bytes": {
        "empty": b"",
        "one": b"\xff",
        "zeros": bytes(64),
        "ones": b"\xff" * 64,
        "short-row": b"\0\0\0\1" + bytes(4),
        "long-row": b"\x7f\xff\xff\xff" + bytes(40),
        "not-utf8": b"\xc3\x28",
    },
}
#: Whole contents for hints and for anything else.
CONTENTS = {
    "empty": b"",
    "line-feed": b"\n",
    "number": b"9" * 400,
    "minus": b"-1",
    "nul": b"\0",
    "not-utf8": b"\xff\xfe\xc3\x28",
    "path": b"../../../etc/passwd",
    "json": b"{}",
    "open-json": b'{"a":',
    "avro-magic": b"Obj\x01",
    "parquet-magic": b"PAR1PAR1",
    "orc-magic": b"ORC",
    "puffin-magic": b"PFA1PFA1",
    "gzip-magic": b"\x1f\x8b\x08\0\0\0\0\0",
    "digits-of-another-script": "\u0663".encode(),
}
