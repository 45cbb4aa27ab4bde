/** Triggers in words. */
import type { Trigger } from "./Triggers.tsx";

function text(value: unknown): string {
  return typeof value === "string" ? value : JSON.stringify(value);
}

/** What makes a trigger fire: `0 7 * * mon-fri, Europe/Berlin`, `POST /hooks/orders/paid`. */
export function whenOf(trigger: Pick<Trigger, "type" | "on">): string {
  const { on } = trigger;
  switch (trigger.type) {
    case "schedule": return `${text(on["cron"])}, ${text(on["time_zone"] ?? "UTC")}`;
    case "webhook": return `POST /hooks/${text(on["path"])}${on["secret"] === undefined ? ", unsigned" : ", signed"}`;
    case "event": return `event ${text(on["name"])}${on["condition"] === undefined ? "" : ` if ${text(on["condition"])}`}`;
    case "run_finished": return `a run of ${text(on["workflow"])} ends`;
    case "manual": return "by hand";
    default: return Object.keys(on).length === 0 ? trigger.type : JSON.stringify(on);
  }
}

/** A moment on the clocks of a time zone: `Thu 19 Nov 07:00 (Europe/Berlin)`. */
export function inZone(at: string, zone: unknown): string {
  const timeZone = typeof zone === "string" ? zone : "UTC";
  try {
    const shown = new Intl.DateTimeFormat("en-GB", { timeZone, weekday: "short", day: "numeric", month: "short", hour: "2-digit", minute: "2-digit" }).format(new Date(at)).replaceAll(",", "");
    return `${shown} (${timeZone})`;
  } catch {
    return at; // a zone that this browser does not know
  }
}

/** The line for a shell that sends a webhook, with its signature. */
export function curlOf(trigger: Pick<Trigger, "on">, origin: string): string {
  const address = `${origin}/hooks/${text(trigger.on["path"])}`;
  const send = "curl -X POST -H 'Content-Type: application/json'";
  const secret = trigger.on["secret"];
  if (secret === undefined) return `${send} --data '{}' '${address}'`;
  return `BODY='{}'; ${send} -H "X-Jeton-Signature: sha256=$(printf %s "$BODY" | openssl dgst -sha256 -hmac "$${text(secret)}" -r | cut -d' ' -f1)" --data "$BODY" '${address}'`;
}
