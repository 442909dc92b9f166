//! From cargo's module to the published pair: `glue.js` and `holdfast.wasm`.

use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
    process::Command,
};

use anyhow::{Context as _, Result, ensure};
use wasm_bindgen_cli_support::Bindgen;

use crate::{
    process,
    workspace::{Workspace, read, write},
};

/// What wasm-opt may use: each is in every browser that has module workers and Web Locks.
///
/// Of the levels, the lowest: the higher ones save bytes before compression and cost more after it.
/// The lowest addresses are the far end of the stack, and hold nothing.
const WASM_OPT: [&str; 16] = [
    "-O1",
    "--shrink-level=2",
    "--dae-optimizing",
    "--rse",
    "--vacuum",
    "--low-memory-unused",
    "--enable-bulk-memory",
    "--enable-bulk-memory-opt",
    "--enable-nontrapping-float-to-int",
    "--enable-sign-ext",
    "--enable-mutable-globals",
    "--enable-reference-types",
    "--enable-multivalue",
    "--strip-debug",
    "--strip-producers",
    "--strip-target-features",
];

/// Binds and shrinks `module` into `folder`, unless the folder holds the outcome for these bytes.
pub(crate) fn generate(workspace: &Workspace, module: &Path, folder: &Path) -> Result<()> {
    let bytes = std::fs::read(module).with_context(|| format!("no {}", module.display()))?;
    let recipe = format!(
        "wasm-bindgen {}\nbinaryen {}\n{}\n{MAKER}{STALE}\n",
        workspace.locked_version("wasm-bindgen-cli-support")?,
        binaryen_version(workspace)?,
        WASM_OPT.join(" ")
    );
    let (kept_bytes, kept_recipe) = (folder.join("input.wasm"), folder.join("recipe.txt"));
    let same = std::fs::read(&kept_bytes).is_ok_and(|kept| kept == bytes)
        && std::fs::read_to_string(&kept_recipe).is_ok_and(|kept| kept == recipe);
    if same {
        return Ok(());
    }
    if folder.exists() {
        std::fs::remove_dir_all(folder)?;
    }
    bind(module, folder)?;
    let (from, to) = (folder.join("glue_bg.wasm"), folder.join("holdfast.wasm"));
    optimise(workspace, Names::Drop, &from, &to)?;
    // Kept last: an interrupted run leaves nothing that looks whole.
    write(&kept_bytes, bytes)?;
    write(&kept_recipe, recipe)
}

/// The same module with the names of its functions, for whoever asks what is in it.
pub(crate) fn with_names(workspace: &Workspace, module: &Path, folder: &Path) -> Result<PathBuf> {
    let mut binder = binder(module)?;
    binder.remove_name_section(false).demangle(false).generate_output()?.emit(folder)?;
    let named = folder.join("named.wasm");
    optimise(workspace, Names::Keep, &folder.join("glue_bg.wasm"), &named)?;
    Ok(named)
}

fn binder(module: &Path) -> Result<Bindgen> {
    let mut binder = Bindgen::new();
    binder
        .web(true)?
        .reset_state_function(true)
        .omit_default_module_path(false)
        .remove_name_section(true)
        .remove_producers_section(true)
        .typescript(true)
        .out_name("glue")
        .input_path(module);
    Ok(binder)
}

fn bind(module: &Path, folder: &Path) -> Result<()> {
    let mut output = binder(module)?.generate_output()?;
    let mut short = BTreeMap::new();
    let wasm = output.wasm_mut();
    for import in wasm.imports.iter_mut().filter(|import| import.name.starts_with("__wb")) {
        import.name = shorten(&mut short, &import.name);
    }
    for export in wasm.exports.iter_mut().filter(|export| export.name != "memory") {
        export.name = shorten(&mut short, &export.name);
    }
    output.emit(folder)?;
    let glue = folder.join("glue.js");
    let script = read(&glue)?;
    ensure!(script.contains("glue_bg.wasm"), "the glue names its module in another way");
    ensure!(script.contains(STALE), "the glue guards its closures in another way");
    let script = script.replace("glue_bg.wasm", "holdfast.wasm").replace(STALE, "return;");
    let script = rename(&script, &short);
    write(&folder.join("glue-maker.js"), maker(&script)?)?;
    write(&glue, script)
}

/// What the callbacks of an instance do that was replaced. Nobody waits for them, and what they throw
/// would be an unhandled rejection, which ends a server.
const STALE: &str = "throw new Error('Cannot invoke closure from previous WASM instance');";

/// The beginning of the maker. Where functions of the host are called by other names, they want their `this`.
const MAKER: &str = "export const makeGlue = (queueMicrotask, host = globalThis) => {
const { Date } = host;
const setTimeout = (call, ms) => host.setTimeout(call, ms);
const clearTimeout = (timer) => host.clearTimeout(timer);
";

/// The glue as a function: each call makes one with an instance of its own, whose tasks are polled by
/// the `queueMicrotask` that is given, and whose time may be another than the host's. Where many objects
/// share a process, they share no instance.
fn maker(glue: &str) -> Result<String> {
    ensure!(!glue.contains("\nimport "), "the glue imports something");
    let mut made = String::from(MAKER);
    let mut names = String::from("default: __wbg_init");
    for line in glue.lines().filter(|line| !line.starts_with("export {")) {
        let own = line.strip_prefix("export ").unwrap_or(line);
        if own.len() < line.len() {
            let name = own.split([' ', '(']).nth(1).context("an export has no name")?;
            names.push_str(", ");
            names.push_str(name);
        }
        made.push_str(own);
        made.push('\n');
    }
    Ok(made + "return { " + &names + " };\n};\n")
}

/// Names between the glue and its module are long and hold digests, which no compression shrinks.
fn shorten(short: &mut BTreeMap<String, String>, name: &str) -> String {
    let next = format!("_{}", short.len());
    short.entry(name.to_owned()).or_insert(next).clone()
}

/// Renames what the glue takes from the module (`wasm.name`) and gives it (`name: function`).
fn rename(script: &str, short: &BTreeMap<String, String>) -> String {
    let is_part = |character: char| character.is_ascii_alphanumeric() || character == '_';
    let mut renamed = String::with_capacity(script.len());
    let mut rest = script;
    while let Some(start) = rest.find(is_part) {
        let (before, from) = rest.split_at(start);
        let (word, after) = from.split_at(from.find(|own| !is_part(own)).unwrap_or(from.len()));
        renamed.push_str(before);
        let crosses = renamed.ends_with("wasm.") || after.starts_with(": function");
        renamed.push_str(short.get(word).filter(|_| crosses).map_or(word, |short| short));
        rest = after;
    }
    renamed + rest
}

/// What becomes of the names of functions.
#[derive(Clone, Copy)]
enum Names {
    Drop,
    Keep,
}

fn optimise(workspace: &Workspace, names: Names, from: &Path, to: &Path) -> Result<()> {
    let program = match process::find("WASM_OPT", &[]) {
        Some(program) => program,
        None => workspace.npm_program("wasm-opt")?,
    };
    let mut command = Command::new(program);
    match names {
        Names::Drop => command.args(WASM_OPT),
        Names::Keep => {
            command.args(WASM_OPT.iter().filter(|own| **own != "--strip-debug")).arg("-g")
        }
    };
    process::run(command.arg(from).arg("-o").arg(to))
}

fn binaryen_version(workspace: &Workspace) -> Result<String> {
    let package: serde_json::Value =
        serde_json::from_str(&read(&workspace.path("tests/package.json"))?)?;
    Ok(package["devDependencies"]["binaryen"].to_string())
}
