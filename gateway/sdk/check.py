"""Lets the official Python clients of OpenAI and Anthropic speak to a running gateway.

    python3 check.py URL

The gateway answers by script.jsonl, with the settings of gateway.toml; run.sh starts it.
"""

import contextlib
import copy
import json
import sys
import time
import traceback
import urllib.request
from pathlib import Path

import anthropic
import openai
import pydantic

REQUESTS = Path(__file__).resolve().parents[2] / "fixtures" / "requests"
URL = sys.argv[1]
CHECKS = []
PRO, FLASH = "deepseek-v4-pro", "deepseek-flash"
OFF = {"thinking": {"type": "disabled"}}
HELLO, THOUGHT = "Hello, how are you?", "The user greets."
PARAMETERS = {
    "type": "object",
    "properties": {"city": {"type": "string"}, "days": {"type": "integer", "minimum": 1}},
    "required": ["city"],
    "additionalProperties": False,
}
TOOL = {"type": "function", "function": {"name": "get_weather", "parameters": PARAMETERS}}
TOOL_OF_RESPONSES = {"type": "function", "name": "get_weather", "parameters": PARAMETERS, "strict": False}
TOOL_OF_MESSAGES = {"name": "get_weather", "description": "The weather.", "input_schema": PARAMETERS}
# A picture of one pixel.
PNG = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAQAAAC1HAwCAAAAC0lEQVR42mNk+A8AAQUBAScY42YAAAAASUVORK5CYII="


class Person(pydantic.BaseModel):
    name: str
    age: int


def check(function):
    CHECKS.append(function)
    return function


def gpt(**options):
    options = {"api_key": "sk-test", "max_retries": 0, "timeout": 60} | options
    return openai.OpenAI(base_url=f"{URL}/v1", **options)


def claude(**options):
    options = {"api_key": "sk-test", "max_retries": 0, "timeout": 60} | options
    return anthropic.Anthropic(base_url=URL, **options)


def user(text):
    return [{"role": "user", "content": text}]


def same(seen, wanted):
    assert seen == wanted, f"{seen!r}, not {wanted!r}"


@contextlib.contextmanager
def raises(kind, status, *parts):
    try:
        yield
    except kind as error:
        same(type(error), kind)
        same(getattr(error, "status_code", None), status)
        for part in parts:
            assert part in str(error), f"no {part!r} in {error}"
    else:
        raise AssertionError(f"no {kind.__name__}")


def metric(name):
    with urllib.request.urlopen(f"{URL}/metrics", timeout=10) as response:
        lines = response.read().decode().splitlines()
    return float(next(line.split()[1] for line in lines if line.startswith(name + " ")))


def until_idle():
    for _ in range(500):
        if metric("gateway_active_answers") == 0:
            return
        time.sleep(0.01)
    raise AssertionError("answers are still on their way")


# Chat Completions


@check
def chat_complete():
    chat = gpt().chat.completions.create(model=PRO, messages=user("Hi"))
    choice = chat.choices[0]
    same((choice.message.content, choice.message.reasoning_content, choice.finish_reason), (HELLO, THOUGHT, "stop"))
    same((chat.usage.completion_tokens, chat.usage.completion_tokens_details.reasoning_tokens), (12, 5))
    assert chat._request_id and chat._request_id == chat.id, chat._request_id


@check
def chat_streamed():
    options = {"include_usage": True}
    chunks = list(gpt().chat.completions.create(model=PRO, messages=user("Hi"), stream=True, stream_options=options))
    deltas = [chunk.choices[0].delta for chunk in chunks if chunk.choices]
    same("".join(delta.content or "" for delta in deltas), HELLO)
    same("".join(getattr(delta, "reasoning_content", None) or "" for delta in deltas), THOUGHT)
    same(chunks[-1].usage.completion_tokens, 12)


@check
def chat_tool_turns():
    client, messages = gpt(), user("What is the weather in Paris?")
    first = client.chat.completions.create(model=PRO, messages=messages, tools=[TOOL])
    message = first.choices[0].message
    same((message.content.strip(), first.choices[0].finish_reason), ("I will look.", "tool_calls"))
    call = message.tool_calls[0]
    same((call.function.name, json.loads(call.function.arguments)), ("get_weather", {"city": "Paris"}))
    messages += [message.model_dump(exclude_none=True), {"role": "tool", "tool_call_id": call.id, "content": "22 degrees"}]
    second = client.chat.completions.create(model=PRO, messages=messages, tools=[TOOL])
    same(second.choices[0].message.content, "It is 22 degrees in Paris.")


