//! `size`: what a page downloads, against the budget in `xtask/size-budget.json`.

use std::{
    collections::BTreeSet,
    io::Write as _,
    path::{Path, PathBuf},
};

use anyhow::{Result, bail};
use serde::Deserialize;

use crate::{
    build::{self, Variant},
    process, scripts,
    workspace::{Workspace, read},
};

/// Most bytes after brotli at its best, as a CDN would send them.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Budget {
    /// Module, glue, the whole facade and one profile: no change may go beyond this.
    total_brotli: usize,
    /// What the same shall come down to.
    total_brotli_goal: usize,
    /// What a page loads to import the package and wait.
    before_first_submit_brotli: usize,
}

pub(crate) struct Size {
    pub(crate) raw: usize,
    gzip: usize,
    pub(crate) brotli: usize,
}

/// Builds, prints the table, and fails beyond the budget.
pub(crate) fn run(workspace: &Workspace) -> Result<()> {
    let folder = build::run(workspace, Variant::Published)?;
    let budget: Budget = serde_json::from_str(&read(&workspace.path("xtask/size-budget.json"))?)?;

    let entry = folder.join("index.js");
    let first = measure(&bundle(workspace, &entry, &dynamic_imports(&folder)?)?)?;
    let parts = parts(workspace, &folder)?;
    let sum = |of: fn(&Size) -> usize| parts.iter().map(|(_, size)| of(size)).sum();
    let total =
        Size { raw: sum(|own| own.raw), gzip: sum(|own| own.gzip), brotli: sum(|own| own.brotli) };

    println!("{:<22} {:>8} {:>8} {:>8} {:>8}", "bytes", "raw", "gzip -9", "brotli", "budget");
    for (name, size) in &parts {
        print_row(name, size, None);
    }
    print_row("total", &total, Some(budget.total_brotli));
    print_row("before first submit", &first, Some(budget.before_first_submit_brotli));
    print_entries(workspace, &folder)?;
    if let Some(beyond) = total.brotli.checked_sub(budget.total_brotli_goal + 1) {
        println!("the goal is {} bytes in total: {} to go", budget.total_brotli_goal, beyond + 1);
    }
    if total.brotli > budget.total_brotli || first.brotli > budget.before_first_submit_brotli {
        bail!("beyond the budget in xtask/size-budget.json");
    }
    Ok(())
}

/// What a page downloads to submit.
pub(crate) fn parts(workspace: &Workspace, folder: &Path) -> Result<[(&'static str, Size); 4]> {
    let (glue, entry) = (folder.join("glue.js"), folder.join("index.js"));
    let facade = bundle(workspace, &entry, std::slice::from_ref(&glue))?;
    Ok([
        ("holdfast.wasm", measure(&std::fs::read(folder.join("holdfast.wasm"))?)?),
        ("glue.js, bundled", measure(&bundle(workspace, &glue, &[])?)?),
        ("facade, bundled", measure(&facade)?),
        ("largest profile", largest_profile(folder)?),
    ])
}

/// What each of the other entries weighs by itself: its scripts, without the module and its glue. What
/// it shares with the first entry is counted here too, and loaded once.
fn print_entries(workspace: &Workspace, folder: &Path) -> Result<()> {
    let manifest: serde_json::Value = serde_json::from_str(&read(&folder.join("package.json"))?)?;
    let entries = manifest["exports"].as_object().into_iter().flatten();
    for (name, target) in entries.filter(|(name, _)| *name != ".") {
        if let Some(script) = target["default"].as_str().filter(|file| file.ends_with(".js")) {
            let glues = ["glue.js", "glue-maker.js"].map(|glue| folder.join(glue));
            let size = measure(&bundle(workspace, &folder.join(script), &glues)?)?;
            print_row(&format!("entry {name}"), &size, None);
        }
    }
    Ok(())
}

fn print_row(name: &str, size: &Size, budget: Option<usize>) {
    let budget = budget.map(|bytes| bytes.to_string()).unwrap_or_default();
    println!("{name:<22} {:>8} {:>8} {:>8} {budget:>8}", size.raw, size.gzip, size.brotli);
}

/// What bytes weigh, and what is left of them on the wire.
pub(crate) fn measure(bytes: &[u8]) -> Result<Size> {
    let mut gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::best());
    gzip.write_all(bytes)?;
    let mut shrunk = Vec::new();
    let parameters =
        brotli::enc::BrotliEncoderParams { quality: 11, lgwin: 22, ..Default::default() };
    brotli::BrotliCompress(&mut &bytes[..], &mut shrunk, &parameters)?;
    Ok(Size { raw: bytes.len(), gzip: gzip.finish()?.len(), brotli: shrunk.len() })
}

/// A page loads the profiles that its services name: one, as a rule, and counted at its worst.
fn largest_profile(folder: &Path) -> Result<Size> {
    let mut largest = Size { raw: 0, gzip: 0, brotli: 0 };
    for file in build::files(&folder.join("profiles"))? {
        if file.extension().is_some_and(|end| end == "js") {
            let size = measure(&std::fs::read(file)?)?;
            if size.brotli > largest.brotli {
                largest = size;
            }
        }
    }
    Ok(largest)
}

/// The files that the facade imports only when they are needed.
///
/// A file that something imports statically as well is found by esbuild all the same: external
/// names are compared as they are written, and the facade writes a lazy import nowhere else.
fn dynamic_imports(folder: &Path) -> Result<Vec<PathBuf>> {
    let mut found = BTreeSet::new();
    for file in build::files(folder)? {
        if file.extension().is_none_or(|end| end != "js") {
            continue;
        }
        for after in read(&file)?.split("import(\"./").skip(1) {
            if let Some((name, _)) = after.split_once("\")") {
                found.insert(folder.join(name));
            }
        }
    }
    Ok(found.into_iter().collect())
}

/// A script with all that it imports, but for what is external.
fn bundle(workspace: &Workspace, entry: &Path, external: &[PathBuf]) -> Result<Vec<u8>> {
    let mut command = scripts::esbuild(workspace)?;
    command.arg(entry).arg("--bundle");
    // What a host or another package has.
    command.args(
        ["react", "node:*", "cloudflare:*", "better-sqlite3", "*.wasm"]
            .map(|name| format!("--external:{name}")),
    );
    // A profile comes when it is named; the table of their names belongs to the facade.
    let profiles = build::files(&entry.with_file_name("profiles"))?;
    let profiles = profiles.iter().filter(|file| !file.ends_with("built-in.js"));
    for file in external.iter().chain(profiles) {
        command.arg(format!("--external:{}", file.display()));
    }
    Ok(process::output(&mut command)?.into_bytes())
}
