// Compiled by tsc against the packed package; never run.

import init, {
  type ChatChunk,
  type CodecError,
  Compiler,
  type MessagesEvent,
  type MessagesRequest,
  Request,
  type ResponsesEvent,
  Tokenizer,
  initSync,
  models,
} from "deepseek-codec";
import { loadTokenizerJson, loadVocabulary } from "deepseek-codec/slim";
import { Request as Small } from "deepseek-codec/slim/no-masks";
import { Compiler as None } from "deepseek-codec/slim/no-masks";

await init();
initSync({ module: new WebAssembly.Module(new Uint8Array()) });

const chat = new Request({ model: "deepseek-flash", messages: [{ role: "user", content: "hi" }] }, { protocol: "chat" });
for (const { data } of chat.stream({ seed: 1 }).pushIds([1, 2])) {
  if (data === "[DONE]" || "error" in data) continue;
  const chunk: ChatChunk = data;
  const text: string | null | undefined = chunk.choices[0]?.delta.content;
  void text;
}
const sse: string = chat.sse().finish("length");
const reason: "stop" | "length" | "tool_calls" | "content_filter" | null | undefined = chat.stream().response().choices[0]?.finish_reason;

const body: MessagesRequest = {
  model: "deepseek-v4-pro",
  max_tokens: 10,
  system: [{ type: "text", text: "x", cache_control: { type: "ephemeral" } }],
  messages: [{ role: "user", content: [{ type: "tool_result", tool_use_id: "1", content: "ok" }] }],
  tools: [{ name: "f", input_schema: { type: "object" } }],
};
const messages = new Request(body, { protocol: "messages", policy: "strict" });
for (const { event, data } of messages.stream().start()) {
  const name: string = event;
  const known: MessagesEvent = data;
  if (known.type === "content_block_delta" && known.delta.type === "text_delta") void known.delta.text.length;
  void name;
}
const responses = new Request({ model: "deepseek-v4-pro", input: "hi", reasoning: { effort: "high" } }, { protocol: "responses" });
const first: ResponsesEvent | undefined = responses.stream().start()[0]?.data;
if (first?.type === "response.output_text.delta") void first.delta.length;

const ids: Uint32Array = new Tokenizer("deepseek-v4-pro").encode("x");
const constraint = new Compiler("deepseek-flash").schema({ type: "integer" }, { whitespace: 2, order: "schema" });
const forced: Uint32Array = constraint.matcher().forced();
const names: string[] = models().flatMap((model) => model.names);
try {
  new Small("{}");
} catch (error) {
  const { kind, path, status, body } = error as CodecError;
  void [kind, path, status, body];
}
loadVocabulary(new Uint8Array());
loadTokenizerJson(new Uint8Array(), "deepseek-flash");
void [sse, reason, ids, forced, names];

// @ts-expect-error no such policy
new Request(body, { policy: "loose" });
// @ts-expect-error messages are no chat
new Request<"chat">({ model: "x", messages: [{ role: "user", content: [{ type: "tool_use", id: "1", name: "f", input: {} }] }] });
// @ts-expect-error only a request makes one
new (await import("deepseek-codec")).Stream();
// @ts-expect-error a mask is an Uint32Array
constraint.matcher().fillMask(new Float64Array(4));
// @ts-expect-error no such reason
chat.stream().finish("tired");
// @ts-expect-error there are no masks
new None("deepseek-flash");
