//! Blocks that become content: text, images, documents.
//!
//! Places are written only if something is to be said of them.

use std::fmt::{Display, from_fn};

use crate::conversation::{Content, Image, Part};
use crate::protocol::images::{self, UNSUPPORTED_IMAGE};
use crate::protocol::{Context, RequestError, WarningKind};

use super::{Block, ImageSource, ResultBlock, ResultContent};

/// An image block at `path`. `at` is the block's place in the official API's messages.
fn image(
    context: &mut Context<'_>,
    source: ImageSource,
    at: &dyn Display,
    path: &dyn Display,
) -> Result<Part, RequestError> {
    if !context.profile.capabilities().images {
        if let ImageSource::Base64 { media_type, .. } = &source
            && context.is_strict()
        {
            images::check_media_type(media_type, &path.to_string())?;
        }
        context.note(
            WarningKind::UnknownBlock,
            path,
            "the model takes no images: a note stands in its place",
        );
        return Ok(Part::Text(UNSUPPORTED_IMAGE.to_owned()));
    }
    let (at, path) = (&*at.to_string(), path.to_string());
    let image: Image = match source {
        ImageSource::Base64 { media_type, data } => images::from_base64(&media_type, &data, at, path)?,
        ImageSource::Url(url) => images::from_external_url(url, at, path)?,
        ImageSource::File(_) => return Err(images::file_id_unsupported(at, &path)),
    };
    Ok(Part::Image(image))
}

fn document(context: &mut Context<'_>, media_type: Option<&str>, path: &dyn Display) -> Part {
    context.note(WarningKind::UnknownBlock, path, "documents are not read: a note stands in its place");
    Part::Text(format!("[Unsupported document type: {}]", media_type.unwrap_or("unknown")))
}

fn unknown(
    context: &mut Context<'_>,
    kind: &str,
    path: &dyn Display,
    known: &str,
) -> Result<Part, RequestError> {
    let message =
        format!("a block of type `{kind}` cannot be shown to the model: a note stands in its place");
    context.accept(WarningKind::UnknownBlock, path, message, || unknown_block(kind, path, known))?;
    Ok(Part::Text("[Unsupported Content]".to_owned()))
}

/// The refusal of a block whose type is not known.
pub(super) fn unknown_block(kind: &str, path: &dyn Display, known: &str) -> RequestError {
    let problem = format!("unknown block type `{kind}`, expected {known}");
    RequestError::wrong_type(format!("{path}.type"), problem)
}

/// A text, image, document or unknown block of a message; `None` for blocks of other kinds. `at` is the block's
/// place in the official API's messages.
pub(super) fn content_part(
    context: &mut Context<'_>,
    block: &mut Block,
    at: &dyn Display,
    path: &dyn Display,
) -> Result<Option<Part>, RequestError> {
    const KNOWN: &str =
        "`text`, `image`, `document`, `thinking`, `tool_use`, `tool_result` or `tool_addition`";
    Ok(Some(match block {
        Block::Text(text) => Part::Text(std::mem::take(text)),
        Block::Image(source) => {
            let source = std::mem::replace(source, ImageSource::Url(String::new()));
            image(context, source, at, path)?
        }
        Block::Document(media_type) => document(context, media_type.as_deref(), path),
        Block::Unknown(kind) => unknown(context, kind, path, KNOWN)?,
        _ => return Ok(None),
    }))
}

/// The content of a tool result whose place is `at` in the official API's messages and `path` in the request.
pub(super) fn result_content(
    context: &mut Context<'_>,
    content: Option<ResultContent>,
    at: &dyn Display,
    path: &dyn Display,
) -> Result<Content, RequestError> {
    let blocks = match content {
        None => return Ok(Content::default()),
        Some(ResultContent::Text(text)) => return Ok(text.into()),
        Some(ResultContent::List(blocks)) => blocks,
    };
    let mut parts = Vec::with_capacity(blocks.len());
    for (index, block) in blocks.into_iter().enumerate() {
        let at = from_fn(|f| write!(f, "{at}.content[{index}]"));
        let path = from_fn(|f| write!(f, "{path}.content[{index}]"));
        parts.push(match block {
            ResultBlock::Text(text) | ResultBlock::ToolReference(text) => Part::Text(text),
            ResultBlock::Image(source) => image(context, source, &at, &path)?,
            ResultBlock::Document(media_type) => document(context, media_type.as_deref(), &path),
            ResultBlock::Unknown(kind) => {
                unknown(context, &kind, &path, "`text`, `image`, `document` or `tool_reference`")?
            }
        });
    }
    Ok(Content(parts))
}
