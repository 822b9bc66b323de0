"""Validates events and responses against OpenAI's component schemas and the types of the official SDKs.

    python3 check.py BINARY [--schemas OPENAPI.json] [--open-responses OPENAPI.json]

`differences.json` lists what is known not to validate; anything else fails, and so does an entry that nothing shows.
"""

import argparse
import functools
import json
import os
import re
import sys
import typing
from collections import Counter
from pathlib import Path

import anthropic.types
import jsonschema
import openai.types.chat
import openai.types.responses
import pydantic

import cases

HERE = Path(__file__).resolve().parent
REF = "#/components/schemas/"
# What problems with Open Responses' document begin with.
OPEN = "Open Responses: "


def by_type(union):
    """The classes of an SDK's union by the value of their member `type`."""
    union = typing.get_args(union)[0]
    return {
        tag: kind for kind in typing.get_args(union) for tag in typing.get_args(kind.model_fields["type"].annotation)
    }


RESPONSES_EVENTS = by_type(openai.types.responses.ResponseStreamEvent)
MESSAGES_EVENTS = by_type(anthropic.types.RawMessageStreamEvent)


def main():
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("binary")
    arguments.add_argument("--schemas", default=os.environ.get("OPENAI_SCHEMAS", HERE / "schemas" / "openai.json"))
    arguments.add_argument("--open-responses", default=os.environ.get("OPEN_RESPONSES"))
    arguments = arguments.parse_args()
    known = json.loads((HERE / "differences.json").read_text())
    if not arguments.open_responses:
        known = [entry for entry in known if not entry["where"][0].startswith(OPEN)]
    checker = Checker(known, Validators(arguments.schemas, arguments.open_responses))
    binary = cases.Binary(arguments.binary)
    binary.tokenize([output.text for output in cases.OUTPUTS])
    for output in cases.OUTPUTS:
        for api in output.apis:
            for dialect in ("vendor", "deepseek"):
                for form, chunks in cases.chunkings(output, binary).items():
                    job = cases.job(api, output, cases.request(api, output) | {"stream": True}, chunks, dialect)
                    checker.check(job["id"] + " / " + form, api, dialect, binary.replay(job))
                job["request"]["stream"] = False
                job["request"].pop("stream_options", None)
                checker.check(job["id"] + " / complete", api, dialect, binary.replay(job))
    for api in ("chat", "responses", "messages"):
        for name, change in cases.REFUSED.items():
            for dialect in ("vendor", "deepseek"):
                body = cases.request(api, cases.OUTPUTS[0]) | change
                job = {"id": f"{api} / {name} / {dialect}", "protocol": api, "dialect": dialect, "request": body}
                checker.check_refusal(job["id"], api, dialect, binary.replay(job))
    binary.close()
    sys.exit(checker.report())


class Checker:
    """Checks results, and counts."""

    def __init__(self, known, validators):
        self.known, self.validators = known, validators
        self.seen = set()
        self.passed = self.failed = self.events = 0
        self.unknown = Counter()
        self.examples = {}

    def check(self, name, api, dialect, result):
        problems = set()
        for event in result["events"]:
            problems |= self.event(api, json.dumps(event["data"]))
        # What has failed before it was complete is no completion.
        failed = any("error" in event["data"] for event in result["events"])
        if not (api == "chat" and failed):
            problems |= set(self.validators.response(api, result["response"]))
        problems |= set(ORDER[api](result["events"]))
        self.events += len(result["events"])
        self.count(name, api, dialect, problems)

    def check_refusal(self, name, api, dialect, result):
        if "error" in result:
            self.count(name, api, dialect, self.validators.error(api, result["error"]))
        else:
            self.count(name, api, dialect, [("Error", "was not refused")])

    def count(self, name, api, dialect, problems):
        left = [problem for problem in sorted(problems) if not self.is_known(api, dialect, problem)]
        for problem in left:
            key = (api, dialect, *problem)
            self.unknown[key] += 1
            self.examples.setdefault(key, name)
        self.passed += not left
        self.failed += bool(left)

    @functools.cache
    def event(self, api, text):
        return frozenset(self.validators.event(api, json.loads(text)))

    def is_known(self, api, dialect, problem):
        where, what = problem
        for index, entry in enumerate(self.known):
            if entry["api"] == api and dialect in entry["dialects"] and entry["what"] == what and where in entry["where"]:
                self.seen.add((index, dialect, where))
                return True
        return False

    def report(self):
        for (api, dialect, where, what), count in sorted(self.unknown.items()):
            print(f"{api} {dialect}: {where}: {what} ({count} times, as in {self.examples[api, dialect, where, what]})")
        shown = [
            f"{entry['api']} {dialect}: {where}: {entry['what']}"
            for index, entry in enumerate(self.known)
            for dialect in entry["dialects"]
            for where in entry["where"]
            if (index, dialect, where) not in self.seen
        ]
        for entry in shown:
            print(f"listed as a difference, but not seen: {entry}")
        failed = self.failed + len(shown)
        print(f"schemas and types, {self.events} events: {self.passed} passed, {failed} failed")
        return 1 if failed else 0


