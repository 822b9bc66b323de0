"""Requests of the three APIs, and what a model might generate for them."""

import json
import re
import subprocess
from dataclasses import dataclass, field

PRO, FLASH = "deepseek-v4-pro", "deepseek-flash"
EOS = 1
SPECIALS = {"</think>": 128822, "｜DSML｜": 128825}

CITY = {"type": "object", "properties": {"city": {"type": "string"}, "days": {"type": "integer"}}, "required": ["city"]}
NOTHING = {"type": "object", "properties": {}}
FUNCTIONS = {"weather": ("The weather in a city.", CITY), "clock": ("The time.", NOTHING)}
PERSON = {
    "type": "object",
    "properties": {"name": {"type": "string"}, "age": {"type": "integer"}},
    "required": ["name", "age"],
    "additionalProperties": False,
}


def call(name, **parameters):
    """A call as the model writes it."""
    tags = "".join(
        '<｜DSML｜parameter name="%s" string="%s">%s</｜DSML｜parameter>\n'
        % (key, "true" if isinstance(value, str) else "false", value if isinstance(value, str) else json.dumps(value))
        for key, value in parameters.items()
    )
    return f'<｜DSML｜invoke name="{name}">\n{tags}</｜DSML｜invoke>\n'


def block(*calls):
    """The calls of an answer as the model writes them."""
    return "\n\n<｜DSML｜tool_calls>\n" + "".join(calls) + "</｜DSML｜tool_calls>"


OSLO = call("weather", city="Oslo", days=3)
BERN = call("weather", city="Bern “≈” \\ \"\n🌍")
# The parameter of the last call is not closed.
CUT = "Let me see.\n\n<｜DSML｜tool_calls>\n" + OSLO
CUT += '<｜DSML｜invoke name="weather">\n<｜DSML｜parameter name="city" string="true">Be'


@dataclass
class Output:
    """What a model generates, and the parts of the request that matter to it."""

    name: str
    text: str
    thinks: bool = False
    tools: tuple = ()
    apis: tuple = ("chat", "responses", "messages")
    model: str = PRO
    finish: str = "stop"
    # Members of the request, by API.
    extra: dict = field(default_factory=dict)
    logprobs: bool = False
    fails: bool = False


