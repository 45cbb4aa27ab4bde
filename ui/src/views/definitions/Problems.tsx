import type { ReactNode } from "react";

import { Button } from "../../parts/Button.tsx";
import { StatusGlyph } from "../../parts/icons.tsx";
import { mendOf, type Mend, type Problem } from "./mend.ts";

interface Props {
  readonly problems: readonly Problem[];
  readonly textOf: (file: string) => string | undefined;
  readonly onMend: (file: string, mend: Mend) => void;
  readonly onGoTo: (problem: Problem) => void;
  readonly severalFiles: boolean;
}

const MOST = 200;

/** Every problem with its line and its remedy; where the remedy is exact, one press mends it. */
export function Problems({ problems, textOf, onMend, onGoTo, severalFiles }: Props): ReactNode {
  return (
    <ul aria-label="Problems" className="problems">
      {problems.slice(0, MOST).map((problem, at) => {
        const text = textOf(problem.file);
        const mend = text === undefined ? null : mendOf(text, problem);
        const look = problem.severity === "error" ? "failed" : "waiting";
        return (
          <li key={at} className={`look-${look}`}>
            <StatusGlyph look={look} size={14} />
            <div>
              <button type="button" className="go-to given" onClick={() => onGoTo(problem)}>
                <strong>{`${problem.severity} line ${String(problem.line)}`}</strong>{severalFiles && ` ${problem.file}`} <code>{problem.path}</code>{`: ${problem.problem}`}
              </button>
              <p className="muted given">{problem.remedy}</p>
            </div>
            {mend !== null && <Button small aria-label={`Write ${mend.write} in line ${String(problem.line)}`} onClick={() => onMend(problem.file, mend)}>{`Write ${mend.write}`}</Button>}
          </li>
        );
      })}
      {problems.length > MOST && <li className="muted">{`and ${String(problems.length - MOST)} more`}</li>}
    </ul>
  );
}
