/** Sending an answer, and who gives it. */
import { useMutation, useQueryClient, type UseMutationResult } from "@tanstack/react-query";

import { useSession } from "../../frame/session.ts";
import { api, type Schemas } from "../../lib/api/client.ts";
import type { Gate } from "../../lib/api/queries.ts";
import { command, inline } from "../../lib/command.ts";
import { keep, kept } from "../../lib/storage.ts";

const NAME = "answer-as";

/** Who answers, as last time; a key of a person answers as that person and nobody else. */
export function nameKept(): string {
  return kept(NAME) ?? "";
}

export function keepName(name: string): void {
  keep(NAME, name.trim() === "" ? null : name.trim());
}

/** Answers a gate, as whoever was named. */
export function useAnswer(gate: Gate, by: string, onAnswered: (outcome: string) => void): UseMutationResult<Schemas["Replied"]> {
  const client = useQueryClient();
  const { me } = useSession();
  return useMutation({
    mutationFn: (value: unknown) => api.post("/v1/gates/{gate}/answer", { path: { gate: gate.id }, body: { value, ...(me.person !== null || by.trim() === "" ? {} : { by: by.trim() }) } }),
    onSuccess: (reply) => {
      onAnswered(reply.outcome);
      void client.invalidateQueries({ queryKey: ["gates"] });
      void client.invalidateQueries({ queryKey: ["conversations"] });
    },
  });
}

/** The same as a command. */
export function answerCommand(gate: Gate, value: unknown, by: string): string {
  return command("answer", [gate.run_id], { gate: gate.id, value: inline(value ?? null), by: by.trim() });
}
