import { Suspense, lazy, useState, type ReactNode } from "react";

import type { Place } from "../lib/api/problem.ts";
import { Button } from "./Button.tsx";
import { JsonField } from "./JsonField.tsx";
import { Boundary } from "./Panel.tsx";
import { SkeletonRows } from "./Waiting.tsx";

const Form = lazy(() => import("./forms/Form.tsx"));

interface Props {
  /** The JSON Schema; null: any JSON, which is written as text. */
  readonly schema: object | null;
  readonly value: unknown;
  /** The value, or undefined while the text is no JSON. */
  readonly onChange: (value: unknown) => void;
  /** The name of the text field: “Input (JSON)”, “Answer (JSON)”. */
  readonly jsonLabel: string;
  readonly refused?: readonly Place[] | undefined;
  readonly idPrefix?: string;
}

/** A value by a form made from its schema, or as JSON: `Edit as JSON` always works. */
export function SchemaForm({ schema, value, onChange, jsonLabel, refused, idPrefix }: Props): ReactNode {
  const [asText, setAsText] = useState(false);
  const hasForm = schema !== null && Object.keys(schema).length > 0;
  if (!hasForm || asText) {
    return (
      <div className="form">
        <JsonField label={jsonLabel} value={value} onChange={onChange} refused={refused?.map((each) => `${each.path}: ${each.problem}`).join("; ")} />
        {hasForm && <div className="form-foot"><Button small variant="quiet" onClick={() => setAsText(false)}>Edit as form</Button></div>}
      </div>
    );
  }
  return (
    <div>
      <Boundary>
        <Suspense fallback={<SkeletonRows rows={3} label="The form is loading" />}>
          <Form schema={schema} value={value} onChange={onChange} refused={refused} {...(idPrefix === undefined ? {} : { idPrefix })} />
        </Suspense>
      </Boundary>
      <div className="form-foot"><Button small variant="quiet" onClick={() => setAsText(true)}>Edit as JSON</Button></div>
    </div>
  );
}