@check
def chat_several_tools_streamed():
    question = user("What is the weather in Paris and Rome?")
    with gpt().chat.completions.stream(model=PRO, messages=question, tools=[TOOL], extra_body=OFF) as stream:
        for _ in stream:
            pass
        choice = stream.get_final_completion().choices[0]
    arguments = [json.loads(call.function.arguments) for call in choice.message.tool_calls]
    same((arguments, choice.finish_reason), ([{"city": "Paris"}, {"city": "Rome", "days": 3}], "tool_calls"))
    same(len({call.id for call in choice.message.tool_calls}), 2)


@check
def chat_required_tool():
    chat = gpt().chat.completions.create(
        model=PRO, messages=user("You have to look at the weather."), tools=[TOOL], tool_choice="required", extra_body=OFF
    )
    same(chat.choices[0].message.tool_calls[0].function.name, "get_weather")


@check
def chat_schema():
    question = user("Describe a person as JSON.")
    chat = gpt().chat.completions.parse(model=PRO, messages=question, response_format=Person)
    same(chat.choices[0].message.parsed, Person(name="Ada", age=36))


@check
def chat_schema_streamed():
    with gpt().chat.completions.stream(
        model=PRO, messages=user("Describe a person as JSON."), response_format=Person, extra_body=OFF
    ) as stream:
        for _ in stream:
            pass
        same(stream.get_final_completion().choices[0].message.parsed, Person(name="Ada", age=36))


@check
def chat_several_answers():
    chat = gpt().chat.completions.create(model=PRO, messages=user("Give several"), n=3, extra_body=OFF)
    same([choice.message.content for choice in chat.choices], ["First.", "Second.", "Third."])
    texts = ["", "", ""]
    for chunk in gpt().chat.completions.create(model=PRO, messages=user("Give several"), n=3, stream=True, extra_body=OFF):
        for choice in chunk.choices:
            texts[choice.index] += choice.delta.content or ""
    same(texts, ["First.", "Second.", "Third."])


@check
def chat_images():
    def ask(model, url):
        parts = [{"type": "image_url", "image_url": {"url": url}}, {"type": "text", "text": "Hi"}]
        chat = gpt().chat.completions.create(model=model, messages=user(parts))
        return chat.choices[0].message.content

    same([ask(model, f"data:image/png;base64,{PNG}") for model in (FLASH, PRO)], [HELLO, HELLO])
    with raises(openai.BadRequestError, 400):
        ask(FLASH, "data:image/bmp;base64,AAAA")


@check
def chat_cut_and_stopped():
    cut = gpt().chat.completions.create(model=PRO, messages=user("Hi"), max_tokens=3, extra_body=OFF).choices[0]
    same((cut.message.content, cut.finish_reason), ("Hello, how", "length"))
    stopped = gpt().chat.completions.create(model=PRO, messages=user("Hi"), stop="are", extra_body=OFF).choices[0]
    same((stopped.message.content, stopped.finish_reason), ("Hello, how ", "stop"))


@check
def openai_errors():
    def ask(client=None, model=PRO, text="Hi", **more):
        return (client or gpt()).chat.completions.create(model=model, messages=user(text), **more)

    with raises(openai.AuthenticationError, 401):
        ask(gpt(api_key="sk-wrong"))
    with raises(openai.BadRequestError, 400, "gpt9"):
        try:
            ask(model="gpt9")
        except openai.BadRequestError as error:
            same((error.code, error.param, error.type), ("model_not_found", "model", "invalid_request_error"))
            raise
    with raises(openai.BadRequestError, 400, "temperature"):
        ask(temperature=3)
    with raises(openai.InternalServerError, 500, "The engine failed."):
        ask(text="Fail at once")
    with raises(openai.InternalServerError, 503, "too much to do"):
        ask(text="Be overloaded")
    with raises(openai.NotFoundError, 404):
        gpt().models.retrieve("gpt9")
    with raises(openai.NotFoundError, 404):
        gpt().embeddings.create(model="x", input="x", encoding_format="float")
    with raises(openai.APITimeoutError, None):
        ask(gpt(timeout=0.2), text="Be silent", extra_body=OFF)


@check
def chat_fails_on_the_way():
    stream = gpt().chat.completions.create(model=PRO, messages=user("Fail on the way"), stream=True, extra_body=OFF)
    with raises(openai.APIError, None, "The engine failed."):
        for _ in stream:
            pass


