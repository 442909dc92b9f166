//! `bytes`: what each part of the module costs, and what peers cost beside it.
//!
//! The module is bound and shrunk exactly as it is published, but keeps the names of its functions; the
//! bytes of each function's code then go to the room, file or crate that its name begins with. Code that a
//! compiler has put into a caller counts for that; what a crate of others costs is that of its functions
//! only. Compressed bytes cannot be told apart, so that a part's are its share of the module's.
//! Peers are what a page would load for the import that their documentation shows, bundled and minified by
//! the same esbuild; all are compressed by the same brotli 11, and none is needed to build or test.

use std::{collections::BTreeMap, path::Path, process::Stdio};

use anyhow::{Context as _, Result, ensure};
use serde_json::{Value, json};

use super::{PEERS, names::Names};
use crate::{
    bindgen,
    build::{self, Variant},
    scripts, setup,
    size::{self, Size},
    wasm,
    workspace::{Workspace, read},
};

/// What is imported of each peer.
const IMPORTS: [(&str, &str); 18] = [
    ("idb-keyval", "import { get, set } from 'idb-keyval'; export { get, set }"),
    ("idb", "export { openDB } from 'idb'"),
    ("@smithy/util-waiter", "export { createWaiter } from '@smithy/util-waiter'"),
    ("@smithy/util-retry", "export { StandardRetryStrategy } from '@smithy/util-retry'"),
    ("p-retry", "export { default } from 'p-retry'"),
    ("cockatiel", "export { retry, handleAll, ExponentialBackoff } from 'cockatiel'"),
    ("workbox-background-sync", "export { Queue } from 'workbox-background-sync'"),
    ("@azure/core-lro", "export { createHttpPoller } from '@azure/core-lro'"),
    ("ky", "export { default } from 'ky'"),
    ("@tanstack/query-core", "export { QueryClient } from '@tanstack/query-core'"),
    (
        "@tanstack/offline-transactions",
        "export { startOfflineExecutor } from '@tanstack/offline-transactions'",
    ),
    ("replicate", "export { default } from 'replicate'"),
    ("@fal-ai/client", "export { fal } from '@fal-ai/client'"),
    ("openai", "export { default } from 'openai'"),
    ("@anthropic-ai/sdk", "export { default } from '@anthropic-ai/sdk'"),
    ("stripe", "export { default } from 'stripe'"),
    ("apify-client", "export * from 'apify-client/browser'"),
    ("firecrawl", "export { Firecrawl } from 'firecrawl'"),
];

/// Files of the module's own that are shown by themselves.
const FILES_SHOWN: usize = 30;

/// What a few of them import of Node, and a page has not: it is left out.
const OF_NODE: [&str; 19] = [
    "assert",
    "async_hooks",
    "buffer",
    "child_process",
    "crypto",
    "dns",
    "events",
    "fs",
    "http",
    "https",
    "net",
    "os",
    "path",
    "stream",
    "tls",
    "tty",
    "url",
    "util",
    "zlib",
];

/// One row.
struct Row {
    kind: &'static str,
    name: String,
    version: String,
    raw: usize,
    brotli: usize,
}

/// The table, and its rows as JSON.
pub(super) fn run(workspace: &Workspace) -> Result<String> {
    let folder = build::run(workspace, Variant::Published)?;
    let published = size::parts(workspace, &folder)?;
    let mut rows = parts(workspace, &published[0].1)?;
    let own = |(name, size): &(&str, Size)| Row {
        kind: "holdfast, to submit",
        name: (*name).to_owned(),
        version: workspace.version(),
        raw: size.raw,
        brotli: size.brotli,
    };
    rows.extend(published.iter().map(own));
    rows.extend(peers(workspace)?);
    let mut text = String::new();
    let width = rows.iter().map(|row| row.name.len()).max().unwrap_or_default();
    let mut kind = "";
    for row in &rows {
        if row.kind != kind {
            kind = row.kind;
            text.push_str(&format!("\n{kind:<width$} {:>10} {:>8}  version\n", "raw", "brotli"));
        }
        let Row { name, raw, brotli, version, .. } = row;
        text.push_str(&format!("{name:<width$} {raw:>10} {brotli:>8}  {version}\n"));
    }
    text.push('\n');
    for row in rows {
        text.push_str(&format!("{}\n", line(workspace, row)));
    }
    Ok(text)
}

fn line(workspace: &Workspace, row: Row) -> Value {
    json!({
        "bench": "bytes",
        "kind": row.kind,
        "name": row.name,
        "raw": row.raw,
        "brotli": row.brotli,
        "version": row.version,
        "versions": { "holdfast": workspace.version() },
    })
}

/// The module, by rooms and crates, then by its largest files.
fn parts(workspace: &Workspace, published: &Size) -> Result<Vec<Row>> {
    let work = workspace.path("target/bench-bytes");
    let named = bindgen::with_names(workspace, &wasm::module(workspace), &work)?;
    let names = Names::read(&std::fs::read(named)?)?;
    let code: usize = names.functions.iter().map(|own| own.bytes).sum();
    let rest = published.raw.saturating_sub(code);
    let (mut rooms, mut files) = (BTreeMap::new(), BTreeMap::new());
    for function in &names.functions {
        *rooms.entry(function.part(2)).or_insert(0) += function.bytes;
        if function.name.contains("holdfast::") {
            *files.entry(function.part(3)).or_insert(0) += function.bytes;
        }
    }
    rooms.insert("(constants, imports, exports, types)".to_owned(), rest);
    let row = |kind, (name, raw): (String, usize)| Row {
        kind,
        name,
        version: workspace.version(),
        raw,
        brotli: raw * published.brotli / published.raw,
    };
    let mut rows = vec![Row {
        brotli: published.brotli,
        ..row("module", ("all of it".into(), published.raw))
    }];
    rows.extend(largest(rooms).into_iter().map(|own| row("module", own)));
    rows.extend(largest(files).into_iter().take(FILES_SHOWN).map(|own| row("largest files", own)));
    Ok(rows)
}

fn largest(parts: BTreeMap<String, usize>) -> Vec<(String, usize)> {
    let mut parts: Vec<_> = parts.into_iter().collect();
    parts.sort_by_key(|(_, bytes)| usize::MAX - bytes);
    parts
}

fn peers(workspace: &Workspace) -> Result<Vec<Row>> {
    let folder = workspace.path(PEERS);
    setup::npm_ci(&folder)?;
    let manifest: Value = serde_json::from_str(&read(&folder.join("package.json"))?)?;
    let mut rows = Vec::new();
    for (name, import) in IMPORTS {
        let Size { raw, brotli, .. } = size::measure(&bundled(workspace, &folder, import)?)?;
        let version = manifest["dependencies"][name].as_str().context("a version")?.to_owned();
        rows.push(Row { kind: "peers, bundled", name: name.to_owned(), version, raw, brotli });
    }
    rows.sort_by_key(|row| row.brotli);
    Ok(rows)
}

/// What a page loads for an import.
fn bundled(workspace: &Workspace, folder: &Path, import: &str) -> Result<Vec<u8>> {
    use std::io::Write as _;
    let mut command = scripts::esbuild(workspace)?;
    command.current_dir(folder).args(["--bundle", "--platform=browser", "--external:node:*"]);
    command.args(OF_NODE.map(|name| format!("--external:{name}")));
    let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn()?;
    child.stdin.take().context("a pipe")?.write_all(import.as_bytes())?;
    let output = child.wait_with_output()?;
    ensure!(output.status.success(), "esbuild could not bundle: {import}");
    Ok(output.stdout)
}
