/** A refusal of the server, or the server being out of reach, as one kind of error with a remedy. */
export interface Place {
  readonly path: string;
  readonly problem: string;
  readonly [field: string]: unknown;
}

export class ApiProblem extends Error {
  constructor(
    readonly code: string,
    readonly problem: string,
    readonly remedy: string,
    readonly status: number,
    readonly requestId: string | null = null,
    /** All problems of a definition, an input or an answer, each with its place. */
    readonly problems: readonly Place[] = [],
  ) {
    super(problem);
    this.name = "ApiProblem";
  }

  /** Whether nobody is signed in: no key, or one that was revoked. */
  get signedOut(): boolean {
    return this.status === 401;
  }

  /** Whether asking again may help without anybody doing anything. */
  get passing(): boolean {
    return this.status === 0 || this.status === 429 || this.status === 503;
  }
}

/** The problem for an error of any kind. */
export function problemOf(error: unknown): ApiProblem {
  if (error instanceof ApiProblem) return error;
  const told = error instanceof Error ? error.message : String(error);
  return new ApiProblem("page_failed", `the page failed here: ${told}`, "load the page again, and report it", 0);
}

/** The problem that an answer carries. An answer that is none of ours comes from something in between. */
export async function problemIn(response: Response): Promise<ApiProblem> {
  const fallback = new ApiProblem(
    "unknown_answer",
    `the server answered ${String(response.status)} without a reason`,
    "look whether a proxy stands before the server, and at the server's log",
    response.status,
    response.headers.get("x-request-id"),
  );
  if (!(response.headers.get("content-type") ?? "").startsWith("application/problem+json")) return fallback;
  try {
    const body = (await response.json()) as Record<string, unknown>;
    return new ApiProblem(
      textIn(body["code"], fallback.code),
      textIn(body["problem"], fallback.problem),
      textIn(body["remedy"], ""),
      response.status,
      textIn(body["request_id"], "") || null,
      Array.isArray(body["problems"]) ? (body["problems"] as Place[]) : [],
    );
  } catch {
    return fallback;
  }
}

/** The problem when no answer came at all. */
export function outOfReach(): ApiProblem {
  return new ApiProblem("out_of_reach", "the server does not answer", "see whether `jeton serve` still runs there", 0);
}

function textIn(value: unknown, otherwise: string): string {
  return typeof value === "string" ? value : otherwise;
}
