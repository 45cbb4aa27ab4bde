import { useQuery } from "@tanstack/react-query";
import type { ReactNode } from "react";

import { queries } from "../../lib/api/queries.ts";
import { count } from "../../lib/numbers.ts";

/** How many gates are open, beside the link. */
export function GatesBadge(): ReactNode {
  const { data } = useQuery(queries.gates());
  const open = data?.gates.length ?? 0;
  if (open === 0) return null;
  return <span className="badge">{count(open)}<span className="hidden"> open</span></span>;
}
