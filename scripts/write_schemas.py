"""Write docs/schemas/*.json from the contract types: python scripts/write_schemas.py. A test keeps them up to date."""

import json
from pathlib import Path

from pydantic import TypeAdapter

from citewell.contracts import CONTRACTS

FOLDER = Path(__file__).parent.parent / "docs" / "schemas"


def schemas() -> dict[str, str]:
    """File name to its text."""
    return {
        f"{name}.json": json.dumps(TypeAdapter(contract).json_schema(), indent=2) + "\n"
        for name, contract in CONTRACTS.items()
    }


if __name__ == "__main__":
    FOLDER.mkdir(exist_ok=True)
    for name, text in schemas().items():
        (FOLDER / name).write_text(text, "utf-8")
