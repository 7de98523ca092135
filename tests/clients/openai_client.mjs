// The official JavaScript client. Arguments: the URL of the service, a token, the id of a persona.
import OpenAI from "openai";

const [, , url, token, persona] = process.argv;
const client = new OpenAI({ baseURL: `${url}/v1`, apiKey: token });
const model = `gieok/${persona}`;
const models = await client.models.list();
const messages = [{ role: "user", content: "My cat is called Momo." }];
const { data: first, response } = await client.chat.completions.create({ model, messages }).withResponse();
messages.push(first.choices[0].message, { role: "user", content: "What is my cat called?" });
const again = await client.chat.completions.create({ model, messages }); // then a swipe of it, as a stream
const stream = await client.chat.completions.create({
  model,
  messages,
  stream: true,
  stream_options: { include_usage: true },
});
let text = "";
let usage = null;
for await (const chunk of stream) {
  text += chunk.choices[0]?.delta?.content ?? "";
  usage = chunk.usage ?? usage;
}
const failure = await new OpenAI({ baseURL: `${url}/v1`, apiKey: "wrong" }).models.list().catch((error) => error);
const missing = await client.chat.completions.create({ model: "gieok/x", messages }).catch((error) => error);
console.log(
  JSON.stringify({
    models: models.data.map((each) => each.id),
    session: response.headers.get("x-gieok-session"),
    replies: [first.choices[0].message.content, again.choices[0].message.content, text],
    usage,
    errors: [failure, missing].map((each) => [each.constructor.name, each.status, each.code]),
  }),
);
