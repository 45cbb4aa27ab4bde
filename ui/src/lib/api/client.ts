/** The typed HTTP client: `api.get("/v1/runs/{run}", { path: { run }, query: { at: 3 } })`. */
import { outOfReach, problemIn } from "./problem.ts";
import type { components, paths } from "./schema";

export type Schemas = components["schemas"];
type Method = "get" | "post" | "put" | "delete";
type PathsWith<M extends Method> = {
  [P in keyof paths]: paths[P][M] extends object ? P : never;
}[keyof paths];
type Operation<P extends keyof paths, M extends Method> = NonNullable<paths[P][M]>;

type Parameters<O, Kind extends string> = O extends { parameters: Record<Kind, infer Found> }
  ? Found
  : O extends { parameters: Partial<Record<Kind, infer Found>> }
    ? Found
    : never;
type Body<O> = O extends { requestBody: { content: { "application/json": infer Found } } }
  ? Found
  : O extends { requestBody?: { content: { "application/json": infer Found } } }
    ? Found
    : never;
type JsonOf<R> = R extends { content: { "application/json": infer Found } } ? Found : never;
/** What a route answers when all went well. */
export type AnswerOf<P extends keyof paths, M extends Method> =
  Operation<P, M> extends { responses: infer R } ? JsonOf<R[keyof R]> : never;

type Needed<Kind extends string, T> = [NonNullable<T>] extends [never] ? object : Record<Kind, NonNullable<T>>;
type Allowed<Kind extends string, T> = [NonNullable<T>] extends [never] ? object : Partial<Record<Kind, NonNullable<T>>>;
export type Options<P extends keyof paths, M extends Method> = Needed<"path", Parameters<Operation<P, M>, "path">> &
  Allowed<"query", Parameters<Operation<P, M>, "query">> &
  Allowed<"body", Body<Operation<P, M>>> & { signal?: AbortSignal };

interface Given {
  path?: Record<string, string>;
  query?: Record<string, unknown>;
  body?: unknown;
  signal?: AbortSignal;
}

/** The address of a route with its parts and parameters filled in. Parameters without a value are left out. */
export function addressOf(path: string, given: Pick<Given, "path" | "query"> = {}): string {
  const filled = path.replace(/\{(\w+)\}/g, (_, name: string) => encodeURIComponent(given.path?.[name] ?? ""));
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(given.query ?? {})) {
    if (typeof value === "string" ? value !== "" : typeof value === "number" || typeof value === "boolean")
      query.set(name, String(value));
  }
  const text = query.toString();
  return text === "" ? filled : `${filled}?${text}`;
}

let signedOut: () => void = () => undefined;

/** Say what is to be done when an answer tells that nobody is signed in any more. */
export function whenSignedOut(act: () => void): void {
  signedOut = act;
}

async function ask(method: string, path: string, given: Given): Promise<unknown> {
  const init: RequestInit = { method, credentials: "same-origin", cache: "no-store" };
  if (given.signal !== undefined) init.signal = given.signal;
  if (method !== "GET" && method !== "DELETE") {
    init.headers = { "content-type": "application/json" };
    init.body = JSON.stringify(given.body ?? {});
  }
  let response: Response;
  try {
    response = await fetch(addressOf(path, given), init);
  } catch (error) {
    if (given.signal?.aborted === true) throw error;
    throw outOfReach();
  }
  if (!response.ok) {
    const problem = await problemIn(response);
    if (problem.signedOut && path !== "/v1/session") signedOut();
    throw problem;
  }
  return response.status === 204 ? undefined : await response.json();
}

export const api = {
  get<P extends PathsWith<"get">>(path: P, options: Options<P, "get">): Promise<AnswerOf<P, "get">> {
    return ask("GET", path, options) as Promise<AnswerOf<P, "get">>;
  },
  post<P extends PathsWith<"post">>(path: P, options: Options<P, "post">): Promise<AnswerOf<P, "post">> {
    return ask("POST", path, options) as Promise<AnswerOf<P, "post">>;
  },
  put<P extends PathsWith<"put">>(path: P, options: Options<P, "put">): Promise<AnswerOf<P, "put">> {
    return ask("PUT", path, options) as Promise<AnswerOf<P, "put">>;
  },
  delete<P extends PathsWith<"delete">>(path: P, options: Options<P, "delete">): Promise<AnswerOf<P, "delete">> {
    return ask("DELETE", path, options) as Promise<AnswerOf<P, "delete">>;
  },
  /** Exchange a key for the session's cookie. The key is kept nowhere. */
  async signIn(key: string): Promise<void> {
    await ask("POST", "/v1/session", { body: { key } });
  },
};

/** The newest answer wins: `take` gives the value of an answer only if no later question was asked meanwhile. */
export class Newest {
  #asked: AbortController | null = null;

  /** Ask with a signal that the next question aborts. Undefined: a later question was asked. */
  async take<T>(question: (signal: AbortSignal) => Promise<T>): Promise<T | undefined> {
    this.#asked?.abort();
    const mine = new AbortController();
    this.#asked = mine;
    try {
      const answer = await question(mine.signal);
      return this.#asked === mine ? answer : undefined;
    } catch (error) {
      if (this.#asked !== mine) return undefined;
      throw error;
    }
  }

  /** Let go of the question under way. */
  stop(): void {
    this.#asked?.abort();
    this.#asked = null;
  }
}
