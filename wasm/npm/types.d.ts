// Types that the package's entries share. Written by hand; the tests check them with tsc, and that they name what the
// module has.

/** A JSON value. */
export type JsonValue = null | boolean | number | string | JsonValue[] | { [key: string]: JsonValue };
/** A JSON Schema, draft 4 to 2020-12. */
export type JsonSchema = boolean | { [keyword: string]: JsonValue };

export type Protocol = "chat" | "responses" | "messages";
export type ModelName = "DeepSeek-V4-Pro" | "DeepSeek-V4.1-Flash";
/** `deepseek`: what the official DeepSeek API sends. `vendor`: what OpenAI's and Anthropic's specifications say. */
export type Dialect = "deepseek" | "vendor";
/** `lenient`: also what has one obvious meaning. `strict`: exactly what the official API accepts. */
export type Policy = "lenient" | "strict";
/** A model's name or alias; a name of your own needs `models`. */
export type AnyModel = ModelName | "deepseek-v4-pro" | "deepseek-flash" | "deepseek-v4.1-flash" | (string & {});
export type Effort = "none" | "minimal" | "low" | "medium" | "high" | "xhigh" | "max" | "ultra" | number;

/** What every function of this package throws. */
export interface CodecError extends Error {
  name: "CodecError";
  /**
   * Why. Of a request one of `syntax`, `type`, `too_large`, `model`, `message`, `tool_result`, `missing_reasoning`,
   * `image`, `tool`, `schema`, `tool_choice`, `response_format`, `prefix`, `stop`, `sampling`, `stream`, `thinking`,
   * `context_length`; of a constraint `schema`, `regex` or `unsupported`; else `option`, `model`, `token` or
   * `vocabulary`.
   */
  kind: string;
  /** The place in the request (`messages[3].content[1]`), the JSON pointer in a schema, or the option; or empty. */
  path: string;
  /** The HTTP status of the answer. */
  status: number;
  /** The body of the HTTP answer, for a refused request; otherwise null. */
  body: ErrorBody | null;
}

export type ErrorBody =
  | { error: { message: string; type: string; param: string | null; code: string | null } }
  | { type: "error"; error: { type: string; message: string } };

export interface RequestOptions<P extends Protocol = Protocol> {
  /** The request's format. Told from the body if absent, which reads the body twice. */
  protocol?: P;
  policy?: Policy;
  /** Whose habits error bodies and streams follow. */
  dialect?: Dialect;
  /** Serve the request by this model, whatever model it names. */
  model?: AnyModel;
  /** More names of models, each with the model that serves it. */
  models?: { [name: string]: AnyModel };
  /** Whether a request that does not say so thinks. */
  defaultThinking?: boolean;
  missingReasoning?: "fill_empty" | "refuse";
  /** Whether a tool result that is marked as an error starts with `Error: `. */
  markToolErrors?: boolean;
  maxTokensBound?: number;
  maxBodyBytes?: number;
}

export interface StreamOptions {
  /** The response's id. */
  id?: string;
  /** Unix time in seconds. */
  created?: number;
  /** Makes the ids of tool calls: pass a random whole number. */
  seed?: number;
  /** Instead of the request's. */
  dialect?: Dialect;
  /** Tokens of the prompt; counted if absent. */
  promptTokens?: number;
  cachedTokens?: number;
  /** Which of several answers this is (Chat Completions). */
  index?: number;
  systemFingerprint?: string;
}

/** Why an engine stopped. */
export type Finish = "stop" | "length" | "content_filter" | "unknown";

export interface TokenLogprob {
  logprob: number;
  /** The most likely tokens at this place: pairs of an id and its log probability. */
  top?: [id: number, logprob: number][];
}

export interface ConstraintOptions {
  /** White space between the parts of a JSON value: as a number, at most so many bytes in one place. */
  whitespace?: "any" | "compact" | "spaced" | number;
  /** The order of an object's keys. */
  order?: "any" | "schema";
  /** Leave out what of a schema cannot be enforced, and list it in `leftOut()`. */
  relax?: boolean;
}

/** A demand of a schema that a mask does not enforce. */
export interface LeftOut {
  /** The tool; null if it is the answer's schema. */
  tool: string | null;
  /** The JSON pointer of the schema. */
  path: string;
  keyword: string;
  reason: string;
}

