/** `/readyz`, in words. */
import { useQuery } from "@tanstack/react-query";

export interface Ready {
  readonly ok: boolean;
  readonly words: string;
}

const WORDS: Readonly<Record<string, string>> = {
  draining: "The server is shutting down: it finishes what it began and takes nothing new.",
  store_failed: "The last write to the store failed. Look at the disk and at the server’s log.",
  store_full: "There is no room left on the disk. Free some, and writes go on.",
  not_owner: "Another process owns the store. This one waits for it.",
  store_owned: "Another process owns the store. This one waits for it.",
  store_replaced: "The file of the store was replaced while it was open. Restart the server.",
};

/** What the answer of `/readyz` means. */
export function readyWords(ok: boolean, code: string | null): Ready {
  if (ok) return { ok, words: "The store is ours, its last write went well, and nothing drains." };
  return { ok, words: (code === null ? undefined : WORDS[code]) ?? `The server says ${code ?? "nothing more"}.` };
}

async function ask(signal: AbortSignal): Promise<Ready> {
  let answer: Response;
  try {
    answer = await fetch("/readyz", { signal, cache: "no-store" });
  } catch (error) {
    if (signal.aborted) throw error;
    return { ok: false, words: "The server does not answer." };
  }
  const body = (await answer.json().catch(() => ({}))) as { code?: unknown };
  return readyWords(answer.ok, typeof body.code === "string" ? body.code : null);
}

/** Whether the server is ready, asked again every so often. */
export function useReady(every: number): Ready | null {
  const { data } = useQuery({ queryKey: ["ready"], queryFn: ({ signal }) => ask(signal), refetchInterval: every, staleTime: 0 });
  return data ?? null;
}
