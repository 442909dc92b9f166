//! The package's scripts, minified as they are published.

use std::{
    path::{Path, PathBuf},
    process::Command,
};

use anyhow::{Context as _, Result};

use crate::{
    build, process,
    workspace::{Workspace, read, write},
};

/// esbuild, told to minify modules.
pub(crate) fn esbuild(workspace: &Workspace) -> Result<Command> {
    let program = match process::find("ESBUILD", &[]) {
        Some(program) => program,
        None => workspace.npm_program("esbuild")?,
    };
    let mut command = Command::new(program);
    command.args(["--minify", "--format=esm", "--log-level=error"]);
    Ok(command)
}

/// Minifies the scripts of one folder into another, each for itself.
pub(crate) fn minify(workspace: &Workspace, from: &Path, to: &Path) -> Result<()> {
    let is_script = |file: &PathBuf| file.extension().is_some_and(|end| end == "js");
    let mut outdir = std::ffi::OsString::from("--outdir=");
    outdir.push(to);
    let mut command = esbuild(workspace)?;
    command.args(build::files(from)?.into_iter().filter(is_script)).arg(outdir);
    process::run(&mut command)
}

/// The names of a script of the package and of all that it imports, at once or later.
pub(crate) fn imported(workspace: &Workspace, package: &Path, entry: &str) -> Result<Vec<String>> {
    let work = workspace.path("target/imports");
    let table = work.join("imports.json");
    let mut command = esbuild(workspace)?;
    command.args([entry, "--bundle", "--external:*.wasm"]).current_dir(package);
    command.arg(format!("--metafile={}", table.display()));
    command.arg(format!("--outfile={}", work.join("bundle.js").display()));
    process::run(&mut command)?;
    let table: serde_json::Value = serde_json::from_str(&read(&table)?)?;
    let inputs = table["inputs"].as_object().context("esbuild tells of no inputs")?;
    Ok(inputs.keys().cloned().collect())
}

/// Makes a module of every profile: what a page can import everywhere is a script, and not JSON.
/// `built-in.js` names them all, each by an import that every bundler finds and that is made when the
/// profile is asked for; `all.js` imports them at once, for workers that may not import later.
pub(crate) fn profiles(workspace: &Workspace, from: &Path, work: &Path, to: &Path) -> Result<()> {
    if work.exists() {
        std::fs::remove_dir_all(work)?;
    }
    let (mut lazy, mut imports, mut at_once) = (String::new(), String::new(), String::new());
    for file in build::files(from)? {
        let name =
            file.file_name().and_then(|own| own.to_str()).and_then(|own| own.strip_suffix(".json"));
        if let Some(name) = name {
            write(
                &work.join(name).with_extension("js"),
                format!("export default {}", read(&file)?),
            )?;
            let own = format!("_{}", name.replace('-', "_"));
            lazy.push_str(&format!("{name:?}: () => import(\"./{name}.js\"),"));
            imports.push_str(&format!("import {own} from \"./{name}.js\";"));
            at_once.push_str(&format!("{name:?}: async () => ({{ default: {own} }}),"));
        }
    }
    write(&work.join("built-in.js"), format!("export const builtIn = {{{lazy}}}"))?;
    write(&work.join("all.js"), format!("{imports}export const builtIn = {{{at_once}}}"))?;
    minify(workspace, work, to)
}
