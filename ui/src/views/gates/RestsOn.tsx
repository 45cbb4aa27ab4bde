import { useQuery } from "@tanstack/react-query";
import { useEffect, useRef, useState, type ReactNode } from "react";

import { api } from "../../lib/api/client.ts";
import { JsonTree } from "../../parts/JsonTree.tsx";

const AT_A_GLANCE = 6;

/** A value in a few characters. */
export function brief(value: unknown): string {
  if (typeof value === "string") return value.length > 80 ? `${value.slice(0, 80)}…` : value;
  if (Array.isArray(value)) return String(value.length);
  if (typeof value === "object" && value !== null) return `${String(Object.keys(value).length)} fields`;
  return JSON.stringify(value);
}

/** What the question rests on: the run's state as it is now, a line of it at a glance and the rest when opened. */
export function RestsOn({ run }: { readonly run: string }): ReactNode {
  const place = useRef<HTMLDivElement>(null);
  const [seen, setSeen] = useState(false);
  useEffect(() => {
    const box = place.current;
    if (box === null || seen) return;
    const watcher = new IntersectionObserver((found) => { if (found.some((each) => each.isIntersecting)) setSeen(true); });
    watcher.observe(box);
    return () => watcher.disconnect();
  }, [seen]);
  const { data } = useQuery({
    queryKey: ["run", run, "context"], enabled: seen, staleTime: 30_000,
    queryFn: ({ signal }) => api.get("/v1/runs/{run}/context", { path: { run }, signal }),
  });
  const state = Object.entries(data?.state ?? {});
  return (
    <div ref={place} className="rests-on">
      {data !== undefined && (
        <details>
          <summary>
            {state.slice(0, AT_A_GLANCE).map(([name, value]) => <span key={name} className="rest given"><span className="muted">{name}</span> {brief(value)}</span>)}
            {state.length === 0 && <span className="muted">What it rests on</span>}
          </summary>
          <JsonTree label="What it rests on" value={{ input: data.input, state: data.state }} open={["/state", "/input"]} />
        </details>
      )}
    </div>
  );
}
