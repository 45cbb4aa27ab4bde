import { useQuery, useQueryClient } from "@tanstack/react-query";
import type { ReactNode } from "react";

import { api, type Schemas } from "../../lib/api/client.ts";
import { command } from "../../lib/command.ts";
import { counted } from "../../lib/numbers.ts";
import { ActionDialog } from "../../parts/ActionDialog.tsx";
import { Difference } from "./Difference.tsx";
import type { File } from "./checking.ts";

type Deployed = Schemas["Deployed"];
const OPEN = "submitted,running,waiting";
const MOST = 1_000;
const MOST_NAMES = 20;

interface Props {
  readonly files: readonly File[];
  /** What is deployed now, by the name of the file. */
  readonly deployed: ReadonlyMap<string, string>;
  /** The workflows and flows that the files have. */
  readonly names: readonly string[];
  readonly onDone: (answer: Deployed) => void;
  readonly onClose: () => void;
}

/** Deploy: what changes, and how many open runs keep the version that they began with. */
export function DeployDialog({ files, deployed, names, onDone, onClose }: Props): ReactNode {
  const client = useQueryClient();
  const open = useQuery({ queryKey: ["runs", "open", names], queryFn: ({ signal }) => openRuns(names, signal), staleTime: 0 });
  const changed = files.filter((file) => deployed.get(file.name) !== file.text);
  const told = open.data === undefined ? "Open runs are being counted…"
    : open.data.number === 0 ? "No run is open: nothing keeps an old version."
      : `${open.data.more ? "More than " : ""}${counted(open.data.number, "open run")} ${open.data.number === 1 ? "keeps the version it" : "keep the version they"} began with. New runs take the new one.`;
  return (
    <ActionDialog
      title="Deploy" onClose={onClose}
      command={() => (changed.length > 0 ? changed : files).map((file) => command("triggers", [], { deploy: file.name })).join("\n")}
      act={() => api.post("/v1/definitions", { body: { files: [...files] } })}
      done={(answer) => `Deployed: ${Object.entries(answer.versions).map(([name, version]) => `${name}@${String(version)}`).join(", ")}`}
      onDone={(answer) => {
        void client.invalidateQueries({ queryKey: ["workflows"] });
        void client.invalidateQueries({ queryKey: ["triggers"] });
        onDone(answer);
      }}
    >
      <div className="deploying">
        <p role="status" aria-label="Open runs">{told}</p>
        {changed.length === 0 && <p>The text is the one that is deployed.</p>}
        {changed.map((file) => (
          <div key={file.name}>
            <p className="label given">{file.name}</p>
            <Difference label={`Difference in ${file.name}`} before={deployed.get(file.name) ?? ""} after={file.text} />
          </div>
        ))}
      </div>
    </ActionDialog>
  );
}

async function openRuns(names: readonly string[], signal: AbortSignal): Promise<{ number: number; more: boolean }> {
  const found = await Promise.all(names.slice(0, MOST_NAMES).map((workflow) => api.get("/v1/runs", { query: { workflow, status: OPEN, limit: MOST }, signal }).catch(() => ({ runs: [], next: null }))));
  return { number: found.reduce((sum, each) => sum + each.runs.length, 0), more: names.length > MOST_NAMES || found.some((each) => each.next !== null) };
}
