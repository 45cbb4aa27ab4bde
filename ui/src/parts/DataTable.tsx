import { useWindowVirtualizer } from "@tanstack/react-virtual";
import { useEffect, useRef, useState, type ReactNode } from "react";

import { useShortcuts } from "../lib/shortcuts.ts";

export interface Column<Row> {
  readonly name: string;
  readonly cell: (row: Row) => ReactNode;
  /** A CSS width; columns without one share what is left. */
  readonly width?: string;
  readonly end?: boolean;
  /** In a card on a phone: over the whole width, with its name before it, or left out. */
  readonly card?: "wide" | "named" | "hidden";
}

interface Props<Row> {
  readonly label: string;
  readonly rows: readonly Row[];
  readonly columns: readonly Column<Row>[];
  readonly idOf: (row: Row) => string;
  /** Rows can be selected: which are, and how one is named. */
  readonly selection?: {
    readonly chosen: ReadonlySet<string>;
    readonly change: (chosen: ReadonlySet<string>) => void;
    readonly nameOf: (row: Row) => string;
  };
  /** Enter on the current row. */
  readonly onOpen?: (row: Row) => void;
  /** The end of the rows is near: more may be read. */
  readonly onEnd?: () => void;
}

const VIRTUAL_FROM = 100; // rows; below that all are in the document
const NEAR = 20;

/** A table whose rows are in the document only while they are in view, and cards on a phone. `j`, `k`, `x`, Enter work in it. */
export function DataTable<Row>(props: Props<Row>): ReactNode {
  const { label, rows, columns, idOf, selection, onOpen, onEnd } = props;
  const body = useRef<HTMLTableSectionElement>(null);
  const [current, setCurrent] = useState<string | null>(null);
  const virtual = rows.length > VIRTUAL_FROM;
  const virtualizer = useWindowVirtualizer({
    count: virtual ? rows.length : 0,
    estimateSize: () => (window.innerWidth < 720 ? 120 : 38),
    overscan: 12,
    scrollMargin: body.current?.offsetTop ?? 0,
    getItemKey: (index) => idOf(rows[index] as Row),
  });
  const items = virtualizer.getVirtualItems();
  const first = items[0]?.index ?? 0;
  const last = items.at(-1)?.index ?? -1;
  const seen = virtual ? rows.slice(first, last + 1) : rows;
  const before = virtual && items[0] !== undefined ? items[0].start - virtualizer.options.scrollMargin : 0;
  const after = virtual && items.length > 0 ? virtualizer.getTotalSize() - ((items.at(-1)?.end ?? 0) - virtualizer.options.scrollMargin) : 0;

  const nearEnd = virtual ? last >= rows.length - NEAR : rows.length > 0;
  useEffect(() => {
    if (nearEnd) onEnd?.();
  }, [nearEnd, rows.length, onEnd]);

  const move = (step: number): void => {
    const at = rows.findIndex((row) => idOf(row) === current);
    const next = rows[Math.min(rows.length - 1, Math.max(0, at < 0 ? (step > 0 ? 0 : rows.length - 1) : at + step))];
    if (next === undefined) return;
    const id = idOf(next);
    setCurrent(id);
    if (virtual) virtualizer.scrollToIndex(rows.indexOf(next));
    requestAnimationFrame(() => {
      const row = body.current?.querySelector<HTMLElement>(`[data-row="${CSS.escape(id)}"]`);
      row?.scrollIntoView({ block: "nearest" });
      row?.querySelector<HTMLElement>("a[href]")?.focus({ preventScroll: true });
    });
  };
  const currentRow = rows.find((row) => idOf(row) === current);
  const toggle = (id: string): void => {
    if (selection === undefined) return;
    const next = new Set(selection.chosen);
    if (!next.delete(id)) next.add(id);
    selection.change(next);
  };
  useShortcuts(label, [
    { keys: "j", label: "Next row", run: () => move(1) },
    { keys: "k", label: "Previous row", run: () => move(-1) },
    ...(onOpen === undefined ? [] : [{ keys: "Enter", label: "Open the row", run: () => { if (currentRow !== undefined) onOpen(currentRow); } }]),
    ...(selection === undefined ? [] : [{ keys: "x", label: "Select the row", run: () => { if (current !== null) toggle(current); } }]),
  ]);

  const span = columns.length + (selection === undefined ? 0 : 1);
  return (
    <div className="panel table-panel">
      <table role="table" aria-label={label} aria-rowcount={rows.length + 1} className="table">
        <Head columns={columns} rows={rows} idOf={idOf} selection={selection} />
        <tbody role="rowgroup" ref={body}>
          {before > 0 && <tr className="spacer" aria-hidden="true"><td colSpan={span} style={{ height: before }} /></tr>}
          {seen.map((row, offset) => {
            const id = idOf(row);
            const chosen = selection?.chosen.has(id);
            return (
              <tr
                key={id} role="row" aria-rowindex={first + offset + 2} aria-selected={chosen} data-row={id} data-current={id === current}
                ref={virtual ? virtualizer.measureElement : undefined} data-index={first + offset}
                onFocus={() => setCurrent(id)}
              >
                {selection !== undefined && (
                  <td role="cell" className="pick">
                    <input type="checkbox" className="checkbox" aria-label={selection.nameOf(row)} checked={chosen === true} onChange={() => toggle(id)} />
                  </td>
                )}
                {columns.map((column) => (
                  <td key={column.name} role="cell" className={[column.end === true ? "end" : "", column.card === undefined ? "" : column.card === "hidden" ? "card-hidden" : column.card].join(" ").trim() || undefined} data-name={column.card === "named" ? column.name : undefined}>
                    {column.cell(row)}
                  </td>
                ))}
              </tr>
            );
          })}
          {after > 0 && <tr className="spacer" aria-hidden="true"><td colSpan={span} style={{ height: after }} /></tr>}
        </tbody>
      </table>
    </div>
  );
}

function Head<Row>({ columns, rows, idOf, selection }: Pick<Props<Row>, "columns" | "rows" | "idOf" | "selection">): ReactNode {
  const all = selection !== undefined && rows.length > 0 && rows.every((row) => selection.chosen.has(idOf(row)));
  const some = selection !== undefined && !all && rows.some((row) => selection.chosen.has(idOf(row)));
  return (
    <thead role="rowgroup">
      <tr role="row" aria-rowindex={1}>
        {selection !== undefined && (
          <th role="columnheader" style={{ width: "2.5rem" }}>
            <input
              type="checkbox" className="checkbox" aria-label="Select all rows" checked={all}
              ref={(box) => { if (box !== null) box.indeterminate = some; }}
              onChange={() => selection.change(all ? new Set() : new Set(rows.map(idOf)))}
            />
          </th>
        )}
        {columns.map((column) => (
          <th key={column.name} role="columnheader" scope="col" className={column.end === true ? "end" : undefined} style={column.width === undefined ? undefined : { width: column.width }}>
            {column.name}
          </th>
        ))}
      </tr>
    </thead>
  );
}
