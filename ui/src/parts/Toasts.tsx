import type { ReactNode } from "react";

import { Button } from "./Button.tsx";
import { CheckIcon, CloseIcon } from "./icons.tsx";
import { dismiss, useToasts } from "./toasts.ts";

/** Where toasts are shown: a polite live region. */
export function Toasts(): ReactNode {
  const toasts = useToasts();
  return (
    <div className="toasts" role="status" aria-label="Done">
      {toasts.map((each) => (
        <div key={each.id} className="toast">
          <CheckIcon />
          <span className="given">{each.text}</span>
          <Button small square variant="quiet" aria-label="Dismiss" onClick={() => dismiss(each.id)}><CloseIcon size={12} /></Button>
        </div>
      ))}
    </div>
  );
}
