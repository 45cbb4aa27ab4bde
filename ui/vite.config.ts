import { fileURLToPath } from "node:url";

import react from "@vitejs/plugin-react";
import { defineConfig } from "vitest/config";

const here = (path: string): string => fileURLToPath(new URL(path, import.meta.url));
const server = process.env["JETON_URL"] ?? "http://127.0.0.1:8765";

export default defineConfig({
  plugins: [react()],
  // the server puts a fresh nonce in its place in each answer
  html: { cspNonce: "__CSP_NONCE__" },
  resolve: {
    alias: {
      // rjsf's index imports Ajv for its tests; Ajv compiles schemas to code, which the policy forbids
      "@rjsf/validator-ajv8": here("./src/parts/forms/validator.ts"),
    },
  },
  build: {
    outDir: here("../src/jeton/api/page"),
    emptyOutDir: true,
    target: "es2023",
    // light-dark() stays as it is written
    cssTarget: ["chrome123", "firefox121", "safari17.5"],
    // names without hashes: a change to a view changes one small file, and assets are asked for by their ETag
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    chunkSizeWarningLimit: 1000,
    rolldownOptions: {
      output: {
        entryFileNames: "assets/[name].js",
        chunkFileNames: "assets/[name].js",
        assetFileNames: "assets/[name][extname]",
        codeSplitting: {
          groups: [
            // a group takes along what its modules import, so what all share is taken out first
            { name: "react", priority: 10, test: /node_modules[\\/](react|react-dom|scheduler|use-sync-external-store)[\\/]/ },
            // beside the editor, and only where two texts are compared
            { name: "merge", priority: 5, includeDependenciesRecursively: false, test: /node_modules[\\/]@codemirror[\\/]merge[\\/]/ },
            { name: "editor", test: /node_modules[\\/](@codemirror|@lezer|@marijn|style-mod|w3c-keyname|crelt)[\\/]/ },
            {
              name: "forms",
              test: /node_modules[\\/](@rjsf|@cfworker|@x0k|markdown-to-jsx|fast-uri|fast-equals|jsonpointer|react-is)[\\/]/,
            },
            { name: "chart", test: /node_modules[\\/]uplot[\\/]/ },
            { name: "vendor", test: /node_modules[\\/]/ },
          ],
        },
      },
    },
  },
  server: {
    proxy: Object.fromEntries(
      ["/v1", "/healthz", "/readyz", "/metrics"].map((path) => [
        path,
        // the server refuses a page of another origin: in development the page is served at another port
        { target: server, changeOrigin: true, ws: true, headers: { origin: server } },
      ]),
    ),
  },
  test: { include: ["src/**/*.test.ts"], environment: "node" },
});
