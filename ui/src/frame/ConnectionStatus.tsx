import type { ReactNode } from "react";

import { useNow } from "../lib/time.ts";
import { connectionText } from "./connection.ts";
import { useLiveState } from "./live.tsx";

export function ConnectionStatus(): ReactNode {
  const [look, text] = connectionText(useLiveState(), useNow());
  return <span role="status" aria-label="Connection" className={`connection ${look}`}>{text}</span>;
}
