// The Vercel AI SDK. Arguments: the URL of the service, a token, the id of a persona.
import { createOpenAICompatible } from "@ai-sdk/openai-compatible";
import { generateText, streamText } from "ai";

const [, , url, token, persona] = process.argv;
const gieok = createOpenAICompatible({ name: "gieok", baseURL: `${url}/v1`, apiKey: token, includeUsage: true });
const model = gieok(`gieok/${persona}`);
const messages = [{ role: "user", content: "My cat is called Momo." }];
const first = await generateText({ model, messages, system: "Answer in one line." });
messages.push(...first.response.messages, { role: "user", content: "What is my cat called?" });
const second = streamText({ model, messages, system: "Answer in one line." });
const text = await second.text;
const off = await generateText({ model, prompt: "Do not keep this.", headers: { "X-Gieok-Memory": "off" } });
const failure = await generateText({ model: gieok("gieok/x"), messages, maxRetries: 0 }).catch((error) => error);
console.log(
  JSON.stringify({
    sessions: [first.response.headers["x-gieok-session"], (await second.response).headers["x-gieok-session"]],
    memory: off.response.headers["x-gieok-memory"],
    replies: [first.text, text],
    finish: [first.finishReason, await second.finishReason],
    usage: await second.usage,
    error: [failure.name, failure.statusCode, failure.message],
  }),
);
