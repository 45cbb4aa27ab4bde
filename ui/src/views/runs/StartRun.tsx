import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { useState, type ReactNode } from "react";

import { api } from "../../lib/api/client.ts";
import { problemOf } from "../../lib/api/problem.ts";
import { queries } from "../../lib/api/queries.ts";
import { command, inline } from "../../lib/command.ts";
import { useDraft } from "../../lib/drafts.ts";
import { Button } from "../../parts/Button.tsx";
import { Command } from "../../parts/Command.tsx";
import { Dialog } from "../../parts/Dialog.tsx";
import { Choice, TextField } from "../../parts/Field.tsx";
import { ProblemAlert } from "../../parts/ProblemAlert.tsx";
import { SchemaForm } from "../../parts/SchemaForm.tsx";
import { SkeletonRows } from "../../parts/Waiting.tsx";
import { toast } from "../../parts/toasts.ts";

interface Props {
  /** The workflow that is chosen at first. */
  readonly workflow?: string;
  readonly onClose: () => void;
  readonly onStarted?: (run: string) => void;
}

/** Start a run: workflow, input by a form or as JSON, and a key that makes it one run however often it is sent. */
export function StartRun({ workflow: first = "", onClose, onStarted }: Props): ReactNode {
  const client = useQueryClient();
  const workflows = useQuery(queries.workflows());
  const startable = (workflows.data?.workflows ?? []).filter((each) => each.kind !== "agent");
  const [chosen, setChosen] = useState(first);
  const workflow = chosen !== "" ? chosen : (startable[0]?.name ?? "");
  const details = useQuery({ ...queries.workflow(workflow), enabled: workflow !== "" });
  const [input, setInput, forget] = useDraft<unknown>(`start:${workflow}`, {});
  const [unreadable, setUnreadable] = useState(false);
  const [key, setKey] = useState("");
  const start = useMutation({
    mutationFn: () => api.post("/v1/runs", { body: { workflow, input, ...(key.trim() === "" ? {} : { key: key.trim() }) } }),
    onSuccess: (record) => {
      toast(`Run ${record.run_id} started`);
      forget();
      void client.invalidateQueries({ queryKey: ["runs"] });
      onStarted?.(record.run_id);
      onClose();
    },
  });
  const refused = start.isError ? problemOf(start.error).problems : [];
  return (
    <Dialog
      title="Start run" onClose={onClose}
      foot={<Button variant="primary" disabled={workflow === "" || unreadable || start.isPending} onClick={() => start.mutate()}>Start</Button>}
    >
      {workflows.isError && <ProblemAlert error={workflows.error} onRetry={() => void workflows.refetch()} />}
      <Choice label="Workflow" value={workflow} onChange={(event) => { setChosen(event.target.value); start.reset(); }} options={startable.map((each) => [each.name, each.name])} />
      {details.data === undefined && !details.isError && workflow !== "" && <SkeletonRows rows={2} label="The input is loading" />}
      {details.isError && <ProblemAlert error={details.error} onRetry={() => void details.refetch()} />}
      {details.data !== undefined && (
        <SchemaForm
          key={workflow} schema={details.data.input_schema} value={input} jsonLabel="Input (JSON)" idPrefix="start" refused={refused}
          onChange={(value) => {
            setUnreadable(value === undefined);
            if (value !== undefined) setInput(value);
          }}
        />
      )}
      <TextField label="Key" value={key} onChange={(event) => setKey(event.target.value)} hint="Optional. The same key again gives the same run." maxLength={200} />
      {workflow !== "" && !unreadable && <Command text={command("start", [workflow], { input: inline(input), key: key.trim() })} />}
      {start.isError && <ProblemAlert error={start.error} />}
    </Dialog>
  );
}
