"""Cuts OpenAI's component schemas down to those that validation needs, without prose.

    python3 trim.py OPENAPI.json > schemas/openai.json
"""

import json
import sys

ROOTS = [
    "CreateChatCompletionResponse",
    "CreateChatCompletionStreamResponse",
    "ErrorResponse",
    "Response",
    "ResponseStreamEvent",
]
PROSE = ("description", "title", "example", "examples", "default", "deprecated")
REF = "#/components/schemas/"


def without_prose(schema, names_members=False):
    """The schema without annotations. Under `properties`, keys are the names of members and all stay."""
    if isinstance(schema, list):
        return [without_prose(item) for item in schema]
    if not isinstance(schema, dict):
        return schema
    return {
        key: without_prose(value, key == "properties" and not names_members)
        for key, value in schema.items()
        if names_members or not (key in PROSE or key.startswith("x-"))
    }


def references(schema):
    """The names of the components that the schema refers to."""
    if isinstance(schema, list):
        for item in schema:
            yield from references(item)
    elif isinstance(schema, dict):
        if isinstance(schema.get("$ref"), str):
            yield schema["$ref"].removeprefix(REF)
        for value in schema.values():
            yield from references(value)


def main():
    with open(sys.argv[1], encoding="utf-8") as file:
        document = json.load(file)
    components = document["components"]["schemas"]
    kept, wanted = {}, list(ROOTS)
    while wanted:
        name = wanted.pop()
        if name not in kept:
            kept[name] = without_prose(components[name])
            wanted.extend(references(kept[name]))
    info = {key: document["info"][key] for key in ("title", "version", "license")}
    # One component a line.
    print('{"openapi": %s,\n"info": %s,' % (json.dumps(document["openapi"]), json.dumps(info)))
    print('"components": {"schemas": {')
    lines = [f"{json.dumps(name)}: {json.dumps(kept[name], separators=(',', ':'))}" for name in sorted(kept)]
    print(",\n".join(lines))
    print("}}}")


if __name__ == "__main__":
    main()
