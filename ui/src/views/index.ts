/** All views, in the order of the navigation. A view is a folder of its own; add one by adding an entry here. */
import { lazy, type ComponentType, type LazyExoticComponent, type ReactNode } from "react";

import type { Scope } from "../lib/api/queries.ts";
import { ChatIcon, DefinitionsIcon, GatesIcon, KeysIcon, RunsIcon, StoreIcon, TriggersIcon, UsageIcon } from "../parts/icons.tsx";
import { GatesBadge } from "./gates/Badge.tsx";

export interface View {
  readonly id: string;
  /** Where its link leads. */
  readonly home: string;
  /** The paths it shows, as wouter writes them: `/runs/:id`. The parts come as `params` of the component. */
  readonly routes: readonly string[];
  /** One of these scopes is needed. */
  readonly scopes: readonly Scope[];
  readonly component: LazyExoticComponent<ComponentType>;
  /** In the navigation, as this; without, it is reached by links alone. */
  readonly label?: string;
  readonly icon?: (props: { size?: number }) => ReactNode;
  /** `g`, then this letter. */
  readonly letter?: string;
  /** A count beside the label. It must be small: it is not loaded lazily. */
  readonly badge?: ComponentType;
}

export const VIEWS: readonly View[] = [
  {
    id: "runs", label: "Runs", letter: "r", icon: RunsIcon, home: "/runs", routes: ["/runs"], scopes: ["read"],
    component: lazy(() => import("./runs/Runs.tsx")),
  },
  { id: "run", home: "/runs", routes: ["/runs/:id"], scopes: ["read"], component: lazy(() => import("./run/RunView.tsx")) },
  { id: "compare", home: "/compare", routes: ["/compare"], scopes: ["read"], component: lazy(() => import("./compare/Compare.tsx")) },
  {
    id: "gates", label: "Gates", letter: "g", icon: GatesIcon, home: "/gates", routes: ["/gates"], scopes: ["read", "answer"], badge: GatesBadge,
    component: lazy(() => import("./gates/Gates.tsx")),
  },
  {
    id: "chat", label: "Chat", letter: "c", icon: ChatIcon, home: "/chat", routes: ["/chat", "/chat/:id"], scopes: ["read", "answer"],
    component: lazy(() => import("./chat/Chat.tsx")),
  },
  {
    id: "definitions", label: "Definitions", letter: "d", icon: DefinitionsIcon, home: "/definitions", routes: ["/definitions", "/definitions/:name"], scopes: ["read"],
    component: lazy(() => import("./definitions/Definitions.tsx")),
  },
  {
    id: "triggers", label: "Triggers", letter: "t", icon: TriggersIcon, home: "/triggers", routes: ["/triggers", "/triggers/:name"], scopes: ["read"],
    component: lazy(() => import("./triggers/Triggers.tsx")),
  },
  {
    id: "usage", label: "Usage", letter: "u", icon: UsageIcon, home: "/usage", routes: ["/usage"], scopes: ["read"],
    component: lazy(() => import("./usage/Usage.tsx")),
  },
  {
    id: "store", label: "Store", letter: "s", icon: StoreIcon, home: "/store", routes: ["/store"], scopes: ["read"],
    component: lazy(() => import("./store/Store.tsx")),
  },
  {
    id: "keys", label: "Keys", icon: KeysIcon, home: "/keys", routes: ["/keys"], scopes: ["admin"],
    component: lazy(() => import("./keys/Keys.tsx")),
  },
];
