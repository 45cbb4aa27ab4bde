import { useMemo, type ReactNode } from "react";

import { blocksOf, piecesOf } from "./text.ts";

function Pieces({ text }: { readonly text: string }): ReactNode {
  return <>{piecesOf(text).map((piece, at) => (piece.code ? <code key={at}>{piece.text}</code> : piece.strong ? <strong key={at}>{piece.text}</strong> : <span key={at}>{piece.text}</span>))}</>;
}

/** What a model wrote: text, with lists and code blocks, and nothing that loads. */
export function ModelText({ text }: { readonly text: string }): ReactNode {
  const blocks = useMemo(() => blocksOf(text), [text]);
  return (
    <div className="model-text given">
      {blocks.map((block, at) => {
        if (block.kind === "code") return <pre key={at} tabIndex={0}><code>{block.text}</code></pre>;
        if (block.kind === "paragraph") return <p key={at}><Pieces text={block.text} /></p>;
        const items = block.items.map((item, index) => <li key={index}><Pieces text={item} /></li>);
        return block.ordered ? <ol key={at}>{items}</ol> : <ul key={at}>{items}</ul>;
      })}
    </div>
  );
}