def alternatives(validator, schemas, instance, _schema):
    """A keyword: the schema for the instance's `type`, so that errors say what is wrong rather than that nothing fits."""
    kind = instance.get("type") if isinstance(instance, dict) else None
    if kind in schemas:
        yield from validator.descend(instance, schemas[kind], schema_path=kind)
    else:
        yield jsonschema.ValidationError(f"{kind!r} is no type that is known here")


def in_alternatives(error):
    """The errors inside the one alternative that has the value's type."""
    branches = {}
    for inner in error.context or []:
        branches.setdefault(inner.schema_path[0], []).append(inner)
    fitting = [
        branch for branch in branches.values()
        if not any(inner.validator == "type" and not inner.relative_path for inner in branch)
    ]
    if len(fitting) == 1:
        for inner in fitting[0]:
            yield from in_alternatives(inner)
    else:
        yield error


Validator = jsonschema.validators.extend(jsonschema.Draft202012Validator, {"alternatives": alternatives})


class Validators:
    """The schemas and types of all events and responses. Problems are pairs of a place and what is wrong there."""

    def __init__(self, path, open_path):
        document = json.loads(Path(path).read_text())
        self.by_name = validators(
            document["components"]["schemas"],
            ["CreateChatCompletionResponse", "CreateChatCompletionStreamResponse", "ErrorResponse", "Response",
             "ResponseStreamEvent"],
        )
        self.open_events = []
        if open_path:
            document = json.loads(Path(open_path).read_text())
            content = document["paths"]["/responses"]["post"]["responses"]["200"]["content"]
            schemas = document["components"]["schemas"] | {"OpenEvent": content["text/event-stream"]["schema"]}
            self.by_name |= validators(schemas, ["ResponseResource", "OpenEvent"])
            self.open_events = re.findall(r'"(response\.[a-z_.]+)"', json.dumps(schemas))

    def event(self, api, data):
        if api == "chat":
            if "error" in data:
                return self.error(api, data)
            return [*self.schema("CreateChatCompletionStreamResponse", "Chunk", data),
                    *typed(openai.types.chat.ChatCompletionChunk, "Chunk", data)]
        kind = data.get("type", "?")
        if api == "responses":
            problems = [*self.schema("ResponseStreamEvent", kind, data), *typed(RESPONSES_EVENTS.get(kind), kind, data)]
            # A stream may have further events.
            return problems + (self.open("OpenEvent", kind, data) if kind in self.open_events else [])
        if kind == "ping":
            return [] if data == {"type": "ping"} else [("ping", "is not bare")]
        if kind == "error":
            return self.error(api, data)
        return typed(MESSAGES_EVENTS.get(kind), kind, data)

    def error(self, api, body):
        """Problems of the body of a refusal, or of what ends a stream."""
        if api == "messages":
            return list(typed(anthropic.types.ErrorResponse, "Error", body))
        return list(self.schema("ErrorResponse", "Error", body))

    def response(self, api, response):
        if api == "chat":
            return [*self.schema("CreateChatCompletionResponse", "Completion", response),
                    *typed(openai.types.chat.ChatCompletion, "Completion", response)]
        if api == "responses":
            return [*self.schema("Response", "Response", response),
                    *typed(openai.types.responses.Response, "Response", response),
                    *(self.open("ResponseResource", "Response", response) if self.open_events else [])]
        return typed(anthropic.types.Message, "Message", response)

    def open(self, name, root, data):
        return [(OPEN + where, what) for where, what in self.schema(name, root, data)]

    def schema(self, name, root, data):
        for problem in self.by_name[name].iter_errors(data):
            for error in in_alternatives(problem):
                yield place(root, error.absolute_path), re.sub(r"^\{.*\}( is not valid)", r"a value\1", error.message)


def validators(schemas, names):
    """Validators of the components with these names."""
    schemas = {name: to_json_schema(schema) for name, schema in schemas.items()}
    for schema in schemas.values():
        tell_apart(schema, schemas)
    return {name: Validator({"$ref": REF + name, "components": {"schemas": schemas}}) for name in names}


def place(root, path):
    """A place in words: the Response inside an event is the same as a Response alone, and indexes do not matter."""
    words = ["[]" if isinstance(part, int) else str(part) for part in path]
    for member, name in (("response", "Response"), ("message", "Message")):
        if words[:1] == [member] and "." in root + "." and root not in ("Completion", "Response", "Message"):
            root, words = name, words[1:]
    return ".".join([root, *words]).replace(".[]", "[]")


def to_json_schema(schema):
    """OpenAPI's own keywords as JSON Schema's."""
    if isinstance(schema, list):
        return [to_json_schema(item) for item in schema]
    if not isinstance(schema, dict):
        return schema
    nullable = schema.get("nullable") is True
    result = {}
    for key, value in schema.items():
        if key == "properties":
            result[key] = {name: to_json_schema(member) for name, member in value.items()}
        elif key not in ("nullable", "$recursiveRef", "$recursiveAnchor"):
            result[key] = to_json_schema(value)
    return {"anyOf": [result, {"type": "null"}]} if nullable else result


