// Lets the official JavaScript clients of OpenAI and Anthropic speak to a running gateway.
//
//     node check.mjs URL
//
// The gateway answers by script.jsonl, with the settings of gateway.toml; run.sh starts it.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";

import Anthropic from "@anthropic-ai/sdk";
import OpenAI from "openai";

const url = process.argv[2];
const PRO = "deepseek-v4-pro";
const FLASH = "deepseek-flash";
const HELLO = "Hello, how are you?";
const THOUGHT = "The user greets.";
const OFF = { type: "disabled" };
const parameters = {
    type: "object",
    properties: { city: { type: "string" }, days: { type: "integer", minimum: 1 } },
    required: ["city"],
    additionalProperties: false,
};
const tool = { type: "function", function: { name: "get_weather", parameters } };
const toolOfResponses = { type: "function", name: "get_weather", parameters, strict: false };
const toolOfMessages = { name: "get_weather", description: "The weather.", input_schema: parameters };
const person = {
    type: "object",
    properties: { name: { type: "string" }, age: { type: "integer" } },
    required: ["name", "age"],
    additionalProperties: false,
};
const png = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAQAAAC1HAwCAAAAC0lEQVR42mNk+A8AAQUBAScY42YAAAAASUVORK5CYII=";

const gpt = (options = {}) => new OpenAI({ baseURL: `${url}/v1`, apiKey: "sk-test", maxRetries: 0, ...options });
const claude = (options = {}) => new Anthropic({ baseURL: url, apiKey: "sk-test", maxRetries: 0, ...options });
const user = (content) => [{ role: "user", content }];
const fixture = (name) => JSON.parse(readFileSync(new URL(`../../fixtures/requests/${name}.json`, import.meta.url)));

async function metric(name) {
    const text = await (await fetch(`${url}/metrics`)).text();
    return Number(text.split("\n").find((line) => line.startsWith(`${name} `)).split(" ")[1]);
}

async function untilIdle() {
    for (let tries = 0; tries < 500; tries += 1) {
        if ((await metric("gateway_active_answers")) === 0) return;
        await new Promise((resolve) => setTimeout(resolve, 10));
    }
    assert.fail("answers are still on their way");
}

async function fails(promise, kind, status) {
    try {
        await promise;
    } catch (error) {
        assert.equal(error.constructor.name, kind.name, String(error));
        assert.equal(error.status, status);
        return error;
    }
    return assert.fail(`no ${kind.name}`);
}

