//! From cargo's module to the published pair: `glue.js` and `holdfast.wasm`.

use std::{path::Path, process::Command};

use anyhow::{Context as _, Result, ensure};
use wasm_bindgen_cli_support::Bindgen;

use crate::{
    process,
    workspace::{Workspace, read, write},
};

/// What wasm-opt may use: each is in every browser that has module workers and Web Locks.
const WASM_OPT: [&str; 12] = [
    "-Oz",
    "--converge",
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
        "wasm-bindgen {}\nbinaryen {}\n{}\n",
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
    optimise(workspace, &folder.join("glue_bg.wasm"), &folder.join("holdfast.wasm"))?;
    // Kept last: an interrupted run leaves nothing that looks whole.
    write(&kept_bytes, bytes)?;
    write(&kept_recipe, recipe)
}

fn bind(module: &Path, folder: &Path) -> Result<()> {
    Bindgen::new()
        .web(true)?
        .reset_state_function(true)
        .omit_default_module_path(false)
        .remove_name_section(true)
        .remove_producers_section(true)
        .typescript(true)
        .out_name("glue")
        .input_path(module)
        .generate(folder)?;
    let glue = folder.join("glue.js");
    let script = read(&glue)?;
    ensure!(script.contains("glue_bg.wasm"), "the glue names its module in another way");
    write(&glue, script.replace("glue_bg.wasm", "holdfast.wasm"))
}

fn optimise(workspace: &Workspace, from: &Path, to: &Path) -> Result<()> {
    let program = match process::find("WASM_OPT", &[]) {
        Some(program) => program,
        None => workspace.npm_program("wasm-opt")?,
    };
    process::run(Command::new(program).args(WASM_OPT).arg(from).arg("-o").arg(to))
}

fn binaryen_version(workspace: &Workspace) -> Result<String> {
    let package: serde_json::Value =
        serde_json::from_str(&read(&workspace.path("tests/package.json"))?)?;
    Ok(package["devDependencies"]["binaryen"].to_string())
}
