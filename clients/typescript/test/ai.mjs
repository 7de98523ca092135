// The middleware in the AI SDK, with a model that repeats its prompt. Arguments: the URL of the service, a token.
import { generateText, simulateReadableStream, streamText, wrapLanguageModel } from "ai";
import { MockLanguageModelV3 } from "ai/test";

import { gieokMemory } from "../dist/ai.js";
import { GieokClient } from "../dist/index.js";

const [, , url, token] = process.argv;
const client = new GieokClient({ url, token });
const made = await client.call("post", "/api/v1/personas", { body: { name: "Hana", systemPrompt: "You are Hana." } });
const prompts = [];
const usage = { inputTokens: { total: 1 }, outputTokens: { total: 1 } };
const finishReason = { unified: "stop", raw: "stop" };
const own = new MockLanguageModelV3({
  doGenerate: async ({ prompt }) => {
    prompts.push(prompt);
    return { content: [{ type: "text", text: "I see." }], finishReason, usage, warnings: [] };
  },
  doStream: async ({ prompt }) => {
    prompts.push(prompt);
    const parts = [
      { type: "text-start", id: "1" },
      { type: "text-delta", id: "1", delta: "Of " },
      { type: "text-delta", id: "1", delta: "course." },
      { type: "text-end", id: "1" },
      { type: "finish", finishReason, usage },
    ];
    return { stream: simulateReadableStream({ chunks: parts }) };
  },
});
const personaId = made.persona.id;
const model = wrapLanguageModel({ model: own, middleware: gieokMemory({ client, personaId }) });
await generateText({ model, prompt: "I have a cat called Momo." });
const { sessions } = await client.call("get", "/api/v1/sessions", { query: { personaId } });
const path = { id: sessions[0].sessionId };
await client.call("post", "/api/v1/sessions/{id}/close", { path, body: { wait: true } });
const other = wrapLanguageModel({ model: own, middleware: gieokMemory({ client, personaId, remember: false }) });
const streamed = await streamText({ model: other, system: "Be brief.", prompt: "What is my cat called?" }).text;
const after = await streamText({ model, prompt: "I am back." }).text; // its session has ended
const log = await client.call("get", "/api/v1/sessions/{id}/messages", { path });
const listed = await client.call("get", "/api/v1/sessions", { query: { personaId } });
console.log(
  JSON.stringify({
    systems: prompts.map((prompt) => prompt.filter((each) => each.role === "system").map((each) => each.content)),
    streamed: [streamed, after],
    log: log.messages.map((each) => each.content),
    later: await Promise.all(
      listed.sessions
        .filter((each) => each.sessionId !== path.id)
        .map(async ({ sessionId: id }) => {
          const found = await client.call("get", "/api/v1/sessions/{id}/messages", { path: { id } });
          return found.messages.map((each) => each.content);
        }),
    ),
  }),
);
