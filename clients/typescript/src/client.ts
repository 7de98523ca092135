/** A client of the service: every route of `/openapi.json`, typed, and replies as streams. */

import type { components, paths } from "./schema.js";

export type Schemas = components["schemas"];
export type Method = "get" | "post" | "put" | "patch" | "delete";

/** The operation of a route. */
type Operation<P extends keyof paths, M extends Method> = NonNullable<paths[P][M & keyof paths[P]]>;
type Json<T> = T extends { content: { "application/json": infer Body } } ? Body : never;
type Parameter<O, In extends string> = O extends { parameters: infer All }
  ? In extends keyof All
    ? NonNullable<All[In]>
    : never
  : never;

/** The methods of a route. */
export type MethodOf<P extends keyof paths> = {
  [M in Method]: M extends keyof paths[P] ? (paths[P][M] extends undefined ? never : M) : never;
}[Method];
export type Body<P extends keyof paths, M extends Method> =
  Operation<P, M> extends { requestBody?: infer Content } ? Json<NonNullable<Content>> : never;
export type Answer<P extends keyof paths, M extends Method> =
  Operation<P, M> extends { responses: infer All } ? Json<All[keyof All & (200 | 201 | 202)]> : never;

export interface Options<P extends keyof paths, M extends Method> {
  path?: Parameter<Operation<P, M>, "path">;
  query?: Parameter<Operation<P, M>, "query">;
  body?: Body<P, M>;
  /** Makes a repeated request safe: the same key gets the same answer. */
  idempotencyKey?: string;
  signal?: AbortSignal;
}

/** An unsuccessful answer of the service. `code` is for programs, `message` says what to do. */
export class GieokError extends Error {
  constructor(
    readonly status: number,
    readonly code: string,
    message: string,
    /** The place in the body that was refused. */
    readonly at: string | undefined,
    /** Seconds to wait before the next attempt. */
    readonly retryAfter: number | undefined,
  ) {
    super(message);
    this.name = "GieokError";
  }
}

export type ChatEvent =
  | { event: "token"; data: { text: string } }
  | { event: "done"; data: Schemas["ChatAnswer"] };

export interface ClientOptions {
  /** Where the service listens, such as `http://127.0.0.1:8377`. */
  url: string;
  token: string;
  /** The language of notices and emotions. */
  language?: "ko" | "en";
  fetch?: typeof fetch;
}

export class GieokClient {
  readonly #options: ClientOptions;

  constructor(options: ClientOptions) {
    this.#options = options;
  }

  /** Call a route. Throws a GieokError for an unsuccessful answer. */
  async call<P extends keyof paths, M extends MethodOf<P>>(
    method: M,
    path: P,
    options: Options<P, M> = {},
  ): Promise<Answer<P, M>> {
    const response = await this.#fetch(method, path, options);
    return (await response.json()) as Answer<P, M>;
  }

  /** Send a message, and get the reply piece by piece. The last event is `done` with the whole answer. */
  async *stream(
    body: Omit<Schemas["SendMessage"], "stream">,
    signal?: AbortSignal,
  ): AsyncGenerator<ChatEvent, void, undefined> {
    const options = { body: { ...body, stream: true }, ...(signal ? { signal } : {}) };
    const response = await this.#fetch("post", "/api/v1/chat/send", options);
    if (!response.body) throw new GieokError(response.status, "NO_BODY", "the answer has no body", undefined, undefined);
    for await (const { event, data } of serverSentEvents(response.body)) {
      const parsed = JSON.parse(data);
      if (event === "error") throw failure(500, parsed, undefined);
      yield { event, data: parsed } as ChatEvent;
    }
  }

  async #fetch(method: string, path: string, options: LooseOptions): Promise<Response> {
    const { url, token, language, fetch: own } = this.#options;
    const filled = path.replace(/\{(\w+)\}/g, (_, name: string) => {
      const value = options.path?.[name];
      if (value === undefined || value === null) throw new TypeError(`${path} needs path.${name}`);
      return encodeURIComponent(String(value));
    });
    const target = new URL(filled, url);
    for (const [name, value] of Object.entries(options.query ?? {}))
      if (value !== undefined && value !== null) target.searchParams.set(name, String(value));
    const headers: Record<string, string> = { Authorization: `Bearer ${token}` };
    if (options.body !== undefined) headers["Content-Type"] = "application/json";
    if (language) headers["Accept-Language"] = language;
    if (options.idempotencyKey) headers["Idempotency-Key"] = options.idempotencyKey;
    const response = await (own ?? fetch)(target, {
      method: method.toUpperCase(),
      headers,
      ...(options.body === undefined ? {} : { body: JSON.stringify(options.body) }),
      ...(options.signal ? { signal: options.signal } : {}),
    });
    if (response.ok) return response;
    const body = await response.json().catch(() => ({}));
    throw failure(response.status, body, response.headers.get("Retry-After") ?? undefined);
  }
}

interface LooseOptions {
  path?: Record<string, unknown>;
  query?: object;
  body?: unknown;
  idempotencyKey?: string;
  signal?: AbortSignal;
}

function failure(status: number, body: Partial<Schemas["Failure"]>, retryAfter: string | undefined): GieokError {
  const message = body.message ?? `the service answered ${status}`;
  const wait = retryAfter === undefined ? undefined : Number(retryAfter);
  return new GieokError(status, body.error ?? "UNKNOWN", message, body.at ?? undefined, wait);
}

/** The events of a stream, as the event stream format defines them. */
export async function* serverSentEvents(
  stream: ReadableStream<Uint8Array>,
): AsyncGenerator<{ event: string; data: string }, void, undefined> {
  const decoder = new TextDecoder();
  let waiting = "";
  let event = "message";
  let data: string[] = [];
  for await (const bytes of stream) {
    waiting += decoder.decode(bytes, { stream: true });
    // A carriage return at the end may be the first half of a line end.
    const lines = waiting.split(/\r\n|\n|\r(?!$)/);
    waiting = lines.pop() ?? "";
    for (const line of lines) {
      if (line === "") {
        if (data.length) yield { event, data: data.join("\n") };
        [event, data] = ["message", []];
      } else if (line.startsWith("event:")) event = line.slice(6).trimStart();
      else if (line.startsWith("data:")) data.push(line.slice(5).replace(/^ /, ""));
    }
  }
}
