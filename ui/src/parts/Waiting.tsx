/** What stands in for data: nothing yet, nothing at all. */
import type { ReactNode } from "react";

import { Command } from "./Command.tsx";

/** The shape of rows that are being read. It is shown only where there is nothing to show yet. */
export function SkeletonRows({ rows = 6, label }: { readonly rows?: number; readonly label: string }): ReactNode {
  return (
    <div className="skeleton-rows" role="status" aria-label={label}>
      {Array.from({ length: rows }, (_, index) => (
        <span key={index} className="skeleton" style={{ width: `${90 - ((index * 37) % 45)}%` }} />
      ))}
    </div>
  );
}

interface EmptyProps {
  readonly icon: ReactNode;
  readonly title: string;
  /** What would be here. */
  readonly children: ReactNode;
  /** The one command that puts it there. */
  readonly command?: string;
  readonly action?: ReactNode;
}

/** Nothing here yet: what would be, and the one command that puts it there. */
export function Empty({ icon, title, children, command, action }: EmptyProps): ReactNode {
  return (
    <div className="empty">
      <span className="picture">{icon}</span>
      <h2>{title}</h2>
      <p>{children}</p>
      {command !== undefined && <Command text={command} />}
      {action}
    </div>
  );
}