@check
def chat_rate_limit_and_cancelling():
    client = gpt()
    open_streams = [
        client.chat.completions.create(model=PRO, messages=user("Count slowly"), stream=True, extra_body=OFF)
        for _ in range(8)
    ]
    for stream in open_streams:
        next(iter(stream))
    with raises(openai.RateLimitError, 429):
        client.chat.completions.create(model=PRO, messages=user("Hi"))
    same(gpt(api_key="sk-others").chat.completions.create(model=PRO, messages=user("Hi")).choices[0].finish_reason, "stop")
    cancelled = metric("gateway_cancelled_total")
    for stream in open_streams:
        stream.close()
    until_idle()
    same(metric("gateway_cancelled_total") - cancelled, 8)


@check
def chat_silence():
    chunks = gpt().chat.completions.create(model=PRO, messages=user("Be silent"), stream=True, extra_body=OFF)
    same("".join(chunk.choices[0].delta.content or "" for chunk in chunks), "Late.")


@check
def models_of_openai():
    names = [model.id for model in gpt().models.list()]
    assert PRO in names and FLASH in names, names
    same(gpt().models.retrieve(FLASH).id, FLASH)


# Responses


@check
def responses_complete():
    response = gpt().responses.create(model=FLASH, input="Hi")
    same((response.output_text, response.status), (HELLO, "completed"))
    same(response.output[0].content[0].text, THOUGHT)
    same(response.usage.output_tokens_details.reasoning_tokens, 5)


@check
def responses_streamed():
    text, types = "", []
    with gpt().responses.stream(model=FLASH, input="Hi") as stream:
        for event in stream:
            types.append(event.type)
            if event.type == "response.output_text.delta":
                text += event.delta
        same((stream.get_final_response().output_text, text), (HELLO, HELLO))
    same((types[0], types[-1]), ("response.created", "response.completed"))


@check
def responses_tool_turns():
    client, history = gpt(), user("What is the weather in Paris?")
    first = client.responses.create(model=PRO, input=history, tools=[TOOL_OF_RESPONSES])
    call = next(item for item in first.output if item.type == "function_call")
    same((call.name, json.loads(call.arguments)), ("get_weather", {"city": "Paris"}))
    history += [item.model_dump(exclude_none=True) for item in first.output]
    history.append({"type": "function_call_output", "call_id": call.call_id, "output": "22 degrees"})
    second = client.responses.create(model=PRO, input=history, tools=[TOOL_OF_RESPONSES])
    same(second.output_text, "It is 22 degrees in Paris.")


@check
def responses_several_tools_streamed():
    with gpt().responses.stream(
        model=PRO,
        input="What is the weather in Paris and Rome?",
        tools=[TOOL_OF_RESPONSES],
        reasoning={"effort": "none"},
    ) as stream:
        for _ in stream:
            pass
        calls = [item for item in stream.get_final_response().output if item.type == "function_call"]
    same([json.loads(call.arguments) for call in calls], [{"city": "Paris"}, {"city": "Rome", "days": 3}])


@check
def responses_schema():
    response = gpt().responses.parse(model=PRO, input="Describe a person as JSON.", text_format=Person)
    same(response.output_parsed, Person(name="Ada", age=36))


@check
def responses_images():
    def ask(url):
        parts = [{"type": "input_image", "image_url": url, "detail": "auto"}, {"type": "input_text", "text": "Hi"}]
        return gpt().responses.create(model=FLASH, input=user(parts)).output_text

    same(ask(f"data:image/png;base64,{PNG}"), HELLO)
    with raises(openai.BadRequestError, 400):
        ask("data:image/bmp;base64,AAAA")


@check
def responses_count():
    counted = gpt().responses.input_tokens.count(model=FLASH, input="Hi").input_tokens
    same(counted, gpt().responses.create(model=FLASH, input="Hi").usage.input_tokens)


@check
def responses_fail_on_the_way():
    stream = gpt().responses.create(model=PRO, input="Fail on the way", stream=True, reasoning={"effort": "none"})
    last = list(stream)[-1]
    same((last.type, last.response.status, last.response.error.code), ("response.failed", "failed", "server_error"))


@check
def responses_errors():
    with raises(openai.AuthenticationError, 401):
        gpt(api_key="sk-wrong").responses.create(model=FLASH, input="Hi")
    with raises(openai.BadRequestError, 400, "input[0].content"):
        gpt().responses.create(model=FLASH, input=[{"role": "user", "content": 7}])
    with raises(openai.InternalServerError, 500):
        gpt().responses.create(model=FLASH, input="Fail at once")