/** What was accepted or ignored in a request. */
export interface Warning {
  kind: string;
  path: string;
  message: string;
}

/** Something in an output that was mended or left out. */
export interface OutputWarning {
  kind: string;
  /** Where, in bytes of the output's text. */
  at: number;
}

export interface Usage {
  prompt: number;
  cached: number;
  completion: number;
  /** null without thinking */
  reasoning: number | null;
}

/** What of a request is not in its prompt. */
export interface Settings {
  images: number;
  thinking: boolean;
  stream: boolean;
  sampling: {
    max_tokens: number | null;
    temperature: number;
    top_p: number;
    logprobs: boolean;
    top_logprobs: number | null;
    seed: number | null;
    n: number;
    constraint: { kind: "json" | "regex" | "tool_call" | "tool_call_required"; schema: string } | null;
  };
  stops: string[];
  warnings: Warning[];
}

export interface Report extends Settings {
  status: 200;
  model: ModelName;
  prompt: string;
  /** Start and end of each special token in the UTF-8 of the prompt, and its spelling. */
  special: [start: number, end: number, spelling: string][];
  ids: number[];
}

export interface Explanation {
  tokens: number;
  bytes: number;
  specials: number;
  images: number;
  parts: {
    label: string;
    /** Which message, if it is one. */
    message: number | null;
    bytes: number;
    tokens: number;
    summary: string;
  }[];
}

export interface Difference {
  /** Tokens of each prompt. */
  tokens: [number, number];
  /** How many tokens at the front are the same. */
  common: number;
  /** null if the prompts are the same */
  sides: [Parting, Parting] | null;
  reason: string;
}

export interface Parting {
  label: string;
  before: string;
  after: string;
}

export interface Model {
  name: ModelName;
  names: string[];
  images: boolean;
  midConversationSystem: boolean;
  qualifiedNames: boolean;
}

// ---- Requests ----

export interface ChatRequest {
  model: AnyModel;
  messages: ChatMessage[];
  temperature?: number | null;
  top_p?: number | null;
  frequency_penalty?: number | null;
  presence_penalty?: number | null;
  logprobs?: boolean | null;
  top_logprobs?: number | null;
  max_tokens?: number | null;
  max_completion_tokens?: number | null;
  n?: number | null;
  seed?: number | null;
  stop?: string | string[] | null;
  stream?: boolean | null;
  stream_options?: { include_usage?: boolean } | null;
  response_format?: ChatResponseFormat | null;
  tools?: ChatTool[] | null;
  tool_choice?: ChatToolChoice | null;
  parallel_tool_calls?: boolean | null;
  reasoning_effort?: Effort | null;
  thinking?: { type: "enabled" | "disabled" | "adaptive" } | null;
  metadata?: JsonValue;
  user?: string | null;
}

export type ChatResponseFormat =
  | { type: "text" }
  | { type: "json_object" }
  | { type: "json_schema"; json_schema: { name: string; description?: string; schema?: JsonSchema; strict?: boolean | null } };

export type ChatMessage =
  | { role: "system" | "developer" | "user"; content: string | ChatPart[] | null; name?: string }
  | {
      role: "assistant";
      content?: string | ChatPart[] | null;
      reasoning_content?: string | null;
      tool_calls?: ChatToolCall[] | null;
      prefix?: boolean;
      refusal?: string | null;
      name?: string;
    }
  | { role: "tool"; tool_call_id: string; content: string | ChatPart[] | null }
  | { role: "latest_reminder"; content: string };

export type ChatPart =
  | { type: "text"; text: string }
  | { type: "refusal"; refusal: string }
  | { type: "image_url"; image_url: { url: string; detail?: "auto" | "low" | "high" } };

export interface ChatToolCall {
  id: string;
  type: "function";
  function: { name: string; arguments: string | { [name: string]: JsonValue } };
}

export type ChatTool =
  | { type: "function"; function: { name: string; description?: string; parameters?: JsonSchema; strict?: boolean | null } }
  | { type: "custom"; custom: { name: string; description?: string; format?: JsonValue } };

export type ChatToolChoice =
  | "none"
  | "auto"
  | "required"
  | { type: "function"; function: { name: string } }
  | { type: "allowed_tools"; allowed_tools: { mode: "auto" | "required"; tools: JsonValue[] } };

