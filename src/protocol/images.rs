//! Images that a request refers to: what is checked about them, and their errors.
//!
//! `at` is the place as the official API's messages write it; `path` is where the image stands in the request.

use std::convert::Infallible;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use data_url::DataUrl;

use crate::conversation::{Content, Image, ImageDetail, ImageSource};

use super::{Context, ErrorKind, RequestError, WarningKind};

/// What stands in the prompt for an image where the model takes none.
pub(super) const UNSUPPORTED_IMAGE: &str = "[Unsupported Image]";

/// What stands in the prompt for a document.
pub(super) const UNSUPPORTED_DOCUMENT: &str = "[Unsupported Document]";

/// The longest URL of an image, in bytes.
const MAX_URL_BYTES: usize = 8192;

const UNSUPPORTED_IMAGE_FORMAT: &str = "You have uploaded an unsupported image. Please make sure your image is valid \
                                        and has one of the following formats: webp, png, jpeg, and gif.";
const UNSUPPORTED_FILE_FORMAT: &str = "You have uploaded an unsupported file. Please make sure your file is valid \
                                       and has one of the following formats: webp, png, jpeg, and gif.";

fn refuse(path: &str, message: String) -> RequestError {
    RequestError::new(ErrorKind::Image, path, message)
}

fn is_http(url: &str) -> bool {
    url.get(..4).is_some_and(|scheme| scheme.eq_ignore_ascii_case("http"))
}

/// The media type's subtype, if images of it are taken.
fn image_subtype(kind: &str, subtype: &str) -> Option<&'static str> {
    if !kind.eq_ignore_ascii_case("image") {
        return None;
    }
    [("jpeg", "jpeg"), ("jpg", "jpeg"), ("png", "png"), ("gif", "gif"), ("webp", "webp")]
        .into_iter()
        .find(|(name, _)| subtype.eq_ignore_ascii_case(name))
        .map(|(_, subtype)| subtype)
}

/// The detail by its name.
pub(super) fn detail(
    context: &mut Context<'_>,
    name: Option<&str>,
    path: &str,
) -> Result<ImageDetail, RequestError> {
    Ok(match name {
        None | Some("high") => ImageDetail::High,
        Some("low") => ImageDetail::Low,
        Some("original") => ImageDetail::Original,
        Some("auto") => ImageDetail::Auto,
        Some(other) => {
            let problem =
                format!("unknown image detail `{other}`, expected `low`, `high`, `original` or `auto`");
            let path = format!("{path}.detail");
            context.accept(WarningKind::UnknownValue, &path, &problem, || {
                RequestError::wrong_type(&path, &problem)
            })?;
            ImageDetail::High
        }
    })
}

/// An image by URL, as Chat Completions and Responses have it: an `http` URL, or else a data URL, which
/// [`check_data_urls`] checks. `too_long` names the place of a URL that is too long.
pub(super) fn from_url(
    url: String,
    detail: ImageDetail,
    path: String,
    too_long: impl FnOnce() -> String,
) -> Result<Image, RequestError> {
    if !is_http(&url) {
        return Ok(Image { source: ImageSource::Data(url), detail, path });
    }
    if url.len() > MAX_URL_BYTES {
        return Err(refuse(&path, too_long_url(&too_long(), url.len())));
    }
    Ok(Image { source: ImageSource::Url(url), detail, path })
}

fn too_long_url(what: &str, length: usize) -> String {
    format!(
        "{what} external link length {length} too long, max link length {MAX_URL_BYTES}. Consider passing file data \
         directly with base64 data url instead."
    )
}

