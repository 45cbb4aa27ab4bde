import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { useState, type ReactNode } from "react";
import { Link } from "wouter";

import { useMay } from "../../frame/session.ts";
import { api } from "../../lib/api/client.ts";
import { queries } from "../../lib/api/queries.ts";
import { Button } from "../../parts/Button.tsx";
import { Dialog } from "../../parts/Dialog.tsx";
import { TextField } from "../../parts/Field.tsx";
import { ProblemAlert } from "../../parts/ProblemAlert.tsx";
import { CloseIcon } from "../../parts/icons.tsx";
import { toast } from "../../parts/toasts.ts";

/** Queries that people saved for all: links, each with a button that removes it. */
export function SavedQueries({ q }: { readonly q: string }): ReactNode {
  const { data } = useQuery(queries.savedQueries());
  const client = useQueryClient();
  const may = useMay("run");
  const remove = useMutation({
    mutationFn: (name: string) => api.delete("/v1/queries/{name}", { path: { name } }),
    onSuccess: (_, name) => {
      toast(`Query ${name} removed`);
      void client.invalidateQueries({ queryKey: ["queries"] });
    },
  });
  const saved = data?.queries ?? [];
  if (saved.length === 0) return null;
  return (
    <ul aria-label="Saved queries" className="saved">
      {saved.map((each) => (
        <li key={each.name}>
          <Link href={`/runs?q=${encodeURIComponent(each.q)}`} className="toggle" title={each.q} aria-current={each.q === q ? "true" : undefined}><span className="cut given">{each.name}</span></Link>
          {may && <Button small square variant="quiet" aria-label={`Remove query ${each.name}`} onClick={() => remove.mutate(each.name)}><CloseIcon size={10} /></Button>}
        </li>
      ))}
    </ul>
  );
}

export function SaveQuery({ q, onClose }: { readonly q: string; readonly onClose: () => void }): ReactNode {
  const [name, setName] = useState("");
  const client = useQueryClient();
  const save = useMutation({
    mutationFn: () => api.put("/v1/queries/{name}", { path: { name: name.trim() }, body: { q } }),
    onSuccess: () => {
      toast(`Query ${name.trim()} saved for everybody`);
      void client.invalidateQueries({ queryKey: ["queries"] });
      onClose();
    },
  });
  return (
    <Dialog title="Save query" onClose={onClose} foot={<Button variant="primary" disabled={name.trim() === "" || save.isPending} onClick={() => save.mutate()}>Save</Button>}>
      <p className="muted">Everybody finds it here, and with <code>jeton ls --query NAME</code>.</p>
      <p className="command"><code>{q === "" ? "all runs" : q}</code></p>
      <TextField label="Name" value={name} onChange={(event) => setName(event.target.value)} maxLength={200} autoFocus />
      {save.isError && <ProblemAlert error={save.error} />}
    </Dialog>
  );
}