export interface ResponsesRequest {
  model: AnyModel;
  input: string | ResponsesInputItem[];
  instructions?: string | null;
  max_output_tokens?: number | null;
  reasoning?: { effort?: Effort | null; summary?: "auto" | "concise" | "detailed" | null } | null;
  stream?: boolean | null;
  temperature?: number | null;
  top_p?: number | null;
  top_logprobs?: number | null;
  text?: { format?: ResponsesTextFormat; verbosity?: "low" | "medium" | "high" | null } | null;
  tools?: ResponsesTool[] | null;
  tool_choice?: ResponsesToolChoice | null;
  parallel_tool_calls?: boolean | null;
  metadata?: { [key: string]: string } | null;
  user?: string;
  include?: string[] | null;
  store?: boolean | null;
  previous_response_id?: string | null;
}

export type ResponsesTextFormat =
  | { type: "text" }
  | { type: "json_object" }
  | { type: "json_schema"; name: string; description?: string; schema: JsonSchema; strict?: boolean | null };

export type ResponsesInputItem =
  | { type?: "message"; role: "user" | "assistant" | "system" | "developer"; content: string | ResponsesPart[] }
  | { type: "reasoning"; id?: string; summary?: JsonValue[]; content?: { type: "reasoning_text"; text: string }[] | null; encrypted_content?: string | null }
  | { type: "function_call"; call_id: string; name: string; arguments: string; namespace?: string; id?: string; status?: string }
  | { type: "function_call_output"; call_id: string; output: string | ResponsesPart[]; id?: string; status?: string }
  | { type: "custom_tool_call"; call_id: string; name: string; input: string; id?: string }
  | { type: "custom_tool_call_output"; call_id: string; output: string | ResponsesPart[]; id?: string }
  | { type: "tool_search_call" | "tool_search_output" | "web_search_call"; [field: string]: JsonValue };

export type ResponsesPart =
  | { type: "input_text"; text: string }
  | { type: "output_text"; text: string; annotations?: JsonValue[]; logprobs?: JsonValue[] }
  | { type: "refusal"; refusal: string }
  | { type: "input_image"; image_url?: string | null; file_id?: string | null; detail?: "auto" | "low" | "high" | "original" };

export type ResponsesTool =
  | { type: "function"; name: string; description?: string | null; parameters?: JsonSchema | null; strict?: boolean | null; defer_loading?: boolean }
  | { type: "custom"; name: string; description?: string; format?: JsonValue }
  | { type: "namespace"; name: string; description?: string; tools: ResponsesTool[] }
  | { type: "tool_search" | "web_search"; [field: string]: JsonValue };

export type ResponsesToolChoice =
  | "none"
  | "auto"
  | "required"
  | { type: "function" | "custom"; name: string }
  | { type: "allowed_tools"; mode: "auto" | "required"; tools: JsonValue[] };

export interface MessagesRequest {
  model: AnyModel;
  messages: MessagesMessage[];
  max_tokens?: number;
  system?: string | { type: "text"; text: string; cache_control?: CacheControl | null }[];
  temperature?: number;
  top_p?: number;
  top_k?: number;
  stop_sequences?: string[];
  stream?: boolean;
  tools?: MessagesTool[];
  tool_choice?: { type: "auto" | "any" | "none"; disable_parallel_tool_use?: boolean } | { type: "tool"; name: string; disable_parallel_tool_use?: boolean };
  thinking?: { type: "enabled"; budget_tokens?: number } | { type: "disabled" } | { type: "adaptive" };
  output_config?: { effort?: Effort };
  metadata?: { user_id?: string | null };
}

export interface CacheControl {
  type: "ephemeral";
  ttl?: "5m" | "1h";
}

export interface MessagesMessage {
  role: "user" | "assistant" | "system";
  content: string | MessagesBlock[];
}

export type MessagesBlock = { cache_control?: CacheControl | null } & (
  | { type: "text"; text: string; citations?: JsonValue }
  | { type: "image"; source: { type: "base64"; media_type: string; data: string } | { type: "url"; url: string } | { type: "file"; file_id: string } }
  | { type: "thinking"; thinking: string; signature: string }
  | { type: "redacted_thinking"; data: string }
  | { type: "tool_use"; id: string; name: string; input: { [name: string]: JsonValue } }
  | { type: "tool_result"; tool_use_id: string; content?: string | MessagesBlock[]; is_error?: boolean }
  | { type: "document"; source: JsonValue; title?: string | null }
);

