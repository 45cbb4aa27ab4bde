import { QueryClientProvider } from "@tanstack/react-query";
import { StrictMode } from "react";
import { createRoot } from "react-dom/client";
import { Router } from "wouter";

import { App } from "./frame/App.tsx";
import { takeKey } from "./frame/session.ts";
import { newQueryClient } from "./lib/api/queries.ts";
import { useFragmentPath, useFragmentQuery } from "./lib/location.ts";
import { applyTheme } from "./lib/theme.ts";
import "./styles/index.css";

applyTheme();
const key = takeKey(); // before anything else can read the address
const root = document.getElementById("root");
if (root === null) throw new Error("the page has no root");
createRoot(root).render(
  <StrictMode>
    <QueryClientProvider client={newQueryClient()}>
      <Router hook={useFragmentPath} searchHook={useFragmentQuery}>
        <App linkKey={key} />
      </Router>
    </QueryClientProvider>
  </StrictMode>,
);
