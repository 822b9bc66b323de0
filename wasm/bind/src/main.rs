//! `bind MODULE.wasm FOLDER NAME`: writes the module with its JavaScript, for browsers, Workers and Node alike.

use std::env;
use std::error::Error;

use wasm_bindgen_cli_support::Bindgen;

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = env::args().skip(1).collect();
    let [module, folder, name] = arguments.as_slice() else {
        return Err("bind MODULE.wasm FOLDER NAME".into());
    };
    // The package's types are written by hand, and its entries say where the module is.
    Bindgen::new()
        .input_path(module)
        .out_name(name)
        .web(true)?
        .typescript(false)
        .omit_default_module_path(true)
        .generate(folder)?;
    Ok(())
}
