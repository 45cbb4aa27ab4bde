import { useId, type InputHTMLAttributes, type ReactNode, type SelectHTMLAttributes } from "react";

interface FieldProps {
  readonly label: string;
  readonly hint?: ReactNode;
  /** Why the value was refused, at the field. */
  readonly refused?: string | undefined;
}

/** A text field with its label. */
export function TextField({ label, hint, refused, ...rest }: FieldProps & InputHTMLAttributes<HTMLInputElement>): ReactNode {
  const id = useId();
  return (
    <div className="field">
      <label htmlFor={id}>{label}</label>
      <input id={id} className="input" aria-invalid={refused !== undefined} aria-describedby={`${id}-told`} autoComplete="off" {...rest} />
      <Told id={`${id}-told`} hint={hint} refused={refused} />
    </div>
  );
}

/** What a field says below itself. */
export function Told({ id, hint, refused }: { readonly id: string; readonly hint?: ReactNode; readonly refused?: string | undefined }): ReactNode {
  return (
    <div id={id}>
      {refused !== undefined ? <p className="refused given" role="alert">{refused}</p> : hint !== undefined && <p className="hint">{hint}</p>}
    </div>
  );
}

interface ChoiceProps extends SelectHTMLAttributes<HTMLSelectElement> {
  readonly label: string;
  readonly options: readonly (readonly [value: string, label: string])[];
  /** The label is for those who do not see the field only. */
  readonly hideLabel?: boolean;
}

/** One of several: the browser's own list, which every keyboard, phone and screen reader knows. */
export function Choice({ label, options, hideLabel = false, ...rest }: ChoiceProps): ReactNode {
  const id = useId();
  return (
    <div className="field">
      <label htmlFor={id} className={hideLabel ? "hidden" : undefined}>{label}</label>
      <select id={id} className="select" {...rest}>
        {options.map(([value, text]) => <option key={value} value={value}>{text}</option>)}
      </select>
    </div>
  );
}
