import RjsfForm from "@rjsf/core";
import { toErrorSchema, type RJSFValidationError, type UiSchema } from "@rjsf/utils";
import { useMemo, type ReactNode } from "react";

import type { Place } from "../../lib/api/problem.ts";
import { partsOfPath } from "./paths.ts";
import { templates, widgets } from "./templates.tsx";
import validator, { withoutUndefined } from "./validator.ts";

export interface FormProps {
  readonly schema: object;
  readonly value: unknown;
  readonly onChange: (value: unknown) => void;
  /** What the server refused, at the fields it names: `$.order.lines[0].sku`, `order.lines.0.sku` or a JSON pointer. */
  readonly refused?: readonly Place[] | undefined;
  readonly disabled?: boolean;
  /** Names ids in the document apart, where several forms are shown. */
  readonly idPrefix?: string;
}

/** A yes or no that nobody gave is no "no". */
const NO_GUESSES = { requiredBooleanDefault: "skip" } as const;
const NO_BUTTON: UiSchema = { "ui:submitButtonOptions": { norender: true }, "ui:label": true };

/** What must be given comes first. */
function needed(schema: object): UiSchema {
  const { required, properties } = schema as { required?: unknown; properties?: object };
  const names = Array.isArray(required) ? required.filter((name): name is string => typeof name === "string" && Object.hasOwn(properties ?? {}, name)) : [];
  return names.length === 0 ? {} : { "ui:order": [...names, "*"] };
}

export default function Form({ schema, value, onChange, refused = [], disabled = false, idPrefix = "form" }: FormProps): ReactNode {
  const extraErrors = useMemo(() => {
    const errors = refused.map((each): RJSFValidationError => ({ message: each.problem, property: partsOfPath(each.path).map((part) => `.${part}`).join(""), stack: each.problem }));
    return toErrorSchema(errors);
  }, [refused]);
  const ui = useMemo(() => ({ ...NO_BUTTON, ...needed(schema) }), [schema]);
  return (
    <div className="form">
      <RjsfForm
        schema={schema} uiSchema={ui} experimental_defaultFormStateBehavior={NO_GUESSES} formData={value} validator={validator} templates={templates} widgets={widgets}
        tagName="div" idPrefix={idPrefix} liveValidate="onChange" noHtml5Validate showErrorList={false} extraErrors={extraErrors} disabled={disabled}
        onChange={({ formData }) => { onChange(withoutUndefined(formData)); }}
      />
    </div>
  );
}
