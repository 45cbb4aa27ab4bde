import { useState, type ReactNode } from "react";

import { useDraft } from "../../lib/drafts.ts";
import { navigate } from "../../lib/location.ts";
import { TextField } from "../../parts/Field.tsx";
import { Workbench } from "./Workbench.tsx";
import type { File } from "./checking.ts";

const TEMPLATE = `workflows:
  hello:
    input_schema:
      type: object
      required: [name]
      properties:
        name: {type: string}
    initial_node: greet
    nodes:
      greet: {output_mapping: {state.greeting: "'Hello, ' + input.name"}}
      done: {output_mapping: {output.text: state.greeting}}
    transitions:
      - {from: greet, to: done}
`;
const NOTHING: ReadonlyMap<string, string> = new Map();

/** A new definition: a text to begin with, checked as it is typed. */
export function NewDefinition(): ReactNode {
  const [text, setText, forget] = useDraft("definition:new", TEMPLATE);
  const [file, setFile] = useState("new.yaml");
  const named = /\.(ya?ml|json)$/.test(file);
  const files: readonly File[] = [{ name: named ? file : `${file}.yaml`, text }];
  return (
    <>
      <div className="view-head">
        <h1>New definition</h1>
        <div className="file-name"><TextField label="File" value={file} onChange={(event) => setFile(event.target.value)} maxLength={200} /></div>
      </div>
      <Workbench
        files={files} deployed={NOTHING} onChange={(next) => setText(next[0]?.text ?? "")} onReset={text === TEMPLATE ? undefined : forget}
        onDeployed={(answer) => {
          forget();
          const [first] = Object.keys(answer.versions);
          navigate(first === undefined ? "/definitions" : `/definitions/${encodeURIComponent(first)}`);
        }}
      />
    </>
  );
}
