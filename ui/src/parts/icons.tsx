/** Glyphs: 16 by 16, drawn in the colour of the text. They are never alone: a word or an aria-label is beside them. */
import type { ReactNode } from "react";

import type { Look } from "../lib/statuses.ts";

interface Props {
  readonly size?: number;
}

function glyph(children: ReactNode): (props: Props) => ReactNode {
  return function Glyph({ size = 16 }: Props): ReactNode {
    return (
      <svg width={size} height={size} viewBox="0 0 16 16" fill="none" stroke="currentColor" strokeWidth="1.5" strokeLinecap="round" strokeLinejoin="round" aria-hidden="true" focusable="false">
        {children}
      </svg>
    );
  };
}

export const Mark = glyph(<><circle cx="8" cy="8" r="6" strokeWidth="2" /><circle cx="8" cy="8" r="2" fill="currentColor" stroke="none" /></>);
export const RunsIcon = glyph(<path d="M2.5 4h11M2.5 8h11M2.5 12h7" />);
export const GatesIcon = glyph(<><path d="M3 13.5V6a5 5 0 0 1 10 0v7.5" /><path d="M1.75 13.5h12.5M8 8.5v2" /></>);
export const ChatIcon = glyph(<path d="M2.5 4.5a2 2 0 0 1 2-2h7a2 2 0 0 1 2 2v4a2 2 0 0 1-2 2H8l-3.5 3v-3a2 2 0 0 1-2-2z" />);
export const DefinitionsIcon = glyph(<><rect x="2" y="2.5" width="5" height="4" rx="1" /><rect x="9" y="9.5" width="5" height="4" rx="1" /><path d="M4.5 6.5v3a2 2 0 0 0 2 2H9" /></>);
export const TriggersIcon = glyph(<path d="M8.75 1.75 3.5 9h4l-.5 5.25L12.5 7h-4z" />);
export const UsageIcon = glyph(<path d="M2.5 13.5h11M4.5 13.5V9M8 13.5v-11M11.5 13.5V6" />);
export const StoreIcon = glyph(<><ellipse cx="8" cy="4" rx="5.5" ry="2" /><path d="M2.5 4v8c0 1.1 2.5 2 5.5 2s5.5-.9 5.5-2V4M2.5 8c0 1.1 2.5 2 5.5 2s5.5-.9 5.5-2" /></>);
export const KeysIcon = glyph(<><circle cx="5" cy="11" r="3" /><path d="m7.25 8.75 6-6M11 5l2 2" /></>);
export const SearchIcon = glyph(<><circle cx="7" cy="7" r="4.25" /><path d="m10.25 10.25 3.5 3.5" /></>);
export const SunIcon = glyph(<><circle cx="8" cy="8" r="2.75" /><path d="M8 1.5v1M8 13.5v1M1.5 8h1M13.5 8h1M3.4 3.4l.7.7M11.9 11.9l.7.7M3.4 12.6l.7-.7M11.9 4.1l.7-.7" /></>);
export const KeyboardIcon = glyph(<><rect x="1.5" y="4" width="13" height="8.5" rx="1.5" /><path d="M4 7h.01M6.7 7h.01M9.3 7h.01M12 7h.01M5 10h6" /></>);
export const CloseIcon = glyph(<path d="m4 4 8 8M12 4l-8 8" />);
export const PlusIcon = glyph(<path d="M8 3v10M3 8h10" />);
export const CopyIcon = glyph(<><rect x="5.5" y="5.5" width="8" height="8" rx="1.5" /><path d="M10.5 5.5v-2a1 1 0 0 0-1-1h-6a1 1 0 0 0-1 1v6a1 1 0 0 0 1 1h2" /></>);
export const CheckIcon = glyph(<path d="m3 8.5 3.25 3.25L13 5" />);
export const AlertIcon = glyph(<><path d="M8 2 1.75 13.25h12.5z" /><path d="M8 6.5v3M8 11.5h.01" /></>);
export const LeaveIcon = glyph(<path d="M6.5 2.5h-3a1 1 0 0 0-1 1v9a1 1 0 0 0 1 1h3M10 11l3-3-3-3M13 8H6" />);
export const MoreIcon = glyph(<path d="M3.5 8h.01M8 8h.01M12.5 8h.01" strokeWidth="2.25" />);
export const BookmarkIcon = glyph(<path d="M4 2.5h8v11L8 10.5l-4 3z" />);

const RING = <circle cx="8" cy="8" r="5.75" />;
const LOOKS: Readonly<Record<Look, (props: Props) => ReactNode>> = {
  running: glyph(<><circle cx="8" cy="8" r="5.75" /><circle cx="8" cy="8" r="2.75" fill="currentColor" stroke="none" /></>),
  waiting: glyph(<>{RING}<path d="M8 8V2.25A5.75 5.75 0 0 1 13.75 8z" fill="currentColor" stroke="none" /></>),
  failed: glyph(<><circle cx="8" cy="8" r="6.5" fill="currentColor" stroke="none" /><path d="m5.75 5.75 4.5 4.5M10.25 5.75l-4.5 4.5" stroke="var(--look-soft)" /></>),
  completed: glyph(<><circle cx="8" cy="8" r="6.5" fill="currentColor" stroke="none" /><path d="m5.25 8.25 2 2 3.5-4" stroke="var(--look-soft)" /></>),
  cancelled: glyph(<>{RING}<path d="m4 12 8-8" /></>),
  "timed-out": glyph(<>{RING}<path d="M8 4.75V8l2.25 1.5" /></>),
  exhausted: glyph(<>{RING}<path d="M5.25 8h5.5" strokeWidth="2" /></>),
  submitted: glyph(<circle cx="8" cy="8" r="5.75" strokeDasharray="2.4 2.1" />),
  paused: glyph(<>{RING}<path d="M6.5 6v4M9.5 6v4" strokeWidth="1.75" /></>),
  idle: glyph(RING),
};

/** The glyph of a status. */
export function StatusGlyph({ look, size = 14 }: { readonly look: Look; readonly size?: number }): ReactNode {
  const Glyph = LOOKS[look];
  return <span className={`glyph look-${look}`} style={{ display: "inline-flex" }}><Glyph size={size} /></span>;
}
