//! Message content: parts, images, and the billing header of some clients.

use crate::conversation::{self, Part as Out};
use crate::protocol::images::{self, UNSUPPORTED_IMAGE};
use crate::protocol::{Context, RequestError, WarningKind};

use super::{Content, File, Part};

/// The content of the message `index`. Data URLs are checked apart, by [`images::check_data_urls`].
pub(super) fn convert(
    context: &mut Context<'_>,
    content: Content,
    index: usize,
) -> Result<conversation::Content, RequestError> {
    let parts = match content {
        Content::Text(text) => return Ok(text.into()),
        Content::List(parts) => parts,
    };
    let takes_images = context.profile.capabilities().images;
    let mut converted = Vec::with_capacity(parts.len());
    for (part_index, part) in parts.into_iter().enumerate() {
        let path = format!("messages[{index}].content[{part_index}]");
        converted.push(match part {
            Part::Text(text) => Out::Text(text),
            Part::ImageUrl(image) => {
                let detail = images::detail(context, image.detail.as_deref(), &format!("{path}.image_url"))?;
                if takes_images {
                    let too_long =
                        || format!(".messages[{index}].image_url.url[{part_index}]: image_url.url");
                    Out::Image(images::from_url(image.url, detail, path, too_long)?)
                } else {
                    unsupported_image(context, &path)
                }
            }
            Part::File { .. } if !takes_images => unsupported_image(context, &path),
            Part::File { file, nested } => {
                if nested {
                    let note = "the file's fields stand in an object of their own";
                    context.accept(WarningKind::NestedFile, &path, note, || {
                        images::error(&path, format!(".messages[{index}]: {NO_FILE}"))
                    })?;
                }
                Out::Image(convert_file(file, index, path)?)
            }
            Part::Refusal(text) => {
                context.accept(WarningKind::Refusal, &path, "a refusal counts as text", || {
                    unknown_part(&path, "refusal")
                })?;
                Out::Text(text)
            }
            Part::InputAudio => unknown(context, &path, "input_audio", "[Unsupported Audio]")?,
            Part::Unknown(kind) => unknown(context, &path, &kind, "[Unsupported Content]")?,
        });
    }
    Ok(conversation::Content(converted))
}

const NO_FILE: &str = "file must have a file_id or file_data";

fn unsupported_image(context: &mut Context<'_>, path: &str) -> Out {
    context.note(WarningKind::UnknownBlock, path, "the model takes no images: a note stands in its place");
    Out::Text(UNSUPPORTED_IMAGE.to_owned())
}

fn unknown(context: &mut Context<'_>, path: &str, kind: &str, note: &str) -> Result<Out, RequestError> {
    let message = format!("a part of type `{kind}` cannot be shown to the model: a note stands in its place");
    context.accept(WarningKind::UnknownBlock, path, message, || unknown_part(path, kind))?;
    Ok(Out::Text(note.to_owned()))
}

fn unknown_part(path: &str, kind: &str) -> RequestError {
    let problem = format!("unknown part type `{kind}`, expected `text`, `image_url` or `file`");
    RequestError::wrong_type(format!("{path}.type"), problem)
}

fn convert_file(file: File, index: usize, path: String) -> Result<conversation::Image, RequestError> {
    let at = format!(".messages[{index}]");
    let refuse = |problem: &str| Err(images::error(&path, format!("{at}: {problem}")));
    match (file.file_id, file.file_data) {
        (None, None) => refuse(NO_FILE),
        (Some(_), Some(_)) => refuse("file cannot have both file_id and file_data"),
        (Some(_), None) if file.filename.is_some() => {
            refuse("file cannot have filename when file_id is present")
        }
        (Some(_), None) => Err(images::file_id_unsupported(&at, &path)),
        (None, Some(data)) => images::from_file_data(data, &at, path),
    }
}

/// What a client's system text starts with when it carries data for billing that changes from call to call.
pub(in crate::protocol) const BILLING_HEADER: &str = "x-anthropic-billing-header";

/// Removes a billing header: everything up to the first line end or `You are`, and white space after it. Without
/// either, nothing is left. Returns whether there was one.
pub(in crate::protocol) fn strip_billing_header(content: &mut conversation::Content) -> bool {
    let starts_with_header =
        matches!(content.0.first(), Some(Out::Text(text)) if text.starts_with(BILLING_HEADER));
    if !starts_with_header {
        return false;
    }
    // Parts render with blank lines between them, so the end of the first part is the end of a line too, and white
    // space to remove may go on in the next parts.
    let parts = std::mem::take(&mut content.0);
    let several = parts.len() > 1;
    let mut parts = parts.into_iter().peekable();
    let mut first = true;
    while let Some(Out::Text(text)) = parts.next_if(|part| matches!(part, Out::Text(_))) {
        let rest = if std::mem::take(&mut first) {
            let end = [text.find('\n'), text.find("You are")].into_iter().flatten().min();
            match end {
                Some(end) => &text[end..],
                None if several => "",
                None => return true,
            }
        } else {
            &text
        };
        let rest = rest.trim_start();
        if !rest.is_empty() {
            content.0.push(Out::Text(rest.to_owned()));
            break;
        }
    }
    content.0.extend(parts);
    true
}

#[cfg(test)]
mod tests {
    use super::*;

    fn stripped(parts: &[&str]) -> Vec<String> {
        let mut content =
            conversation::Content(parts.iter().map(|&text| Out::Text(text.to_owned())).collect());
        strip_billing_header(&mut content);
        content.texts().map(str::to_owned).collect()
    }

    #[test]
    fn billing_headers_are_removed() {
        assert_eq!(stripped(&["x-anthropic-billing-header: a\n  You are b"]), ["You are b"]);
        assert_eq!(stripped(&["x-anthropic-billing-header: aYou are b\nc"]), ["You are b\nc"]);
        assert_eq!(stripped(&["x-anthropic-billing-header: a"]), [""; 0]);
        assert_eq!(stripped(&["system"]), ["system"]);
        assert_eq!(stripped(&["x-anthropic-billing-header: a", " \n", "", "  next", ""]), ["next", ""]);
    }
}
