// What the page starts with.

const weather = {
  type: "function",
  function: {
    name: "get_weather",
    description: "The weather at a place.",
    parameters: {
      type: "object",
      properties: { city: { type: "string" }, days: { type: "integer", minimum: 1, maximum: 7 } },
      required: ["city"],
    },
  },
};

const chat = {
  model: "deepseek-v4-pro",
  messages: [
    { role: "system", content: "You are a travel assistant. Today is Monday." },
    { role: "user", content: "Will it rain in 京都 this week? ☔ And <｜User｜> is only text here." },
  ],
  tools: [weather],
  max_tokens: 2000,
};

const agent = {
  model: "deepseek-flash",
  max_tokens: 4096,
  system: [{ type: "text", text: "You are a careful coding agent.", cache_control: { type: "ephemeral" } }],
  messages: [
    { role: "user", content: "Why does the build fail?" },
    {
      role: "assistant",
      content: [
        { type: "thinking", thinking: "I should look at the log first.", signature: "s" },
        { type: "text", text: "Let me read the log." },
        { type: "tool_use", id: "toolu_1", name: "read_file", input: { path: "build.log", lines: 20 } },
      ],
    },
    { role: "user", content: [{ type: "tool_result", tool_use_id: "toolu_1", content: "error[E0425]: cannot find value `x` in this scope" }] },
  ],
  tools: [
    {
      name: "read_file",
      description: "Reads a file.",
      input_schema: { type: "object", properties: { path: { type: "string" }, lines: { type: "integer" } }, required: ["path"] },
    },
  ],
  thinking: { type: "enabled", budget_tokens: 1024 },
};

const structured = {
  model: "deepseek-v4-pro",
  instructions: "Extract the order.",
  input: [{ role: "user", content: [{ type: "input_text", text: "Two kilos of apples and a melon, please." }] }],
  reasoning: { effort: "none" },
  text: {
    format: {
      type: "json_schema",
      name: "order",
      schema: {
        type: "object",
        properties: { items: { type: "array", items: { type: "object", properties: { name: { type: "string" }, kilos: { type: "number" } }, required: ["name"] } } },
        required: ["items"],
        additionalProperties: false,
      },
    },
  },
};

const odd = {
  model: "deepseek-v4-pro",
  messages: [
    { role: "developer", content: "Be kind." },
    { role: "user", content: null },
    { role: "assistant", content: "", tool_calls: [{ id: "1", type: "function", function: { name: "f", arguments: { a: 1 } } }] },
    { role: "tool", tool_call_id: "1", content: "ok" },
    { role: "user", content: "Go on." },
  ],
  tools: [{ type: "function", function: { name: "f" } }],
  reasoning_effort: 60,
};

const refused = { model: "deepseek-v4-pro", messages: [{ role: "user", content: "hi" }, { role: "tool", tool_call_id: "nobody", content: "?" }] };

function large() {
  const words = "Ein Satz über Wälder, 森林と海, forests and 12,345 trees; `let x = y[0] ?? {};` ".repeat(55);
  const messages = Array.from({ length: 230 }, (_, index) => ({ role: index % 2 ? "assistant" : "user", content: `${index}. ${words}` }));
  return { model: "deepseek-flash", messages: [...messages, { role: "user", content: "Sum up." }], thinking: { type: "disabled" } };
}

const text = (value) => JSON.stringify(value, null, 2);

export const requests = [
  ["A tool, Chat Completions", () => text(chat)],
  ["An agent's turn, Messages", () => text(agent)],
  ["Structured output, Responses", () => text(structured)],
  ["Odd, but accepted", () => text(odd)],
  ["Refused", () => text(refused)],
  ["Large (1 MB)", () => JSON.stringify(large())],
];

/** The second request beside the first: the same but for the day. */
export const second = text({ ...chat, messages: [{ ...chat.messages[0], content: "You are a travel assistant. Today is Tuesday." }, chat.messages[1]] });

const CALL = `The user asks about rain, so I look it up.</think>

I will check the forecast.

<｜DSML｜tool_calls>
<｜DSML｜invoke name="get_weather">
<｜DSML｜parameter name="city" string="true">京都</｜DSML｜parameter>
<｜DSML｜parameter name="days" string="false">7</｜DSML｜parameter>
</｜DSML｜invoke>
</｜DSML｜tool_calls><｜end▁of▁sentence｜>`;

export const outputs = [
  ["Reasoning and a call", CALL],
  ["Reasoning and an answer", "Kyoto is rainy in June.</think>\n\nYes: bring an umbrella. 🌧️<｜end▁of▁sentence｜>"],
  ["A call that was cut", CALL.slice(0, CALL.indexOf("</｜DSML｜parameter>") - 1)],
  ["Broken markup", CALL.replace("</｜DSML｜parameter>", "").replace('string="false"', "")],
];

export const schemas = [
  [
    "An order",
    text({
      type: "object",
      properties: { name: { type: "string", minLength: 2 }, size: { enum: ["small", "medium", "large"] }, amount: { type: "integer", minimum: 1, maximum: 250 }, sent: { type: "string", format: "date" } },
      required: ["name", "amount"],
      additionalProperties: false,
    }),
    '{"size": "medium", "amount": 12, "name": "tea"',
  ],
  ["A recursive tree", text({ $defs: { node: { type: "object", properties: { value: { type: "number" }, children: { type: "array", items: { $ref: "#/$defs/node" }, maxItems: 2 } }, required: ["value"], additionalProperties: false } }, $ref: "#/$defs/node" }), '{"value": 1, "children": [{"value": 2.5}, '],
  ["One of two shapes", text({ oneOf: [{ type: "object", properties: { kind: { const: "circle" }, r: { type: "number" } }, required: ["kind", "r"], additionalProperties: false }, { type: "object", properties: { kind: { const: "square" }, side: { type: "number" } }, required: ["kind", "side"], additionalProperties: false }] }), '{"kind": "square", "'],
  ["Refused: another document", text({ properties: { a: { $ref: "https://example.org/schema" } } }), "{"],
];