export type MessagesTool =
  | { type?: "custom" | null; name: string; description?: string; input_schema: { [keyword: string]: JsonValue }; strict?: boolean; cache_control?: CacheControl | null }
  | { type: `${"web_search" | "code_execution" | "bash" | "text_editor" | "web_fetch"}_${string}`; name: string };

/** The request's body of each format. */
export interface Requests {
  chat: ChatRequest;
  responses: ResponsesRequest;
  messages: MessagesRequest;
}

// ---- Events and responses ----

export interface ChatLogprob {
  token: string;
  logprob: number;
  bytes: number[] | null;
}

export interface ChatLogprobs {
  content: (ChatLogprob & { top_logprobs: ChatLogprob[] })[] | null;
  reasoning_content?: (ChatLogprob & { top_logprobs: ChatLogprob[] })[] | null;
  refusal?: null;
}

export interface ChatUsage {
  prompt_tokens: number;
  completion_tokens: number;
  total_tokens: number;
  prompt_tokens_details?: { cached_tokens: number };
  completion_tokens_details?: { reasoning_tokens: number };
  prompt_cache_hit_tokens?: number;
  prompt_cache_miss_tokens?: number;
}

export type ChatFinishReason = "stop" | "length" | "tool_calls" | "content_filter";

export interface ChatChunk {
  id: string;
  object: "chat.completion.chunk";
  created: number;
  model: string;
  system_fingerprint?: string | null;
  choices: {
    index: number;
    delta: {
      role?: "assistant";
      content?: string | null;
      reasoning_content?: string | null;
      tool_calls?: { index: number; id?: string; type?: "function"; function?: { name?: string; arguments?: string } }[];
    };
    logprobs?: ChatLogprobs | null;
    finish_reason: ChatFinishReason | null;
  }[];
  usage?: ChatUsage | null;
}

export interface ChatResponse {
  id: string;
  object: "chat.completion";
  created: number;
  model: string;
  choices: {
    index: number;
    message: {
      role: "assistant";
      content: string | null;
      reasoning_content?: string | null;
      refusal?: string | null;
      tool_calls?: { index?: number; id: string; type: "function"; function: { name: string; arguments: string } }[];
    };
    logprobs: ChatLogprobs | null;
    finish_reason: ChatFinishReason | null;
  }[];
  usage: ChatUsage;
  system_fingerprint?: string | null;
}

export type ResponsesOutputItem =
  | { type: "message"; id: string; status: string; role: "assistant"; content: ResponsesPart[]; phase?: string | null }
  | { type: "reasoning"; id: string; status: string; content: { type: "reasoning_text"; text: string }[]; summary: JsonValue[]; encrypted_content?: string }
  | { type: "function_call"; id: string; status: string; call_id: string; name: string; arguments: string; namespace?: string }
  | { type: "custom_tool_call"; id: string; status?: string; call_id: string; name: string; input: string }
  | { type: "tool_search_call"; id: string; status: string; call_id: string; arguments: JsonValue; execution?: string };

export interface ResponsesResponse {
  id: string;
  object: "response";
  created_at: number;
  status: "in_progress" | "completed" | "incomplete" | "failed";
  error: { code: string; message: string } | null;
  incomplete_details: { reason: string } | null;
  model: string;
  output: ResponsesOutputItem[];
  usage?: {
    input_tokens: number;
    input_tokens_details: { cached_tokens: number; cache_write_tokens?: number };
    output_tokens: number;
    output_tokens_details: { reasoning_tokens: number };
    total_tokens: number;
  } | null;
  [setting: string]: unknown;
}

