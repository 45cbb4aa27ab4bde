/** JSON Patch (RFC 6902) and differences of JSON values. Values are never changed in place: what did not change is shared. */

export interface Operation {
  readonly op: "add" | "remove" | "replace";
  readonly path: string;
  readonly value?: unknown;
}

/** What one operation did: the value before and after. Undefined: there was none, or there is none. */
export interface Change {
  readonly path: string;
  readonly before: unknown;
  readonly after: unknown;
}

/** The names along a JSON pointer: `/state/a~1b` → `["state", "a/b"]`. */
export function namesIn(path: string): string[] {
  return path === "" ? [] : path.slice(1).split("/").map((name) => name.replaceAll("~1", "/").replaceAll("~0", "~"));
}

/** A JSON pointer as people read it: `state.votes[2].points`. */
export function readablePath(path: string): string {
  let text = "";
  for (const name of namesIn(path)) {
    if (/^(\d+|-)$/.test(name)) text += `[${name}]`;
    else text += text === "" ? name : `.${name}`;
  }
  return text;
}

/** The value at a place. Undefined: there is none. */
export function valueAt(value: unknown, path: string): unknown {
  let found = value;
  for (const name of namesIn(path)) {
    if (Array.isArray(found)) found = (found as unknown[])[Number(name)];
    else if (typeof found === "object" && found !== null && Object.hasOwn(found, name)) found = (found as Record<string, unknown>)[name];
    else return undefined;
  }
  return found;
}

function changed(value: unknown, names: readonly string[], at: number, operation: Operation): unknown {
  const name = names[at];
  if (name === undefined) return operation.value;
  const last = at === names.length - 1;
  if (Array.isArray(value)) {
    const copy = (value as unknown[]).slice();
    const index = name === "-" ? copy.length : Number(name);
    if (!last) copy[index] = changed(copy[index], names, at + 1, operation);
    else if (operation.op === "remove") copy.splice(index, 1);
    else if (operation.op === "add") copy.splice(index, 0, operation.value);
    else copy[index] = operation.value;
    return copy;
  }
  const copy: Record<string, unknown> = { ...(value as Record<string, unknown> | null) };
  let member: unknown = operation.value;
  if (!last) member = changed(Object.hasOwn(copy, name) ? copy[name] : undefined, names, at + 1, operation);
  else if (operation.op === "remove") {
    Reflect.deleteProperty(copy, name);
    return copy;
  }
  // a member may be called `__proto__`
  Object.defineProperty(copy, name, { value: member, enumerable: true, configurable: true, writable: true });
  return copy;
}

/** The value after some operations. */
export function applyPatch(value: unknown, operations: readonly Operation[]): unknown {
  return operations.reduce((now, operation) => changed(now, namesIn(operation.path), 0, operation), value);
}

/** What operations change, with the value before and after of each place. */
export function changesOf(value: unknown, operations: readonly Operation[]): Change[] {
  const found: Change[] = [];
  let now = value;
  for (const operation of operations) {
    const path = operation.path.endsWith("/-") ? `${operation.path.slice(0, -1)}${String((valueAt(now, operation.path.slice(0, -2)) as unknown[] | undefined)?.length ?? 0)}` : operation.path;
    found.push({ path, before: operation.op === "add" ? undefined : valueAt(now, path), after: operation.op === "remove" ? undefined : operation.value });
    now = changed(now, namesIn(operation.path), 0, operation);
  }
  return found;
}

function membersOf(value: unknown): Map<string, unknown> | null {
  if (Array.isArray(value)) return new Map(value.map((each, index) => [String(index), each as unknown]));
  return typeof value === "object" && value !== null ? new Map(Object.entries(value)) : null;
}

/** Where two values differ, as far down as both are of the same kind; at most `most` places. */
export function differences(one: unknown, other: unknown, most = 1_000): Change[] {
  const found: Change[] = [];
  const walk = (before: unknown, after: unknown, path: string): void => {
    if (before === after || found.length >= most) return;
    const [a, b] = [membersOf(before), membersOf(after)];
    if (a === null || b === null || Array.isArray(before) !== Array.isArray(after)) {
      if (JSON.stringify(before) !== JSON.stringify(after)) found.push({ path, before, after });
      return;
    }
    for (const name of new Set([...a.keys(), ...b.keys()])) walk(a.get(name), b.get(name), `${path}/${name.replaceAll("~", "~0").replaceAll("/", "~1")}`);
  };
  walk(one, other, "");
  return found;
}
