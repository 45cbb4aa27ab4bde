import { useId, useState, type ReactNode } from "react";

import { Told } from "./Field.tsx";

interface Props {
  readonly label: string;
  readonly value: unknown;
  /** The value that was written, or undefined while the text is no JSON. */
  readonly onChange: (value: unknown) => void;
  readonly refused?: string | undefined;
  readonly rows?: number;
}

/** Why a text is no JSON, in words; null: it is. An empty text stands for no value. */
export function faultIn(text: string): string | null {
  if (text.trim() === "") return null;
  try {
    JSON.parse(text);
    return null;
  } catch (error) {
    return `this is no JSON yet: ${error instanceof Error ? error.message : "it cannot be read"}`;
  }
}

/** A value written as JSON. The text stays as it is typed; the value follows whenever it can be read. */
export function JsonField({ label, value, onChange, refused, rows = 6 }: Props): ReactNode {
  const id = useId();
  const [text, setText] = useState(() => (value === undefined ? "" : JSON.stringify(value, null, 2)));
  const [known, setKnown] = useState(value);
  if (known !== value) {
    // changed from outside, and not by what was typed here
    setKnown(value);
    if (value !== undefined && (faultIn(text) !== null || JSON.stringify(value) !== JSON.stringify(text.trim() === "" ? undefined : JSON.parse(text))))
      setText(JSON.stringify(value, null, 2));
  }
  const fault = faultIn(text);
  return (
    <div className="field">
      <label htmlFor={id}>{label}</label>
      <textarea
        id={id} className="input code" value={text} rows={rows} spellCheck={false} aria-invalid={fault !== null || refused !== undefined} aria-describedby={`${id}-told`}
        onChange={(event) => {
          const next = event.target.value;
          setText(next);
          const read: unknown = faultIn(next) === null && next.trim() !== "" ? JSON.parse(next) : undefined;
          setKnown(read);
          onChange(read);
        }}
      />
      <Told id={`${id}-told`} refused={fault ?? (refused === "" ? undefined : refused)} />
    </div>
  );
}
