import { Suspense, useEffect, useRef, useState, type ReactNode } from "react";
import { Link, Redirect, Route, Switch, useLocation } from "wouter";

import { navigate } from "../lib/location.ts";
import { useShortcuts } from "../lib/shortcuts.ts";
import { Button } from "../parts/Button.tsx";
import { Boundary } from "../parts/Panel.tsx";
import { Empty, SkeletonRows } from "../parts/Waiting.tsx";
import { KeyboardIcon, LeaveIcon, Mark, SearchIcon } from "../parts/icons.tsx";
import { VIEWS, type View } from "../views/index.ts";
import { CommandsDialog } from "./CommandsDialog.tsx";
import { ConnectionStatus } from "./ConnectionStatus.tsx";
import { ShortcutsDialog } from "./Shortcuts.tsx";
import { ThemeMenu } from "./ThemeMenu.tsx";
import { LiveProvider } from "./live.tsx";
import { mayWith, useSession } from "./session.ts";

type Open = "commands" | "shortcuts" | null;

/** Navigation on the left, the bar on top, and the view that the address names. */
export function Frame(): ReactNode {
  const { me } = useSession();
  const views = VIEWS.filter((view) => mayWith(me.scopes, view.scopes));
  const [open, setOpen] = useState<Open>(null);
  const listed = views.filter((view) => view.label !== undefined);

  useShortcuts("Go to", [
    ...listed.flatMap((view) => (view.letter === undefined ? [] : [{ keys: `g ${view.letter}`, label: `Go to ${view.label ?? ""}`, run: () => navigate(view.home) }])),
    { keys: "?", label: "Keyboard shortcuts", run: () => setOpen("shortcuts") },
  ]);
  useEffect(() => {
    const onKeyDown = (event: KeyboardEvent): void => {
      if ((event.ctrlKey || event.metaKey) && event.key.toLowerCase() === "k") {
        event.preventDefault();
        setOpen((now) => (now === null ? "commands" : now));
      }
    };
    window.addEventListener("keydown", onKeyDown);
    return () => window.removeEventListener("keydown", onKeyDown);
  }, []);

  const hasRuns = views.some((view) => view.routes.some((route) => route.startsWith("/runs/:")));
  return (
    <LiveProvider>
      <a className="skip" href="#main" onClick={(event) => { event.preventDefault(); document.getElementById("main")?.focus(); }}>Skip to the content</a>
      <div className="frame">
        <div className="side">
          <span className="brand" aria-hidden="true"><Mark size={18} /> jeton</span>
          <Navigation views={listed} />
          <Who />
        </div>
        <div className="stage">
          <header className="bar">
            <span className="brand" aria-hidden="true"><Mark size={18} /> jeton</span>
            <Button className="commands-button" onClick={() => setOpen("commands")}>
              <SearchIcon size={14} /><span className="words">Commands</span><kbd aria-hidden="true">Ctrl K</kbd>
            </Button>
            <span className="spring" />
            <ConnectionStatus />
            <Button variant="quiet" square aria-label="Keyboard shortcuts" title="Keyboard shortcuts" onClick={() => setOpen("shortcuts")}><KeyboardIcon /></Button>
            <ThemeMenu />
          </header>
          <Content views={views} />
        </div>
      </div>
      {open === "commands" && <CommandsDialog onClose={() => setOpen(null)} openRun={hasRuns ? (id) => navigate(`/runs/${id}`) : null} />}
      {open === "shortcuts" && <ShortcutsDialog onClose={() => setOpen(null)} />}
    </LiveProvider>
  );
}

function Navigation({ views }: { readonly views: readonly View[] }): ReactNode {
  const [path] = useLocation();
  const list = useRef<HTMLUListElement>(null);
  useEffect(() => {
    // on a phone the bar is wider than the screen: where one is, is in sight
    const bar = list.current;
    const link = bar?.querySelector<HTMLElement>("[aria-current=page]");
    if (bar === null || link === null || link === undefined || bar.scrollWidth <= bar.clientWidth) return;
    bar.scrollLeft = link.offsetLeft - (bar.clientWidth - link.offsetWidth) / 2;
  }, [path]);
  return (
    <nav aria-label="Main">
      <ul ref={list}>
        {views.map(({ id, label, home, icon: Icon, badge: Badge }) => {
          const current = path === home || path.startsWith(`${home}/`);
          return (
            <li key={id}>
              <Link href={home} className="nav-link" aria-current={current ? "page" : undefined}>
                {Icon !== undefined && <Icon />}<span>{label}</span>
                {Badge !== undefined && <Boundary><Badge /></Boundary>}
              </Link>
            </li>
          );
        })}
      </ul>
    </nav>
  );
}

function Who(): ReactNode {
  const { me, signOut } = useSession();
  return (
    <div className="who">
      <span className="cut" title={`${me.name}: ${me.scopes.join(", ")}`}>{me.person ?? me.name}</span>
      <Button small square variant="quiet" aria-label="Sign out" title="Sign out" onClick={signOut}><LeaveIcon size={14} /></Button>
    </div>
  );
}

function Content({ views }: { readonly views: readonly View[] }): ReactNode {
  const [path] = useLocation();
  const main = useRef<HTMLElement>(null);
  const view = path.split("/")[1] ?? "";
  const seen = useRef(view);
  useEffect(() => {
    if (seen.current === view) return;
    seen.current = view;
    window.scrollTo(0, 0);
    main.current?.focus({ preventScroll: true }); // those who do not see it hear where they are
  }, [view]);
  const first = views.find((each) => each.label !== undefined);
  return (
    <main id="main" className="view" tabIndex={-1} ref={main}>
      <Boundary resetKey={path}>
        <Suspense fallback={<SkeletonRows rows={8} label="The view is loading" />}>
          <Switch>
            {views.flatMap(({ id, routes, component }) => routes.map((route) => <Route key={`${id} ${route}`} path={route} component={component} />))}
            {first !== undefined && <Route path="/"><Redirect to={first.home} replace /></Route>}
            <Route><Nowhere /></Route>
          </Switch>
        </Suspense>
      </Boundary>
    </main>
  );
}

function Nowhere(): ReactNode {
  return (
    <Empty icon={<SearchIcon />} title="Nothing is here">
      This address names no view, or one that your key may not see. Choose one on the left.
    </Empty>
  );
}
