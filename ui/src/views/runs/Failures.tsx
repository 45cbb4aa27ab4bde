import { useQuery, useQueryClient } from "@tanstack/react-query";
import { useState, type ReactNode } from "react";

import { useMay } from "../../frame/session.ts";
import { api } from "../../lib/api/client.ts";
import { queries, type RunFilter } from "../../lib/api/queries.ts";
import { command } from "../../lib/command.ts";
import { useParameters } from "../../lib/location.ts";
import { counted } from "../../lib/numbers.ts";
import { ActionDialog } from "../../parts/ActionDialog.tsx";
import { Button } from "../../parts/Button.tsx";
import { StatusGlyph } from "../../parts/icons.tsx";
import { kindsOf, type Failure } from "./failures.ts";

interface Props {
  /** How many of the listed runs failed. */
  readonly failed: number;
  readonly filter: RunFilter;
  readonly onChoose: ((runs: readonly string[]) => void) | null;
}

/** The failures by kind: *412 runs, one failure*, with one `Retry` for all. */
export function Failures({ failed, filter, onChoose }: Props): ReactNode {
  const [parameters, set] = useParameters();
  const open = parameters.get("failures") !== null;
  const { data } = useQuery({ ...queries.failures(filter), enabled: failed > 1 });
  const [retrying, setRetrying] = useState<Failure | null>(null);
  const client = useQueryClient();
  const mayRun = useMay("run");
  const kinds = kindsOf(data?.runs ?? []);
  if (failed < 2 || kinds.length === 0) return null;
  return (
    <section aria-label="Failures" className="failures">
      <button type="button" className="toggle look-failed" aria-expanded={open} onClick={() => set({ failures: open ? null : "1" })}>
        <span aria-hidden="true">{open ? "▾" : "▸"}</span>{counted(kinds.length, "kind")} of failure
      </button>
      {open && (
        <ul aria-label="Kinds of failure" className="panel failure-list">
          {kinds.slice(0, 50).map((kind) => (
            <li key={kind.key}>
              <span className="failure-many numbers look-failed"><StatusGlyph look="failed" size={12} />{kind.runs.length === 1 ? "1 run" : `${counted(kind.runs.length, "run")}, one failure`}</span>
              <span className="given failure-what"><strong>{kind.type}</strong>{kind.node !== null && <> at <code>{kind.node}</code></>} <span className="muted">{kind.message}</span></span>
              {onChoose !== null && <Button small variant="quiet" onClick={() => onChoose(kind.runs)}>Select</Button>}
              {mayRun && <Button small aria-label={`Retry ${counted(kind.runs.length, "run")} with ${kind.type}`} onClick={() => setRetrying(kind)}>Retry</Button>}
            </li>
          ))}
        </ul>
      )}
      {retrying !== null && (
        <ActionDialog
          title="Retry" onClose={() => setRetrying(null)} onDone={() => void client.invalidateQueries({ queryKey: ["runs"] })}
          command={() => retrying.runs.map((run) => command("retry", [run])).join("\n")}
          act={() => api.post("/v1/runs/actions", { body: { action: "retry", runs: [...retrying.runs], reason: "" } })}
          done={(answer) => `${counted(answer.done.length, "run")} retried${answer.refused.length > 0 ? `, ${String(answer.refused.length)} refused` : ""}`}
        >
          <p className="given">{`Retry ${counted(retrying.runs.length, "run")} that ended with ${retrying.type}. A new run begins for each, where it failed. What succeeded is not repeated.`}</p>
        </ActionDialog>
      )}
    </section>
  );
}