BOTH_TOOLS = ("weather", "clock")
OUTPUTS = [
    Output("plain", "Hello, wörld! 🙂"),
    Output("empty", ""),
    Output("flash", "Hello from the other model.", model=FLASH),
    Output("reasoning", "They say hello.\n\nSo do I.</think>Hello!", thinks=True),
    Output("empty reasoning", "</think>Hello!", thinks=True),
    Output("reasoning only", "I was still think", thinks=True, finish="length"),
    Output("one call", block(OSLO), tools=BOTH_TOOLS),
    Output("call of a tool without parameters", block(call("clock")), tools=BOTH_TOOLS),
    Output("text and calls", "Let me see." + block(OSLO, call("clock"), BERN), tools=BOTH_TOOLS),
    Output("reasoning and calls", "Two cities.</think>" + block(OSLO, BERN), thinks=True, tools=BOTH_TOOLS),
    Output("calls without reasoning", "</think>" + block(OSLO), thinks=True, tools=BOTH_TOOLS),
    Output("call of an unknown tool", block(call("no such tool", a=None)), tools=BOTH_TOOLS),
    Output("call with nested arguments", block(call("weather", city="Oslo", at={"x": [1, 2.5, None, True]})), tools=("weather",)),
    Output("text after calls", block(OSLO) + "\n\nAnd now?", tools=BOTH_TOOLS),
    Output("cut call", CUT, tools=BOTH_TOOLS, finish="length"),
    Output("cut after a parameter", CUT + "rn</｜DSML｜parameter>\n", tools=BOTH_TOOLS, finish="length"),
    Output("ended call", CUT, tools=BOTH_TOOLS),
    Output("custom tool", "Patching." + block(call("patch", input="*** Begin\n-a\n+“b”\\\n*** End")), tools=("custom:patch",),
           apis=("chat", "responses")),
    Output("cut custom tool", block(call("patch", input="*** Beg")).split("Beg")[0], tools=("custom:patch",),
           apis=("chat", "responses"), finish="length"),
    Output("namespace", block(call("mcp__weather", city="Oslo")), tools=("namespace:mcp__",), apis=("responses",)),
    Output("tool search", "Searching.</think>" + block(call("tool_search", query="maps", limit=3)), thinks=True,
           tools=("tool_search", "clock"), apis=("responses",), model=FLASH),
    Output("JSON object", '{"name": "Ada", "age": 36}', extra={
        "chat": {"response_format": {"type": "json_object"}},
        "responses": {"text": {"format": {"type": "json_object"}, "verbosity": "low"}},
    }, apis=("chat", "responses")),
    Output("JSON schema", 'An easy one.</think>{"name": "Ada", "age": 36}', thinks=True, extra={
        "chat": {"response_format": {"type": "json_schema", "json_schema": {"name": "person", "schema": PERSON, "strict": True}}},
        "responses": {"text": {"format": {"type": "json_schema", "name": "person", "schema": PERSON, "strict": True}}},
    }, apis=("chat", "responses")),
    Output("stop sequence", "One. Two. Three. Four.", extra={
        "chat": {"stop": ["Three", "never"]}, "messages": {"stop_sequences": ["Three", "never"]},
    }, apis=("chat", "messages")),
    Output("length", "This goes on and", finish="length", extra={
        "chat": {"max_tokens": 4}, "responses": {"max_output_tokens": 4}, "messages": {"max_tokens": 4},
    }),
    Output("content filter", "I would rather", finish="content_filter"),
    Output("content filter while reasoning", "I would rath", thinks=True, finish="content_filter"),
    Output("log probabilities", "Hmm.</think>Hello, 🙂 wörld" + block(OSLO), thinks=True, tools=("weather",), logprobs=True,
           apis=("chat", "responses"), extra={
               "chat": {"logprobs": True, "top_logprobs": 2},
               "responses": {"top_logprobs": 2, "include": ["message.output_text.logprobs"]},
           }),
    Output("echoed settings", "Hello!", apis=("responses",), tools=("weather", "custom:patch", "namespace:mcp__"), extra={
        "responses": {
            "instructions": "Be brief.", "max_output_tokens": 100, "temperature": 0.5, "top_p": 0.9, "user": "someone",
            "tool_choice": "required", "metadata": {"a": "b"}, "parallel_tool_calls": True, "store": False,
        },
    }),
    Output("bare settings", "Hello!", apis=("responses",), model=FLASH, tools=("bare:web_search", "bare:tool_search"), extra={
        "responses": {"text": {"format": {"type": "json_schema", "name": "any", "schema": {"type": "object"}}},
                      "tool_choice": "none"},
    }),
    Output("named choice", block(OSLO), tools=BOTH_TOOLS, extra={
        "chat": {"tool_choice": {"type": "function", "function": {"name": "weather"}}},
        "responses": {"tool_choice": {"type": "function", "name": "weather"}},
        "messages": {"tool_choice": {"type": "tool", "name": "weather"}},
    }),
    Output("allowed tools", "No need.", tools=BOTH_TOOLS, apis=("responses",), extra={
        "responses": {"tool_choice": {"type": "allowed_tools", "mode": "auto", "tools": [{"type": "function", "name": "clock"}]}},
    }),
    Output("usage in a stream", "Hello!", apis=("chat",), extra={"chat": {"stream_options": {"include_usage": True}}}),
    Output("engine failure", "Hel", fails=True),
    Output("engine failure at once", "", fails=True),
    Output("engine failure while reasoning", "Hmm", thinks=True, fails=True),
    Output("engine failure inside a call", CUT, tools=BOTH_TOOLS, fails=True),
]

# Changes to a request that make it one to refuse.
REFUSED = {
    "unknown model": {"model": "no such model"},
    "temperature": {"temperature": 9},
    "type of a member": {"top_p": "x"},
    "form of the conversation": {"messages": 7, "input": 7},
}


