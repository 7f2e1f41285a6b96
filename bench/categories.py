"""The table of categories for the documentation, from the catalogue itself.

python bench/categories.py > docs/categories.md
"""

# ruff: noqa: E501 (a row of a table is a line)

from __future__ import annotations

from cloakllm_gateway.detection.catalogue import CATALOGUE, Category
from cloakllm_gateway.detection.catalogue.identity import ROWS
from cloakllm_gateway.detection.catalogue.vendors import VENDORS
from cloakllm_gateway.shell.consistency import NAME_LABELS

HEAD = """\
# Categories

What the gateway finds without a language model, by the name its tokens carry. "Sensitive" values go back to their
origin only, unless a flow names their category. {categories} categories; national numbers of {countries} countries;
secrets in {vendors} formats of vendors besides private keys, JSON Web Tokens, credentials in addresses and what
stands under a secret's name: all but placeholders under a password's, letters and digits under a key's or a token's.
Made by `python bench/categories.py`.

| category | found by | sensitive | an example, with the value in bold |
|---|---|---|---|"""

FOOT = """
## Names beside those of the table

| what a token may be called | what it stands for |
|---|---|
| LITERAL | no personal data: text of an upstream that looked like a token when it arrived. A file that says `[EMAIL_0]` is shown as `[LITERAL_0]`, and comes back as it was; so nothing that somebody planted there is taken for a token. No rule, flow or pattern can name it |
| TERM | besides what is on the `deny_list`, a whole field with the rule `tokenize` in which nothing else was found |
| {labels} | with a model of names, and in `ner_entity_types`: what spaCy's models call so; other models have labels of their own |
| a name of your own | what one of `custom_patterns` matches; a pattern may have the name of a category above, and joins it |

`[SSN_REDACTED]`, without a number, is no token: it marks what a rule cut out, and nothing leads back from it.
"""


def how(category: Category) -> str:
    ways = []
    if category.patterns:
        ways.append("shape")
    if any(pattern.near for pattern in category.patterns):
        ways.append("words beside it")
    if category.keys:
        ways.append("key or column")
    return ", ".join(ways) or "the deny list"


def shown(category: Category) -> str:
    if not category.all_examples():
        return ""
    example = category.all_examples()[0]
    before, _, after = example.text.partition(example.value)
    cells = [part.replace("\n", " ").replace("|", "\\|").replace("`", "'") for part in (before, example.value, after)]
    before, value, after = (part if len(part) <= 40 else part[:40] + "..." for part in cells)
    return f"{before}**{value}**{after}".strip()


def table() -> str:
    rows = [
        f"| {name} | {how(category)} | {'yes' if category.sensitive else ''} | {shown(category)} |"
        for name, category in sorted(CATALOGUE.items())
    ]
    countries = {row.name.rpartition("_")[2] for row in ROWS}
    head = HEAD.format(categories=len(CATALOGUE), countries=len(countries), vendors=len({row[0] for row in VENDORS}))
    labels = ", ".join(sorted(NAME_LABELS - set(CATALOGUE)))
    return "\n".join([head, *rows]) + "\n" + FOOT.format(labels=labels)


if __name__ == "__main__":
    print(table(), end="")
