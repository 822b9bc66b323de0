//! The tensors of a checkpoint: files in the form of safetensors.

use std::collections::{BTreeMap, HashMap};
use std::fs;
use std::path::{Path, PathBuf};

use candle_core::safetensors::BufferedSafetensors;
use candle_core::{DType, Device, Tensor};
use serde_json::Value;

use super::{CandleError, failed};

/// Which file has which tensor, where there are several files.
const INDEX: &str = "model.safetensors.index.json";

/// All tensors of a folder, as the numbers that processors calculate with.
pub(super) fn read(folder: &Path) -> Result<HashMap<String, Tensor>, CandleError> {
    let mut tensors = HashMap::new();
    for (file, wanted) in files(folder)? {
        let failed = |error: &dyn std::fmt::Display| failed(format!("{}: {}", file.display(), line(error)));
        let bytes = fs::read(&file).map_err(|error| failed(&error))?;
        let stored = BufferedSafetensors::new(bytes).map_err(|error| failed(&error))?;
        let all = || stored.tensors().into_iter().map(|(name, _)| name).collect();
        for name in wanted.unwrap_or_else(all) {
            let tensor = stored.load(&name, &Device::Cpu).and_then(|tensor| tensor.to_dtype(DType::F32));
            let tensor = tensor.map_err(|error| failed(&format!("{name}: {}", line(&error))))?;
            if tensors.insert(name.clone(), tensor).is_some() {
                return Err(failed(&format!("{name} is in another file too")));
            }
        }
    }
    Ok(tensors)
}

/// An error without the backtrace that follows it in other lines.
fn line(error: &dyn std::fmt::Display) -> String {
    error.to_string().lines().next().unwrap_or_default().to_owned()
}

/// The files of a folder, and which of their tensors count; all if the index does not say.
type Files = BTreeMap<PathBuf, Option<Vec<String>>>;

fn files(folder: &Path) -> Result<Files, CandleError> {
    let index = folder.join(INDEX);
    if index.exists() {
        let failed = |error: String| failed(format!("{}: {error}", index.display()));
        let text = fs::read(&index).map_err(|error| failed(error.to_string()))?;
        let json: Value = serde_json::from_slice(&text).map_err(|error| failed(error.to_string()))?;
        let map = json.get("weight_map").and_then(Value::as_object);
        let map = map.ok_or_else(|| failed("it has no `weight_map`".to_owned()))?;
        let mut files = Files::new();
        for (tensor, file) in map {
            // A name, not a path to somewhere else.
            let name = file.as_str().filter(|name| !name.contains(['/', '\\']) && *name != "..");
            let name = name.ok_or_else(|| failed(format!("{file} is no name of a file")))?;
            files.entry(folder.join(name)).or_default().get_or_insert_default().push(tensor.clone());
        }
        return Ok(files);
    }
    let failed = |error: String| failed(format!("{}: {error}", folder.display()));
    let mut files = Files::new();
    for entry in fs::read_dir(folder).map_err(|error| failed(error.to_string()))? {
        let path = entry.map_err(|error| failed(error.to_string()))?.path();
        if path.extension().is_some_and(|extension| extension == "safetensors") {
            files.insert(path, None);
        }
    }
    if files.is_empty() {
        return Err(failed("there is no file *.safetensors".to_owned()));
    }
    Ok(files)
}
