import { useEffect, useMemo, useRef, useState, type CSSProperties, type KeyboardEvent, type ReactNode } from "react";

import { useColourVersion } from "../../../lib/theme.ts";
import { Button } from "../../../parts/Button.tsx";
import { SearchIcon } from "../../../parts/icons.tsx";
import { countsText, stripName } from "./marks.ts";
import { STRIP_GAP, STRIP_HEIGHT, stripWidth, type Shown } from "./paint.ts";
import { neighbour, type Arrow, type Box } from "./scene.ts";
import { GraphStage, type Seen } from "./stage.ts";

const FOUND = 8;

interface Props {
  readonly name: string;
  readonly shown: Shown;
  readonly onNode: (node: string | null) => void;
  readonly onTransition: (transition: number) => void;
  readonly onGroup: (group: number) => void;
}

/** The graph: a canvas draws all of it, and what is in view and near are real buttons above. */
export function Graph({ name, shown, onNode, onTransition, onGroup }: Props): ReactNode {
  const place = useRef<HTMLDivElement>(null);
  const canvas = useRef<HTMLCanvasElement>(null);
  const layer = useRef<HTMLDivElement>(null);
  const stage = useRef<GraphStage | null>(null);
  const [seen, setSeen] = useState<Seen>({ boxes: [], arrows: [], strips: [] });
  const focusNext = useRef<string | null>(null);
  const colours = useColourVersion();
  const { scene } = shown;

  useEffect(() => {
    if (place.current === null || canvas.current === null || layer.current === null) return;
    const made = new GraphStage(place.current, canvas.current, layer.current, setSeen);
    stage.current = made;
    return () => {
      made.close();
      stage.current = null;
    };
  }, []);
  useEffect(() => {
    stage.current?.show(shown);
  }, [shown]);
  useEffect(() => {
    stage.current?.draw();
  }, [colours]);
  useEffect(() => {
    if (shown.node !== null) stage.current?.reveal(shown.node);
  }, [shown.node, scene]);
  useEffect(() => {
    if (focusNext.current === null) return;
    const found = layer.current?.querySelector<HTMLElement>(`[data-node="${CSS.escape(focusNext.current)}"]`);
    if (found === null || found === undefined) return;
    found.focus({ preventScroll: true });
    focusNext.current = null;
  }, [seen, shown.node]);

  const walk = (event: KeyboardEvent, from: string): void => {
    const to = neighbour(scene, from, event.key);
    if (to === null) return;
    event.preventDefault();
    focusNext.current = to;
    onNode(to);
    stage.current?.reveal(to, true);
  };
  const pick = (act: () => void): void => {
    if (stage.current?.dragged !== true) act();
  };
  return (
    <section aria-label={`Graph of ${name}`} className="graph">
      <div className="graph-place" ref={place}>
        <canvas ref={canvas} aria-hidden="true" />
        <div className="graph-layer" ref={layer}>
          {seen.boxes.map((box) => (
            <NodeButton key={box.id} box={box} shown={shown} onPick={() => pick(() => onNode(box.id))} onWalk={walk} />
          ))}
          {seen.arrows.map((arrow) => (
            <ArrowButton key={`${String(arrow.id)} ${arrow.from}`} arrow={arrow} pressed={arrow.id === shown.transition} onPick={() => pick(() => onTransition(arrow.id))} />
          ))}
          {seen.strips.map((strip) => {
            const box = scene.byName.get(strip.node);
            if (box === undefined) return null;
            const width = stripWidth(box);
            const at: CSSProperties = { left: box.x + box.w / 2 - width / 2, top: box.y + box.h + STRIP_GAP - 3, width, height: STRIP_HEIGHT + 6 };
            return (
              <div key={strip.group.id} className="graph-strip" style={at}>
                <div role="img" aria-label={stripName(strip.group)} className="graph-strip-picture" />
                <button type="button" className="graph-button" aria-label={`Open group ${strip.group.name}`} title={stripName(strip.group)} onClick={() => pick(() => onGroup(strip.group.id))} />
              </div>
            );
          })}
        </div>
      </div>
      <GraphTools boxes={scene.boxes} onFind={(node) => { focusNext.current = node; onNode(node); stage.current?.reveal(node, true); }} stage={stage} />
    </section>
  );
}

interface NodeProps {
  readonly box: Box;
  readonly shown: Shown;
  readonly onPick: () => void;
  readonly onWalk: (event: KeyboardEvent, from: string) => void;
}

function NodeButton({ box, shown, onPick, onWalk }: NodeProps): ReactNode {
  return (
    <button
      type="button" className="graph-button" data-node={box.id} aria-pressed={box.id === shown.node}
      aria-label={`Node ${box.id}, ${box.kind}, ${countsText(shown.counts[box.id])}`}
      style={{ left: box.x, top: box.y, width: box.w, height: box.h }} onClick={onPick} onKeyDown={(event) => onWalk(event, box.id)}
    />
  );
}

function ArrowButton({ arrow, pressed, onPick }: { readonly arrow: Arrow; readonly pressed: boolean; readonly onPick: () => void }): ReactNode {
  const { x, y, w } = arrow.place;
  return (
    <button
      type="button" className="graph-button arrow" aria-pressed={pressed} aria-label={`Transition ${arrow.from} to ${arrow.to}`} title={arrow.labels.join("; ") || undefined}
      style={{ left: x - w / 2, top: y - 9, width: w, height: 18 }} onClick={onPick}
    />
  );
}

interface ToolProps {
  readonly boxes: readonly Box[];
  readonly onFind: (node: string) => void;
  readonly stage: { readonly current: GraphStage | null };
}

function GraphTools({ boxes, onFind, stage }: ToolProps): ReactNode {
  const [text, setText] = useState("");
  const [open, setOpen] = useState(false);
  const found = useMemo(() => {
    const wanted = text.trim().toLowerCase();
    return wanted === "" ? [] : boxes.filter((box) => box.id.toLowerCase().includes(wanted) || box.detail.toLowerCase().includes(wanted)).slice(0, FOUND);
  }, [boxes, text]);
  const take = (node: string): void => {
    setOpen(false);
    onFind(node);
  };
  return (
    <div className="graph-tools">
      <div className="search graph-find">
        <SearchIcon size={14} />
        <input
          type="search" className="input" aria-label="Find node" placeholder="Find node" value={text} autoComplete="off"
          onChange={(event) => { setText(event.target.value); setOpen(true); }} onBlur={() => setOpen(false)}
          onKeyDown={(event) => {
            if (event.key === "Enter" && found[0] !== undefined) take(found[0].id);
            if (event.key === "Escape") setOpen(false);
          }}
        />
        {open && text.trim() !== "" && (
          <ul className="menu graph-found">
            {found.map((box) => (
              <li key={box.id}><button type="button" className="menu-item given" onPointerDown={(event) => event.preventDefault()} onClick={() => take(box.id)}>{box.id}<span className="muted">{box.kind}</span></button></li>
            ))}
            {found.length === 0 && <li className="menu-item muted">No node has that name</li>}
          </ul>
        )}
      </div>
      <span className="spring" />
      <Button small square aria-label="Zoom out" title="Zoom out" onClick={() => stage.current?.zoom(1 / 1.3)}>−</Button>
      <Button small square aria-label="Zoom in" title="Zoom in" onClick={() => stage.current?.zoom(1.3)}>+</Button>
      <Button small onClick={() => stage.current?.fit()}>Fit graph</Button>
    </div>
  );
}
