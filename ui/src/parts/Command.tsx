import { useState, type ReactNode } from "react";

import { Button } from "./Button.tsx";
import { CheckIcon, CopyIcon } from "./icons.tsx";

/** A command as text, with `Copy command`. */
export function Command({ text }: { readonly text: string }): ReactNode {
  const [copied, setCopied] = useState<string | null>(null);
  const copy = (): void => {
    navigator.clipboard.writeText(text).then(
      () => setCopied(text),
      () => setCopied(null),
    );
  };
  const done = copied === text;
  return (
    <div className="command">
      <code>{text}</code>
      <Button small square variant="quiet" aria-label="Copy command" title="Copy command" onClick={copy}>
        {done ? <CheckIcon size={14} /> : <CopyIcon size={14} />}
      </Button>
      <span role="status" className="hidden">{done ? "Copied" : ""}</span>
    </div>
  );
}
