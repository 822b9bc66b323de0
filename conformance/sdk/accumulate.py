"""Lets the official SDKs read our streams and responses: what they make of a stream has to be our complete response.

    python3 accumulate.py BINARY

A server on this machine answers what the SDKs ask with what the program makes of the SDKs' own requests. With the
`vendor` dialect, the SDKs validate what they read.
"""

import json
import os
import subprocess
import sys
import tempfile
import threading
from http.server import BaseHTTPRequestHandler, HTTPServer

import anthropic
import openai
from openai.lib.streaming.chat import ChatCompletionStreamState

import cases

FORMS = ("pieces", "tokens")
# Outputs that `decode` answers too.
DECODED = ("plain", "reasoning and calls", "custom tool", "cut call", "length", "JSON object")
PINGS = {"messages": b'event: ping\ndata: {"type":"ping"}\n\n'}


def main():
    binary = cases.Binary(sys.argv[1])
    binary.tokenize([output.text for output in cases.OUTPUTS])
    server = Server(binary)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    passed = failed = 0
    for name, run in checks(server):
        try:
            problems = list(run())
        except Exception as error:  # Whatever an SDK raises is a failure of this check alone.
            problems = [f"{type(error).__name__}: {error}"]
        if server.error:
            problems.append(server.error)
        for problem in problems:
            print(f"{name}: {problem}")
        passed, failed = passed + (not problems), failed + bool(problems)
    server.shutdown()
    binary.close()
    print(f"SDKs openai {openai.__version__} and anthropic {anthropic.__version__}: {passed} passed, {failed} failed")
    sys.exit(1 if failed else 0)


def checks(server):
    """All checks: names, and what yields the problems."""
    for output in cases.OUTPUTS:
        for api in output.apis:
            for dialect in ("vendor", "deepseek"):
                client = CLIENTS[api](server, dialect)
                body = cases.request(api, output)
                name = f"{api} / {output.name} / {dialect}"
                forms = [form for form in FORMS if form in cases.chunkings(output, server.binary)]
                for form in forms:
                    yield f"{name} / {form}", server.answering(output, api, dialect, form, client.stream, body)
                if not output.fails:
                    yield f"{name} / complete", server.answering(output, api, dialect, "tokens", client.complete, body)
                if output.name in DECODED:
                    yield f"{name} / decode", server.answering(output, api, dialect, "decode", client.stream, body)


class Server(HTTPServer):
    """Answers each request with the output that was chosen before."""

    def __init__(self, binary):
        super().__init__(("127.0.0.1", 0), Handler)
        self.binary = binary
        self.url = f"http://127.0.0.1:{self.server_port}"
        self.chosen = self.result = self.error = None

    def answering(self, output, api, dialect, form, read, body):
        def run():
            self.chosen, self.result, self.error = (output, api, dialect, form), None, None
            return read(dict(body), lambda: self.result["response"], output.fails)

        return run

    def answer(self, body):
        """The content type and the bytes that answer a request."""
        output, api, dialect, form = self.chosen
        if form == "decode":
            return self.decode(body, output, api, dialect)
        chunks = cases.chunkings(output, self.binary)[form]
        self.result = self.binary.replay(cases.job(api, output, body, chunks, dialect))
        if not body.get("stream"):
            return "application/json", json.dumps(self.result["response"]).encode()
        ping = PINGS.get(api, b": keep-alive\n\n") if form == "pieces" else b""
        events = []
        for event in self.result["events"]:
            name = f"event: {event['event']}\n" if event["event"] else ""
            events.append(f"{name}data: {json.dumps(event['data'], ensure_ascii=False)}\n\n".encode() + ping)
        if api == "chat":
            events.append(b"data: [DONE]\n\n")
        return "text/event-stream", b"".join(events)

    def decode(self, body, output, api, dialect):
        """The very bytes that the program writes."""
        with tempfile.NamedTemporaryFile("w", suffix=".json") as file:
            json.dump(body, file)
            file.flush()
            command = [self.binary.path, "decode", "--protocol", api, "--text", "--finish", output.finish, file.name]
            command += ["--vendor"] * (dialect == "vendor")
            whole, events = (
                subprocess.run(command + more, input=output.text.encode(), stdout=subprocess.PIPE, check=True,
                               stderr=subprocess.DEVNULL).stdout
                for more in ([], ["--stream"])
            )
        self.result = {"response": json.loads(whole)}
        return "text/event-stream", events


class Handler(BaseHTTPRequestHandler):
    def do_POST(self):
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        try:
            kind, data = self.server.answer(body)
            status = 200
        except (Exception, SystemExit) as error:  # The check that waits for this answer reports it.
            self.server.error = f"{type(error).__name__}: {error}"
            status, kind, data = 400, "application/json", b"{}"
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, *arguments):
        pass


def differences(name, found, expected):
    if found != expected:
        yield f"{name}: {json.dumps(found, ensure_ascii=False)} instead of {json.dumps(expected, ensure_ascii=False)}"


