import { useRef, useState, type CSSProperties, type KeyboardEvent, type ReactNode } from "react";

interface Line {
  readonly path: string;
  readonly name: string;
  readonly value: unknown;
  readonly level: number;
  readonly place: number;
  readonly siblings: number;
  /** Stands for the members from this one on that are not shown yet. */
  readonly more?: number;
}

const AT_ONCE = 100; // members of one object or list that are shown before more are asked for

function membersOf(value: unknown): [string, unknown][] | null {
  if (Array.isArray(value)) return value.map((each, index) => [String(index), each as unknown]);
  if (typeof value === "object" && value !== null) return Object.entries(value);
  return null;
}

/** The lines of a value: those of open objects and lists, depth first. */
export function linesOf(name: string, value: unknown, open: ReadonlySet<string>, shown: ReadonlyMap<string, number>): Line[] {
  const lines: Line[] = [];
  const walk = (path: string, label: string, each: unknown, level: number, place: number, siblings: number): void => {
    lines.push({ path, name: label, value: each, level, place, siblings });
    const members = open.has(path) ? membersOf(each) : null;
    if (members === null) return;
    const most = shown.get(path) ?? AT_ONCE;
    members.slice(0, most).forEach(([key, inner], index) => {
      walk(`${path}/${key.replaceAll("~", "~0").replaceAll("/", "~1")}`, key, inner, level + 1, index + 1, members.length);
    });
    if (members.length > most)
      lines.push({ path: `${path}/…`, name: path, value: undefined, level: level + 1, place: most + 1, siblings: members.length, more: members.length - most });
  };
  const members = membersOf(value);
  if (name !== "" || members === null) walk("", name, value, 1, 1, 1);
  else members.forEach(([key, inner], index) => walk(`/${key.replaceAll("~", "~0").replaceAll("/", "~1")}`, key, inner, 1, index + 1, members.length));
  return lines;
}

function summary(value: unknown): string {
  if (Array.isArray(value)) return value.length === 0 ? "[]" : `[${String(value.length)}]`;
  const size = Object.keys(value as object).length;
  return size === 0 ? "{}" : `{${String(size)}}`;
}

function Scalar({ value }: { readonly value: unknown }): ReactNode {
  if (typeof value === "string") return <span className="string">{JSON.stringify(value)}</span>;
  if (typeof value === "number") return <span className="number">{String(value)}</span>;
  return <span className="literal">{value === undefined ? "not set" : JSON.stringify(value)}</span>;
}

interface Props {
  readonly label: string;
  readonly value: unknown;
  /** Paths (JSON pointers) that are open at first; the members of the root if not said. */
  readonly open?: readonly string[];
}

/** A value as a tree that opens, with text nodes only. Arrow keys walk it. */
export function JsonTree({ label, value, open: opened }: Props): ReactNode {
  const [open, setOpen] = useState<ReadonlySet<string>>(() => new Set(opened ?? ["", ...(membersOf(value) ?? []).map(([key]) => `/${key}`)]));
  const [shown, setShown] = useState<ReadonlyMap<string, number>>(new Map());
  const [current, setCurrent] = useState<string | null>(null);
  const tree = useRef<HTMLDivElement>(null);
  const lines = linesOf("", value, open, shown);
  const at = Math.max(0, lines.findIndex((line) => line.path === current));

  const focus = (line: Line | undefined): void => {
    if (line === undefined) return;
    setCurrent(line.path);
    tree.current?.querySelector<HTMLElement>(`[data-path="${CSS.escape(line.path)}"]`)?.focus();
  };
  const fold = (line: Line, wanted?: boolean): void => {
    if (line.more !== undefined) {
      setShown(new Map(shown).set(line.name, (shown.get(line.name) ?? AT_ONCE) + AT_ONCE));
      return;
    }
    const next = new Set(open);
    if (wanted ?? !next.has(line.path)) next.add(line.path);
    else next.delete(line.path);
    setOpen(next);
  };
  const onKeyDown = (event: KeyboardEvent): void => {
    const line = lines[at];
    if (line === undefined) return;
    const holds = membersOf(line.value) !== null;
    const acts: Readonly<Record<string, () => void>> = {
      ArrowDown: () => focus(lines[at + 1]),
      ArrowUp: () => focus(lines[at - 1]),
      Home: () => focus(lines[0]),
      End: () => focus(lines.at(-1)),
      ArrowRight: () => (holds && !open.has(line.path) ? fold(line, true) : focus(lines[at + 1])),
      ArrowLeft: () => (holds && open.has(line.path) ? fold(line, false) : focus(lines.slice(0, at).findLast((each) => each.level < line.level))),
      Enter: () => fold(line),
      " ": () => fold(line),
    };
    const act = acts[event.key];
    if (act === undefined) return;
    event.preventDefault();
    act();
  };
  return (
    <div role="tree" aria-label={label} className="json" ref={tree} onKeyDown={onKeyDown}>
      {lines.map((line, index) => {
        const holds = membersOf(line.value) !== null;
        return (
          <div
            key={line.path} role="treeitem" data-path={line.path} tabIndex={index === at ? 0 : -1} aria-level={line.level}
            aria-posinset={line.place} aria-setsize={line.siblings} aria-expanded={holds ? open.has(line.path) : undefined}
            style={{ "--level": line.level - 1 } as CSSProperties} onFocus={() => setCurrent(line.path)}
            onClick={() => { if (holds || line.more !== undefined) fold(line); }}
          >
            {line.more !== undefined ? (
              <span className="summary">{`${String(line.more)} more`}</span>
            ) : (
              <>
                <span className="fold" aria-hidden="true">{holds ? (open.has(line.path) ? "▾" : "▸") : ""}</span>
                {line.name !== "" && <><span className="name given">{line.name}</span>: </>}
                {holds ? <span className="summary">{summary(line.value)}</span> : <Scalar value={line.value} />}
              </>
            )}
          </div>
        );
      })}
    </div>
  );
}