/// Checks the data URLs of a system, user or tool message.
pub(super) fn check_data_urls(content: &Content, at: &str) -> Result<(), RequestError> {
    for image in content.images() {
        let ImageSource::Data(url) = &image.source else { continue };
        let unsupported = || refuse(&image.path, format!("{at}: Unsupported image_url format"));
        if !url.contains("base64,") {
            return Err(unsupported());
        }
        let parsed = DataUrl::process(url).map_err(|_| unsupported())?;
        let mime = parsed.mime_type();
        if image_subtype(&mime.type_, &mime.subtype).is_none() {
            return Err(refuse(&image.path, format!("{at}: {UNSUPPORTED_IMAGE_FORMAT}")));
        }
        if parsed.decode(|_| Ok::<(), Infallible>(())).is_err() {
            return Err(refuse(&image.path, format!("{at}: Invalid base64 data")));
        }
    }
    Ok(())
}

/// An image in the `file_data` of a Chat Completions `file` part.
pub(super) fn from_file_data(data: String, at: &str, path: String) -> Result<Image, RequestError> {
    let invalid = || refuse(&path, format!("{at}: file_data is not a valid base64 data url"));
    let parsed = DataUrl::process(&data).map_err(|_| invalid())?;
    let mime = parsed.mime_type();
    if image_subtype(&mime.type_, &mime.subtype).is_none() {
        return Err(refuse(&path, format!("{at}: {UNSUPPORTED_FILE_FORMAT}")));
    }
    if parsed.decode(|_| Ok::<(), Infallible>(())).is_err() {
        return Err(invalid());
    }
    Ok(Image { source: ImageSource::Data(data), detail: ImageDetail::High, path })
}

/// An image by URL, as Messages has it.
pub(super) fn from_external_url(url: String, at: &str, path: String) -> Result<Image, RequestError> {
    if !is_http(&url) {
        return Err(refuse(&path, format!("{at}: invalid url: {url:?}")));
    }
    if url.len() > MAX_URL_BYTES {
        return Err(refuse(&path, too_long_url(&format!("{at}:"), url.len())));
    }
    Ok(Image { source: ImageSource::Url(url), detail: ImageDetail::High, path })
}

/// An image by media type and base64 data, as Messages has it.
pub(super) fn from_base64(
    media_type: &str,
    data: &str,
    at: &str,
    path: String,
) -> Result<Image, RequestError> {
    let subtype = check_media_type(media_type, &path)?;
    let data = mend_padding(data);
    if STANDARD.decode(data.as_ref()).is_err() {
        return Err(refuse(&path, format!("{at}: base64 decode error")));
    }
    let url = format!("data:image/{subtype};base64,{data}");
    Ok(Image { source: ImageSource::Data(url), detail: ImageDetail::High, path })
}

/// The subtype of a media type that Messages takes. It is matched exactly, unlike those in data URLs.
pub(super) fn check_media_type(media_type: &str, path: &str) -> Result<&'static str, RequestError> {
    Ok(match media_type {
        "image/jpeg" | "image/jpg" => "jpeg",
        "image/png" => "png",
        "image/gif" => "gif",
        "image/webp" => "webp",
        other => {
            let problem = format!(
                "unknown media type `{other}`, expected `image/jpeg`, `image/png`, `image/gif` or `image/webp`"
            );
            return Err(RequestError::wrong_type(format!("{path}.source.media_type"), problem));
        }
    })
}

/// Base64 with the right number of `=` at its end. Data without any is left alone, because it may have been cut;
/// so is data that no padding could make valid.
fn mend_padding(data: &str) -> std::borrow::Cow<'_, str> {
    let bare = data.trim_end_matches('=');
    let missing = (4 - bare.len() % 4) % 4;
    if bare.len() == data.len() || missing == 3 {
        return data.into();
    }
    format!("{bare}{}", &"=="[..missing]).into()
}

/// The error for a file id, which only a file service could resolve.
pub(super) fn file_id_unsupported(at: &str, path: &str) -> RequestError {
    refuse(path, format!("{at}: file_id is not supported. Pass the image as a base64 data url instead."))
}

/// Another error about an image.
pub(super) fn error(path: &str, message: String) -> RequestError {
    refuse(path, message)
}
