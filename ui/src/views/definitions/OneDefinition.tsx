import { useQuery } from "@tanstack/react-query";
import { useMemo, useState, type ReactNode } from "react";
import { Tab, TabList, TabPanel, Tabs } from "react-aria-components";
import { Link } from "wouter";

import { useMay } from "../../frame/session.ts";
import { api, type Schemas } from "../../lib/api/client.ts";
import { queries } from "../../lib/api/queries.ts";
import { useDraft } from "../../lib/drafts.ts";
import { navigate, useParameters } from "../../lib/location.ts";
import { Button } from "../../parts/Button.tsx";
import { CodeEditor } from "../../parts/CodeEditor.tsx";
import { DataTable } from "../../parts/DataTable.tsx";
import { Choice } from "../../parts/Field.tsx";
import { Boundary } from "../../parts/Panel.tsx";
import { ProblemAlert } from "../../parts/ProblemAlert.tsx";
import { StatusBadge } from "../../parts/StatusBadge.tsx";
import { Ago } from "../../parts/Time.tsx";
import { SkeletonRows } from "../../parts/Waiting.tsx";
import { StartRun } from "../runs/StartRun.tsx";
import { Difference } from "./Difference.tsx";
import { GraphDrawing } from "./GraphDrawing.tsx";
import { RunsOf } from "./RunsOf.tsx";
import { Workbench } from "./Workbench.tsx";
import type { File } from "./checking.ts";
import { nodeMarks } from "./difference.ts";

type Definition = Schemas["WorkflowView"];
const TABS = ["graph", "text", "versions", "runs"] as const;
const TITLES = { graph: "Graph", text: "Text", versions: "Versions", runs: "Runs" } as const;

/** One definition: its graph, its text to edit, its versions, its runs. */
export function OneDefinition({ name }: { readonly name: string }): ReactNode {
  const [parameters, set] = useParameters();
  const newest = useQuery(queries.workflow(name));
  const version = parameters.get("version") ?? "";
  const against = parameters.get("diff") ?? "";
  const chosen = useQuery({ ...queries.workflow(`${name}@${version}`), enabled: version !== "", staleTime: Infinity });
  const other = useQuery({ ...queries.workflow(`${name}@${against}`), enabled: against !== "", staleTime: Infinity });
  const definition = version === "" ? newest.data : chosen.data;
  const tab = TABS.find((each) => each === parameters.get("tab")) ?? "graph";
  const [starting, setStarting] = useState(false);
  const mayRun = useMay("run");
  const versions = newest.data?.versions ?? [];
  const latest = newest.data?.version;
  const error = newest.error ?? chosen.error ?? other.error;
  const options = versions.map((each): [string, string] => [each.version === latest ? "" : String(each.version), `Version ${String(each.version)}${each.version === latest ? ", newest" : ""}`]);
  const shownVersion = version === "" ? latest : Number(version);
  const older = versions.filter((each) => each.version !== shownVersion).map((each): [string, string] => [String(each.version), `Against ${String(each.version)}`]);
  return (
    <>
      <div className="view-head definition-head">
        <Link href="/definitions" className="link back">‹ Definitions</Link>
        <h1 className="given">{name}</h1>
        {newest.data !== undefined && (
          <>
            <Choice label="Version" hideLabel value={version === String(latest) ? "" : version} onChange={(event) => set({ version: event.target.value, diff: null })} options={options} />
            <Choice label="Against" hideLabel value={against} disabled={older.length === 0} onChange={(event) => set({ diff: event.target.value })} options={[["", "Against none"], ...older]} />
            {mayRun && newest.data.kind !== "agent" && <Button onClick={() => setStarting(true)}>Start run</Button>}
            {newest.data.kind === "agent" && <Button onClick={() => navigate(`/chat?agent=${encodeURIComponent(name.replace(/^agent:/, ""))}`)}>Talk to it</Button>}
          </>
        )}
      </div>
      {error !== null && <ProblemAlert error={error} onRetry={() => void newest.refetch()} />}
      {definition === undefined && error === null && <div className="panel"><SkeletonRows rows={8} label="The definition is loading" /></div>}
      {definition !== undefined && (
        <Tabs selectedKey={tab} onSelectionChange={(key) => set({ tab: key === "graph" ? null : String(key) })}>
          <TabList aria-label="Definition views" className="tabs">{TABS.map((each) => <Tab key={each} id={each} className="tab">{TITLES[each]}</Tab>)}</TabList>
          {TABS.map((each) => (
            <TabPanel key={each} id={each} className="tab-panel">
              <Boundary resetKey={`${each} ${version} ${against}`}>
                {each === "graph" && <GraphTab name={name} version={version} definition={definition} other={against === "" ? undefined : other.data} />}
                {each === "text" && <TextTab definition={definition} newest={version === "" || version === String(latest)} other={against === "" ? undefined : other.data} />}
                {each === "versions" && <VersionsTab definition={newest.data ?? definition} />}
                {each === "runs" && <RunsOf workflow={name} />}
              </Boundary>
            </TabPanel>
          ))}
        </Tabs>
      )}
      {starting && <StartRun workflow={name} onClose={() => setStarting(false)} onStarted={(run) => navigate(`/runs/${run}`)} />}
    </>
  );
}