def tool_json(api, name):
    """The declaration of a tool."""
    kind, _, rest = name.rpartition(":")
    if kind == "custom":
        tool = {"name": rest, "description": "Changes a file."}
        return {"type": "custom", "custom": tool} if api == "chat" else {"type": "custom", **tool}
    if kind == "namespace":
        return {"type": "namespace", "name": rest, "description": "A server.", "tools": [tool_json(api, "weather")]}
    if kind == "bare":
        return {"type": rest}
    if name == "tool_search":
        parameters = {"type": "object", "properties": {"query": {"type": "string"}, "limit": {"type": "integer"}}}
        return {"type": "tool_search", "execution": "client", "description": "Finds tools.", "parameters": parameters}
    description, parameters = FUNCTIONS[name]
    function = {"name": name, "description": description, "parameters": parameters}
    if api == "chat":
        return {"type": "function", "function": function}
    if api == "responses":
        return {"type": "function", **function, "strict": None}
    return {"name": name, "description": description, "input_schema": parameters}


def request(api, output):
    """The request's body, without `stream`."""
    body = {"model": output.model}
    if api == "responses":
        body |= {"input": "Hi! No JSON, please.", "reasoning": {"effort": "high" if output.thinks else "none"}}
    else:
        body |= {"messages": [{"role": "user", "content": "Hi! No JSON, please."}]}
        body |= {"thinking": {"type": "enabled" if output.thinks else "disabled"}}
    if api == "messages":
        body |= {"max_tokens": 1000}
        if output.thinks:
            body["thinking"]["budget_tokens"] = 1024
    if output.tools:
        body["tools"] = [tool_json(api, name) for name in output.tools]
    return body | output.extra.get(api, {})


def fail(message):
    raise SystemExit(message)


class Binary:
    """The program under test, answering jobs one by one."""

    def __init__(self, path):
        self.path = path
        self.process = subprocess.Popen([path, "replay"], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self.ids = {}

    def replay(self, job):
        self.process.stdin.write(json.dumps(job).encode() + b"\n")
        self.process.stdin.flush()
        result = json.loads(self.process.stdout.readline())
        if "chunks" in job and "events" not in result:
            fail(f"{job['id']}: refused: {result}")
        return result

    def tokenize(self, texts):
        """Learns the ids of texts that may spell special tokens."""
        pieces = sorted({piece for text in texts for piece in split_specials(text) if piece not in SPECIALS})
        lines = "".join(json.dumps({"text": piece}) + "\n" for piece in pieces)
        output = subprocess.run([self.path, "tokenize", "--jsonl"], input=lines.encode(), stdout=subprocess.PIPE, check=True)
        for piece, line in zip(pieces, output.stdout.splitlines(), strict=True):
            self.ids[piece] = json.loads(line)["ids"]

    def tokens(self, text):
        return [
            token for piece in split_specials(text)
            for token in ([SPECIALS[piece]] if piece in SPECIALS else self.ids[piece])
        ]

    def close(self):
        self.process.stdin.close()
        if self.process.wait() != 0:
            fail("replay failed")


def split_specials(text):
    return [piece for piece in re.split("(" + "|".join(SPECIALS) + ")", text) if piece]


def chunkings(output, binary):
    """The output in the ways in which engines hand it over."""
    tokens = binary.tokens(output.text) + ([EOS] if output.finish == "stop" and not output.fails else [])
    logprobs = [
        {"logprob": -0.125 * (index % 8), "top": [[token, -0.125 * (index % 8)], [token % 1000 + 100, -3.5]]}
        for index, token in enumerate(tokens)
    ]
    if output.logprobs:
        pairs = zip(tokens, logprobs)
        return {
            "tokens": [{"tokens": [token], "logprobs": [logprob]} for token, logprob in pairs],
            "all tokens": [{"tokens": tokens, "logprobs": logprobs}],
        }
    text = output.text
    return {
        "whole": [{"text": text}] if text else [],
        "pieces": [{"text": text[start:start + 3]} for start in range(0, len(text), 3)],
        "tokens": [{"tokens": [token]} for token in tokens],
    }


def job(api, output, body, chunks, dialect):
    """The job of the contract of `replay`."""
    return {
        "id": f"{api} / {output.name} / {dialect}",
        "protocol": api,
        "dialect": dialect,
        "request": body,
        "chunks": chunks,
        "finish": {"error": "The engine broke down."} if output.fails else output.finish,
        "usage": {"prompt_tokens": 20, "cached_tokens": 8},
        "response_id": "resp-7",
        "created": 1700000000,
    }
