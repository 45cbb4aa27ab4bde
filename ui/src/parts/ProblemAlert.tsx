import type { ReactNode } from "react";

import { problemOf } from "../lib/api/problem.ts";
import { Button } from "./Button.tsx";
import { AlertIcon } from "./icons.tsx";

interface Props {
  readonly error: unknown;
  readonly onRetry?: (() => void) | undefined;
}

/** What went wrong and what to do about it, in place: the problem, the remedy, the request's id, `Try again`. */
export function ProblemAlert({ error, onRetry }: Props): ReactNode {
  const problem = problemOf(error);
  return (
    <div role="alert" className="problem">
      <AlertIcon />
      <div>
        <p className="what given">{problem.problem}</p>
        {problem.remedy !== "" && <p className="remedy given">{problem.remedy}</p>}
        {problem.problems.length > 1 && (
          <ul>
            {problem.problems.map((each, index) => (
              <li key={index} className="given"><code>{each.path}</code> {each.problem}</li>
            ))}
          </ul>
        )}
        {(problem.requestId !== null || onRetry !== undefined) && (
          <div className="foot">
            {onRetry !== undefined && <Button small onClick={onRetry}>Try again</Button>}
            {problem.requestId !== null && <span>Request <code>{problem.requestId}</code></span>}
          </div>
        )}
      </div>
    </div>
  );
}
