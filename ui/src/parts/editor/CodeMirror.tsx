import { autocompletion, completionKeymap, type CompletionSource } from "@codemirror/autocomplete";
import { history, historyKeymap, indentWithTab, standardKeymap } from "@codemirror/commands";
import { HighlightStyle, bracketMatching, syntaxHighlighting } from "@codemirror/language";
import { setDiagnostics, type Diagnostic } from "@codemirror/lint";
import { Compartment, EditorState, type Extension } from "@codemirror/state";
import { EditorView, highlightActiveLine, keymap, lineNumbers } from "@codemirror/view";
import { tags } from "@lezer/highlight";
import { useEffect, useRef, type ReactNode } from "react";

import { yaml } from "./yaml.ts";

export interface EditorProps {
  readonly label: string;
  readonly value: string;
  readonly onChange: (value: string) => void;
  readonly readOnly?: boolean;
  /** Problems with places in the text, underlined; one with an `actions` entry is mended by one press. */
  readonly diagnostics?: readonly Diagnostic[];
  readonly complete?: CompletionSource;
  readonly height?: string;
}

const colours = HighlightStyle.define([
  { tag: [tags.propertyName, tags.definition(tags.propertyName)], color: "var(--accent-ink)" },
  { tag: [tags.string, tags.special(tags.string)], color: "var(--completed)" },
  { tag: [tags.number], color: "var(--running)" },
  { tag: [tags.bool, tags.null, tags.keyword], color: "var(--exhausted)" },
  { tag: [tags.comment], color: "var(--ink-3)", fontStyle: "italic" },
  { tag: [tags.punctuation, tags.separator, tags.bracket], color: "var(--ink-2)" },
]);

const look = EditorView.theme({
  "&": { fontSize: "var(--text-md)", color: "var(--ink)", backgroundColor: "var(--surface)" },
  "&.cm-focused": { outline: "none" },
  ".cm-scroller": { fontFamily: "var(--mono)", lineHeight: "1.6" },
  ".cm-gutters": { backgroundColor: "var(--surface)", color: "var(--ink-3)", border: "none" },
  ".cm-activeLine, .cm-activeLineGutter": { backgroundColor: "var(--subtle)" },
  ".cm-content": { caretColor: "var(--ink)" },
  ".cm-tooltip, .cm-panels": { backgroundColor: "var(--raised)", color: "var(--ink)", border: "1px solid var(--line)" },
  ".cm-tooltip-autocomplete ul li[aria-selected]": { backgroundColor: "var(--accent-soft)", color: "var(--accent-ink)" },
  ".cm-diagnostic-error": { borderLeftColor: "var(--failed)" },
  ".cm-diagnostic-warning": { borderLeftColor: "var(--waiting)" },
});

/** The nonce that the server put into the page: without it the browser takes no style sheet from a script. */
export function cspNonce(): string {
  return document.querySelector<HTMLElement>("meta[property=csp-nonce]")?.nonce ?? "";
}

/** Put text in place of what is selected. Browsers would keep the look of what goes by inline styles, which the policy forbids. */
function replaceSelected(event: InputEvent, view: EditorView): boolean {
  const text = event.data;
  // the browser's own selection: the editor may not have been told of it yet
  const selection = window.getSelection();
  const range = selection !== null && selection.rangeCount > 0 ? selection.getRangeAt(0) : null;
  if (event.inputType !== "insertText" || text === null || range === null || range.collapsed || !view.contentDOM.contains(range.commonAncestorContainer)) return false;
  if (view.composing || view.state.readOnly) return false;
  const ends = [view.posAtDOM(range.startContainer, range.startOffset), view.posAtDOM(range.endContainer, range.endOffset)] as const;
  const [from, to] = [Math.min(...ends), Math.max(...ends)];
  event.preventDefault();
  view.dispatch({ changes: { from, to, insert: text }, selection: { anchor: from + text.length }, userEvent: "input.type", scrollIntoView: true });
  return true;
}

export default function CodeMirror({ label, value, onChange, readOnly = false, diagnostics, complete, height = "60vh" }: EditorProps): ReactNode {
  const place = useRef<HTMLDivElement>(null);
  const view = useRef<EditorView | null>(null);
  const writable = useRef(new Compartment());
  const latest = useRef({ onChange, complete });
  const told = useRef(new Set<string>());
  useEffect(() => {
    latest.current = { onChange, complete };
  });
  useEffect(() => {
    if (place.current === null) return;
    const extensions: Extension[] = [
      EditorView.cspNonce.of(cspNonce()),
      EditorView.contentAttributes.of({ "aria-label": label, tabindex: "0" }),
      lineNumbers(), history(), bracketMatching(), highlightActiveLine(), syntaxHighlighting(colours), look, yaml(), // JSON is YAML too
      autocompletion({ override: [(context) => latest.current.complete?.(context) ?? null] }),
      // Escape, then Tab, leaves the editor, as CodeMirror tells screen readers
      keymap.of([...standardKeymap, ...historyKeymap, ...completionKeymap, indentWithTab]),
      writable.current.of(EditorState.readOnly.of(readOnly)),
      EditorView.domEventHandlers({ beforeinput: replaceSelected }),
      EditorView.updateListener.of((update) => {
        if (!update.docChanged) return;
        const text = update.state.doc.toString();
        told.current.add(text);
        latest.current.onChange(text);
      }),
    ];
    const made = new EditorView({ doc: value, extensions, parent: place.current });
    view.current = made;
    return () => {
      view.current = null;
      made.destroy();
    };
    // eslint-disable-next-line react-hooks/exhaustive-deps -- a text that changes is put in below, into the same editor
  }, [label]);
  useEffect(() => {
    const current = view.current;
    if (current === null) return;
    const text = current.state.doc.toString();
    // a text that was typed here comes back late, when more has been typed: only one from elsewhere is put in
    if (text === value) told.current.clear();
    else if (!told.current.has(value)) current.dispatch({ changes: { from: 0, to: current.state.doc.length, insert: value } });
  }, [value]);
  useEffect(() => {
    view.current?.dispatch({ effects: writable.current.reconfigure(EditorState.readOnly.of(readOnly)) });
  }, [readOnly]);
  useEffect(() => {
    const current = view.current;
    if (current === null || diagnostics === undefined) return;
    const end = current.state.doc.length;
    const fitting = diagnostics.map((each) => ({ ...each, from: Math.min(each.from, end), to: Math.min(each.to, end) }));
    current.dispatch(setDiagnostics(current.state, fitting));
  }, [diagnostics, value]);
  return <div className="editor" ref={place} style={{ height }} />;
}
