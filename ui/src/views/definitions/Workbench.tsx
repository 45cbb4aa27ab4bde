import { useMemo, useRef, useState, type ReactNode } from "react";

import { useMay } from "../../frame/session.ts";
import type { Schemas } from "../../lib/api/client.ts";
import { counted } from "../../lib/numbers.ts";
import { Button } from "../../parts/Button.tsx";
import { CodeEditor } from "../../parts/CodeEditor.tsx";
import { Choice } from "../../parts/Field.tsx";
import { Boundary } from "../../parts/Panel.tsx";
import { ProblemAlert } from "../../parts/ProblemAlert.tsx";
import { StatusGlyph } from "../../parts/icons.tsx";
import { DeployDialog } from "./DeployDialog.tsx";
import { GraphDrawing } from "./GraphDrawing.tsx";
import { Problems } from "./Problems.tsx";
import { Simulate } from "./Simulate.tsx";
import { useCheck, type Check, type File } from "./checking.ts";
import { completions } from "./completing.ts";
import { mended, placeOf, type Problem } from "./mend.ts";

interface Props {
  readonly files: readonly File[];
  readonly onChange: (files: readonly File[]) => void;
  /** What is deployed now, by the name of the file. */
  readonly deployed: ReadonlyMap<string, string>;
  /** The workflow that the view is about; none: a new definition. */
  readonly name?: string | undefined;
  readonly onDeployed: (answer: Schemas["Deployed"]) => void;
  readonly onReset?: (() => void) | undefined;
}

/** The editor with all that follows what is typed: problems, the graph, simulation, deploying. */
export function Workbench({ files, onChange, deployed, name, onDeployed, onReset }: Props): ReactNode {
  const mayCheck = useMay("run");
  const mayDeploy = useMay("admin");
  const check = useCheck(mayCheck ? files : null);
  const [open, setOpen] = useState(() => Math.max(0, files.findIndex((file) => name !== undefined && new RegExp(`^\\s*["']?${escaped(name.replace(/^agent:/, ""))}["']?\\s*:`, "m").test(file.text))));
  const [deploying, setDeploying] = useState(false);
  const place = useRef<HTMLDivElement>(null);
  const at = Math.min(open, files.length - 1);
  const file = files[at];
  const problems = check.answer?.problems ?? [];
  const errors = problems.filter((each) => each.severity === "error").length;
  const graphs = Object.entries(check.answer?.graphs ?? {});
  const shown = graphs.find(([each]) => each === name) ?? graphs.find(([, graph]) => graph.nodes.length > 0);
  const nodes = useRef<readonly string[]>([]);
  nodes.current = shown?.[1].nodes.map((node) => node.id) ?? [];
  const complete = useMemo(() => completions(() => nodes.current), []);
  const names = graphs.filter(([each]) => !each.startsWith("agent:")).map(([each]) => each);
  const changed = files.some((each) => deployed.get(each.name) !== each.text);
  const diagnostics = useMemo(() => {
    const text = file?.text ?? "";
    return (check.answer?.problems ?? []).filter((each) => each.file === file?.name).map((each) => ({
      ...placeOf(text, each), severity: each.severity === "error" ? ("error" as const) : ("warning" as const), message: `${each.problem}: ${each.remedy}`,
    }));
  }, [check.answer, file]);
  const write = (which: string, text: string): void => onChange(files.map((each) => (each.name === which ? { ...each, text } : each)));
  const goTo = (problem: Problem): void => {
    const index = files.findIndex((each) => each.name === problem.file);
    if (index >= 0) setOpen(index);
    requestAnimationFrame(() => void focusAt(place.current, placeOf(files[index]?.text ?? "", problem).from));
  };
  if (file === undefined) return null;
  return (
    <div className="workbench">
      <div className="workbench-head">
        {files.length > 1 && <Choice label="File" hideLabel value={String(at)} onChange={(event) => setOpen(Number(event.target.value))} options={files.map((each, index): [string, string] => [String(index), each.name])} />}
        <CheckLine check={check} may={mayCheck} errors={errors} />
        <span className="spring" />
        {changed && onReset !== undefined && <Button variant="quiet" onClick={onReset}>Discard changes</Button>}
        {mayDeploy && <Button variant="primary" disabled={errors > 0 || check.pending || check.answer === null || !changed} onClick={() => setDeploying(true)}>Deploy</Button>}
      </div>
      <div className="workbench-body">
        <div className="workbench-text" ref={place}>
          <CodeEditor label="Definition text" value={file.text} onChange={(text) => write(file.name, text)} readOnly={!mayCheck} diagnostics={diagnostics} complete={complete} height="clamp(20rem, 58vh, 44rem)" />
          {check.error !== null && <ProblemAlert error={check.error} />}
          <Problems problems={problems} severalFiles={files.length > 1} textOf={(which) => files.find((each) => each.name === which)?.text} onGoTo={goTo} onMend={(which, mend) => write(which, mended(files.find((each) => each.name === which)?.text ?? "", mend))} />
        </div>
        <div className="workbench-side">
          {mayCheck && (
            <div className="panel graph-panel">
              <Boundary resetKey={String(check.answer !== null)}>{shown === undefined ? <p className="muted graph-none">The graph is drawn here as you type.</p> : <GraphDrawing name={shown[0]} graph={shown[1]} />}</Boundary>
            </div>
          )}
          {mayCheck && (names.length > 0 || graphs.length === 0) && <Simulate files={files} names={name !== undefined && names.includes(name) ? [name] : names} blocked={errors > 0 || check.answer === null} />}
        </div>
      </div>
      {deploying && <DeployDialog files={files} deployed={deployed} names={graphs.map(([each]) => each)} onClose={() => setDeploying(false)} onDone={onDeployed} />}
    </div>
  );
}

function CheckLine({ check, may, errors }: { readonly check: Check; readonly may: boolean; readonly errors: number }): ReactNode {
  if (!may) return <span className="muted">Your key may read this and not change it.</span>;
  if (check.answer === null) return <span role="status" aria-label="Check" className="muted check-line">{check.error === null ? "Checking…" : "Not checked"}</span>;
  const warnings = check.answer.problems.length - errors;
  const look = errors > 0 ? "failed" : "completed";
  return <span role="status" aria-label="Check" className={`check-line look-${look}`}><StatusGlyph look={look} />{`${counted(errors, "error")}, ${counted(warnings, "warning")}`}</span>;
}

function escaped(text: string): string {
  return text.replace(/[.*+?^${}()|[\]\\]/g, "\\$&");
}

/** Put the cursor of the editor at a place of its text. The editor's code is there by then. */
async function focusAt(place: HTMLElement | null, at: number): Promise<void> {
  const { EditorView } = await import("@codemirror/view");
  const box = place?.querySelector<HTMLElement>(".cm-editor") ?? null;
  const view = box === null ? null : EditorView.findFromDOM(box);
  if (view === null) return;
  const to = Math.min(at, view.state.doc.length);
  view.dispatch({ selection: { anchor: to }, effects: EditorView.scrollIntoView(to, { y: "center" }) });
  view.focus();
}
