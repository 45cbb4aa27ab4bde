/** Where in an answer a refusal belongs: `answer.note: 3 is not of type "string"; answer: "ok" is a required property`. */
import type { ApiProblem, Place } from "../../lib/api/problem.ts";

const PART = /^(?:answer|input|value)((?:[.[][^:]*)?): (.*)$/s;
const MISSING = /^"(.+)" is a required property$/;

/** The places that a refusal names, for the fields of a form; none, if it is about the whole. */
export function placesIn(problem: Pick<ApiProblem, "problem" | "problems">): Place[] {
  if (problem.problems.length > 0) return [...problem.problems];
  return problem.problem.split("; ").flatMap((part): Place[] => {
    const found = PART.exec(part);
    if (found === null) return [];
    const [, path = "", told = ""] = found;
    const missing = MISSING.exec(told)?.[1];
    if (missing !== undefined) return [{ path: `$${path}.${missing}`, problem: "is needed" }];
    return path === "" ? [] : [{ path: `$${path}`, problem: told }];
  });
}
