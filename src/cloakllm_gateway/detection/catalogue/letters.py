"""Letters of Latin script, and a word as names are written in it."""

from __future__ import annotations

#: Beyond the first few blocks both cases take turns.
UPPER, LOWER = "A-ZÀ-ÖØ-ÞĀ-ŽȘȚḀ-ỹ", "a-zß-öø-ÿā-žșțḁ-ỹ'’"
CAP = rf"[{UPPER}][{LOWER}]{{1,20}}(?:-?[{UPPER}][{LOWER}]{{1,20}})?"