export type ResponsesEvent = { sequence_number: number } & (
  | { type: "response.created" | "response.in_progress" | "response.completed" | "response.incomplete" | "response.failed"; response: ResponsesResponse }
  | { type: "response.output_item.added" | "response.output_item.done"; output_index: number; item: ResponsesOutputItem }
  | { type: "response.content_part.added" | "response.content_part.done"; item_id: string; output_index: number; content_index: number; part: ResponsesPart | { type: "reasoning_text"; text: string } }
  | { type: "response.output_text.delta"; item_id: string; output_index: number; content_index: number; delta: string; logprobs: JsonValue[] }
  | { type: "response.output_text.done"; item_id: string; output_index: number; content_index: number; text: string; logprobs: JsonValue[] }
  | { type: "response.reasoning_text.delta"; item_id: string; output_index: number; content_index: number; delta: string }
  | { type: "response.reasoning_text.done"; item_id: string; output_index: number; content_index: number; text: string }
  | { type: "response.function_call_arguments.delta" | "response.custom_tool_call_input.delta"; item_id: string; output_index: number; delta: string }
  | { type: "response.function_call_arguments.done"; item_id: string; output_index: number; arguments: string; name?: string }
  | { type: "response.custom_tool_call_input.done"; item_id: string; output_index: number; input: string }
  | { type: "error"; code: string | null; message: string; param: string | null }
);

export type MessagesContent =
  | { type: "text"; text: string; citations?: JsonValue }
  | { type: "thinking"; thinking: string; signature: string }
  | { type: "tool_use"; id: string; name: string; input: { [name: string]: JsonValue } };

export type MessagesStopReason = "end_turn" | "max_tokens" | "stop_sequence" | "tool_use" | "refusal";

export interface MessagesUsage {
  input_tokens: number;
  output_tokens: number;
  cache_creation_input_tokens?: number | null;
  cache_read_input_tokens?: number | null;
  service_tier?: string | null;
  [more: string]: unknown;
}

export interface MessagesResponse {
  id: string;
  type: "message";
  role: "assistant";
  model: string;
  content: MessagesContent[];
  stop_reason: MessagesStopReason | null;
  stop_sequence: string | null;
  usage: MessagesUsage;
  [more: string]: unknown;
}

export type MessagesEvent =
  | { type: "message_start"; message: MessagesResponse }
  | { type: "content_block_start"; index: number; content_block: MessagesContent }
  | {
      type: "content_block_delta";
      index: number;
      delta:
        | { type: "text_delta"; text: string }
        | { type: "thinking_delta"; thinking: string }
        | { type: "signature_delta"; signature: string }
        | { type: "input_json_delta"; partial_json: string };
    }
  | { type: "content_block_stop"; index: number }
  | { type: "message_delta"; delta: { stop_reason: MessagesStopReason | null; stop_sequence: string | null; [more: string]: unknown }; usage: Partial<MessagesUsage> }
  | { type: "message_stop" }
  | { type: "ping" }
  | { type: "error"; error: { type: string; message: string } };

/** The events of each format. Chat Completions ends with the text `[DONE]`. */
export interface Events {
  chat: { event?: undefined; data: ChatChunk | "[DONE]" | { error: { message: string; type: string; param: null; code: string | null } } };
  responses: { event: string; data: ResponsesEvent };
  messages: { event: string; data: MessagesEvent };
}

/** The complete response of each format. */
export interface Responses {
  chat: ChatResponse;
  responses: ResponsesResponse;
  messages: MessagesResponse;
}

// ---- Classes ----

/**
 * A request that was accepted. Objects of this package hold memory of the module: call `free()` when done (or declare them
 * with `using`); otherwise it is given back when the garbage collector finds them.
 */
export declare class Request<P extends Protocol = Protocol> {
  /** @param body an object, its JSON text, or the bytes of that text, which is quickest. Throws a {@link CodecError}. */
  constructor(body: Requests[P] | string | Uint8Array, options?: RequestOptions<P>);
  readonly protocol: P;
  /** The model that serves the request. */
  readonly model: ModelName;
  /** The prompt, special tokens spelled. */
  prompt(): string;
  ids(): Uint32Array;
  count(): number;
  /** Whether there are more than `limit` ids, which reads no further than needed. */
  exceeds(limit: number): boolean;
  /** Where each id begins in the UTF-8 of the prompt, in bytes. */
  starts(): Uint32Array;
  settings(): Settings;
  report(): Report;
  explain(): Explanation;
  /** Where this prompt and another one part: a prefix cache ends there. */
  diff(other: Request): Difference;
  /** The body that says the same in another format, or undefined if that cannot. */
  convert<T extends Protocol>(protocol: T): Requests[T] | undefined;
  /** How many tokens may be generated at most in a context of `context` tokens. */
  maxTokens(context: number): number;
  /** The stream that answers the request, with events as objects. */
  stream(options?: StreamOptions): Stream<P, Events[P][]>;
  /** The stream that answers the request, with events as the text of server-sent events. */
  sse(options?: StreamOptions): Stream<P, string>;
  free(): void;
  [Symbol.dispose](): void;
}

