import { useQuery, useQueryClient } from "@tanstack/react-query";
import { useMemo, useState, type ReactNode } from "react";

import { api, type Schemas } from "../../lib/api/client.ts";
import { command } from "../../lib/command.ts";
import { relative, useNow } from "../../lib/time.ts";
import { ActionDialog } from "../../parts/ActionDialog.tsx";
import { Button } from "../../parts/Button.tsx";
import { DataTable, type Column } from "../../parts/DataTable.tsx";
import { ProblemAlert } from "../../parts/ProblemAlert.tsx";
import { StatusBadge } from "../../parts/StatusBadge.tsx";
import { Ago } from "../../parts/Time.tsx";
import { Empty, SkeletonRows } from "../../parts/Waiting.tsx";
import { KeysIcon, PlusIcon } from "../../parts/icons.tsx";
import { NewKey } from "./NewKey.tsx";
import "./keys.css";

type Key = Schemas["KeyView"];

/** Whether a key still opens the door. */
export function standing(key: Pick<Key, "revoked_at" | "expires_at">, now: number): "active" | "revoked" | "expired" {
  if (key.revoked_at !== null) return "revoked";
  return key.expires_at !== null && new Date(key.expires_at).getTime() <= now ? "expired" : "active";
}

/** The keys of the server: who may do what, until when. */
export default function Keys(): ReactNode {
  const client = useQueryClient();
  const { data, isPending, error, refetch } = useQuery({ queryKey: ["keys"], queryFn: ({ signal }) => api.get("/v1/keys", { signal }) });
  const [making, setMaking] = useState(false);
  const [revoking, setRevoking] = useState<Key | null>(null);
  const columns = useMemo(() => columnsWith(setRevoking), []);
  const again = (): void => void client.invalidateQueries({ queryKey: ["keys"] });
  const keys = data?.keys ?? [];
  return (
    <>
      <div className="view-head">
        <h1>Keys</h1>
        <Button variant="primary" onClick={() => setMaking(true)}><PlusIcon size={14} /> New key</Button>
      </div>
      {error !== null && <ProblemAlert error={error} onRetry={() => void refetch()} />}
      {isPending && <div className="panel"><SkeletonRows rows={5} label="Keys are loading" /></div>}
      {data !== undefined && keys.length === 0 && (
        <div className="panel">
          <Empty icon={<KeysIcon />} title="No keys yet" command={command("keys", ["add", "ann", "--scope", "read,answer"])}>
            While there are none, the server is open to this machine alone, with a key for its process. Make one for each person and each program.
          </Empty>
        </div>
      )}
      {keys.length > 0 && <DataTable label="Keys" rows={keys} columns={columns} idOf={(key) => key.id} />}
      {making && <NewKey onClose={() => setMaking(false)} onMade={again} />}
      {revoking !== null && (
        <ActionDialog
          title={`Revoke ${revoking.name}`} danger onClose={() => setRevoking(null)} onDone={again}
          command={() => command("keys", ["revoke", revoking.id])}
          act={() => api.delete("/v1/keys/{key}", { path: { key: revoking.id } })}
          done={() => `The key of ${revoking.name} is revoked`}
        >
          <p>{`The key ${revoking.id} of “${revoking.name}” opens nothing any more. Every stream and every session that was opened with it ends within five seconds${revoking.scopes.includes("read") || revoking.scopes.includes("admin") ? ", those that follow runs too" : ""}. This cannot be undone.`}</p>
        </ActionDialog>
      )}
    </>
  );
}

function columnsWith(revoke: (key: Key) => void): Column<Key>[] {
  return [
    { name: "Name", cell: (key) => <span className="given" title={key.name}>{key.name}</span> },
    { name: "Status", width: "7.5rem", cell: (key) => <Standing at={key} /> },
    { name: "Person", width: "14%", cell: (key) => key.person === null ? <span className="muted">no one’s</span> : <span className="given">{key.person}</span> },
    { name: "Scopes", width: "13rem", card: "wide", cell: (key) => <span className="scopes">{key.scopes.map((scope) => <span key={scope} className="scope">{scope}</span>)}</span> },
    { name: "Id", width: "7rem", card: "hidden", cell: (key) => <code>{key.id}</code> },
    { name: "Made", width: "7rem", card: "hidden", cell: (key) => <Ago at={key.created_at} /> },
    { name: "Last used", width: "7.5rem", card: "named", cell: (key) => key.last_used_at === null ? <span className="muted" title="Not since the server started">not lately</span> : <Ago at={key.last_used_at} /> },
    { name: "Expires", width: "7rem", card: "named", cell: (key) => key.expires_at === null ? <span className="muted">never</span> : <Ago at={key.expires_at} /> },
    {
      name: "Action", width: "6rem", end: true,
      cell: (key) => key.revoked_at === null ? <Button small aria-label={`Revoke ${key.name}`} onClick={() => revoke(key)}>Revoke</Button> : <span className="muted"><Ago at={key.revoked_at} /></span>,
    },
  ];
}

function Standing({ at }: { readonly at: Key }): ReactNode {
  const now = useNow();
  const found = standing(at, now);
  const title = at.revoked_at === null ? undefined : `revoked ${relative(at.revoked_at, now)}`;
  return <span title={title}><StatusBadge plain status={found} /></span>;
}
