/** What the page reads, as options for useQuery: one key for each thing, so that views share what they have read.
 *
 * Keys begin with the thing: ["runs", …], ["run", ID, …], ["gates"], ["workflows"]. Events of the store's stream
 * invalidate by these beginnings (see `frame/live.ts`). */
import { QueryClient, infiniteQueryOptions, queryOptions } from "@tanstack/react-query";

import { api, type AnswerOf, type Schemas } from "./client.ts";
import { ApiProblem } from "./problem.ts";

export type Run = Schemas["RunSummary"];
export type RunStatus = Run["status"];
export type RunRecord = Schemas["RunAnswer"];
export type Gate = Schemas["GateView"];
export type Me = Schemas["Me"];
export type Scope = Me["scopes"][number];
export type RunFilter = Omit<Schemas["ActionQuery"], "after" | "limit">;

export const PAGE_OF_RUNS = 100;

export const queries = {
  me: () => queryOptions({ queryKey: ["me"], queryFn: ({ signal }) => api.get("/v1/me", { signal }), staleTime: Infinity }),
  runs: (filter: RunFilter) =>
    infiniteQueryOptions({
      queryKey: ["runs", "list", filter],
      queryFn: ({ signal, pageParam }): Promise<AnswerOf<"/v1/runs", "get">> =>
        api.get("/v1/runs", { query: { ...filter, after: pageParam, limit: PAGE_OF_RUNS } as never, signal }),
      initialPageParam: "",
      getNextPageParam: (page) => page.next,
    }),
  run: (run: string) =>
    queryOptions({ queryKey: ["run", run], queryFn: ({ signal }) => api.get("/v1/runs/{run}", { path: { run }, signal }) }),
  explain: (run: string) =>
    queryOptions({
      queryKey: ["run", run, "explain"],
      // without a token or a transition it explains the run
      queryFn: async ({ signal }) => (await api.get("/v1/runs/{run}/explain", { path: { run }, query: { alike: 1 }, signal })) as Schemas["RunExplained"],
    }),
  progress: (run: string) =>
    queryOptions({ queryKey: ["run", run, "graph", null], queryFn: ({ signal }) => api.get("/v1/runs/{run}/graph", { path: { run }, signal }) }),
  failures: (filter: RunFilter) =>
    queryOptions({
      queryKey: ["runs", "failures", filter],
      queryFn: ({ signal }): Promise<AnswerOf<"/v1/runs", "get">> => api.get("/v1/runs", { query: { ...filter, status: "failed,timed_out", limit: 1000 } as never, signal }),
    }),
  gates: () => queryOptions({ queryKey: ["gates"], queryFn: ({ signal }) => api.get("/v1/gates", { signal }) }),
  workflows: () =>
    queryOptions({ queryKey: ["workflows"], queryFn: ({ signal }) => api.get("/v1/workflows", { signal }) }),
  workflow: (workflow: string) =>
    queryOptions({
      queryKey: ["workflows", workflow],
      queryFn: ({ signal }) => api.get("/v1/workflows/{workflow}", { path: { workflow }, signal }),
    }),
  savedQueries: () =>
    queryOptions({ queryKey: ["queries"], queryFn: ({ signal }) => api.get("/v1/queries", { signal }) }),
  store: () => queryOptions({ queryKey: ["store"], queryFn: ({ signal }) => api.get("/v1/store", { signal }) }),
};

/** The cache of what was read. What is there is shown while it is asked for again; only what may pass is retried. */
export function newQueryClient(): QueryClient {
  return new QueryClient({
    defaultOptions: {
      queries: {
        staleTime: 5_000,
        refetchOnWindowFocus: false,
        // the stream tells what is new; `navigator.onLine` says nothing about a server on this machine
        networkMode: "always",
        retry: (count, error) => count < 2 && error instanceof ApiProblem && error.passing,
        retryDelay: (count) => 500 * 2 ** count,
      },
      mutations: { networkMode: "always", retry: false },
    },
  });
}