# Messages


@check
def messages_complete():
    message = claude().messages.create(model=FLASH, max_tokens=100, messages=user("Hi"))
    same([block.type for block in message.content], ["thinking", "text"])
    same((message.content[0].thinking, message.content[1].text, message.stop_reason), (THOUGHT, HELLO, "end_turn"))
    same((message.usage.output_tokens, message._request_id), (12, message.id))


@check
def messages_streamed():
    with claude().messages.stream(model=FLASH, max_tokens=100, messages=user("Hi")) as stream:
        text = "".join(stream.text_stream)
        message = stream.get_final_message()
    same((text, message.content[0].thinking, message.content[1].text), (HELLO, THOUGHT, HELLO))
    assert message.content[0].signature


@check
def messages_tool_turns():
    client, messages = claude(), user("What is the weather in Paris?")
    options = {"model": PRO, "max_tokens": 200, "tools": [TOOL_OF_MESSAGES]}
    first = client.messages.create(messages=messages, **options)
    call = first.content[-1]
    same((first.stop_reason, call.name, call.input), ("tool_use", "get_weather", {"city": "Paris"}))
    messages += [
        {"role": "assistant", "content": first.content},
        {"role": "user", "content": [{"type": "tool_result", "tool_use_id": call.id, "content": "22 degrees"}]},
    ]
    same(client.messages.create(messages=messages, **options).content[-1].text, "It is 22 degrees in Paris.")


@check
def messages_several_tools_streamed():
    with claude().messages.stream(
        model=PRO,
        max_tokens=200,
        thinking={"type": "disabled"},
        tools=[TOOL_OF_MESSAGES],
        messages=user("What is the weather in Paris and Rome?"),
    ) as stream:
        message = stream.get_final_message()
    inputs = [block.input for block in message.content if block.type == "tool_use"]
    same(inputs, [{"city": "Paris"}, {"city": "Rome", "days": 3}])


@check
def messages_forced_tool():
    message = claude().messages.create(
        model=PRO,
        max_tokens=200,
        thinking={"type": "disabled"},
        tools=[TOOL_OF_MESSAGES],
        tool_choice={"type": "tool", "name": "get_weather"},
        messages=user("You have to look at the weather."),
    )
    same(message.content[-1].input, {"city": "Paris"})


@check
def messages_images():
    def ask(kind):
        source = {"type": "base64", "media_type": kind, "data": PNG}
        parts = [{"type": "image", "source": source}, {"type": "text", "text": "Hi"}]
        return claude().messages.create(model=FLASH, max_tokens=100, messages=user(parts)).content[-1].text

    same(ask("image/png"), HELLO)
    with raises(anthropic.BadRequestError, 400, "image/bmp"):
        ask("image/bmp")


@check
def messages_count():
    counted = claude().messages.count_tokens(model=PRO, messages=user("Hi"), tools=[TOOL_OF_MESSAGES]).input_tokens
    message = claude().messages.create(model=PRO, max_tokens=50, messages=user("Hi"), tools=[TOOL_OF_MESSAGES])
    same(counted, message.usage.input_tokens)


@check
def messages_stop_sequence():
    message = claude().messages.create(
        model=PRO, max_tokens=50, messages=user("Hi"), stop_sequences=["are"], thinking={"type": "disabled"}
    )
    same((message.stop_reason, message.stop_sequence), ("stop_sequence", "are"))


@check
def messages_silence():
    with claude().messages.stream(
        model=PRO, max_tokens=50, messages=user("Be silent"), thinking={"type": "disabled"}
    ) as stream:
        same("".join(stream.text_stream), "Late.")


@check
def messages_cancelling():
    with claude().messages.stream(
        model=PRO, max_tokens=2000, messages=user("Count slowly"), thinking={"type": "disabled"}
    ) as stream:
        next(iter(stream.text_stream))
        same(metric("gateway_active_answers"), 1)
    until_idle()


@check
def anthropic_errors():
    def ask(client=None, model=PRO, text="Hi", **more):
        return (client or claude()).messages.create(model=model, max_tokens=100, messages=user(text), **more)

    with raises(anthropic.AuthenticationError, 401, "authentication_error"):
        ask(claude(api_key="sk-wrong"))
    with raises(anthropic.BadRequestError, 400, "gemini"):
        ask(model="gemini")
    with raises(anthropic.InternalServerError, 500, "The engine failed."):
        ask(text="Fail at once")
    with raises(anthropic.OverloadedError, 529, "overloaded_error"):
        ask(text="Be overloaded")
    with raises(anthropic.NotFoundError, 404):
        claude().models.retrieve("gemini")
    with raises(anthropic.APITimeoutError, None):
        ask(claude(timeout=0.2), text="Be silent", thinking={"type": "disabled"})


