import { useId, type ReactNode } from "react";

import type { Schemas } from "../../lib/api/client.ts";
import type { Mark } from "./difference.ts";

type Graph = Schemas["GraphView"];
type Point = readonly [number, number];
const MARGIN = 16;
const LETTER = 6.2; // the width of a letter of a label
const MOST_LABEL = 40;

/** A line through points that bends softly. */
export function pathOf(points: readonly Point[]): string {
  const [first, ...rest] = points;
  if (first === undefined) return "";
  let text = `M${String(first[0])} ${String(first[1])}`;
  let [x, y] = first;
  for (const [toX, toY] of rest) {
    const half = (toY - y) / 2;
    text += x === toX ? `L${String(toX)} ${String(toY)}` : `C${String(x)} ${String(y + half)} ${String(toX)} ${String(toY - half)} ${String(toX)} ${String(toY)}`;
    [x, y] = [toX, toY];
  }
  return text;
}

function cut(text: string): string {
  return text.length > MOST_LABEL ? `${text.slice(0, MOST_LABEL - 1)}…` : text;
}

interface Label {
  readonly text: string;
  readonly x: number;
  readonly y: number;
  /** It stands on the left of its arrow, which leads there. */
  readonly leftwards: boolean;
}

function labelOf(edge: Graph["edges"][number]): Label {
  const points = edge.points as unknown as Point[];
  const [fromX, fromY] = points[0] ?? [0, 0];
  const [toX, toY] = points[1] ?? [fromX, fromY];
  // an arrow that comes from the left has its label there too: to the right is the one from the other side
  const leftwards = edge.joins ? toX > fromX + 1 : toX < fromX - 1;
  const part = edge.joins ? 0.35 : 0.5; // those that meet are further apart where they begin
  return { text: cut(edge.labels.join(" · ")), x: fromX + (toX - fromX) * part + (leftwards ? -10 : 10), y: fromY + (toY - fromY) * (edge.joins ? 0.42 : 0.5) + 4, leftwards };
}

const LINE = 15;

/** The labels with those moved down that would lie on another one. */
export function apart(labels: readonly Label[]): Label[] {
  const placed: Label[] = [];
  for (const label of labels) {
    const wide = label.text.length * LETTER;
    const left = label.leftwards ? label.x - wide : label.x;
    let { y } = label;
    const lies = (other: Label): boolean => {
      const otherWide = other.text.length * LETTER;
      const otherLeft = other.leftwards ? other.x - otherWide : other.x;
      return other.text !== "" && left < otherLeft + otherWide && otherLeft < left + wide && Math.abs(other.y - y) < LINE;
    };
    for (let tries = 0; label.text !== "" && tries < 4 && placed.some(lies); tries += 1) y += LINE;
    placed.push({ ...label, y });
  }
  return placed;
}

interface Props {
  readonly name: string;
  readonly graph: Graph;
  /** Nodes that differ from another version. */
  readonly marks?: ReadonlyMap<string, Mark>;
}

/** A definition's graph as the server laid it out: the same picture as `jeton draw`. */
export function GraphDrawing({ name, graph, marks }: Props): ReactNode {
  const id = useId();
  const gone = [...(marks ?? [])].filter(([, mark]) => mark === "removed").map(([node]) => node);
  if (graph.nodes.length === 0) return <p className="muted graph-none">There is no graph to draw: an agent is driven by its model.</p>;
  const labels = apart(graph.edges.map(labelOf));
  const left = Math.min(0, ...labels.map((label) => label.x - (label.leftwards ? label.text.length * LETTER : 0)));
  const right = Math.max(graph.width, ...labels.map((label) => label.x + (label.leftwards ? 0 : label.text.length * LETTER)));
  const width = right - left + 2 * MARGIN;
  const height = graph.height + 2 * MARGIN;
  return (
    <section aria-label={`Graph of ${name}`} className="drawing">
      <svg role="img" aria-label={`${name}: ${graph.nodes.map((node) => node.id).join(", ")}`} viewBox={`${String(left - MARGIN)} ${String(-MARGIN)} ${String(width)} ${String(height)}`} width={width} height={height}>
        <defs><marker id={`${id}-tip`} viewBox="0 0 8 8" refX="7.5" refY="4" markerWidth="8" markerHeight="8" markerUnits="userSpaceOnUse" orient="auto"><path d="M0 .5 8 4 0 7.5z" className="tip" /></marker></defs>
        {graph.edges.map((edge, at) => {
          const label = labels[at];
          return (
            <g key={edge.id} className={edge.fans_out || edge.joins ? "edge many" : "edge"}>
              <path d={pathOf(edge.points)} markerEnd={`url(#${id}-tip)`} />
              {label !== undefined && label.text !== "" && <text x={label.x} y={label.y} textAnchor={label.leftwards ? "end" : "start"}>{label.text}<title>{edge.labels.join("\n")}</title></text>}
            </g>
          );
        })}
        {graph.nodes.map((node) => {
          const mark = marks?.get(node.id);
          const lines = [node.id, node.detail === "" && node.h < 40 ? "" : `${node.kind} ${node.detail}`.trim()].filter((line) => line !== "");
          return (
            <g key={node.id} className={["node", node.initial ? "initial" : "", mark ?? ""].join(" ").trim()}>
              <title>{`${node.id}, ${node.kind}${node.detail === "" ? "" : ` ${node.detail}`}${mark === undefined ? "" : `, ${mark}`}`}</title>
              <rect x={node.x} y={node.y} width={node.w} height={node.h} rx={8} />
              {lines.map((line, at) => <text key={at} className={at === 0 ? "name" : "detail"} x={node.x + node.w / 2} y={node.y + 21 + at * 17} textAnchor="middle">{cut(line)}</text>)}
            </g>
          );
        })}
      </svg>
      {marks !== undefined && (
        <ul className="marks">
          {(["added", "changed", "removed"] as const).map((kind) => {
            const number = [...marks.values()].filter((mark) => mark === kind).length;
            return number === 0 ? null : <li key={kind} className={kind}><span className="swatch" aria-hidden="true" />{`${String(number)} ${kind}`}{kind === "removed" && <span className="given">{`: ${gone.join(", ")}`}</span>}</li>;
          })}
          {marks.size === 0 && <li className="muted">The nodes are the same.</li>}
        </ul>
      )}
    </section>
  );
}