/** Turns a model's output into events while it arrives. Only {@link Request} makes one. */
export declare class Stream<P extends Protocol = Protocol, Out = Events[P][] | string> {
  private constructor();
  /** The events that open the response. The other methods send them on their own. */
  start(): Out;
  pushIds(ids: Uint32Array | number[], logprobs?: TokenLogprob[]): Out;
  /** Takes generated text that `tokens` tokens made, special tokens spelled. */
  pushText(text: string, tokens: number): Out;
  /** Ends the response: the engine stopped. */
  finish(reason?: Finish): Out;
  /** Ends the response with an error of the engine. */
  fail(message: string): Out;
  /** The text that keeps a silent connection open. */
  ping(): string;
  /** Whether the output has ended, so that the engine can stop. `finish` is still to be called. */
  readonly ended: boolean;
  /** The complete response so far. */
  response(): Responses[P];
  warnings(): OutputWarning[];
  usage(): Usage;
  free(): void;
  [Symbol.dispose](): void;
}

/** The tokenizer of a model. */
export declare class Tokenizer {
  constructor(model: AnyModel);
  /** The ids of plain text. Spellings of special tokens in it are text. */
  encode(text: string): Uint32Array;
  /** The ids of an output that is written down with its special tokens spelled. Never for text of a request. */
  encodeSpelled(text: string): Uint32Array;
  count(text: string): number;
  decode(ids: Uint32Array | number[]): string;
  /** The bytes of an ordinary token. */
  tokenBytes(id: number): Uint8Array | undefined;
  /** The spelling of an added token. */
  spelling(id: number): string | undefined;
  /** The id of the special token with this spelling. */
  specialId(spelling: string): number | undefined;
  /** One more than the greatest id. */
  readonly length: number;
  free(): void;
  [Symbol.dispose](): void;
}

/** A model's vocabulary, arranged for masks (some 20 MB). Make one and keep it. */
export declare class Compiler {
  constructor(model: AnyModel);
  /** JSON that follows a schema. */
  schema(schema: JsonSchema | string | Uint8Array, options?: ConstraintOptions): Constraint;
  /** Any JSON object. */
  json(options?: ConstraintOptions): Constraint;
  /** Text that matches a regular expression as a whole. */
  regex(pattern: string): Constraint;
  /** What a request asks of its answer: its tools or its response format; undefined if any text will do. */
  request(request: Request, options?: ConstraintOptions): Constraint | undefined;
  readonly maskWords: number;
  free(): void;
  [Symbol.dispose](): void;
}

/** What an answer has to look like, compiled. Any number of matchers share it. Only {@link Compiler} makes one. */
export declare class Constraint {
  private constructor();
  matcher(): Matcher;
  readonly maskWords: number;
  /** The tokens that end an answer. */
  stops(): Uint32Array;
  leftOut(): LeftOut[];
  free(): void;
  [Symbol.dispose](): void;
}

/** The state of one answer. Only {@link Constraint} makes one. */
export declare class Matcher {
  private constructor();
  /** Writes which tokens may come next: bit `id % 32` of word `id / 32`. The mask has `maskWords` words. */
  fillMask(mask: Uint32Array): void;
  /** Takes the next token. Throws a {@link CodecError} if it is not allowed; the matcher is then as before. */
  accept(id: number): void;
  /** Takes tokens as long as they are allowed; returns how many. */
  tryAccept(ids: Uint32Array | number[]): number;
  /** Takes back the last tokens. */
  rollback(tokens: number): void;
  /** The tokens that must come next. They are not accepted yet. */
  forced(): Uint32Array;
  /** Whether the answer may end here. */
  isComplete(): boolean;
  /** Where the answer is, in words for people. */
  places(): string[];
  /** A matcher in the same state that goes its own way. */
  clone(): Matcher;
  free(): void;
  [Symbol.dispose](): void;
}

/** The version of this package. */
export declare function version(): string;
/** Every model, oldest first. */
export declare function models(): Model[];