@check
def messages_fail_on_the_way():
    with claude().messages.stream(
        model=PRO, max_tokens=100, messages=user("Fail on the way"), thinking={"type": "disabled"}
    ) as stream:
        try:
            stream.until_done()
            raise AssertionError("no error")
        except anthropic.APIStatusError as error:
            same(error.body["error"], {"type": "api_error", "message": "The engine failed."})


@check
def models_of_anthropic():
    names = [model.id for model in claude().models.list()]
    assert PRO in names and FLASH in names, names
    same(claude().models.retrieve(FLASH).type, "model")


# Agents


@check
def turns_of_claude_code():
    body = json.loads((REQUESTS / "agent.json").read_text())
    body.pop("stream")
    body["model"] = "claude-opus-4-5"
    # What newer clients do not take as an argument is sent all the same.
    body["extra_body"] = {"temperature": body.pop("temperature")}
    client = claude(auth_token="sk-test", api_key=None, default_headers={"anthropic-beta": "context-management-2025-06-27"})
    counted = client.beta.messages.count_tokens(
        **{name: body[name] for name in ("model", "messages", "system", "tools", "thinking")}
    )
    assert counted.input_tokens > 50_000, counted
    body["messages"].append({"role": "assistant", "content": "It is done."})
    body["messages"] += user("Run the tests of the harbour.")
    with client.beta.messages.stream(**body) as stream:
        first = stream.get_final_message()
    same([block.type for block in first.content], ["thinking", "text", "tool_use", "tool_use"])
    calls = first.content[2:]
    same([(call.name, call.input) for call in calls], [("Bash", {"command": "cargo test -p harbour"}), ("Read", {"file_path": "/src/lib.rs"})])
    results = [
        {"type": "tool_result", "tool_use_id": calls[0].id, "content": "test result: ok. 7 passed"},
        {"type": "tool_result", "tool_use_id": calls[1].id, "content": "no such file", "is_error": True},
    ]
    assistant = [block.model_dump(exclude_none=True, exclude={"parsed_output", "caller"}) for block in first.content]
    body["messages"] += [{"role": "assistant", "content": assistant}, {"role": "user", "content": results}]
    with client.beta.messages.stream(**body) as stream:
        second = stream.get_final_message()
    same((second.content[-1].text, second.stop_reason), ("The tests of the harbour pass: 7 of 7.", "end_turn"))


@check
def turns_of_codex():
    body = json.loads((REQUESTS / "codex.json").read_text())
    more = {"client_metadata": body.pop("client_metadata")}
    body.pop("stream")
    body["model"] = "gpt-codex"
    body["input"].append({"type": "message", "role": "user", "content": [{"type": "input_text", "text": "Close the dock at night."}]})

    def turn():
        last = None
        for event in gpt().responses.create(**copy.deepcopy(body), stream=True, extra_body=more):
            last = event
        same(last.type, "response.completed")
        body["input"] += [item.model_dump(exclude_none=True) for item in last.response.output]
        return last.response

    first = turn()
    call = next(item for item in first.output if item.type == "function_call")
    same((call.name, json.loads(call.arguments)), ("exec_command", {"cmd": "cat src/dock.rs"}))
    body["input"].append({"type": "function_call_output", "call_id": call.call_id, "output": "pub fn dock() -> bool"})
    second = turn()
    patch = next(item for item in second.output if item.type == "custom_tool_call")
    same(patch.name, "apply_patch")
    assert patch.input.startswith("*** Begin Patch\n*** Update File: src/dock.rs"), patch.input
    output = "Success. Updated src/dock.rs"
    body["input"].append({"type": "custom_tool_call_output", "call_id": patch.call_id, "output": output})
    same(turn().output_text, "The dock is closed at night.")


def main():
    failed = 0
    for function in CHECKS:
        try:
            function()
            until_idle()
        except Exception as error:  # Whatever a client raises is a failure of this check alone.
            failed += 1
            place = traceback.extract_tb(error.__traceback__)[-1]
            print(f"{function.__name__}, line {place.lineno}: {type(error).__name__}: {error}")
    print(f"openai {openai.__version__} and anthropic {anthropic.__version__}: {len(CHECKS) - failed} passed, {failed} failed")
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