const checks = {
    async chatComplete() {
        const chat = await gpt().chat.completions.create({ model: PRO, messages: user("Hi") });
        const { message, finish_reason } = chat.choices[0];
        assert.deepEqual([message.content, message.reasoning_content, finish_reason], [HELLO, THOUGHT, "stop"]);
        assert.equal(chat._request_id, chat.id);
    },

    async chatStreamed() {
        const stream = await gpt().chat.completions.create({ model: PRO, messages: user("Hi"), stream: true });
        let [text, reasoning] = ["", ""];
        for await (const { choices } of stream) {
            text += choices[0].delta.content ?? "";
            reasoning += choices[0].delta.reasoning_content ?? "";
        }
        assert.deepEqual([text, reasoning], [HELLO, THOUGHT]);
    },

    async chatToolTurns() {
        const messages = user("What is the weather in Paris?");
        const ask = () => gpt().chat.completions.stream({ model: PRO, messages, tools: [tool] }).finalChatCompletion();
        const { message, finish_reason } = (await ask()).choices[0];
        assert.equal(finish_reason, "tool_calls");
        assert.deepEqual(JSON.parse(message.tool_calls[0].function.arguments), { city: "Paris" });
        messages.push(message, { role: "tool", tool_call_id: message.tool_calls[0].id, content: "22 degrees" });
        assert.equal((await ask()).choices[0].message.content, "It is 22 degrees in Paris.");
    },

    async chatSeveralTools() {
        const messages = user("What is the weather in Paris and Rome?");
        const request = { model: PRO, messages, tools: [tool], thinking: OFF };
        const [complete, streamed] = [
            await gpt().chat.completions.create(request),
            await gpt().chat.completions.stream(request).finalChatCompletion(),
        ];
        for (const chat of [complete, streamed]) {
            const calls = chat.choices[0].message.tool_calls.map((call) => JSON.parse(call.function.arguments));
            assert.deepEqual(calls, [{ city: "Paris" }, { city: "Rome", days: 3 }]);
        }
    },

    async chatSchema() {
        const response_format = { type: "json_schema", json_schema: { name: "person", strict: true, schema: person } };
        const messages = user("Describe a person as JSON.");
        const chat = await gpt().chat.completions.parse({ model: PRO, messages, response_format });
        assert.deepEqual(chat.choices[0].message.parsed, { name: "Ada", age: 36 });
    },

    async chatSeveralAnswers() {
        const request = { model: PRO, messages: user("Give several"), n: 3, thinking: OFF };
        for (const chat of [
            await gpt().chat.completions.create(request),
            await gpt().chat.completions.stream(request).finalChatCompletion(),
        ]) {
            assert.deepEqual(chat.choices.map((choice) => choice.message.content), ["First.", "Second.", "Third."]);
        }
    },

    async chatImages() {
        const ask = (url) => {
            const content = [{ type: "image_url", image_url: { url } }, { type: "text", text: "Hi" }];
            return gpt().chat.completions.create({ model: FLASH, messages: user(content) });
        };
        assert.equal((await ask(`data:image/png;base64,${png}`)).choices[0].message.content, HELLO);
        await fails(ask("data:image/bmp;base64,AAAA"), OpenAI.BadRequestError, 400);
    },

    async errorsOfOpenai() {
        const ask = (content, model = PRO, client = gpt()) =>
            client.chat.completions.create({ model, messages: user(content) });
        await fails(ask("Hi", PRO, gpt({ apiKey: "sk-wrong" })), OpenAI.AuthenticationError, 401);
        const error = await fails(ask("Hi", "gpt9"), OpenAI.BadRequestError, 400);
        assert.deepEqual([error.code, error.param], ["model_not_found", "model"]);
        await fails(ask("Fail at once"), OpenAI.InternalServerError, 500);
        await fails(ask("Be overloaded"), OpenAI.InternalServerError, 503);
        await fails(gpt().models.retrieve("gpt9"), OpenAI.NotFoundError, 404);
        const slow = { model: PRO, messages: user("Be silent"), thinking: OFF };
        await fails(gpt({ timeout: 200 }).chat.completions.create(slow), OpenAI.APIConnectionTimeoutError, undefined);
    },

    async chatFailsOnTheWay() {
        const request = { model: PRO, messages: user("Fail on the way"), thinking: OFF, stream: true };
        const stream = await gpt().chat.completions.create(request);
        const read = async () => {
            for await (const chunk of stream) assert.ok(chunk);
        };
        await fails(read(), OpenAI.APIError, undefined);
    },

    async chatCancelled() {
        const request = { model: PRO, messages: user("Count slowly"), thinking: OFF, stream: true };
        const stream = await gpt().chat.completions.create(request);
        for await (const chunk of stream) {
            assert.ok(chunk);
            break;
        }
        stream.controller.abort();
        await untilIdle();
    },

    async responsesComplete() {
        const response = await gpt().responses.create({ model: FLASH, input: "Hi" });
        assert.deepEqual([response.output_text, response.status], [HELLO, "completed"]);
    },

    async responsesStreamed() {
        const stream = gpt().responses.stream({ model: FLASH, input: "Hi" });
        let text = "";
        for await (const event of stream) {
            if (event.type === "response.output_text.delta") text += event.delta;
        }
        assert.deepEqual([text, (await stream.finalResponse()).output_text], [HELLO, HELLO]);
    },

    async responsesToolTurns() {
        const input = user("What is the weather in Paris?");
        const ask = () => gpt().responses.stream({ model: PRO, input, tools: [toolOfResponses] }).finalResponse();
        const { output } = await ask();
        const call = output.find((item) => item.type === "function_call");
        assert.deepEqual(JSON.parse(call.arguments), { city: "Paris" });
        input.push(...output, { type: "function_call_output", call_id: call.call_id, output: "22 degrees" });
        assert.equal((await ask()).output_text, "It is 22 degrees in Paris.");
    },

    async responsesSchema() {
        const format = { type: "json_schema", name: "person", strict: true, schema: person };
        const request = { model: PRO, input: "Describe a person as JSON.", text: { format } };
        assert.deepEqual((await gpt().responses.parse(request)).output_parsed, { name: "Ada", age: 36 });
    },

    async responsesCount() {
        const { input_tokens } = await gpt().responses.inputTokens.count({ model: FLASH, input: "Hi" });
        assert.equal(input_tokens, (await gpt().responses.create({ model: FLASH, input: "Hi" })).usage.input_tokens);
    },

    async messagesComplete() {
        const message = await claude().messages.create({ model: FLASH, max_tokens: 100, messages: user("Hi") });
        assert.deepEqual(message.content.map((block) => block.type), ["thinking", "text"]);
        assert.deepEqual([message.content[0].thinking, message.content[1].text], [THOUGHT, HELLO]);
        assert.equal(message._request_id, message.id);
    },

    async messagesStreamed() {
        const stream = claude().messages.stream({ model: FLASH, max_tokens: 100, messages: user("Hi") });
        let text = "";
        stream.on("text", (delta) => (text += delta));
        const message = await stream.finalMessage();
        assert.deepEqual([text, message.content[1].text, message.stop_reason], [HELLO, HELLO, "end_turn"]);
    },

    async messagesToolTurns() {
        const messages = user("What is the weather in Paris?");
        const ask = () =>
            claude().messages.stream({ model: PRO, max_tokens: 200, messages, tools: [toolOfMessages] }).finalMessage();
        const first = await ask();
        const call = first.content.at(-1);
        assert.deepEqual([call.name, call.input], ["get_weather", { city: "Paris" }]);
        const result = { type: "tool_result", tool_use_id: call.id, content: "22 degrees" };
        messages.push({ role: "assistant", content: first.content }, { role: "user", content: [result] });
        assert.equal((await ask()).content.at(-1).text, "It is 22 degrees in Paris.");
    },

    async messagesCount() {
        const request = { model: PRO, messages: user("Hi"), tools: [toolOfMessages] };
        const { input_tokens } = await claude().messages.countTokens(request);
        assert.equal(input_tokens, (await claude().messages.create({ ...request, max_tokens: 50 })).usage.input_tokens);
    },

    async messagesImages() {
        const ask = (media_type) => {
            const source = { type: "base64", media_type, data: png };
            const content = [{ type: "image", source }, { type: "text", text: "Hi" }];
            return claude().messages.create({ model: FLASH, max_tokens: 100, messages: user(content) });
        };
        assert.equal((await ask("image/png")).content.at(-1).text, HELLO);
        await fails(ask("image/bmp"), Anthropic.BadRequestError, 400);
    },

    async errorsOfAnthropic() {
        const ask = (content, model = PRO, client = claude()) =>
            client.messages.create({ model, max_tokens: 100, messages: user(content) });
        await fails(ask("Hi", PRO, claude({ apiKey: "sk-wrong" })), Anthropic.AuthenticationError, 401);
        await fails(ask("Hi", "gemini"), Anthropic.BadRequestError, 400);
        await fails(ask("Fail at once"), Anthropic.InternalServerError, 500);
        const error = await ask("Be overloaded").catch((error) => error);
        assert.ok(error instanceof Anthropic.InternalServerError);
        assert.deepEqual([error.constructor.name, error.status], ["OverloadedError", 529]);
        const request = { model: PRO, max_tokens: 100, messages: user("Fail on the way"), thinking: OFF };
        await assert.rejects(claude().messages.stream(request).finalMessage(), /The engine failed/);
    },

    async messagesCancelled() {
        const request = { model: PRO, max_tokens: 2000, messages: user("Count slowly"), thinking: OFF };
        const stream = claude().messages.stream(request);
        stream.on("text", () => stream.abort());
        await assert.rejects(stream.finalMessage(), (error) => error.constructor.name === Anthropic.APIUserAbortError.name);
        await untilIdle();
    },

    async turnsOfClaudeCode() {
        const { stream: _, ...body } = fixture("agent");
        body.model = "claude-opus-4-5";
        body.messages.push({ role: "assistant", content: "It is done." }, ...user("Run the tests of the harbour."));
        const ask = () => claude().beta.messages.stream(body).finalMessage();
        const first = await ask();
        const calls = first.content.filter((block) => block.type === "tool_use");
        assert.deepEqual(calls.map((call) => call.name), ["Bash", "Read"]);
        const results = ["test result: ok. 7 passed", "no such file"].map((content, at) => ({
            type: "tool_result",
            tool_use_id: calls[at].id,
            content,
        }));
        body.messages.push({ role: "assistant", content: first.content }, { role: "user", content: results });
        assert.equal((await ask()).content.at(-1).text, "The tests of the harbour pass: 7 of 7.");
    },

    async turnsOfCodex() {
        const { stream: _, ...body } = fixture("codex");
        body.model = "gpt-codex";
        body.input.push({ role: "user", content: "Close the dock at night." });
        const ask = async () => {
            const response = await gpt().responses.stream(body).finalResponse();
            body.input.push(...response.output);
            return response;
        };
        const call = (await ask()).output.find((item) => item.type === "function_call");
        assert.equal(call.name, "exec_command");
        body.input.push({ type: "function_call_output", call_id: call.call_id, output: "pub fn dock() -> bool" });
        const patch = (await ask()).output.find((item) => item.type === "custom_tool_call");
        assert.ok(patch.input.startsWith("*** Begin Patch\n*** Update File: src/dock.rs"));
        const output = "Success. Updated src/dock.rs";
        body.input.push({ type: "custom_tool_call_output", call_id: patch.call_id, output });
        assert.equal((await ask()).output_text, "The dock is closed at night.");
    },
};

let failed = 0;
for (const [name, check] of Object.entries(checks)) {
    try {
        await check();
        await untilIdle();
    } catch (error) {
        failed += 1;
        console.log(`${name}: ${error.stack}`);
    }
}
const count = Object.keys(checks).length;
console.log(`openai and @anthropic-ai/sdk for JavaScript: ${count - failed} passed, ${failed} failed`);
process.exitCode = failed ? 1 : 0;
