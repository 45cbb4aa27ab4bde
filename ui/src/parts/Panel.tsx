import { Component, type ReactNode } from "react";

import { ProblemAlert } from "./ProblemAlert.tsx";

interface Props {
  readonly children: ReactNode;
  /** When this changes, what failed is tried again: the run, the tab. */
  readonly resetKey?: string;
}

interface State {
  readonly error: unknown;
  readonly failedAt: string | undefined;
}

/** What keeps a part that fails from taking the view down: it shows the problem in the part's place. */
export class Boundary extends Component<Props, State> {
  override state: State = { error: null, failedAt: undefined };

  static getDerivedStateFromError(error: unknown): Partial<State> {
    return { error: error ?? new Error("unknown") };
  }

  static getDerivedStateFromProps(props: Props, state: State): Partial<State> | null {
    if (state.error === null) return { failedAt: props.resetKey };
    return props.resetKey === state.failedAt ? null : { error: null, failedAt: props.resetKey };
  }

  override render(): ReactNode {
    if (this.state.error === null) return this.props.children;
    return <ProblemAlert error={this.state.error} onRetry={() => this.setState({ error: null })} />;
  }
}

interface PanelProps {
  readonly label: string;
  readonly head?: ReactNode;
  readonly children: ReactNode;
  readonly className?: string;
}

/** A panel: a named region with a boundary of its own. */
export function Panel({ label, head, children, className = "" }: PanelProps): ReactNode {
  return (
    <section aria-label={label} className={`panel ${className}`}>
      {head !== undefined && <div className="panel-head">{head}</div>}
      <Boundary>{children}</Boundary>
    </section>
  );
}
