import { Suspense, lazy, type ReactNode } from "react";

import type { EditorProps } from "./editor/CodeMirror.tsx";

const Editor = lazy(() => import("./editor/CodeMirror.tsx"));

/** A code editor (CodeMirror), loaded when it is first shown. Until then the text is there to read: what somebody typed
 * while the editor takes its place would be lost. */
export function CodeEditor(props: EditorProps): ReactNode {
  const plain = <textarea className="input code" aria-label={props.label} aria-busy="true" value={props.value} readOnly spellCheck={false} rows={12} />;
  return <Suspense fallback={plain}><Editor {...props} /></Suspense>;
}