/** The definition itself, out of the library that it was deployed with. */
function bodyOf(definition: Definition | undefined): unknown {
  if (definition === undefined) return undefined;
  for (const kind of ["workflows", "flows"]) {
    const found = (definition.definition[kind] as Readonly<Record<string, unknown>> | undefined)?.[definition.name];
    if (found !== undefined) return found;
  }
  return definition.definition;
}

function GraphTab({ name, version, definition, other }: { readonly name: string; readonly version: string; readonly definition: Definition; readonly other: Definition | undefined }): ReactNode {
  const reference = version === "" ? name : `${name}@${version}`;
  const graph = useQuery({
    queryKey: ["workflows", reference, "graph", definition.hash], staleTime: Infinity,
    queryFn: ({ signal }) => api.get("/v1/workflows/{workflow}/graph", { path: { workflow: reference }, signal }),
  });
  const marks = useMemo(() => (other === undefined ? undefined : nodeMarks(bodyOf(other), bodyOf(definition))), [other, definition]);
  if (graph.isError) return <ProblemAlert error={graph.error} onRetry={() => void graph.refetch()} />;
  if (graph.data === undefined) return <div className="panel"><SkeletonRows rows={5} label="The graph is loading" /></div>;
  return <div className="panel graph-panel">{<GraphDrawing name={name} graph={graph.data} {...(marks === undefined ? {} : { marks })} />}</div>;
}

function textsOf(definition: Definition): readonly File[] {
  if (definition.files.length > 0) return definition.files;
  return [{ name: `${definition.name.replace(/\W+/g, "_")}.json`, text: `${JSON.stringify(definition.definition, null, 2)}\n` }];
}

function TextTab({ definition, newest, other }: { readonly definition: Definition; readonly newest: boolean; readonly other: Definition | undefined }): ReactNode {
  const files = useMemo(() => textsOf(definition), [definition]);
  if (other !== undefined) {
    const before = new Map(textsOf(other).map((file) => [file.name, file.text]));
    return <>{files.map((file) => <Difference key={file.name} label={`Difference in ${file.name}`} before={before.get(file.name) ?? ""} after={file.text} />)}</>;
  }
  if (!newest) return <CodeEditor label="Definition text" value={files.map((file) => file.text).join("\n")} onChange={() => undefined} readOnly />;
  return <Editing key={definition.hash} definition={definition} files={files} />;
}

function Editing({ definition, files }: { readonly definition: Definition; readonly files: readonly File[] }): ReactNode {
  const [draft, setDraft, forget] = useDraft<readonly File[]>(`definition:${definition.name}:${definition.hash}`, files);
  const deployed = useMemo(() => new Map(files.map((file) => [file.name, file.text])), [files]);
  return (
    <>
      {definition.files.length === 0 && <p className="muted not-a-file">It was built in Python: this is what it came to. Deploying it from here replaces it until the program deploys again.</p>}
      <Workbench files={draft} deployed={deployed} name={definition.name} onChange={setDraft} onReset={forget} onDeployed={forget} />
    </>
  );
}

function VersionsTab({ definition }: { readonly definition: Definition }): ReactNode {
  const place = `/definitions/${encodeURIComponent(definition.name)}`;
  return (
    <DataTable
      label="Versions" rows={definition.versions} idOf={(row) => String(row.version)} onOpen={(row) => navigate(`${place}?version=${String(row.version)}`)}
      columns={[
        { name: "Version", width: "8rem", cell: (row) => <Link href={`${place}?version=${String(row.version)}`} className="link numbers">{`Version ${String(row.version)}`}</Link> },
        { name: "Deployed", width: "9rem", cell: (row) => row.deployed_at === null ? <span className="muted">not known</span> : <Ago at={row.deployed_at} /> },
        { name: "Status", width: "8rem", cell: (row) => row.version === definition.version ? <StatusBadge plain status="active" /> : <span className="muted">kept for its runs</span> },
        { name: "Hash", card: "wide", cell: (row) => <code title={row.hash}>{row.hash.slice(0, 16)}</code> },
        { name: "Compare", width: "12rem", end: true, cell: (row) => row.version === definition.version ? null : <Link href={`${place}?tab=text&diff=${String(row.version)}`} className="link">{`newest against ${String(row.version)}`}</Link> },
      ]}
    />
  );
}
