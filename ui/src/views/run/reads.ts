/** What the tabs of a run read from the server, as it is or as it was after an entry. */
import { keepPreviousData, queryOptions } from "@tanstack/react-query";

import { api, type Schemas } from "../../lib/api/client.ts";

/** How many routings, waits and ends are read of those that are alike; the rest is counted. */
const ALIKE = 3;
const at = (entry: number | null): { at?: number } => (entry === null ? {} : { at: entry });

export const reads = {
  layout: (workflow: string, version: number) =>
    queryOptions({
      queryKey: ["workflows", workflow, "graph", version],
      queryFn: ({ signal }) => api.get("/v1/workflows/{workflow}/graph", { path: { workflow: `${workflow}@${String(version)}` }, signal }),
      staleTime: Infinity,
    }),
  graph: (run: string, entry: number | null) =>
    queryOptions({
      queryKey: ["run", run, "graph", entry],
      queryFn: ({ signal }) => api.get("/v1/runs/{run}/graph", { path: { run }, query: at(entry), signal }),
      placeholderData: keepPreviousData,
      staleTime: entry === null ? 5_000 : Infinity,
    }),
  tokens: (run: string, entry: number | null) =>
    queryOptions({
      queryKey: ["run", run, "tokens", entry],
      queryFn: async ({ signal }) => (await api.get("/v1/runs/{run}/tokens", { path: { run }, query: at(entry), signal })).tokens,
      placeholderData: keepPreviousData,
    }),
  explain: (run: string, entry: number | null) =>
    queryOptions({
      queryKey: ["run", run, "explain", "run", entry],
      queryFn: async ({ signal }) => (await api.get("/v1/runs/{run}/explain", { path: { run }, query: { alike: ALIKE, ...at(entry) }, signal })) as Schemas["RunExplained"],
      placeholderData: keepPreviousData,
    }),
  explainToken: (run: string, token: number, entry: number | null) =>
    queryOptions({
      queryKey: ["run", run, "explain", "token", token, entry],
      queryFn: async ({ signal }) => (await api.get("/v1/runs/{run}/explain", { path: { run }, query: { token, ...at(entry) }, signal })) as Schemas["TokenExplained"],
    }),
  explainTransition: (run: string, transition: number, entry: number | null) =>
    queryOptions({
      queryKey: ["run", run, "explain", "transition", transition, entry],
      queryFn: async ({ signal }) => (await api.get("/v1/runs/{run}/explain", { path: { run }, query: { transition, alike: ALIKE, ...at(entry) }, signal })) as Schemas["TransitionExplained"],
    }),
  slots: (run: string, group: number, entry: number | null) =>
    queryOptions({
      queryKey: ["run", run, "slots", group, entry],
      queryFn: ({ signal }) => api.get("/v1/runs/{run}/groups/{group}/slots", { path: { run, group: String(group) }, query: at(entry), signal }),
      placeholderData: keepPreviousData,
    }),
  children: (run: string) =>
    queryOptions({
      queryKey: ["run", run, "children"],
      queryFn: async ({ signal }) => (await api.get("/v1/runs/{run}/children", { path: { run }, signal })).runs,
    }),
};
