// Arguments: the URL of the service, a token. Prints what the client saw.
import { GieokClient, GieokError } from "../dist/index.js";

const [, , url, token] = process.argv;
const client = new GieokClient({ url, token, language: "en" });
const made = await client.call("post", "/api/v1/personas", { body: { name: "Hana", systemPrompt: "You are Hana." } });
const personaId = made.persona.id;
const send = { personaId, message: "I have a cat called Momo.", waitMemory: true };
const first = await client.call("post", "/api/v1/chat/send", { body: send, idempotencyKey: "k1" });
const again = await client.call("post", "/api/v1/chat/send", { body: send, idempotencyKey: "k1" });
let text = "";
let done;
for await (const { event, data } of client.stream({ personaId, message: "What is my cat called?" })) {
  if (event === "token") text += data.text;
  else done = data;
}
const found = await client.call("get", "/api/v1/memory/search", { query: { personaId, q: "cat", kinds: "message" } });
const log = await client.call("get", "/api/v1/sessions/{id}/messages", { path: { id: first.sessionId } });
const failures = await Promise.all([
  client.call("get", "/api/v1/personas/{id}", { path: { id: "a/../b?c" } }).catch((error) => error),
  client.call("post", "/api/v1/chat/send", { body: { ...send, message: "" } }).catch((error) => error),
  new GieokClient({ url, token: "wrong" }).call("get", "/api/v1/personas").catch((error) => error),
]);
console.log(
  JSON.stringify({
    changes: first.changes,
    turns: [first.turnId, again.turnId],
    text,
    reply: done.reply,
    found: found.memories.length,
    log: log.messages.map((each) => each.content),
    failures: failures.map((each) => [each instanceof GieokError, each.status, each.code, each.at]),
  }),
);
