import type { ReactNode } from "react";

import { lookOf } from "../lib/statuses.ts";
import { StatusGlyph } from "./icons.tsx";

interface Props {
  readonly status: string;
  /** Without the coloured ground, where many stand close together. */
  readonly plain?: boolean;
  /** A run may be paused in whatever status it has. */
  readonly paused?: boolean;
}

/** A status: its glyph, its word and its colour. */
export function StatusBadge({ status, plain = false, paused = false }: Props): ReactNode {
  const look = paused ? "paused" : lookOf(status);
  return (
    <span className={`status look-${look}${plain ? " plain" : ""}`}>
      <StatusGlyph look={look} />
      {paused ? `${status}, paused` : status}
    </span>
  );
}
