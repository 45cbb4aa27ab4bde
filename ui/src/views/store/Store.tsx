import { useQuery } from "@tanstack/react-query";
import { useState, type ReactNode } from "react";
import { Link } from "wouter";

import { useMay } from "../../frame/session.ts";
import { api, type Schemas } from "../../lib/api/client.ts";
import { queries } from "../../lib/api/queries.ts";
import { command } from "../../lib/command.ts";
import { bytes, count, counted } from "../../lib/numbers.ts";
import { ENDED, RUN_STATUSES, lookOf } from "../../lib/statuses.ts";
import { exact, relative, useNow } from "../../lib/time.ts";
import { ActionDialog } from "../../parts/ActionDialog.tsx";
import { Button } from "../../parts/Button.tsx";
import { Panel } from "../../parts/Panel.tsx";
import { ProblemAlert } from "../../parts/ProblemAlert.tsx";
import { SkeletonRows } from "../../parts/Waiting.tsx";
import { StatusGlyph } from "../../parts/icons.tsx";
import { useMeasured } from "./measured.ts";
import { useReady, type Ready } from "./ready.ts";
import "./store.css";
import "./tiles.css";

type Facts = Schemas["StoreView"];
type Verified = Schemas["Verified"];
const EVERY = 5_000;
const SOON = 2_000;

/** The store: whether it is well, how large, how fast, whose. */
export default function Store(): ReactNode {
  const store = useQuery({ ...queries.store(), refetchInterval: EVERY });
  const ready = useReady(EVERY);
  const mayVerify = useMay("admin");
  const [verifying, setVerifying] = useState(false);
  const [verified, setVerified] = useState<Verified | null>(null);
  return (
    <>
      <div className="view-head">
        <h1>Store</h1>
        {mayVerify && <Button onClick={() => setVerifying(true)}>Verify</Button>}
      </div>
      {store.isError && <ProblemAlert error={store.error} onRetry={() => void store.refetch()} />}
      <div className="store">
        <Panel label="Health" className="health">
          <div className="panel-body">
            <ReadyLine ready={ready} />
            {verified !== null && <VerifiedLine verified={verified} />}
            {store.data === undefined ? !store.isError && <SkeletonRows rows={4} label="The store is loading" /> : <HealthFacts facts={store.data} />}
          </div>
        </Panel>
        <Panel label="Runs by status" head={<h2>Runs</h2>}>
          <div className="panel-body">{store.data !== undefined && <RunsBar runs={store.data.runs} />}</div>
        </Panel>
        <Panel label="Speed" head={<h2>Speed</h2>}><div className="panel-body"><Speed /></div></Panel>
        <Panel label="Retention" head={<h2>Retention</h2>}>
          <div className="panel-body retention">
            <p className="muted">The store keeps every run until it is removed. Runs that have not ended are never removed. Stop the server to prune: one process owns the store.</p>
            <code className="block">jeton prune --older-than 30d --dry-run</code>
          </div>
        </Panel>
      </div>
      {verifying && (
        <ActionDialog
          title="Verify" onClose={() => setVerifying(false)} command={() => command("verify", [])} onDone={setVerified}
          act={() => api.post("/v1/store/verify", {})} done={(found) => (found.ok ? "The store is intact" : `${counted(found.problems.length, "problem")} found`)}
        >
          <p>Reads everything in the store and checks it for damage, also for what SQLite’s own check does not find. It changes nothing, and takes as long as reading all of it.</p>
        </ActionDialog>
      )}
    </>
  );
}

function ReadyLine({ ready }: { readonly ready: Ready | null }): ReactNode {
  if (ready === null) return null;
  const look = ready.ok ? "completed" : "failed";
  return (
    <p className={`ready look-${look}`}>
      <StatusGlyph look={look} size={18} />
      <span><strong>{ready.ok ? "Ready" : "Not ready"}</strong> <span className="muted given">{ready.words}</span></span>
    </p>
  );
}

function VerifiedLine({ verified }: { readonly verified: Verified }): ReactNode {
  const look = verified.ok ? "completed" : "failed";
  return (
    <div className="verified" role="status" aria-label="Verified">
      <p className={`ready look-${look}`}><StatusGlyph look={look} size={18} /><strong>{verified.ok ? "Verified: the store is intact" : `Verified: ${counted(verified.problems.length, "problem")}`}</strong></p>
      <ul>{verified.problems.slice(0, 100).map((each, index) => <li key={index} className="given">{each.run_id !== null && <code>{each.run_id} </code>}{each.problem}</li>)}</ul>
    </div>
  );
}

function HealthFacts({ facts }: { readonly facts: Facts }): ReactNode {
  const now = useNow();
  const share = facts.bytes / Math.max(1, facts.bytes + facts.free_bytes);
  const open = Object.entries(facts.runs).filter(([status]) => !ENDED.has(status)).reduce((sum, [, number]) => sum + number, 0);
  return (
    <dl className="tiles">
      <Tile name="Size" value={bytes(facts.bytes)}><meter aria-label="Share of the disk" min={0} max={1} value={share} /></Tile>
      <Tile name="Free disk" value={bytes(facts.free_bytes)} />
      <Tile name="Entries" value={count(facts.entries)} />
      <Tile name="Open runs" value={count(open)} />
      <Tile name="Last commit" value={facts.last_commit_at === null ? "none yet" : relative(facts.last_commit_at, now)} {...(facts.last_commit_at === null ? {} : { title: exact(facts.last_commit_at) })} />
      <Tile name="Lost commits" value={count(facts.lost)} bad={facts.lost > 0} />
      <Tile name="Owner" value={facts.owner ?? "nobody"} text />
    </dl>
  );
}

function Tile({ name, value, title, bad = false, text = false, children }: { readonly name: string; readonly value: string; readonly title?: string; readonly bad?: boolean; readonly text?: boolean; readonly children?: ReactNode }): ReactNode {
  return (
    <div className={bad ? "tile bad" : "tile"} title={title}>
      <dt>{name}</dt>
      <dd className={text ? "given" : "large numbers"}>{value}{children}</dd>
    </div>
  );
}

function RunsBar({ runs }: { readonly runs: Readonly<Record<string, number>> }): ReactNode {
  const rows = RUN_STATUSES.map((status) => [status, runs[status] ?? 0] as const).filter(([, number]) => number > 0);
  const all = rows.reduce((sum, [, number]) => sum + number, 0);
  if (all === 0) return <p className="muted">No runs yet.</p>;
  return (
    <>
      <div className="runs-bar" aria-hidden="true">{rows.map(([status, number]) => <span key={status} className={`look-${lookOf(status)}`} style={{ flexGrow: number }} />)}</div>
      <ul className="runs-legend">
        {rows.map(([status, number]) => (
          <li key={status}><Link href={`/runs?status=${status}`} className="link-row"><StatusGlyph look={lookOf(status)} size={12} /> {status}<span className="numbers">{count(number)}</span></Link></li>
        ))}
      </ul>
    </>
  );
}

function Speed(): ReactNode {
  const found = useMeasured(SOON);
  if (found === null) return <p className="muted">Measured over the next seconds…</p>;
  return (
    <dl className="tiles">
      <Tile name="Entries per second" value={found.entriesPerSecond.toFixed(1)} />
      <Tile name="Commits per second" value={found.commitsPerSecond.toFixed(1)} />
      <Tile name="Commit time" value={found.commitMs === null ? "–" : `${found.commitMs.toFixed(1)} ms`} />
      <Tile name="Waiting messages" value={count(found.inbox)} />
      <Tile name="Tasks in flight" value={count(found.tasks)} />
    </dl>
  );
}