def tell_apart(schema, components):
    """Alternatives that their `type` tells apart become the keyword `alternatives`."""
    if isinstance(schema, list):
        for item in schema:
            tell_apart(item, components)
    if not isinstance(schema, dict):
        return
    for keyword in ("anyOf", "oneOf"):
        alternatives = schema.get(keyword)
        tags = [tag_of(alternative, components) for alternative in alternatives or []]
        if len(tags) > 1 and all(tags) and len(set(sum(tags, []))) == sum(map(len, tags)):
            del schema[keyword]
            schema["alternatives"] = {
                value: alternative for tag, alternative in zip(tags, alternatives) for value in tag
            }
    for value in schema.values():
        tell_apart(value, components)


def tag_of(schema, components):
    """The values that `type` must have."""
    while "$ref" in schema:
        schema = components[schema["$ref"].removeprefix(REF)]
    tag = schema.get("properties", {}).get("type", {})
    if "type" not in schema.get("required", []):
        return None
    return [tag["const"]] if "const" in tag else tag.get("enum")


def typed(kind, root, data):
    """What an SDK's type says, without any conversion of values, and which members it does not know."""
    if kind is None:
        yield root, "is no event of the SDK"
        return
    try:
        value = kind.model_validate_json(json.dumps(data), strict=True)
    except pydantic.ValidationError as error:
        for problem in error.errors():
            yield place(root, problem["loc"]), f"the SDK's type: {problem['msg']}"
        return
    for path in unknown_members(value, []):
        yield place(root, path), "is no member of the SDK's type"


def unknown_members(value, path):
    if isinstance(value, pydantic.BaseModel):
        for key in value.model_extra or {}:
            yield [*path, key]
        for key in type(value).model_fields:
            if key in value.model_fields_set:
                yield from unknown_members(getattr(value, key), [*path, key])
    elif isinstance(value, list):
        for index, item in enumerate(value):
            yield from unknown_members(item, [*path, index])


def chat_order(events):
    chunks = [event["data"] for event in events if "error" not in event["data"]]
    choices = [choice for chunk in chunks for choice in chunk["choices"]]
    if choices[0]["delta"].get("role") != "assistant":
        yield "Chunk", "the first delta has no role"
    if any("role" in choice["delta"] for choice in choices[1:]):
        yield "Chunk", "a later delta has a role"
    finished = [choice["finish_reason"] is not None for choice in choices]
    if any(finished[:-1]) or finished[-1] == (len(chunks) < len(events)):
        yield "Chunk", "finish_reason is not in the last choice alone"
    if len({chunk["id"] for chunk in chunks}) != 1:
        yield "Chunk", "the id changes"


def responses_order(events):
    events = [event["data"] for event in events]
    if [event["sequence_number"] for event in events] != list(range(len(events))):
        yield "events", "sequence numbers do not rise by one"
    kinds = [event["type"] for event in events]
    if kinds[:2] != ["response.created", "response.in_progress"]:
        yield "events", "the stream does not begin as it should"
    ends = ("response.completed", "response.incomplete", "response.failed")
    if kinds[-1] not in ends or any(kind in ends for kind in kinds[:-1]):
        yield "events", "the stream does not end as it should"
    done, current = [], None
    for event in events:
        kind, index = event["type"], event.get("output_index")
        if kind == "response.output_item.added":
            if current is not None or index != len(done):
                yield kind, "an item begins out of order"
            current = event["item"]["id"]
        elif kind == "response.output_item.done":
            if event["item"]["id"] != current or index != len(done):
                yield kind, "an item ends out of order"
            done.append(event["item"])
            current = None
        elif index is not None and (event["item_id"] != current or index != len(done)):
            yield kind, "belongs to another item"
    if current is not None or done != events[-1]["response"]["output"]:
        yield "events", "the items are not those of the response"


def messages_order(events):
    if any(event["event"] != event["data"]["type"] for event in events):
        yield "events", "an event's name is not its type"
    kinds = [event["data"]["type"] for event in events]
    shape, index = "", 0
    letters = {"message_start": "M", "content_block_start": "(", "content_block_delta": ".", "content_block_stop": ")",
               "message_delta": "D", "message_stop": "S", "error": "E"}
    for event in events:
        data = event["data"]
        if "index" in data:
            if data["index"] != index:
                yield data["type"], "has another block's index"
            index += data["type"] == "content_block_stop"
        shape += letters.get(data["type"], "")
    if kinds[0] != "message_start" or not re.fullmatch(r"M(\(\.*\))*(DS|E)", shape):
        yield "events", "the events are not in order"


ORDER = {"chat": chat_order, "responses": responses_order, "messages": messages_order}

if __name__ == "__main__":
    main()
