/** A middleware for the AI SDK: a model of your own, with the memory of a persona. */

import type {
  LanguageModelV3CallOptions,
  LanguageModelV3Content,
  LanguageModelV3Middleware,
  LanguageModelV3StreamPart,
} from "@ai-sdk/provider";

import { type GieokClient, GieokError, type Schemas } from "./client.js";

const SAVE = "/api/v1/sessions/{id}/messages";

export interface MemoryOptions {
  client: GieokClient;
  personaId: string;
  /** The session that the conversation is saved in. Without one, the first message starts one. */
  sessionId?: string;
  /** Tokens of what is added to the prompt. The service's plan decides without it. */
  budget?: number;
  /** Whether messages and replies are saved. Default true. */
  remember?: boolean;
}

/**
 * Adds what Gieok knows to the system prompt of each call (`POST /api/v1/context`), and saves the user's message
 * with the reply once the reply is complete. Make one for each conversation. A call that ends with tool calls is
 * not saved; the one that follows it is.
 */
export function gieokMemory(options: MemoryOptions): LanguageModelV3Middleware {
  const { client, personaId, budget, remember = true } = options;
  let session: Promise<string> | undefined = options.sessionId ? Promise.resolve(options.sessionId) : undefined;

  function start(): Promise<string> {
    session ??= client.call("post", "/api/v1/sessions", { body: { personaId } }).then((made) => made.sessionId);
    session.catch(() => (session = undefined));
    return session;
  }

  async function save(params: LanguageModelV3CallOptions, reply: string, hasToolCalls: boolean): Promise<void> {
    const message = lastMessage(params);
    if (!remember || !message || !reply.trim() || hasToolCalls) return;
    const messages: Schemas["MessageIn"][] = [
      { role: "user", content: message },
      { role: "assistant", content: reply },
    ];
    try {
      await client.call("post", SAVE, { path: { id: await start() }, body: { messages } });
    } catch (error) {
      if (!(error instanceof GieokError && error.code === "SESSION_ENDED")) throw error;
      session = undefined; // it was inactive for too long, so the conversation goes on in a new one
      await client.call("post", SAVE, { path: { id: await start() }, body: { messages } });
    }
  }

  return {
    specificationVersion: "v3",

    async transformParams({ params }) {
      const message = lastMessage(params);
      if (!message) return params;
      const body = { personaId, message, ...(budget ? { budget } : {}) };
      const known = session ? { ...body, sessionId: await session } : body;
      const { prompt } = await client.call("post", "/api/v1/context", { body: known });
      return { ...params, prompt: [{ role: "system", content: prompt.system }, ...params.prompt] };
    },

    async wrapGenerate({ doGenerate, params }) {
      const result = await doGenerate();
      await save(params, textOf(result.content), result.content.some((part) => part.type === "tool-call"));
      return result;
    },

    async wrapStream({ doStream, params }) {
      const { stream, ...rest } = await doStream();
      let reply = "";
      let hasToolCalls = false;
      let isComplete = false;
      const saving = new TransformStream<LanguageModelV3StreamPart, LanguageModelV3StreamPart>({
        transform(part, controller) {
          if (part.type === "text-delta") reply += part.delta;
          if (part.type === "tool-call") hasToolCalls = true;
          if (part.type === "finish") isComplete = part.finishReason.unified !== "error";
          controller.enqueue(part);
        },
        async flush() {
          if (isComplete) await save(params, reply, hasToolCalls);
        },
      });
      return { stream: stream.pipeThrough(saving), ...rest };
    },
  };
}

/** What the user said last. */
function lastMessage(params: LanguageModelV3CallOptions): string {
  const last = params.prompt.findLast((message) => message.role === "user");
  return last ? textOf(last.content).trim() : "";
}

function textOf(parts: ReadonlyArray<LanguageModelV3Content | { type: string }>): string {
  return parts.map((part) => ("text" in part && part.type === "text" ? part.text : "")).join("");
}
