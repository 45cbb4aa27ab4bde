import { useQueryClient } from "@tanstack/react-query";
import { useState, type ReactNode } from "react";

import { api } from "../../lib/api/client.ts";
import { command, inline } from "../../lib/command.ts";
import { ActionDialog } from "../../parts/ActionDialog.tsx";
import { TextField } from "../../parts/Field.tsx";
import { JsonField } from "../../parts/JsonField.tsx";
import type { Trigger } from "./Triggers.tsx";

/** Fire a trigger by hand, with a payload. */
export function FireDialog({ trigger, onClose }: { readonly trigger: Trigger; readonly onClose: () => void }): ReactNode {
  const client = useQueryClient();
  const [payload, setPayload] = useState<unknown>({});
  const [delivery, setDelivery] = useState("");
  const id = delivery.trim();
  return (
    <ActionDialog
      title={`Fire ${trigger.name}`} onClose={onClose} blocked={payload === undefined}
      command={() => command("fire", [trigger.name], { input: payload === undefined ? "…" : inline(payload), delivery: id })}
      act={() => api.post("/v1/triggers/{trigger}/fire", { path: { trigger: trigger.name }, body: { payload, ...(id === "" ? {} : { delivery_id: id }) } })}
      done={(fired) => (fired.run_id === null ? `${trigger.name} was refused: ${fired.problem ?? fired.code ?? "no reason"}` : `${trigger.name} started run ${fired.run_id}`)}
      onDone={() => void client.invalidateQueries({ queryKey: ["triggers"] })}
    >
      <div className="fire">
        <p>{`Starts a run of ${trigger.start}, with this payload laid over the trigger’s own input.`}</p>
        <JsonField label="Payload (JSON)" value={payload} onChange={setPayload} rows={4} />
        <TextField label="Delivery" value={delivery} onChange={(event) => setDelivery(event.target.value)} hint="Optional. The same delivery id fires once." maxLength={200} />
      </div>
    </ActionDialog>
  );
}