class Chat:
    def __init__(self, server, dialect):
        self.is_vendor = dialect == "vendor"
        client = openai.OpenAI(
            api_key="none", base_url=server.url, max_retries=0, _strict_response_validation=self.is_vendor
        )
        self.completions = client.chat.completions

    def complete(self, body, response, _fails):
        body.pop("stream_options", None)
        thinking = body.pop("thinking")
        completion = self.completions.create(**body, extra_body={"thinking": thinking})
        yield from differences("completion", completion.to_dict(mode="json"), response())

    def stream(self, body, response, fails):
        thinking = body.pop("thinking")
        state = ChatCompletionStreamState()
        try:
            for chunk in self.completions.create(**body, stream=True, extra_body={"thinking": thinking}):
                list(state.handle_chunk(chunk))
        except openai.APIError as error:
            if not fails or "The engine broke down." not in str(error):
                raise
            return
        if fails:
            yield "the failure was not noticed"
        expected = response()
        completion = state.current_completion_snapshot
        if expected["choices"][0]["finish_reason"] in ("stop", "tool_calls"):
            # The SDK does not hand out others as final.
            completion = state.get_final_completion()
        completion = completion.to_dict(mode="json")
        has_usage = not self.is_vendor or "stream_options" in body
        for member in ["id", "model", "created", *(["usage"] if has_usage else [])]:
            yield from differences(member, completion.get(member), expected.get(member))
        [found], [expected] = completion["choices"], expected["choices"]
        yield from differences("finish_reason", found["finish_reason"], expected["finish_reason"])
        yield from differences("logprobs", logprobs(found), logprobs(expected))
        yield from differences("message", message(found), message(expected))


def logprobs(choice):
    """The log probabilities that the SDK gathers."""
    return (choice.get("logprobs") or {}).get("content")


def message(choice):
    """A message without nulls, of which the SDK adds some, and without what the SDK adds to calls."""
    message = {key: value for key, value in choice["message"].items() if value is not None}
    message["tool_calls"] = [
        {
            "id": call["id"], "type": call["type"],
            "function": {"name": call["function"]["name"], "arguments": call["function"]["arguments"]},
        }
        for call in message.get("tool_calls") or []
    ]
    return message


class Responses:
    def __init__(self, server, dialect):
        client = openai.OpenAI(
            api_key="none", base_url=server.url, max_retries=0, _strict_response_validation=dialect == "vendor"
        )
        self.responses = client.responses

    def complete(self, body, response, _fails):
        yield from differences("response", self.responses.create(**body).to_dict(mode="json"), response())

    def stream(self, body, response, fails):
        texts, items, last = {}, [], None
        with self.responses.stream(**body) as stream:
            for event in stream:
                last = event
                # The SDK gathers answers and arguments in snapshots, the rest is for its users to do.
                if event.type in ("response.output_text.delta", "response.function_call_arguments.delta"):
                    texts[event.output_index] = event.snapshot
                elif event.type in ("response.reasoning_text.delta", "response.custom_tool_call_input.delta"):
                    texts[event.output_index] = texts.get(event.output_index, "") + event.delta
                elif event.type == "response.output_item.done":
                    items.append(event.item.to_dict(mode="json"))
            expected = response()
            if last.type == "response.completed":
                final = stream.get_final_response()
            else:
                final = last.response
        yield from differences("end", last.type, f"response.{'failed' if fails else expected['status']}")
        final = final.to_dict(mode="json")
        # The SDK parses answers and arguments.
        for item in final["output"]:
            item.pop("parsed_arguments", None)
            for part in item.get("content", []):
                part.pop("parsed", None)
        yield from differences("response", final, expected)
        yield from differences("items", items, expected["output"])
        yield from differences("texts", {key: text for key, text in texts.items() if text}, item_texts(expected))


def item_texts(response):
    """The text of each item that has one."""
    texts = {}
    for index, item in enumerate(response["output"]):
        if item["type"] in ("message", "reasoning"):
            text = "".join(part["text"] for part in item["content"])
        else:
            text = item.get("input") if item["type"] == "custom_tool_call" else item["arguments"]
        if text and isinstance(text, str):
            texts[index] = text
    return texts


class Messages:
    def __init__(self, server, dialect):
        client = anthropic.Anthropic(
            api_key="none", base_url=server.url, max_retries=0, _strict_response_validation=dialect == "vendor"
        )
        self.messages = client.messages

    def complete(self, body, response, _fails):
        yield from differences("message", self.messages.create(**body).to_dict(mode="json"), response())

    def stream(self, body, response, fails):
        try:
            with self.messages.stream(**body) as stream:
                for _ in stream:
                    pass
                found = stream.get_final_message().to_dict(mode="json")
        except anthropic.APIError as error:
            if not fails or "The engine broke down." not in str(error):
                raise
            return
        if fails:
            yield "the failure was not noticed"
        for block in found["content"]:
            block.pop("parsed_output", None)
        found = {key: value for key, value in found.items() if key != "stop_details" or value is not None}
        expected = response()
        yield from differences("message", found, expected)


CLIENTS = {"chat": Chat, "responses": Responses, "messages": Messages}

if __name__ == "__main__":
    main()
