/** Checking as you type: asked when typing has paused, and the newest answer wins. */
import { useEffect, useRef, useState } from "react";

import { Newest, api, type Schemas } from "../../lib/api/client.ts";

export type File = Schemas["FileBody"];
export type Checked = Schemas["Checked"];

const PAUSE = 300;

export interface Check {
  /** The newest answer, for a text that may be older than the one in the editor. */
  readonly answer: Checked | null;
  /** The files that the answer is about. */
  readonly of: readonly File[];
  readonly error: unknown;
  readonly pending: boolean;
}

const NOTHING: Check = { answer: null, of: [], error: null, pending: true };

/** Check files as they change. */
export function useCheck(files: readonly File[] | null): Check {
  const newest = useRef(new Newest());
  const [check, setCheck] = useState<Check>(NOTHING);
  const key = files === null ? null : JSON.stringify(files);
  const first = useRef(true);
  useEffect(() => {
    const asking = newest.current;
    if (key === null) return;
    const of = JSON.parse(key) as File[];
    setCheck((before) => ({ ...before, pending: true }));
    const ask = async (): Promise<void> => {
      try {
        const answer = await asking.take((signal) => api.post("/v1/check", { body: { files: of }, signal }));
        if (answer !== undefined) setCheck({ answer, of, error: null, pending: false });
      } catch (error) {
        setCheck((before) => ({ ...before, error, pending: false }));
      }
    };
    const timer = setTimeout(() => void ask(), first.current ? 0 : PAUSE);
    first.current = false;
    return () => clearTimeout(timer);
  }, [key]);
  useEffect(() => {
    const asking = newest.current;
    return () => asking.stop();
  }, []);
  return check;
}
